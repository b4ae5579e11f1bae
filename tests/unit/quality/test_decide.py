"""What becomes of an answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rag_core.datamodel.answer import Answer
from rag_core.datamodel.question import Question, Severity
from rag_core.datamodel.report import CheckResult, CheckVerdict
from rag_core.quality.decide import decide

QUESTION = Question(question_id="a", text="What?")


def _check(verdict: CheckVerdict, severity: Severity = "critical") -> CheckResult:
    return CheckResult(
        check_id="c", question_id="a", verdict=verdict, severity=severity, observed=3, threshold="at most 2"
    )


@pytest.mark.parametrize(
    ("verdict", "severity", "state"),
    [
        ("pass", "critical", "published"),
        ("fail", "critical", "quarantined"),
        ("error", "critical", "quarantined"),
        ("not_judged", "critical", "published"),
        ("fail", "warning", "published"),
    ],
)
def test_only_a_critical_check_keeps_an_answer_back(
    make_answer: Callable[..., Answer], verdict: CheckVerdict, severity: Severity, state: str
) -> None:
    assert decide(QUESTION, make_answer(), [_check(verdict, severity)]).state == state


def test_the_reason_says_what_was_observed(make_answer: Callable[..., Answer]) -> None:
    assert decide(QUESTION, make_answer(), [_check("fail")]).reason == "not so: c (observed 3, allowed at most 2)"


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("answered", "published"),
        ("partial", "published"),
        ("no_evidence", "published"),
        ("needs_model", "needs_model"),
        ("failed", "failed"),
        ("refused", "failed"),
        ("needs_clarification", "failed"),
    ],
)
def test_states_of_answers(make_answer: Callable[..., Answer], status: str, state: str) -> None:
    assert decide(QUESTION, make_answer(status=status), []).state == state
