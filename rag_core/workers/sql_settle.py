"""Brings a model's statement to run: mended by code until the guard and the database take it, then looked at.

A statement that runs is left alone, but for two things that running does not tell: values that its columns spell
otherwise, where it found nothing, and whole numbers that the database cut off when it divided them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rag_core.workers.outcome import Fault, StepOutcome
from rag_core.workers.sql_repair.judgement import suspicious
from rag_core.workers.sql_repair.mender import is_mendable, mend_statement, refine_divisions, refine_values
from rag_core.workers.sql_repair.mends import Mend, MendedStatement
from rag_core.workers.sql_repair.shape import Shape

# A name may hide a type, and a type a group; more rounds than that go in circles.
MAX_ROUNDS = 6
MENDED_EMPTY = "mended_empty"
# The statement does not run, and no form of it could be proven.
UNMENDED = "unmended"

Act = Callable[[str], StepOutcome]


class Settled(NamedTuple):
    """What became of a statement: the outcome of the last form of it, and the mends that led there."""

    outcome: StepOutcome
    mended: MendedStatement


def settle(sql: str, outcome: StepOutcome, act: Act, shape: Shape) -> Settled:
    """The statement's outcome after its mends; the first outcome unchanged where mending does not bring it to run.

    Args:
        sql: the statement as written.
        outcome: what became of it.
        act: guards, plans and runs a statement.
        shape: the schema that questions may see.
    """
    mends: list[Mend] = []
    text, current, seen = sql, outcome, {sql}
    for _ in range(MAX_ROUNDS):
        if current.fault is None:
            break
        step = mend_statement(text, current.fault, shape)
        if not step.mends or step.sql in seen:
            break
        seen.add(step.sql)
        mends += step.mends
        text, current = step.sql, act(step.sql)
    if current.sql is None:
        return Settled(_unproven(outcome), MendedStatement(sql=sql))
    if suspicious(current.sql.result):
        refined = refine_values(text, shape)
        tried = act(refined.sql) if refined.mends else current
        if tried.sql is not None and not suspicious(tried.sql.result):
            mends += refined.mends
            text, current = refined.sql, tried
    refined = refine_divisions(text, shape)
    tried = act(refined.sql) if refined.mends else current
    if current.sql is not None and tried.sql is not None and tried.sql.result.rows != current.sql.result.rows:
        mends += refined.mends
        text, current = refined.sql, tried
    mended = MendedStatement(sql=text, mends=tuple(mends))
    return Settled(_checked(current, mended), mended)


def _unproven(outcome: StepOutcome) -> StepOutcome:
    """The outcome of a statement that cannot be brought to run: no answer, said as such, its class kept for a retry."""
    fault = outcome.fault
    if fault is None or not is_mendable(fault):
        return outcome
    message = f"no statement for it could be proven by the schema ({fault.message.rstrip('.')})"
    told = fault.model_copy(update={"code": UNMENDED, "message": message})
    return outcome.model_copy(update={"fault": told})


def describe(mended: MendedStatement) -> str:
    """The mends in one line, empty for none."""
    told = []
    for mend in mended.mends:
        kind = mend.kind.replace("_", " ")
        change = f"{mend.before} to {mend.after}" if mend.before and mend.after else mend.before or mend.after
        told.append(f"{kind}: {change if mend.before != mend.after else mend.after}")
    return "; ".join(dict.fromkeys(told))


def _checked(outcome: StepOutcome, mended: MendedStatement) -> StepOutcome:
    """A mended statement that found nothing is no answer: that it runs is no sign that it was meant."""
    doubt = suspicious(outcome.sql.result) if outcome.sql is not None and mended.mends else ""
    if not doubt:
        return outcome
    message = f"the statement had to be mended ({describe(mended)[:300]}), and its result holds {doubt}"
    fault = Fault(fault_class="empty", code=MENDED_EMPTY, message=message, sql=mended.sql)
    return outcome.model_copy(update={"sql": None, "fault": fault})
