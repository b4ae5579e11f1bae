"""Which observations an answer gives, and how they are compared exactly."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from rag_core.datamodel.answer import Answer, Verdict
from rag_core.datamodel.question import Expectation, Question
from rag_core.quality.observation import Observation
from rag_core.quality.suites import observe_answer

MakeAnswer = Callable[..., Answer]


def _observe(answer: Answer, **expectation: Any) -> Observation:
    question = Question(question_id="a", text="What?", expectations=(Expectation(**expectation),))
    return observe_answer(question, answer)[-1]


def _by_id(observations: tuple[Observation, ...]) -> dict[str, Observation]:
    return {item.check_id: item for item in observations}


def test_an_empty_result_has_one_verdict_only(make_answer: MakeAnswer) -> None:
    found = _by_id(observe_answer(Question(question_id="a", text="What?"), make_answer({"v": ("numeric", [])})))
    assert found["s1_not_empty"].observed == 0
    assert "s1_null_share" not in found
    assert "s1_types" not in found


def test_a_question_may_allow_an_empty_result(make_answer: MakeAnswer) -> None:
    question = Question(question_id="a", text="What?", may_be_empty=True)
    assert "s1_not_empty" not in _by_id(observe_answer(question, make_answer({"v": ("numeric", [])})))


def test_a_zero_in_one_row_is_not_empty(make_answer: MakeAnswer) -> None:
    found = _by_id(observe_answer(Question(question_id="a", text="What?"), make_answer({"n": ("bigint", [0])})))
    assert found["s1_not_empty"].observed == 1


@pytest.mark.parametrize(("nulls", "holds"), [(8, True), (9, False)])
def test_just_eighty_percent_null_is_allowed(make_answer: MakeAnswer, nulls: int, holds: bool) -> None:
    cells = [None] * nulls + [1] * (10 - nulls)
    found = _by_id(observe_answer(Question(question_id="a", text="What?"), make_answer({"n": ("bigint", cells)})))
    share = found["s1_null_share"]
    assert (share.observed <= share.upper) is holds


def test_numeric_text_where_a_number_is_promised(make_answer: MakeAnswer) -> None:
    found = _by_id(observe_answer(Question(question_id="a", text="What?"), make_answer({"n": ("bigint", ["12"])})))
    assert found["s1_types"].observed == 1
    assert found["s1_types"].message == "n holds text instead of number"


@pytest.mark.parametrize(
    ("kind", "cells", "bounds", "holds"),
    [
        ("numeric", [Decimal("10.00"), Decimal("20.00")], {"min": 10, "max": 20}, True),
        ("numeric", [Decimal("10.00"), Decimal("20.01")], {"min": 10, "max": 20}, False),
        ("bigint", [9007199254740993], {"max": 9007199254740992}, False),
        ("numeric", [Decimal(2**80)], {"min": 2**80}, True),
        ("date", [date(2026, 6, 30)], {"min": "2026-06-01"}, True),
        ("timestamptz", [datetime(2026, 6, 30, tzinfo=UTC)], {"min": "2026-07-01"}, False),
        ("timestamptz", [datetime(2026, 6, 30, tzinfo=UTC)], {"max": "2026-07-01T00:00:00+02:00"}, True),
    ],
)
def test_bounds_are_compared_in_the_values_own_kind(
    make_answer: MakeAnswer, kind: str, cells: list[Any], bounds: dict[str, Any], holds: bool
) -> None:
    assert _observe(make_answer({"v": (kind, cells)}), kind="bounds", column="v", **bounds).exact is holds


def test_a_bound_of_another_kind_is_an_error_with_a_reason(make_answer: MakeAnswer) -> None:
    found = _observe(make_answer({"v": ("date", [date(2026, 1, 1)])}), kind="bounds", column="v", min=5)
    assert found.broken == "the bound 5 is of another kind than the values of v"


def test_a_missing_column_is_an_error_with_those_that_are_there(make_answer: MakeAnswer) -> None:
    found = _observe(make_answer({"v": ("bigint", [1])}), kind="not_null", column="w")
    assert found.broken == "the result has no column w; it has v"


def test_without_a_result_there_is_nothing_to_judge(make_answer: MakeAnswer) -> None:
    assert not _observe(make_answer(), kind="row_count", min=1).judged


def test_text_is_found_whatever_its_case(make_answer: MakeAnswer) -> None:
    assert _observe(make_answer(), kind="contains_text", value="revenue").exact
    assert not _observe(make_answer(), kind="contains_text", value="margin").exact


def test_unsupported_claims_are_observed(make_answer: MakeAnswer) -> None:
    answer = make_answer(verdict=Verdict(supported=False, unsupported_claims=("x",)))
    assert _by_id(observe_answer(Question(question_id="a", text="What?"), answer))["claims_supported"].observed == 1
