"""Which node is next. Pure: the same state gives the same route."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rag_core.datamodel.plan import Plan, Step
from rag_core.graph.state import Revision
from rag_core.workers.outcome import StepOutcome, latest

Worker = Literal["sql_worker", "vector_worker"]


def worker_of(step: Step) -> Worker:
    """The worker that does a step."""
    return "sql_worker" if step.kind == "sql" else "vector_worker"


def ready_steps(
    plan: Plan, outcomes: Sequence[StepOutcome], revisions: Sequence[Revision] = ()
) -> tuple[tuple[Step, int, str], ...]:
    """Steps to do now as (step, attempt, what was repaired), in the order of the plan.

    A step is ready when each step it depends on has brought something. Revised steps replace theirs.
    """
    if revisions:
        return tuple((revision.step, revision.attempt, revision.repaired) for revision in revisions)
    done = {outcome.step_id: outcome for outcome in latest(tuple(outcomes))}
    return tuple(
        (step, 1, "")
        for step in plan.steps
        if step.step_id not in done and all(name in done and done[name].fault is None for name in step.depends_on)
    )


def blocked_steps(plan: Plan, outcomes: Sequence[StepOutcome]) -> tuple[Step, ...]:
    """Steps that can never be done because one they depend on failed."""
    done = {outcome.step_id: outcome for outcome in latest(tuple(outcomes))}
    return tuple(step for step in plan.steps if step.step_id not in done) if not ready_steps(plan, outcomes) else ()


def open_faults(outcomes: Sequence[StepOutcome]) -> tuple[StepOutcome, ...]:
    """The last attempts that ended in a fault."""
    return tuple(outcome for outcome in latest(tuple(outcomes)) if outcome.fault is not None)
