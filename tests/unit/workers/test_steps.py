from __future__ import annotations

import pytest

from rag_core.datamodel.evidence import SearchOutcome
from rag_core.datamodel.plan import SearchStep
from rag_core.workers.steps import Asked, asks_step, tell_step
from rag_core.workers.vector_worker import pick_quotes
from tests.evidence import passage

PUMP = """The alert fires when the pressure has been low for 20 seconds.

## Restart

Customers notice nothing at first.

1. Close the inlet valve. It is red.
2. Wait until the gauge shows zero.
3. Open the drain, and note the time.
"""
SAID = "Empty the tank first; never open the lid before.\n\n1. Wait until it is empty.\n2. Open the lid.\n"


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What is done first in a restart of the pump?", Asked(0)),
        ("What is the last step of a pump restart?", Asked(-1)),
        ("Which second measure was taken?", Asked(1)),
        ("What is step 3 of the restart?", Asked(2)),
        ("What comes after closing the valve in a restart?", Asked(0, "closing the valve")),
        ("What was revenue in the first quarter?", None),
        ("What is the first-response target?", None),
        ("What did we do last year?", None),
    ],
)
def test_a_question_after_a_step_is_told_by_its_words(question: str, asked: Asked | None) -> None:
    assert asks_step(question) == asked


@pytest.mark.parametrize(
    ("question", "step"),
    [
        ("What is done first in a restart of the pump?", "Close the inlet valve."),
        ("What is the second step of a pump restart?", "Wait until the gauge shows zero."),
        ("What is the last step of a pump restart?", "Open the drain, and note the time."),
        ("What comes after closing the inlet valve in a restart of the pump?", "Wait until the gauge shows zero."),
    ],
)
def test_the_item_is_told_by_its_place(question: str, step: str) -> None:
    found = passage(PUMP, title="Restart of the pump")
    assert [unit.shown for _, unit in tell_step(question, [found])] == [step]


def test_a_sentence_that_says_first_goes_before_the_list() -> None:
    told = tell_step("What is done first in a tank inspection?", [passage(SAID, title="Inspection of the tank")])
    assert [unit.shown for _, unit in told] == ["Empty the tank first; never open the lid before."]


def test_a_step_of_another_or_of_a_superseded_procedure_is_not_told() -> None:
    other = passage(PUMP, title="Restart of the turbine")
    old = passage(PUMP, title="Restart of the pump", metadata={"status": "superseded"})
    assert tell_step("What is done first in a restart of the pump?", [old]) == []
    assert tell_step("What is done first in an emptying of the boiler?", [other]) == []
    assert tell_step("What is the ninth step of a restart?", [other]) == []


def test_the_step_alone_is_quoted() -> None:
    step = SearchStep(step_id="d1", task="What is done first in a restart of the pump", query="first restart pump")
    found = SearchOutcome(query="q", null_signal=False, passages=(passage(PUMP, title="Restart of the pump"),))
    passages, _, doubt = pick_quotes(step, found)
    assert [quote for item in passages for quote in item.quotes] == ["Close the inlet valve."]
    assert doubt == ""
