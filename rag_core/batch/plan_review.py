"""People's decisions on kept plans: approve, reject, plan anew. Each is an event of the audit trail."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from rag_core.connectors.store import Store
from rag_core.datamodel.answer import Answer
from rag_core.datamodel.base import Record
from rag_core.errors import ConfigurationError
from rag_core.plans.store import KeptPlan, PlanState, PlanStore
from rag_core.reports.audit import append_event

if TYPE_CHECKING:
    from rag_core.graph.build import Orchestrator


class Replanned(Record):
    """A question that was planned anew; `after` is None where its answer left no plan that can be kept."""

    before: KeptPlan
    after: KeptPlan | None
    answer: Answer

    @property
    def same_sql(self) -> bool:
        """Whether the new plan runs the same statements."""
        return self.after is not None and self.after.statements == self.before.statements


def approve_plan(store: Store, plan_id: str, *, by: str) -> KeptPlan:
    """Approves a plan for replay. Raises ConfigurationError where there is none, or nobody is named."""
    return _decide(store, plan_id, "approved", by=by, action="plan.approved")


def reject_plan(store: Store, plan_id: str, *, by: str, reason: str) -> KeptPlan:
    """Retires a plan: its question is planned anew next time."""
    return _decide(store, plan_id, "retired", by=by, action="plan.rejected", reason=reason.strip() or "rejected")


def replan(store: Store, orchestrator: Orchestrator, plan_id: str, *, run_date: date, by: str) -> Replanned:
    """Answers the plan's question without replay; the new plan is a draft and takes the old one's place."""
    plans = PlanStore(store)
    old = _decide(store, plan_id, "stale", by=by, action="plan.replanned", reason="planned anew by hand")
    answer = orchestrator.answer(old.question, run_date=run_date, question_id=old.question_id)
    return Replanned(before=plans.get(plan_id), after=plans.find(old.question_key), answer=answer)


def _decide(store: Store, plan_id: str, state: PlanState, *, by: str, action: str, reason: str = "") -> KeptPlan:
    if not by.strip():
        raise ConfigurationError("a decision needs the name of who takes it")
    plans = PlanStore(store)
    before = plans.get(plan_id)
    detail: dict[str, Any] = {"question": before.question, "from": before.state, "to": state, "reason": reason}
    with store.connection() as connection:
        # The event is kept only where the change was made.
        append_event(connection, actor=by.strip(), action=action, target=plan_id, detail=detail)
        plans.set_state(plan_id, state, reason)
    return plans.get(plan_id)
