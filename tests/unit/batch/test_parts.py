"""Dates, budgets, sums of usage and differences between batches."""

from __future__ import annotations

from datetime import date

import pytest

from rag_core.batch.budget import exhausted
from rag_core.batch.compare import compare_batches
from rag_core.batch.dates import DATE_NAMES, date_values
from rag_core.batch.usage import add_usage
from rag_core.datamodel.answer import Usage
from rag_core.datamodel.question import Batch, Budget, Question


def test_dates_are_worded_as_periods() -> None:
    values = date_values(date(2026, 7, 1))
    assert set(values) == set(DATE_NAMES)
    assert values["last_month"] == "June 2026"
    assert values["last_quarter"] == "Q2 2026"
    assert values["yesterday"] == "2026-06-30"
    assert date_values(date(2026, 1, 15))["last_quarter"] == "Q4 2025"
    assert date_values(date(2026, 3, 31))["this_quarter"] == "Q1 2026"


@pytest.mark.parametrize(
    ("budget", "usage", "minutes", "reason"),
    [
        (Budget(), Usage(model_calls=9_999), 9_999, None),
        (Budget(model_calls=5), Usage(model_calls=4), 1, None),
        (Budget(model_calls=5), Usage(model_calls=5), 1, "5 of 5 model calls"),
        (Budget(cost_usd=0.5), Usage(cost_usd=0.6), 1, "0.6000 of 0.5 USD"),
        (Budget(cost_usd=0.5), Usage(cost_usd=None), 1, None),
        (Budget(minutes=10), Usage(), 10.4, "10 of 10 minutes"),
    ],
)
def test_a_budget_is_used_up(budget: Budget, usage: Usage, minutes: float, reason: str | None) -> None:
    assert exhausted(budget, usage, minutes) == reason


def test_a_cost_is_unknown_only_where_every_part_is() -> None:
    assert add_usage([Usage(), Usage()]).cost_usd is None
    total = add_usage([Usage(model_calls=1, prompt_tokens=5), Usage(model_calls=2, cost_usd=0.25)])
    assert (total.model_calls, total.prompt_tokens, total.cost_usd) == (3, 5, 0.25)


def _batch(*questions: Question, **head: str) -> Batch:
    return Batch(batch="b", title=head.get("title", "T"), owner="o", questions=questions)


def test_differences_are_named_by_kind() -> None:
    before = _batch(Question(question_id="a", text="One?"), Question(question_id="b", text="Two?"))
    after = _batch(
        Question(question_id="b", text="Two, again?", headline="x"), Question(question_id="c", text="Three?"), title="U"
    )
    assert [(change.kind, change.question_id, change.field) for change in compare_batches(before, after)] == [
        ("head_changed", None, "title"),
        ("text_changed", "b", "text"),
        ("changed", "b", "headline"),
        ("added", "c", None),
        ("removed", "a", None),
    ]
    assert compare_batches(before, before) == ()
