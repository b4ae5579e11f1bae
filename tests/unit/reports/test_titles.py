"""How the outcomes of a run are counted, in the report's head and in messages."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from rag_core.datamodel.question import Batch, Question
from rag_core.datamodel.report import BatchOutcome, QuestionOutcome
from rag_core.reports.summary import summarise_run
from rag_core.reports.titles import count_states

DONE, PART, NONE = ("published", "answered"), ("published", "partial"), ("published", "no_evidence")
HELD, MODEL, FAILED = ("quarantined", "answered"), ("needs_model", "needs_model"), ("failed", "failed")


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ([], []),
        ([DONE, DONE], ["2 published"]),
        ([DONE, DONE, NONE], ["3 published (1 without evidence)"]),
        ([DONE, PART, PART, NONE], ["4 published (2 in part, 1 without evidence)"]),
        # What was kept back is not published in part, whatever it says.
        ([DONE, ("quarantined", "partial")], ["1 published", "1 kept back"]),
        ([HELD, MODEL, FAILED], ["1 kept back", "1 failed", "1 needs a chat model"]),
        ([MODEL, MODEL], ["2 need a chat model"]),
    ],
)
def test_outcomes_are_counted_by_state_and_by_how_they_fall_short(
    outcomes: list[tuple[str, str]], said: list[str]
) -> None:
    assert [f"{count} {words}" for _, count, words in count_states(outcomes)] == said


@pytest.mark.parametrize(
    ("outcomes", "counts"),
    [
        ([DONE, DONE], "2 published"),
        ([DONE, NONE], "2 published (1 without evidence)"),
        ([HELD, MODEL], "0 of 2 published, 1 kept back, 1 needs a chat model"),
        ([NONE, FAILED], "1 of 2 published (1 without evidence), 1 failed"),
        ([], "no question"),
    ],
)
def test_a_message_says_of_how_many_questions_each_became_what(outcomes: list[tuple[str, str]], counts: str) -> None:
    questions = tuple(
        QuestionOutcome.model_validate(
            {"question_id": f"q{number}", "state": state, "status": status, "strategy": "metric", "answer": "It is."}
        )
        for number, (state, status) in enumerate(outcomes)
    )
    states = [state for state, _ in outcomes]
    totals: dict[str, Any] = {
        name: states.count(name) for name in ("published", "quarantined", "failed", "needs_model")
    }
    outcome = BatchOutcome(run_id="r", batch="b", run_date=date(2026, 7, 1), questions=questions, **totals)
    asked = tuple(Question(question_id=item.question_id, text="How many?") for item in questions)
    batch = Batch.model_construct(batch="b", title="T", owner="o", questions=asked)
    assert summarise_run(batch, outcome).subject == f"T, 2026-07-01: {counts}"
