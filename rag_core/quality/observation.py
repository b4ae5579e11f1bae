"""What was measured, with the range it must lie in. Values; another module judges them."""

from __future__ import annotations

from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from rag_core.datamodel.answer import Answer
from rag_core.datamodel.base import Record
from rag_core.datamodel.question import Severity
from rag_core.datamodel.report import PastValue


class Observation(Record):
    """One thing measured with the range it must lie in, both ends included; None is no bound.

    `judged=False` says that there was nothing to measure, with the reason in `message`; `broken` that the check cannot
    be made as it is written, for this reason: whoever wrote it must act, whatever the data are. `exact` is the
    comparison made with the exact values, for those that a double cannot hold. `description` says in plain words what
    is checked.
    """

    check_id: str
    question_id: str
    severity: Severity
    observed: Any = None
    lower: Any = None
    upper: Any = None
    exact: bool | None = None
    judged: bool = True
    broken: str = ""
    message: str = ""
    description: str = ""


class RunContext(Record):
    """What else a check may look at: the run's other answers, and what earlier runs published, oldest first."""

    answers: dict[str, Answer] = {}
    history: dict[str, tuple[PastValue, ...]] = {}
    run_date: date | None = None


def exact_number(value: Any) -> Decimal | None:
    """A finite number exactly, from a number or its text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
