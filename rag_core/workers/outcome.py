"""What one visit of a worker brings back."""

from __future__ import annotations

from typing import Literal

from rag_core.datamodel.base import Record
from rag_core.datamodel.evidence import SearchOutcome, SqlEvidence

FaultClass = Literal[
    "syntax",
    "unknown_table",
    "unknown_column",
    "ambiguous_column",
    "join",
    "type",
    "timeout",
    "too_large",
    "empty",
    "policy",
    "model_output",
    "transient",
    "needs_model",
    "impossible",
    "budget",
    "other",
]


class Fault(Record):
    """Why a step brought nothing. `code` is the guard's or the database's word, `fault_class` ours.

    `suggestions` are names that the guard or the catalog offers instead; `sql` the statement at fault.
    """

    fault_class: FaultClass
    code: str
    message: str
    sql: str | None = None
    suggestions: tuple[str, ...] = ()


class StepOutcome(Record):
    """The result of one attempt at a step: evidence, a search outcome, or a fault.

    `attempt` counts from 1. `repaired` says that code, not a model, mended the statement. `followed` are sentences on
    renames in the warehouse that the statement was mended to follow, and on changes that nobody has decided on.
    `candidates` is how many statements were drawn where the first was doubtful, and `agreeing` how many of them brought
    the result taken; 0 where none was drawn besides it.
    """

    step_id: str
    attempt: int = 1
    sql: SqlEvidence | None = None
    search: SearchOutcome | None = None
    fault: Fault | None = None
    repaired: str = ""
    followed: tuple[str, ...] = ()
    candidates: int = 0
    agreeing: int = 0


def latest(outcomes: tuple[StepOutcome, ...]) -> tuple[StepOutcome, ...]:
    """The last attempt at each step, in the order of the step ids' first appearance."""
    found: dict[str, StepOutcome] = {}
    for outcome in outcomes:
        known = found.get(outcome.step_id)
        if known is None or outcome.attempt >= known.attempt:
            found[outcome.step_id] = outcome
    return tuple(found.values())
