"""What becomes of an answer: published, quarantined, failed, or waiting for a model. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.datamodel.answer import Answer
from rag_core.datamodel.question import Question
from rag_core.datamodel.report import CheckResult, PublishState, QuestionOutcome

_PUBLISHABLE = frozenset({"answered", "partial", "no_evidence"})


def decide(question: Question, answer: Answer, checks: Sequence[CheckResult]) -> QuestionOutcome:
    """The outcome of one question. A critical check that failed, or could not be made, keeps the answer back."""
    state: PublishState
    reason = ""
    if answer.status == "needs_model":
        state, reason = "needs_model", answer.text
    elif answer.status not in _PUBLISHABLE:
        state, reason = "failed", answer.text
    else:
        blocking = [check for check in checks if check.severity == "critical" and check.verdict in ("fail", "error")]
        state = "quarantined" if blocking else "published"
        reason = "; ".join(_describe(check) for check in blocking)
    return QuestionOutcome(
        question_id=question.question_id,
        status=answer.status,
        strategy=answer.strategy,
        state=state,
        answer=answer.text,
        headline_value=answer.headline_value,
        checks=tuple(checks),
        reason=reason,
    )


def _describe(check: CheckResult) -> str:
    """`not so: <what is expected> (<what was observed>)`, for people."""
    expected = check.description or check.check_id
    if check.verdict == "error":
        return f"could not be checked: {expected} ({check.message})"
    parts = [
        f"observed {check.observed}" if check.observed is not None else "",
        f"allowed {check.threshold}" if check.threshold is not None else "",
        check.message,
    ]
    return f"not so: {expected} ({', '.join(part for part in parts if part)})"
