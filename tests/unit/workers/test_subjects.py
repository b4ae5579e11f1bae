from __future__ import annotations

from typing import Any

import pytest

from rag_core.datamodel.evidence import Passage, SearchOutcome
from rag_core.datamodel.plan import SearchStep
from rag_core.workers.subjects import Found, about_others, subject_names, unspoken
from rag_core.workers.vector_worker import VectorWorker, pick_quotes
from tests.evidence import passage


def contract(party: str, text: str, **more: Any) -> Passage:
    return passage(text, title=f"Agreement with {party}", document_type="contract_terms", **more)


ARDEN = contract("Arden Mills", "Arden Mills buys flour. The agreement ends without notice.", rank=1)
BEECH = contract(
    "Beechfield", "In this region Beechfield sells bread. Either side may give six months' notice.", rank=2
)
GENERAL = passage("Notice is given in writing.", title="Terms and notice", document_type="contract_terms", rank=3)


def pick(question: str, *passages: Passage) -> tuple[list[str], str]:
    step = SearchStep(step_id="d1", task=question, query=question)
    found, _, doubt = pick_quotes(step, SearchOutcome(query=question, null_signal=False, passages=passages))
    return [quote for item in found for quote in item.quotes], doubt


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What is the notice period of the agreement with Arden Mills?", ("Arden Mills",)),
        ("How long did INC-2025-044 of the billing-api last?", ("INC-2025-044", "billing-api")),
        ("What is paid for a night outside London and Oslo?", ()),
        ("how long is the notice period?", ()),
    ],
)
def test_names_of_a_question_are_wholes_and_excepted_ones_are_none(question: str, names: tuple[str, ...]) -> None:
    assert subject_names(question) == names


def test_what_stands_in_an_agreement_with_another_is_not_quoted() -> None:
    quotes, doubt = pick("What is the notice period of the agreement with Arden Mills?", ARDEN, BEECH, GENERAL)
    assert "The agreement ends without notice." in quotes
    assert not any("six months" in quote for quote in quotes)
    assert doubt == ""


def test_only_a_document_with_a_name_of_its_own_is_about_another() -> None:
    assert about_others("notice in the agreement with Arden Mills", [ARDEN, BEECH, GENERAL]) == {BEECH.document_id}
    assert about_others("notice in the agreement with Beechfield", [ARDEN, BEECH, GENERAL]) == {ARDEN.document_id}
    assert about_others("how long is the notice?", [ARDEN, BEECH, GENERAL]) == frozenset()


def test_another_incident_and_another_service_are_others() -> None:
    first = passage("It took 10 minutes.", title="INC-2025-001 Disk", document_type="incident", rank=1)
    second = passage("It took 90 minutes.", title="INC-2025-002 Clock", document_type="incident", rank=2)
    assert about_others("How long did INC-2025-002 take?", [first, second]) == {first.document_id}
    runbooks = [
        passage("Restart it.", title=f"{name} restarts", document_type="runbook", metadata={"service": name}, rank=rank)
        for rank, name in enumerate(("mail-relay", "web-front"), start=1)
    ]
    assert about_others("How is the mail-relay restarted?", runbooks) == {runbooks[1].document_id}


def test_the_row_of_another_is_not_quoted_and_one_that_holds_more_of_the_question_is() -> None:
    table = "| Customer | Rebate |\n| --- | --- |\n| Arden Mills | 5 % |\n| Oakham | 7 % |\n"
    quotes, _ = pick("What rebate does Oakham get?", passage(table, title="Rebates"))
    assert quotes == ["| Oakham | 7 % |"]
    routes = "| Route | Cost |\n| --- | --- |\n| Sea, Oakham | 10 EUR |\n| Air, Rill | 65 EUR |\n"
    quotes, _ = pick(
        "What does air freight cost against sea in the strike of Oakham?", passage(routes, title="Freight")
    )
    assert "| Air, Rill | 65 EUR |" in quotes


def test_names_are_told_in_other_forms_and_by_their_telling_part() -> None:
    found = Found.of([passage("Germany and the Nordics grew. Arden bought more mills.", title="Markets")])
    text = next(iter(found.texts.values()))
    assert found.speaks_of(text, "German")
    assert found.speaks_of(text, "Nordic")
    assert found.speaks_of(text, "Arden Mills")
    assert not found.speaks_of(text, "Boulder Mills")
    assert unspoken("What do Boulder Mills and Arden Mills buy?", [passage("Arden buys mills.")]) == ("Boulder Mills",)


def test_the_name_of_the_house_tells_nothing() -> None:
    found = Found.of([passage(f"Corvid sells {item}.", title=f"About {item}") for item in ("ink", "pens", "paper")])
    assert found.is_house("Corvid")
    assert not found.is_house("ink")


class OneSearch:
    """A search that gives the passages which hold a word of the query, as an index would for a rare name."""

    def __init__(self, *passages: Passage) -> None:
        self.passages = passages

    def search(self, query: str, **_: Any) -> SearchOutcome:
        words = {word.strip("?.,").lower() for word in query.split()}
        kept = tuple(item for item in self.passages if words & set(f"{item.title} {item.text}".lower().split()))
        return SearchOutcome(query=query, null_signal=not kept, passages=kept[:1])


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("What is the notice period of the agreement with Zephyr Lines?", "no document speaks of Zephyr Lines"),
        ("What is the notice period of the agreement with Beechfield?", ""),
        ("Will Arden renew the agreement?", ""),
    ],
)
def test_a_name_that_stands_in_no_document_is_said_and_nothing_is_quoted(question: str, reason: str) -> None:
    step = SearchStep(step_id="d1", task=question, query=question)
    found = VectorWorker(OneSearch(ARDEN, BEECH)).run(step).search
    assert found is not None
    assert (found.null_signal, found.reason) == (bool(reason), reason)
