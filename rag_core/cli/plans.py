"""`nightshift plans`: the plans that are kept, and what a person decides about them."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from rag_core.cli.output import JsonOption, console, emit
from rag_core.cli.person import person
from rag_core.errors import ConfigurationError
from rag_core.plans.store import KeptPlan, PlanRun, PlanStore

STATES = ("draft", "approved", "stale", "broken", "retired")
PlanId = Annotated[str, typer.Argument(help="Id of the plan, as `plans list` shows it")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    plans = typer.Typer(help="Kept plans of standing questions.", no_args_is_help=True)
    plans.command("list", help="All plans, or those of one state.")(list_plans)
    plans.command("show", help="One plan with its steps, SQL, lineage and last runs.")(show_plan)
    plans.command("diff", help="A plan beside the one it replaces: SQL, answer, and what had changed.")(diff_plan)
    plans.command("approve", help="Approve a plan for replay.")(approve_plan)
    plans.command("reject", help="Retire a plan: its question is planned anew next time.")(reject_plan)
    plans.command("replan", help="Plan the question anew and show old and new side by side.")(replan)
    app.add_typer(plans, name="plans")


def to_contract(kept: KeptPlan, runs: tuple[PlanRun, ...] = ()) -> dict[str, Any]:
    """A plan with the field names of the command line's contract."""
    return {
        "plan_id": kept.plan_id,
        "question": kept.question,
        "question_id": kept.question_id,
        "state": kept.state,
        "strategy": kept.strategy,
        "query_type": kept.plan.query_type,
        "steps": [step.model_dump(mode="json", exclude_defaults=False) for step in kept.plan.steps],
        "sql": kept.statements,
        "tables": kept.tables,
        "columns": kept.columns,
        "fingerprints": kept.fingerprints,
        "reason": kept.reason,
        "answer": kept.answer,
        "replaces": kept.replaces,
        "planned_on": kept.plan.run_date,
        "created_at": kept.created_at,
        "updated_at": kept.updated_at,
        "last_runs": runs,
    }


def list_plans(
    state: Annotated[str | None, typer.Option(help=f"One of {', '.join(STATES)}")] = None,
    as_json: JsonOption = False,
) -> None:
    """Prints the plans, oldest first."""
    if state is not None and state not in STATES:
        raise ConfigurationError(f"unknown state {state!r}: use {', '.join(STATES)}")
    from rag_core.wiring import open_services  # noqa: PLC0415 - a wrong argument must not start anything

    with open_services() as services:
        store = PlanStore(services.store)
        found = [(kept, tuple(store.runs(kept.plan_id, 1))) for kept in store.list_plans(state)]

    def render() -> None:
        table = Table("Plan", "State", "Strategy", "Question", "Last run", box=None, pad_edge=False)
        for kept, runs in found:
            last = f"{runs[0].run_date} {runs[0].status}" if runs else ""
            table.add_row(kept.plan_id, kept.state, kept.strategy, kept.question, last)
        console.print(table if found else "No plan is kept.")

    emit({"plans": [to_contract(kept, runs) for kept, runs in found]}, as_json=as_json, render=render)


def show_plan(plan_id: PlanId, as_json: JsonOption = False) -> None:
    """Prints one plan."""
    from rag_core.wiring import open_services  # noqa: PLC0415

    with open_services() as services:
        store = PlanStore(services.store)
        kept, runs = store.get(plan_id), tuple(store.runs(plan_id))
    emit(to_contract(kept, runs), as_json=as_json, render=lambda: _render(kept, runs))


def diff_plan(plan_id: PlanId, as_json: JsonOption = False) -> None:
    """Prints a plan beside what it replaces."""
    from rag_core.plans.compare import compare_plans  # noqa: PLC0415
    from rag_core.wiring import open_services  # noqa: PLC0415

    with open_services() as services:
        kept = PlanStore(services.store).get(plan_id)
    difference = compare_plans(kept)

    def render() -> None:
        approved = "an approved plan" if difference.approved_before else "a draft"
        console.print(f"{plan_id} ({kept.state}) replaces {difference.replaces}, {approved}.", markup=False)
        console.print(f"Changed: {', '.join(difference.changed) or 'nothing'}", markup=False)
        table = Table("", "Before", "Now", show_lines=True)
        for step in difference.sql:
            table.add_row(step.step_id, escape(step.before), escape(step.now))
        table.add_row("answer", escape(difference.answer.before), escape(difference.answer.now))
        console.print(table)

    emit(difference, as_json=as_json, render=render)


def _render(kept: KeptPlan, runs: tuple[PlanRun, ...]) -> None:
    console.print(f"[bold]{kept.plan_id}[/bold] {kept.state} · {kept.strategy}")
    console.print(kept.question, markup=False)
    if kept.reason:
        console.print(kept.reason, markup=False)
    if kept.replaces is not None:
        console.print(f"It replaces {kept.replaces.plan_id}: see `nightshift plans diff {kept.plan_id}`", markup=False)
    for step in kept.plan.steps:
        console.print(f"\n{step.step_id} ({step.kind}): {step.task}", markup=False)
        if step.step_id in kept.statements:
            console.print(kept.statements[step.step_id], style="dim", markup=False, highlight=False)
    console.print(f"\nTables: {', '.join(kept.tables) or 'none'}", markup=False)
    for run in runs:
        how = "replayed" if run.replayed else "planned"
        console.print(f"{run.run_date} {run.status}, {how}, {run.model_calls} model calls, {run.milliseconds:.0f} ms")


Actor = Annotated[str | None, typer.Option("--actor", help="Who decides; the user of this machine by default.")]


def _show_decision(kept: KeptPlan, as_json: bool) -> None:
    emit(to_contract(kept), as_json=as_json, render=lambda: console.print(f"{kept.plan_id} is now {kept.state}."))


def approve_plan(plan_id: PlanId, actor: Actor = None, as_json: JsonOption = False) -> None:
    """Approves a plan."""
    from rag_core.batch import plan_review  # noqa: PLC0415 - a wrong argument must not start anything
    from rag_core.wiring import open_services  # noqa: PLC0415

    with open_services() as services:
        kept = plan_review.approve_plan(services.store, plan_id, by=person(actor))
    _show_decision(kept, as_json)


def reject_plan(
    plan_id: PlanId,
    reason: Annotated[str, typer.Option(help="Why, for whoever reads the history")] = "rejected",
    actor: Actor = None,
    as_json: JsonOption = False,
) -> None:
    """Retires a plan."""
    from rag_core.batch import plan_review  # noqa: PLC0415
    from rag_core.wiring import open_services  # noqa: PLC0415

    with open_services() as services:
        kept = plan_review.reject_plan(services.store, plan_id, by=person(actor), reason=reason)
    _show_decision(kept, as_json)


def replan(
    plan_id: PlanId,
    date: Annotated[str | None, typer.Option(help="Day that relative times refer to (YYYY-MM-DD)")] = None,
    actor: Actor = None,
    as_json: JsonOption = False,
) -> None:
    """Answers the plan's question without replay; the new plan is a draft and takes the old one's place."""
    from rag_core.batch import plan_review  # noqa: PLC0415
    from rag_core.wiring import open_services  # noqa: PLC0415

    with open_services() as services:
        done = plan_review.replan(
            services.store, services.orchestrator, plan_id, run_date=services.run_date(date), by=person(actor)
        )
    old, new, answer = done.before, done.after, done.answer
    value = {
        "old": to_contract(old),
        "new": to_contract(new) if new is not None else None,
        "same_sql": done.same_sql,
        "status": answer.status,
        "answer": answer.text,
    }

    def render() -> None:
        table = Table("Step", "Before", "Now")
        after = new.statements if new is not None else {}
        for step in sorted({*old.statements, *after}):
            table.add_row(step, old.statements.get(step, ""), after.get(step, ""))
        console.print(table)
        console.print(answer.text, markup=False)

    emit(value, as_json=as_json, render=render)
    if new is None:
        raise typer.Exit(1)
