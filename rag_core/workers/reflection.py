"""What to do about a fault: classified and decided purely, bounded by counts. The only loop of the graph uses this."""

from __future__ import annotations

import difflib
import re
from typing import Literal

from rag_core.datamodel.base import Record
from rag_core.errors import BudgetExhausted, ModelFault, QueryFault
from rag_core.workers.outcome import Fault, FaultClass

MAX_SQL_ATTEMPTS = 3
MAX_ANSWER_ATTEMPTS = 2
MIN_SIMILARITY = 0.8

_BY_CODE: dict[str, FaultClass] = {
    "syntax": "syntax",
    "parse_error": "syntax",
    "unknown_table": "unknown_table",
    "unknown_column": "unknown_column",
    "unknown_schema": "unknown_table",
    "ambiguous_column": "ambiguous_column",
    "ambiguous_table": "ambiguous_column",
    "join": "join",
    "type": "type",
    "data": "type",
    "timeout": "timeout",
    "too_large": "too_large",
    "empty": "model_output",
    "not_a_query": "model_output",
    "multiple_statements": "model_output",
    "parameter": "model_output",
    "unsupported": "syntax",
    "unsupported_syntax": "syntax",
    "alias_not_allowed": "syntax",
    "too_complex": "too_large",
    "too_long": "too_large",
    "permission": "policy",
    "transient": "transient",
    "model_output": "model_output",
}
_QUOTED = re.compile(r'"([^"]+)"|`([^`]+)`|\b(?:column|table|relation)\s+([\w.]+)', re.IGNORECASE)

ActionKind = Literal["repair", "ask_model", "retry_same", "narrow", "stop"]


class Action(Record):
    """The decision on a fault. `replace` is (wrong name, right name) for a repair without a model."""

    kind: ActionKind
    reason: str
    replace: tuple[str, str] | None = None


def classify(code: str) -> FaultClass:
    """The class of a code of the guard or of the database. What the guard refuses for its content is `policy`."""
    if code in _BY_CODE:
        return _BY_CODE[code]
    return "other" if code == "other" else "policy"


def fault_of(error: QueryFault | ModelFault | BudgetExhausted, sql: str | None = None) -> Fault:
    """The fault of an error that a step raised."""
    if isinstance(error, QueryFault):
        fault_class = "other" if error.code == "other" else classify(error.code)
        return Fault(
            fault_class=fault_class, code=error.code, message=error.message, sql=sql, suggestions=error.suggestions
        )
    if isinstance(error, ModelFault):
        return Fault(fault_class="model_output", code="model_output", message=str(error), sql=sql)
    return Fault(fault_class="budget", code="budget", message=str(error), sql=sql)


def wrong_name(message: str) -> str | None:
    """The name that a message complains of: the first quoted one, or the word after column, table or relation."""
    match = _QUOTED.search(message)
    return next((group for group in match.groups() if group), None) if match else None


def similarity(first: str, second: str) -> float:
    """Likeness of two names between 0 and 1 (Ratcliff and Obershelp, on lower case without the qualifier)."""
    left, right = (name.rsplit(".", 1)[-1].lower() for name in (first, second))
    return difflib.SequenceMatcher(a=left, b=right, autojunk=False).ratio()


def proposed_repair(fault: Fault) -> tuple[str, str] | None:
    """The one name to put for the wrong one, where a single suggestion is close enough and no rival comes near.

    A name that differs in its digits (q1, q2) is another thing, however alike it looks.
    """
    wrong = wrong_name(fault.message)
    if wrong is None or fault.sql is None or fault.fault_class not in ("unknown_column", "unknown_table"):
        return None
    digits = re.findall(r"\d+", wrong)
    likely = [
        name
        for name in dict.fromkeys(fault.suggestions)
        if similarity(wrong, name) > MIN_SIMILARITY and re.findall(r"\d+", name) == digits
    ]
    names = (
        {name.rsplit(".", 1)[-1].lower() for name in likely} if fault.fault_class == "unknown_column" else set(likely)
    )
    return (wrong, likely[0]) if len(names) == 1 else None


def decide(fault: Fault, attempt: int, *, has_model: bool, written_by_model: bool) -> Action:
    """What to do after attempt number `attempt` at a step failed with this fault.

    Args:
        fault: what went wrong.
        attempt: how often the step was tried, this time included.
        has_model: whether a chat model may be asked.
        written_by_model: whether the statement was a model's; a compiled metric is never rewritten by one.
    """
    if fault.fault_class == "policy":
        return Action(kind="stop", reason="the policy refuses it, and a refusal is not retried around")
    if fault.fault_class in ("needs_model", "budget", "impossible"):
        return Action(kind="stop", reason=fault.message)
    if attempt >= MAX_SQL_ATTEMPTS:
        return Action(kind="stop", reason=f"{attempt} attempts failed")
    if fault.fault_class == "transient":
        return Action(kind="retry_same", reason="the fault is passing")
    repair = proposed_repair(fault)
    if repair is not None:
        return Action(kind="repair", reason=f"{repair[0]} is not known, {repair[1]} is", replace=repair)
    if has_model and written_by_model:
        if fault.fault_class in ("timeout", "too_large"):
            return Action(kind="narrow", reason="the statement must read less")
        return Action(kind="ask_model", reason=f"the model is told of the {fault.fault_class.replace('_', ' ')} fault")
    return Action(kind="stop", reason="nothing here can mend it")
