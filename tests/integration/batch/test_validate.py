"""The verdicts of Great Expectations itself."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from rag_core.datamodel.question import Expectation, Question
from rag_core.quality.decide import decide
from rag_core.quality.observation import Observation
from rag_core.quality.suites import observe_answer
from rag_core.quality.validate import judge
from tests.integration.batch.scripted import result_evidence, scripted_answer

pytestmark = pytest.mark.integration


def _observation(number: int, **fields: Any) -> Observation:
    return Observation(check_id=f"c{number}", question_id="a", severity="critical", **fields)


def test_each_observation_gets_its_own_verdict() -> None:
    observations = [
        _observation(0, observed=0, lower=1),
        _observation(1, observed=1, lower=1),
        _observation(2, observed=0.81, upper=0.8),
        _observation(3, observed=0.8, upper=0.8),
        _observation(4, observed=5, lower=1, upper=4),
        _observation(5, observed="1 to 2", lower=1, upper=9, exact=True),
        _observation(6, observed="1 to 20", lower=1, upper=9, exact=False),
        _observation(7, judged=False, message="the result is empty"),
    ]
    assert [result.verdict for result in judge(observations)] == [
        "fail",
        "pass",
        "fail",
        "pass",
        "fail",
        "pass",
        "fail",
        "not_judged",
    ]


def test_a_check_that_cannot_be_made_as_it_is_written_is_an_error_and_keeps_the_answer_back() -> None:
    question = Question(
        question_id="a", text="What?", expectations=(Expectation(kind="bounds", column="revenu", min=0),)
    )
    answer = scripted_answer(result_evidence({"revenue": ("numeric", [Decimal(5)])}))
    checks = judge(observe_answer(question, answer))
    assert [(check.check_id, check.verdict) for check in checks if check.verdict != "pass"] == [
        ("bounds_revenu", "error")
    ]
    outcome = decide(question, answer, checks)
    assert outcome.state == "quarantined"
    assert outcome.reason == (
        "could not be checked: revenu lies at or above 0 (the result has no column revenu; it has revenue)"
    )


def test_thresholds_are_written_out() -> None:
    results = judge([_observation(0, observed=1, lower=1, upper=4), _observation(1, observed=1, upper=2)])
    assert [result.threshold for result in results] == ["1 to 4", "at most 2"]


def test_two_hundred_questions_are_judged_apart() -> None:
    observations = [_observation(number, observed=number % 2, upper=0) for number in range(1_000)]
    assert [result.verdict for result in judge(observations)] == ["pass", "fail"] * 500


def test_nothing_to_judge_is_no_error() -> None:
    assert judge([]) == ()
