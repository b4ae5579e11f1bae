"""Which further quotes are said beside the best one."""

from __future__ import annotations

import pytest

from rag_core.datamodel.evidence import SearchOutcome
from rag_core.datamodel.plan import SearchStep
from rag_core.workers.evidence_validator import validate_passages
from rag_core.workers.quotes import Quote, _adds
from rag_core.workers.synthesizer import document_blocks, order_passages
from rag_core.workers.units import Unit
from rag_core.workers.vector_worker import pick_quotes
from tests.evidence import passage


def quote(score: float, held: float) -> Quote:
    return Quote(passage=0, unit=Unit("a", "a", "sentence", 0), score=score, held=held, asked=True)


@pytest.mark.parametrize(
    ("held", "fit", "kept", "adds"),
    [
        (0.35, 0.3, 1, False),  # too little of the question
        (0.45, 0.3, 1, True),
        (0.45, -0.3, 1, False),  # without the kind asked for it must hold more
        (0.75, -0.3, 1, True),
        (0.1, 0.9, 1, True),  # it alone brings the kind asked for
        (0.45, 0.3, 3, False),  # the fourth, far from the best one
        (0.55, 0.3, 3, True),
    ],
)
def test_a_further_quote_must_hold_enough_of_the_question(held: float, fit: float, kept: int, adds: bool) -> None:
    known = [quote(1.0, 1.0), *(quote(0.9, 0.9) for _ in range(kept - 1))]
    assert _adds(quote(0.65, held), fit, known, [0.3] * kept) is adds


def test_what_comes_near_to_the_best_is_kept_as_the_fourth_too() -> None:
    assert _adds(quote(0.8, 0.45), 0.3, [quote(1.0, 1.0)] * 3, [0.3] * 3)


@pytest.mark.parametrize(("day", "lead"), [("2024-01-01", " The newer one comes first."), ("2026-03-01", "")])
def test_a_document_that_gives_another_value_is_quoted_and_the_contradiction_told(day: str, lead: str) -> None:
    question = "How quickly must a kiln alarm be acknowledged"
    rule = passage(
        "Whoever is on watch acknowledges a kiln alarm quickly, within 5 minutes, whatever must be left for it.",
        title="Watch rule",
        rank=1,
        metadata={"date": "2026-03-01"},
    )
    guide = passage(
        "Acknowledge a kiln alarm within 15 minutes and call nobody before you have seen the gauge on the wall.",
        title="First days",
        rank=2,
        metadata={"date": day},
    )
    step = SearchStep(step_id="d1", task=question, query=question)
    outcome = SearchOutcome(query=question, null_signal=False, passages=(guide, rule))
    picked, _, _ = pick_quotes(step, outcome)
    marked = [item.model_copy(update={"marker": f"D{at}"}) for at, item in enumerate(picked, start=1)]
    findings = validate_passages(question, marked)
    block = document_blocks(order_passages(marked, findings), findings)[0]
    assert block.lead.startswith("The documents contradict each other: ")
    assert ("5 minutes" in block.lead, "15 minutes" in block.lead) == (True, True)
    assert block.lead.endswith(f"15 minutes.{lead}") or block.lead.endswith(f"5 minutes.{lead}")
    assert {marker for claim in block.claims for marker in claim.markers} == {"D1", "D2"}
    if lead:
        assert block.claims[0].text.startswith("Watch rule (2026-03-01)")


def test_a_sentence_that_shares_only_the_unit_asked_for_is_beside_the_point() -> None:
    question = "Within how many minutes must a kiln alarm be acknowledged?"
    rule = passage(
        "## Kiln alarms\n\nWhoever is on watch acknowledges a kiln alarm within 5 minutes. A boat leaves the quay "
        "within 15 minutes. Guests get their soup within 20 minutes.",
        title="How a kiln alarm is acknowledged",
    )
    step = SearchStep(step_id="d1", task=question, query=question)
    picked, _, doubt = pick_quotes(step, SearchOutcome(query=question, null_signal=False, passages=(rule,)))
    assert picked[0].quotes == ("Whoever is on watch acknowledges a kiln alarm within 5 minutes.",)
    assert not doubt


def test_a_second_time_for_what_is_asked_is_still_quoted() -> None:
    question = "Within how many minutes must a kiln alarm be acknowledged?"
    rule = passage(
        "Whoever is on watch acknowledges a kiln alarm within 5 minutes. At night a kiln alarm is acknowledged within "
        "15 minutes.",
        title="Rules",
    )
    step = SearchStep(step_id="d1", task=question, query=question)
    picked, _, _ = pick_quotes(step, SearchOutcome(query=question, null_signal=False, passages=(rule,)))
    assert len(picked[0].quotes) == 2
