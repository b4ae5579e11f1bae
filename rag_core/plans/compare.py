"""What sets a plan apart from the one before it. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from rag_core.datamodel.base import Record
from rag_core.plans.store import KeptPlan


class StepDifference(Record):
    """A step whose SQL is not the same: one line a difference, marked with `+`, `-` or a space."""

    step_id: str
    lines: tuple[str, ...]


class PlanDifference(Record):
    """What changed from one plan of a question to the next."""

    before: str
    strategy: tuple[str, str] | None = None
    steps: tuple[StepDifference, ...] = ()
    tables_added: tuple[str, ...] = ()
    tables_removed: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether the two run the same SQL on the same tables."""
        return not (self.strategy or self.steps or self.tables_added or self.tables_removed)


def compare_plans(before: KeptPlan, after: KeptPlan) -> PlanDifference:
    """The differences of two plans of one question; `rests_on` names the kinds of fingerprint that changed."""
    kinds = {**before.fingerprints, **after.fingerprints}
    return PlanDifference(
        before=before.plan_id,
        strategy=(before.strategy, after.strategy) if before.strategy != after.strategy else None,
        steps=tuple(_step_differences(before, after)),
        tables_added=tuple(sorted({*after.tables} - {*before.tables})),
        tables_removed=tuple(sorted({*before.tables} - {*after.tables})),
        rests_on=tuple(sorted(kind for kind in kinds if before.fingerprints.get(kind) != after.fingerprints.get(kind))),
    )


def _step_differences(before: KeptPlan, after: KeptPlan) -> Sequence[StepDifference]:
    found = []
    for step_id in sorted({*before.statements, *after.statements}):
        old, new = before.statements.get(step_id, ""), after.statements.get(step_id, "")
        if old != new:
            lines = tuple(line for line in difflib.ndiff(old.splitlines(), new.splitlines()) if line[:1] != "?")
            found.append(StepDifference(step_id=step_id, lines=lines))
    return found
