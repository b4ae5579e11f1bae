"""Kept plans: what each does, how it differs from the one before, and what a person decides about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from nightshift_airflow.page.auth import Person, PlanDecider, Reader, refuse
from nightshift_airflow.page.render import render
from nightshift_airflow.page.routes.parts import Page, see_other
from nightshift_airflow.page.services import PageServices
from nightshift_airflow.page.views import diff_lines
from rag_core.batch.plan_review import Replanned, approve_plan, reject_plan, replan
from rag_core.batch.records import list_question_batches
from rag_core.plans.compare import compare_plans
from rag_core.plans.store import KeptPlan, PlanState, PlanStore

router = APIRouter()

STATES: tuple[PlanState, ...] = ("draft", "approved", "stale", "broken", "retired")
# Beside the states: plans of questions that no batch asks.
ONCE = "once"
# What can no longer be replayed and what nobody has looked at come first.
_ORDER = {state: number for number, state in enumerate(("broken", "stale", "draft", "approved", "retired"))}


@router.get("/plans", response_class=HTMLResponse, summary="Kept plans of standing questions")
def show_plans(request: Request, person: Reader, page: Page, state: PlanState | Literal["", "once"] = "") -> Response:
    """The plans of standing questions, those that need somebody first; or those in one state, or asked by hand."""
    homes = list_question_batches(page.store)
    readable = permitted_plans(page, person, homes)
    once = [plan for plan in readable if plan.question_id not in homes and plan.state != "retired"]
    standing = [plan for plan in readable if plan.question_id in homes]
    counts = {name: sum(plan.state == name for plan in standing) for name in STATES}
    shown = [plan for plan in standing if (plan.state == state if state else plan.state != "retired")]
    if state == ONCE:
        shown = once
    plans = sorted(shown, key=lambda plan: (_ORDER[plan.state], plan.question.lower()))
    return render(
        request, person, "plans.html.j2", active="plans", plans=plans, counts=counts, once=len(once), state=state
    )


@router.get("/plans/{plan_id}", response_class=HTMLResponse, summary="A plan with its steps, SQL and difference")
def show_plan(request: Request, person: Reader, page: Page, plan_id: str) -> Response:
    """One plan, and what sets it apart from the plan that the question had before."""
    store = PlanStore(page.store)
    plan = permitted_plan(page, person, plan_id)
    versions = store.versions(plan.question_key)
    return render(
        request,
        person,
        "plan.html.j2",
        active="plans",
        plan=plan,
        runs=store.runs(plan_id),
        versions=versions,
        difference=compare_plans(plan) if plan.replaces is not None else None,
        diff_lines=diff_lines,
    )


@router.post("/plans/{plan_id}/approve", summary="Approve a plan for replay")
def approve(request: Request, person: PlanDecider, page: Page, plan_id: str) -> Response:
    """Approves the plan under the user's name."""
    permitted_plan(page, person, plan_id)
    approve_plan(page.store, plan_id, by=person.name)
    return see_other(request, f"/plans/{plan_id}", "approved")


@router.post("/plans/{plan_id}/reject", summary="Retire a plan")
def reject(
    request: Request,
    person: PlanDecider,
    page: Page,
    plan_id: str,
    reason: Annotated[str, Form(max_length=1_000, description="Why")] = "",
) -> Response:
    """Retires the plan under the user's name."""
    permitted_plan(page, person, plan_id)
    reject_plan(page.store, plan_id, by=person.name, reason=reason)
    return see_other(request, f"/plans/{plan_id}", "rejected")


@router.post("/plans/{plan_id}/replan", summary="Plan the question anew")
def plan_anew(request: Request, person: PlanDecider, page: Page, plan_id: str) -> Response:
    """Answers the plan's question without replay, and shows the new plan beside the old one."""
    permitted_plan(page, person, plan_id)
    done = replan_now(page, plan_id, by=person.name)
    return see_other(request, f"/plans/{(done.after or done.before).plan_id}", "replanned")


def permitted_plans(page: PageServices, person: Person, homes: Mapping[str, frozenset[str]]) -> list[KeptPlan]:
    """The plans that this person may read. Each batch is asked for once."""
    known: dict[str | None, bool] = {}
    found = []
    for plan in PlanStore(page.store).list_plans():
        key = plan.question_id if plan.question_id in homes else None
        if key not in known:
            known[key] = person.may_read_plan(key, homes)
        if known[key]:
            found.append(plan)
    return found


def permitted_plan(page: PageServices, person: Person, plan_id: str) -> KeptPlan:
    """A plan, where this person may read the batches that ask its question."""
    plan = PlanStore(page.store).get(plan_id)
    if not person.may_read_plan(plan.question_id, list_question_batches(page.store)):
        refuse()
    return plan


def replan_now(page: PageServices, plan_id: str, *, by: str) -> Replanned:
    """Plans the question anew when what waits before it is done."""
    run_date = page.services.run_date()

    def work() -> Replanned:
        orchestrator = page.build(lambda made: made.orchestrator)
        return replan(page.store, orchestrator, plan_id, run_date=run_date, by=by)

    PlanStore(page.store).get(plan_id)
    return page.wait(work)
