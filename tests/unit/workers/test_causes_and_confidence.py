from __future__ import annotations

from typing import Any

import pytest

from rag_core.datamodel.evidence import Passage, SearchOutcome
from rag_core.datamodel.plan import Plan, SearchStep
from rag_core.workers.asks import Kind, holds, kinds_asked, names_doer
from rag_core.workers.clauses import stands_alone, without_movement
from rag_core.workers.confidence import doubt_quotes, words_held
from rag_core.workers.merge import cited_passages
from rag_core.workers.outcome import StepOutcome
from rag_core.workers.quotes import quotable_units
from rag_core.workers.vector_worker import VectorWorker, pick_quotes
from rag_core.workers.wording import pairs, quote_words
from tests.evidence import passage

REPORT = """## What happened

Quarry workers at Rill closed the only road on 2025-03-03.

## Effect

Trucks went round by Brook, and the extra haulage was booked as cost of stone. That is why the margin of the North fell
in spring.

## Lesson

- Keep a second road open, because the first one may close.
"""
OTHER = """## Notes

Two mails for the same bill, caused by a retry. Bills have risen since May.
"""


def pick(task: str, *passages: Passage, context: str = "") -> tuple[list[str], str]:
    step = SearchStep(step_id="d1", task=task, query=f"{task} {context}".strip())
    found, _, doubt = pick_quotes(step, SearchOutcome(query=step.query, null_signal=False, passages=passages))
    return [quote for item in found for quote in item.quotes], doubt


def test_a_cause_is_told_from_the_document_about_what_moved_and_from_nowhere_else() -> None:
    quotes, doubt = pick(
        "why did it fall",
        passage(OTHER, title="Bills"),
        passage(REPORT, title="The road of the North", rank=2),
        context="What was the margin of the North by quarter",
    )
    told = " ".join(quotes)
    assert "closed the only road on 2025-03-03" in told
    assert "That is why the margin of the North fell" in told
    assert "retry" not in told
    assert "second road" not in told  # what is done about it is no cause
    assert doubt == ""


def test_a_cause_of_something_else_is_doubted() -> None:
    _, doubt = pick("why did it fall", passage(OTHER, title="Bills"), context="What was the margin of the North")
    assert doubt


def test_a_rise_does_not_explain_a_fall() -> None:
    text = "The margin of the North rose because prices were raised."
    assert pick("why did it fall", passage(text), context="What was the margin of the North")[1]
    assert not pick("why did it rise", passage(text), context="What was the margin of the North")[1]


@pytest.mark.parametrize(
    ("question", "text", "doubted"),
    [
        ("When did the strike of Rill end?", "The strike of Rill ended after talks.", True),
        ("When did the strike of Rill end?", "The strike of Rill ended on 2025-03-09.", False),
        ("When did the bills of Rill leave?", "The bills of Rill left at 07:15.", False),
        ("How long did the strike of Rill last?", "The strike of Rill lasted long.", True),
        ("How long did the strike of Rill last?", "The strike of Rill lasted nine days.", False),
        ("Who leads the works of Rill?", "The works of Rill were led well.", True),
        ("Who leads the works of Rill?", "The works of Rill are led by Ada Berg.", False),
        ("What is the colour of the ninth gate of Rill?", "Rill is a town.", True),
    ],
)
def test_quotes_without_the_kind_of_thing_asked_for_are_doubted(question: str, text: str, doubted: bool) -> None:
    found = [passage(text, title="Notes")]
    confidence, doubt = doubt_quotes(question, found, quotable_units(found))
    assert bool(doubt) is doubted
    assert (confidence < 0.6) is doubted


def test_nothing_quoted_is_no_confidence() -> None:
    assert doubt_quotes("Why?", [], [])[0] == 0.0


def test_a_name_that_the_question_uses_is_no_answer() -> None:
    assert kinds_asked("Which customer stands out, and when") == (Kind.DATE, Kind.NAME)
    assert not holds(Kind.NAME, "Half of it came from Benelux.", "revenue of Benelux")
    assert holds(Kind.NAME, "Half of it came from Benelux by Waal Logistics.", "revenue of Benelux")


def test_who_does_something_is_told_with_the_doing() -> None:
    assert names_doer("Who decides on it?", "Decision by Ada Berg in May.")
    assert not names_doer("Who decides on it?", "Ada Berg was informed.")
    assert names_doer("When is it decided?", "In May.")


def test_the_order_of_a_customer_is_told_with_the_customer() -> None:
    text = (
        "## Orders\n\nWaal Logistics of Delft renewed its fleet. The order stands for much of the revenue of Benelux."
    )
    quotes, doubt = pick("which customer stands out", passage(text), context="What was the revenue of Benelux")
    assert any("Waal Logistics" in quote for quote in quotes)
    assert doubt == ""


def test_what_replaced_a_document_is_quoted_beside_it() -> None:
    old = passage(
        "The portal is promised for 99.5 % of the month.",
        title="Terms 2024",
        metadata={"status": "superseded", "superseded_by": "docs/terms-2025.md"},
    )
    new = passage("The promise was raised to 99.7 % of the month.", title="Terms 2025", rank=2)
    quotes, _ = pick("What availability of the portal is promised?", old, new)
    assert any("99.7 %" in quote for quote in quotes)


def test_a_name_that_no_quoted_passage_holds_is_doubted() -> None:
    found = [passage("The delay alert fires after 10 minutes.", title="Delays")]
    assert "RillHigh" in doubt_quotes("When does the delay alert RillHigh fire?", found, quotable_units(found))[1]
    assert not doubt_quotes("When does the delay alert fire?", found, quotable_units(found))[1]


@pytest.mark.parametrize("successor", ["docs/terms-2025.md", "terms-2025", "Terms 2025"])
def test_a_successor_is_found_in_another_format(successor: str) -> None:
    old = passage(
        "The portal is promised to be there for 99.5 % of the month.",
        title="Terms 2024",
        metadata={"status": "superseded", "superseded_by": successor},
    )
    new = passage("The portal is promised for 99.7 %.", title="Terms 2025", path="a/terms-2025.docx", rank=2)
    question = "What is promised for the portal?"
    quotes, doubt = pick(question, old, new)
    assert any("99.7 %" in quote for quote in quotes)
    assert doubt == ""
    assert "in force" in pick(question, old)[1]


def test_one_quote_must_hold_both_the_words_and_the_kind_of_thing_asked_for() -> None:
    text = "Travel money of staff is reimbursed after approval. The paid app of a rival starts in May 2027."
    found = [passage(text, title="Travel")]
    assert doubt_quotes("When is travel money reimbursed?", found, quotable_units(found))[1]
    answer = [passage("Travel money of staff is reimbursed in May 2027.", title="Travel")]
    assert not doubt_quotes("When is travel money reimbursed?", answer, quotable_units(answer))[1]


def test_words_of_the_question_that_nothing_found_holds_weigh_most() -> None:
    found = [passage(f"The pool of the service has {n} slots.", title=f"Pool {n}", rank=n) for n in (1, 2, 3)]
    held = words_held("What drained the pool of the service?", found, quotable_units(found)[:1])[0]
    assert held < 0.5  # two of three words, and the one that says what is asked is missing
    assert words_held("the pool of the service", found, quotable_units(found)[:1]) == [1.0]


def test_the_row_of_somebody_else_answers_nothing() -> None:
    table = "| Operator | Fleet | Earliest renewal |\n| --- | --- | --- |\n| Noord Parcel | small | 2031 |\n"
    found = [passage(table, title="Renewal of fleets")]
    assert doubt_quotes("What is the earliest renewal of Waal Logistics?", found, quotable_units(found))[1]
    assert not doubt_quotes("What is the earliest renewal of Noord Parcel?", found, quotable_units(found))[1]


@pytest.mark.parametrize(
    ("question", "text", "doubted"),
    [
        ("How many rules lose their message?", "Rules lose their message when 212 pages are purged.", True),
        ("How many rules lose their message?", "Eleven rules lose their message.", False),
        ("How many times more do rules cost?", "Rules cost 6.5 times more.", False),
    ],
)
def test_what_is_counted_must_be_counted_in_a_quote(question: str, text: str, doubted: bool) -> None:
    found = [passage(text, title="Rules")]
    assert bool(doubt_quotes(question, found, quotable_units(found))[1]) is doubted


def test_a_part_without_a_name_is_about_the_name_beside_it() -> None:
    found = [passage("The renewal rule is one month of notice.", title="Price list of Site Lens")]
    assert "Cloud" in doubt_quotes("the renewal rule", found, quotable_units(found), "revenue of Cloud Plus")[1]
    assert not doubt_quotes("the renewal rule", found, quotable_units(found), "revenue of Site Lens")[1]


@pytest.mark.parametrize(
    ("clause", "beside", "title", "text", "doubted"),
    [
        # another form of the name
        ("the renewal rule", "the Nordic margin", "Prices in the Nordics", "The renewal rule is one month.", False),
        ("the renewal rule", "the German margin", "Prices in Germany", "The renewal rule is one month.", False),
        ("the renewal rule", "the German margin", "Prices in Spain", "The renewal rule is one month.", True),
        # what it stands beside begins with a capital letter and is no name
        ("the exempt crew", "Crews by harbour in May", "Freeze", "The exempt crew is that of the ferry.", False),
    ],
)
def test_a_name_beside_a_part_is_known_in_its_forms(
    clause: str, beside: str, title: str, text: str, doubted: bool
) -> None:
    assert bool(pick(clause, passage(text, title=title), context=beside)[1]) is doubted


def test_a_name_that_stands_elsewhere_in_the_document_is_spoken_of() -> None:
    first = passage("Dock workers of Rillmouth stopped work in spring.", chunk_id=1, document_id="d", title="Strike")
    second = passage("The strike of the dock lasted nine days.", chunk_id=2, document_id="d", title="Strike", rank=2)
    found = [first, second]
    units = [item for item in quotable_units(found) if item[0] == 1]
    assert not doubt_quotes("How long did the strike of the Rillmouth dock last?", found, units)[1]
    other = second.model_copy(update={"document_id": "e"})
    assert "Rillmouth" in doubt_quotes("How long did the strike of the Rillmouth dock last?", [first, other], units)[1]


def test_a_cause_told_of_none_of_the_names_asked_about_is_doubted() -> None:
    text = "Incidents rose because the queue of the Care team grew. The margin was as before."
    assert pick("why did incidents of billing-api rise", passage(text, title="Care"), context="margin of the North")[1]


@pytest.mark.parametrize(
    ("text", "doubted"),
    [
        # another thing's cause in a report that also says that the subject moved
        ("## Bills\n\nTwo mails for one bill, caused by a retry.\n\n## Waits\n\nThe wait for soup grew longer.", True),
        ("## Bills\n\nThe wait for soup grew longer, because two cooks left.", False),
        ("## Waits\n\nThe wait for soup grew longer. This was caused by a broken oven.", False),
        (
            "## Waits\n\nThe wait for soup grew longer when the cooks of the night shift left. The night shift ended "
            "early.\n\nNobody came.\n\n## Shifts\n\nThe night shift lost its cooks because of low pay.",
            False,
        ),
    ],
)
def test_a_cause_in_a_report_of_many_things_is_that_of_the_subject(text: str, doubted: bool) -> None:
    found = passage(text, title="News of May: wait for soup")
    assert bool(pick("why did it grow", found, context="the wait for soup")[1]) is doubted


@pytest.mark.parametrize(
    ("question", "text", "doubted"),
    [
        ("what protected the Rill", "Boats come to the Rill by night.", True),  # one of two words
        ("what protected the Rill", "A dam protected the Rill.", False),
        ("the version that repaired it", "Firmware 4.2.3 repaired it.", False),  # a version is told without the word
        ("the renewal rule", "Each contract renews by itself.", True),
    ],
)
def test_of_two_words_a_quote_holds_both(question: str, text: str, doubted: bool) -> None:
    found = [passage(text, title="Notes")]
    assert bool(doubt_quotes(question, found, quotable_units(found))[1]) is doubted


@pytest.mark.parametrize(
    ("question", "beside", "title", "doubted"),
    [
        ("What discount is given on boats?", "", "Agreement with Rill Sailing", True),
        ("What discount is given on boats?", "", "Price list of 2026", False),
        ("What discount is given on boats to Rill Sailing?", "", "Agreement with Rill Sailing", False),
        ("what discount is given on boats", "What did Rill order in May", "Agreement with Rill Sailing", False),
        ("What discount on boats is in the agreement?", "", "Agreement with Rill Sailing", False),
    ],
)
def test_what_holds_with_one_partner_is_no_general_rule(question: str, beside: str, title: str, doubted: bool) -> None:
    text = "A discount of 10 % is given on boats."
    assert bool(pick(question.strip(), passage(text, title=title), context=beside)[1]) is doubted


class Rooms:
    """A search that finds one chunk, and the whole document where it is asked for it alone."""

    def __init__(self) -> None:
        self.filters: list[dict[str, str] | None] = []

    def search(self, query: str, **options: Any) -> SearchOutcome:
        """The second part, or both."""
        self.filters.append(options["filters"])
        happened, effect = REPORT.split("## Effect")
        second = passage(f"## Effect{effect}", title="The road of the North", chunk_id=2, document_id="d", path="r.pdf")
        first = passage(happened, title="The road of the North", chunk_id=1, document_id="d", path="r.pdf", rank=2)
        return SearchOutcome(
            query=query, null_signal=False, passages=(second, first) if options["filters"] else (second,)
        )


def test_the_chunk_that_says_what_had_happened_is_read_with_the_one_that_says_what_moved() -> None:
    search = Rooms()
    step = SearchStep(step_id="d1", task="why did it fall", query="why did it fall margin of the North")
    found = VectorWorker(search).run(step).search
    assert found is not None
    assert search.filters == [None, {"path": "r.pdf"}]
    assert "closed the only road" in " ".join(quote for item in found.passages for quote in item.quotes)
    plainly = SearchStep(step_id="d1", task="when was the road closed", query="when was the road closed")
    VectorWorker(search).run(plainly)
    assert search.filters[2:] == [None]


@pytest.mark.parametrize(
    ("clause", "alone"),
    [
        ("when does IngestDelayHigh fire", True),
        ("which distributors postponed orders", False),
        ("what does the template of 2025 let them do", False),
        ("why did the Nordics fall", False),
    ],
)
def test_a_question_with_a_name_of_its_own_needs_none_of_the_one_beside_it(clause: str, alone: bool) -> None:
    assert stands_alone(clause) is alone


def test_irregular_verbs_and_nouns_of_verbs_are_found_by_their_verb() -> None:
    assert set(quote_words("left")) & set(quote_words("leave"))
    assert set(quote_words("decision")) & set(quote_words("decides"))
    assert not set(quote_words("bonus")) & set(quote_words("bonud"))
    assert "<limit>" not in quote_words("in May 2026")


def test_neighbours_in_one_name_are_no_pair() -> None:
    assert pairs("two partners of Mesh One") == {("two", "partner"), ("partner", "mesh")}


def test_a_question_after_a_movement_becomes_one_after_its_figure() -> None:
    assert without_movement("Did churn in DACH fall again in 2026 Q2") == "churn in DACH in 2026 Q2"
    assert without_movement("By how many points did the margin recover from Q3 to Q4") == "the margin from Q3 to Q4"


def test_two_searches_of_one_chunk_keep_their_own_sentences() -> None:
    plan = Plan(
        plan_id="p",
        question="q",
        run_date="2026-07-01",
        query_type="documents",
        complexity="complex",
        strategy="documents",
        steps=tuple(SearchStep(step_id=name, task=name, query=name) for name in ("d1", "d2", "d3")),
    )

    def found(step: str, *quotes: str) -> StepOutcome:
        one = passage("A is red. B is blue.", quotes=quotes, step_id=step)
        return StepOutcome(step_id=step, search=SearchOutcome(query=step, null_signal=False, passages=(one,)))

    both = ("A is red.", "B is blue.")
    cited = cited_passages(plan, (found("d1", "A is red."), found("d2", *both), found("d3", *both)))
    assert [(item.step_id, item.quotes) for item in cited] == [
        ("d1", ("A is red.",)),
        ("d2", ("B is blue.",)),
        ("d3", both),
    ]
