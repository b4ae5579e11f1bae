"""`nightshift drift`: what changed in the warehouse's schema, whom it touches, and what people decide about it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from rag_core.batch.watch import follow_renames, readable_batches, standing_lineage
from rag_core.cli.output import JsonOption, console, emit
from rag_core.cli.person import person
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.drift import Change, DriftEvent, DriftReport, EventState, Lineage
from rag_core.errors import ConfigurationError
from rag_core.schema.alerts import send_alerts, webhook
from rag_core.schema.decisions import accept_events, accept_present, map_event, reject_events
from rag_core.schema.document_schema import DocumentSchema
from rag_core.schema.drift import detect_drift
from rag_core.schema.events import list_decisions, list_events
from rag_core.schema.patch_batch import propose_batch_patch
from rag_core.schema.repair import Patch, PlanRepair, Renames, RepairFault, propose_patch
from rag_core.schema.reused import list_reused
from rag_core.wiring import Services, open_services

Events = Annotated[list[str], typer.Argument(help="Numbers of events, or change ids, as `drift history` shows them.")]
Note = Annotated[str, typer.Option("--note", help="Why; kept with the decision.")]
Actor = Annotated[str | None, typer.Option("--actor", help="Who decides; the user of this machine by default.")]


def lineage_of(services: Services) -> tuple[Lineage, ...]:
    """What reads the schema besides kept plans."""
    batches = readable_batches(services.config_path(services.settings.batch.folder))
    return standing_lineage(services.store, services.semantic_model, batches)


def check_services(services: Services, *, record: bool = True, actor: str = "system") -> DriftReport:
    """A drift check with whom it touches: plans, metrics, dimensions, verified queries, expectations."""
    return detect_drift(
        services.warehouse,
        services.store,
        record=record,
        actor=actor,
        rules=services.policy.drift,
        lineage=lineage_of(services),
        profiler=services.profiler if record else None,
    )


def _names(change: Change) -> str:
    found = [item.question_id or item.metric or item.id or item.plan_id or "" for item in change.affected]
    return ", ".join(dict.fromkeys(found))


def _change_table(changes: tuple[Change, ...]) -> Table:
    table = Table("Severity", "Change", "Object", "Before", "After", "Touches", "Id")
    for change in changes:
        kind = change.kind if change.confidence == 1 else f"{change.kind} ({change.confidence:.0%})"
        table.add_row(
            change.severity,
            kind,
            change.object,
            _short(change.before),
            _short(change.after),
            _names(change),
            change.change_id,
        )
        for candidate in change.candidates:
            table.add_row("", "", f"  perhaps {candidate.object}", "", f"{candidate.score:.0%}", candidate.reason, "")
    return table


def _short(text: str | None) -> str:
    if text is None:
        return ""
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."


def _render_report(report: DriftReport) -> None:
    sentences = {
        "baseline": "This schema is the baseline: the next check compares with it.",
        "unchanged": "The schema has not changed since the last check.",
        "changed": f"{len(report.changes)} changes.",
        "incomplete": f"The snapshot is incomplete and was compared with nothing: {report.reason}",
        "held": report.reason,
    }
    console.print(sentences[report.status], markup=False)
    if report.changes:
        console.print(_change_table(report.changes))
    if report.reverted:
        console.print(f"Undone since: event {', '.join(str(event) for event in report.reverted)}")
    if report.open_events:
        console.print(f"{report.open_events} events wait for a decision: nightshift drift accept | reject | map")


def _render_events(events: tuple[DriftEvent, ...]) -> None:
    table = Table("Event", "State", "Severity", "Change", "Object", "Before", "After", "Found", "By")
    for event in events:
        change = event.change
        table.add_row(
            str(event.event_id),
            event.state,
            change.severity,
            change.kind,
            change.object,
            _short(change.before),
            _short(change.after),
            event.opened_at.isoformat(timespec="minutes"),
            event.decided_by or "",
        )
    console.print(table)


def _render_repair(plans: tuple[PlanRepair, ...], patches: list[Patch], reused: tuple[tuple[str, str], ...]) -> None:
    for name, reason in reused:
        console.print(f"{name}: {reason}", markup=False)
    for plan in plans:
        console.print(f"{plan.plan_id}: {plan.outcome} {plan.new_plan_id or plan.reason}", markup=False)
    for patch in patches:
        for key, reason in patch.faults:
            console.print(f"{key}: {reason}", markup=False)
        if patch.diff:
            console.print(patch.diff, markup=False, highlight=False)
    if not any(patch.diff for patch in patches):
        console.print("The semantic model and the batch files need no patch.")


def check(
    record: Annotated[bool, typer.Option("--record/--no-record", help="Keep the snapshot and the events.")] = True,
    documents: Annotated[
        bool, typer.Option("--documents", help="Check the document index: types, metadata keys, embedding model.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare the warehouse's schema with the accepted one. Exit code 1 where the snapshot failed half-way."""
    with open_services() as services:
        if documents:
            source = DocumentSchema(services.store)
            report = detect_drift(source, services.store, record=record, actor=person())
        else:
            report = check_services(services, record=record, actor=person())
    emit(report, as_json=as_json, render=lambda: _render_report(report))
    if report.status == "incomplete":
        raise typer.Exit(1 if report.reachable else 3)


def history(
    state: Annotated[EventState | None, typer.Option("--state", help="Only events in this state.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1)] = 100,
    as_json: JsonOption = False,
) -> None:
    """List the events, the latest first, and the decisions on them."""
    with open_services() as services:
        events = list_events(services.store, state=state, limit=limit)
        decisions = list_decisions(services.store, limit=limit)
    emit({"events": events, "decisions": decisions}, as_json=as_json, render=lambda: _render_events(events))


def accept(events: Events, note: Note = "", actor: Actor = None, as_json: JsonOption = False) -> None:
    """Accept changes: the schema is meant to be so."""
    with open_services() as services:
        done = accept_events(services.store, events, actor=person(actor), note=note, lineage=lineage_of(services))
    emit({"events": done}, as_json=as_json, render=lambda: _render_events(done))


def baseline(note: Note = "", actor: Actor = None, as_json: JsonOption = False) -> None:
    """Make the schema as it is now the baseline: check it, then accept all that needs no closer look."""
    with open_services() as services:
        report = check_services(services, actor=person(actor))
        if report.status in ("incomplete", "held"):
            raise ConfigurationError(f"the schema cannot become the baseline: {report.reason}")
        catalog = services.catalog_cache.refresh()
        done, left = accept_present(
            services.store,
            f"{catalog.dialect}:{catalog.database}",
            actor=person(actor),
            note=note,
            lineage=lineage_of(services),
        )

    def render() -> None:
        console.print(f"{len(done)} changes accepted.")
        if left:
            console.print("To be decided one by one, with drift accept, reject or map:")
            _render_events(left)

    emit({"events": done, "left": left}, as_json=as_json, render=render)


def reject(events: Events, note: Note = "", actor: Actor = None, as_json: JsonOption = False) -> None:
    """Reject changes: they are to be undone; of a probable rename: it is none."""
    with open_services() as services:
        done = reject_events(services.store, events, actor=person(actor), note=note, lineage=lineage_of(services))
    emit({"events": done}, as_json=as_json, render=lambda: _render_events(done))


def map_to(
    event: Annotated[str, typer.Argument(help="The event of the column or table that vanished.")],
    to: Annotated[str, typer.Option("--to", help="What it became: schema.table.column or schema.table.")],
    note: Note = "",
    actor: Actor = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a column or table that vanished has become."""
    with open_services() as services:
        lineage = lineage_of(services)
        done = (map_event(services.store, event, to, actor=person(actor), note=note, lineage=lineage),)
    emit({"events": done}, as_json=as_json, render=lambda: _render_events(done))


def repair(
    write: Annotated[
        bool, typer.Option("--write", help="Write the patches into the semantic model and the batch files.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Follow certain renames: kept plans (as drafts, each run once), and patches of semantic model and batch files."""
    with open_services() as services:
        now = services.catalog_cache.refresh()
        plans, renames, before = follow_renames(services.store, services.warehouse, services.guard.check, now)
        patches = _patches(services, renames, before, now)
        reused = list_reused(services.store, now)
    for path, patch in patches.items():
        if write and patch.edits:
            path.write_text(patch.text, encoding="utf-8")
    first = next(iter(patches.values()))
    faults = [*reused, *((key, reason) for patch in patches.values() for key, reason in patch.faults)]
    content = {
        "plans": plans,
        "patch": first.diff,
        "batch_patches": {path.name: patch.diff for path, patch in list(patches.items())[1:] if patch.diff},
        "faults": [{"key": key, "reason": reason} for key, reason in faults],
        "written": write and any(patch.edits for patch in patches.values()),
        "files": [str(path) for path, patch in patches.items() if patch.edits],
    }
    emit(content, as_json=as_json, render=lambda: _render_repair(plans, list(patches.values()), reused))
    if faults or any(plan.outcome == "stale" for plan in plans):
        raise typer.Exit(1)


def _patches(services: Services, renames: Renames, before: Catalog, now: Catalog) -> dict[Path, Patch]:
    """The proposed patch of the semantic model, then one of each batch file that can be read."""
    path = services.config_path(services.settings.warehouse.semantic_model)
    found = {path: propose_patch(path.read_text(encoding="utf-8"), renames, catalog=before, name=path.name)}
    model = services.semantic_model
    known = {*model.metrics, *model.dimensions}
    for file in sorted(services.config_path(services.settings.batch.folder).glob("*.yaml")):
        try:
            text = file.read_text(encoding="utf-8")
            found[file] = propose_batch_patch(text, renames, now=now, known=known, name=file.name)
        except (OSError, UnicodeDecodeError, RepairFault) as error:
            found[file] = Patch(text="", diff="", faults=((file.name, str(error)),))
    return found


def alert(
    webhook_url: Annotated[
        str | None, typer.Option("--webhook", help="URL that takes each alert as JSON; else the configured channels.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Tell the owners of what open events touch, once an event and channel."""
    with open_services() as services:
        secret = services.settings.notify.webhook_secret
        if webhook_url is not None:
            channels = {"webhook": webhook(webhook_url, secret=secret.get_secret_value() if secret else None)}
        else:
            channels = services.alert_channels()
        if not channels:
            raise ConfigurationError("no channel is configured: set NIGHTSHIFT_ALERTS__CHANNELS, or give --webhook URL")
        sent = send_alerts(services.store, channels)

    def render() -> None:
        for channel, item in sent:
            console.print(f"{channel}: {item.owner}: {item.subject}", markup=False)

    alerts = [{"channel": channel, **item.model_dump(mode="json")} for channel, item in sent]
    emit({"alerts": alerts}, as_json=as_json, render=render)


def register(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    group = typer.Typer(help="Changes of the warehouse's schema.", no_args_is_help=True)
    app.add_typer(group, name="drift")
    for command in (check, history, accept, baseline, reject, repair, alert):
        group.command()(command)
    group.command("map")(map_to)
