"""Expectations that look at sums, ages, earlier runs and other questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from rag_core.datamodel.answer import Answer
from rag_core.datamodel.evidence import ColumnMeaning
from rag_core.datamodel.question import Expectation, Question
from rag_core.datamodel.report import PastValue
from rag_core.quality.observation import Observation, RunContext
from rag_core.quality.suites import observe_answer

MakeAnswer = Callable[..., Answer]


def _observe(answer: Answer, context: RunContext | None = None, **expectation: Any) -> Observation:
    question = Question(question_id="a", text="What?", expectations=(Expectation(**expectation),))
    return observe_answer(question, answer, context)[-1]


def _past(*row_counts: int, values: Sequence[Any] = ()) -> RunContext:
    days = [date(2026, 6, 1) + timedelta(days=number) for number in range(max(len(row_counts), len(values)))]
    past = tuple(
        PastValue(
            run_date=day,
            row_count=row_counts[index] if row_counts else None,
            value=values[index] if values else None,
        )
        for index, day in enumerate(days)
    )
    return RunContext(history={"a": past})


@pytest.mark.parametrize(
    ("cells", "wanted", "holds"),
    [
        ([Decimal("0.1")] * 10, {"value": 1}, True),
        ([Decimal("0.1"), None, Decimal("0.2")], {"value": "0.3"}, True),
        ([9007199254740993, 1], {"value": 9007199254740994}, True),
        ([9007199254740993, 2], {"value": 9007199254740994}, False),
        ([Decimal(10), Decimal("0.05")], {"value": 10, "tolerance": "0.05"}, True),
        ([Decimal(10), Decimal("0.06")], {"value": 10, "tolerance": "0.05"}, False),
        ([Decimal(10)], {"min": 9, "max": 11}, True),
        ([Decimal(12)], {"max": 11}, False),
        ([Decimal(2**100), Decimal("0.01")], {"value": f"{2**100}.01"}, True),
        ([Decimal(1), Decimal("NaN")], {"value": 1}, False),
    ],
)
def test_sums_are_exact(make_answer: MakeAnswer, cells: list[Any], wanted: dict[str, Any], holds: bool) -> None:
    found = _observe(make_answer({"v": ("numeric", cells)}), kind="sum", column="v", **wanted)
    assert (found.judged, found.exact) == (True, holds)


@pytest.mark.parametrize(
    ("newest", "days", "holds"),
    [
        (date(2026, 6, 30), 1, True),
        (date(2026, 6, 28), 1, False),
        (datetime(2026, 6, 30, 23, tzinfo=timezone(timedelta(hours=2))), 1, True),
    ],
)
def test_freshness_is_measured_from_the_run_date(make_answer: MakeAnswer, newest: date, days: int, holds: bool) -> None:
    found = _observe(make_answer({"d": ("date", [newest, None])}), kind="freshness", column="d", max=days)
    assert (found.observed <= found.upper) is holds
    assert newest.strftime("%Y-%m-%d") in found.message


def test_a_text_is_not_fresh(make_answer: MakeAnswer) -> None:
    found = _observe(make_answer({"d": ("text", ["2026-06-30"])}), kind="freshness", column="d", max=1)
    assert found.exact is False


@pytest.mark.parametrize(
    ("history", "rows", "verdict"),
    [
        ([1000] * 3, 5, None),
        ([990, 1010, 1000, 1005, 995] * 6, 3, False),
        ([990, 1010, 1000, 1005, 995] * 6, 1001, True),
        ([10] * 8, 10, True),
        ([10] * 8, 14, False),
        # One outlier of the past moves neither median nor MAD: a z-score could not see 500 among nine values.
        ([10, 11, 9, 10, 12, 10, 9, 500], 60, False),
        ([0] * 8, 0, True),
    ],
)
def test_row_counts_are_judged_by_median_and_mad(
    make_answer: MakeAnswer, history: list[int], rows: int, verdict: bool | None
) -> None:
    answer = make_answer({"n": ("bigint", list(range(rows)))})
    found = _observe(answer, _past(*history), kind="row_count_history")
    assert found.judged is (verdict is not None)
    assert found.exact is verdict
    if verdict is None:
        assert found.message == "3 earlier runs are too few to judge by; 8 are needed"


@pytest.mark.parametrize(
    ("before", "now", "holds"),
    [
        (Decimal(100), Decimal(110), True),
        (Decimal(100), Decimal("110.01"), False),
        (Decimal(-100), Decimal(-110), True),
        (Decimal(0), Decimal(5), None),
        ("a word", Decimal(5), None),
        (Decimal(5), "a word", None),
    ],
)
def test_change_against_the_last_run(make_answer: MakeAnswer, before: Any, now: Any, holds: bool | None) -> None:
    answer = make_answer({"n": ("bigint", [1])}, headline_value=now)
    found = _observe(answer, _past(values=[Decimal(1), before]), kind="change", min=-10, max=10)
    if before == "a word":
        assert found.exact is False  # the value before it is 1
    else:
        assert (found.judged, found.exact) == (holds is not None, holds)


def test_two_questions_agree_or_do_not(make_answer: MakeAnswer) -> None:
    parts = make_answer({"revenue": ("numeric", [Decimal("1.10"), Decimal("2.20")])})
    total = make_answer({"total": ("numeric", [Decimal("3.30")])})
    context = RunContext(answers={"b": total})
    wanted = {"kind": "agrees", "column": "revenue", "question": "b", "other_column": "total"}
    assert _observe(parts, context, **wanted).exact is True
    off = make_answer({"total": ("numeric", [Decimal("3.31")])})
    assert _observe(parts, RunContext(answers={"b": off}), **wanted).exact is False
    assert _observe(parts, RunContext(answers={"b": off}), tolerance="0.01", **wanted).exact is True
    assert not _observe(parts, RunContext(answers={"b": make_answer()}), **wanted).judged
    assert not _observe(parts, RunContext(), **wanted).judged


@pytest.mark.parametrize(
    ("cells", "repeated"),
    [
        ([Decimal("1.0"), Decimal("1.00")], 1),
        ([1, True], 0),
        ([[1, 2], [1, 2]], 1),
        ([9007199254740992, 9007199254740993], 0),
        ([None, None], 1),
    ],
)
def test_uniqueness_is_by_value(make_answer: MakeAnswer, cells: list[Any], repeated: int) -> None:
    assert _observe(make_answer({"v": ("numeric", cells)}), kind="unique", column="v").observed == repeated


def test_two_expectations_of_one_kind_have_ids_of_their_own(make_answer: MakeAnswer) -> None:
    wanted = Expectation(kind="row_count", min=1)
    question = Question(question_id="a", text="What?", expectations=(wanted, wanted))
    found = observe_answer(question, make_answer({"v": ("bigint", [1])}))
    assert [item.check_id for item in found[-2:]] == ["row_count", "row_count_2"]
    assert all(item.description for item in found)


def test_a_measure_without_numbers_is_a_mismatch(make_answer: MakeAnswer) -> None:
    answer = make_answer({"v": ("text", ["12", "13"])})
    meant = answer.sql[0].model_copy(update={"meanings": (ColumnMeaning(name="v", label="V", role="metric"),)})
    answer = answer.model_copy(update={"sql": (meant,)})
    found = {item.check_id: item for item in observe_answer(Question(question_id="a", text="What?"), answer)}
    assert found["s1_types"].message == "v holds text instead of number"


@pytest.mark.parametrize(
    "fields", [{"kind": "bounds", "column": "v"}, {"kind": "sum", "column": "v"}, {"kind": "type"}]
)
def test_an_expectation_that_expects_nothing_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="needs"):
        Expectation(**fields)
