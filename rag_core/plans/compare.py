"""A plan beside what it took the place of, for whoever decides whether it may. Pure."""

from __future__ import annotations

from rag_core.datamodel.base import Record
from rag_core.errors import ConfigurationError
from rag_core.plans.fingerprint import changed
from rag_core.plans.store import KeptPlan


class Sides(Record):
    """Two texts side by side. `step_id` is empty for the answer."""

    before: str
    now: str
    step_id: str = ""

    @property
    def same(self) -> bool:
        """Whether they are the same."""
        return self.before == self.now


class PlanDifference(Record):
    """What changed from one plan of a question to the next. `changed` are the kinds of fingerprints that differ."""

    plan_id: str
    replaces: str
    approved_before: bool
    changed: tuple[str, ...]
    sql: tuple[Sides, ...]
    answer: Sides
    same_sql: bool
    same_answer: bool


def compare_plans(kept: KeptPlan) -> PlanDifference:
    """The difference to the plan before; raises ConfigurationError where it replaces none."""
    before = kept.replaces
    if before is None:
        raise ConfigurationError(f"the plan {kept.plan_id} replaces none: there is nothing to compare it with")
    names = sorted({*before.statements, *kept.statements})
    sql = tuple(
        Sides(step_id=name, before=before.statements.get(name, ""), now=kept.statements.get(name, "")) for name in names
    )
    answer = Sides(before=before.answer, now=kept.answer)
    return PlanDifference(
        plan_id=kept.plan_id,
        replaces=before.plan_id,
        approved_before=before.approved,
        changed=changed(before.fingerprints, kept.fingerprints),
        sql=sql,
        answer=answer,
        same_sql=all(step.same for step in sql),
        same_answer=answer.same,
    )
