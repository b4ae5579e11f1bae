"""Batch runs, their checks and what is published."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

from rag_core.datamodel.answer import AnswerStatus, Usage
from rag_core.datamodel.base import Record
from rag_core.datamodel.plan import Strategy
from rag_core.datamodel.query import Cell
from rag_core.datamodel.question import Severity

CheckVerdict = Literal["pass", "fail", "error", "not_judged"]
PublishState = Literal["published", "quarantined", "failed", "needs_model"]


class CheckResult(Record):
    """One expectation judged. `error` means that the check itself broke, which is neither a pass nor a fail."""

    check_id: str
    question_id: str
    verdict: CheckVerdict
    severity: Severity
    observed: Any = None
    threshold: Any = None
    message: str = ""
    description: str = ""


class PastValue(Record):
    """What an earlier run published: its headline value with its unit, and the rows of its first result."""

    run_date: date
    value: Any = None
    unit: str = ""
    row_count: int | None = None


# By question id, oldest first.
History = dict[str, tuple[PastValue, ...]]


class QuestionOutcome(Record):
    """How one question of a batch ended. `state` is where its row went, `status` what the core said."""

    question_id: str
    status: AnswerStatus
    strategy: Strategy
    state: PublishState
    answer: str
    headline_value: Cell = None
    checks: tuple[CheckResult, ...] = ()
    reason: str = ""


class BatchOutcome(Record):
    """How a batch run ended; counts are of questions."""

    run_id: str
    batch: str
    run_date: date
    published: int
    quarantined: int
    failed: int
    needs_model: int
    questions: tuple[QuestionOutcome, ...]
    usage: Usage = Usage()
    report_path: str | None = None
