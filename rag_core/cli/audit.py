"""`nightshift audit verify | list`: the audit trail."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from rag_core.cli.output import JsonOption, console, emit
from rag_core.wiring import open_services


def register(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    group = typer.Typer(help="The audit trail: what was done and by whom.", no_args_is_help=True)
    group.command("verify")(verify_command)
    group.command("list")(list_command)
    app.add_typer(group, name="audit")


def verify_command(
    head: Annotated[
        str | None, typer.Option("--head", help="A head noted earlier: it must still be part of the chain.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check the chain of hashes. Exit code 1 where it is broken."""
    from rag_core.reports.audit import read_events, verify_chain  # noqa: PLC0415

    with open_services() as services, services.store.connection() as connection:
        verdict = verify_chain(read_events(connection), known_head=head)

    def render() -> None:
        if verdict.intact:
            console.print(f"{verdict.events} events, the chain is intact. Head: {verdict.head}", highlight=False)
        else:
            console.print(f"The chain is broken: {verdict.reason}.", style="red", highlight=False, markup=False)

    emit(verdict, as_json=as_json, render=render)
    if not verdict.intact:
        raise typer.Exit(1)


def list_command(
    last: Annotated[int, typer.Option("--last", min=1, help="How many of the latest events.")] = 50,
    as_json: JsonOption = False,
) -> None:
    """List the latest events, oldest first."""
    from rag_core.reports.audit import read_events  # noqa: PLC0415

    with open_services() as services, services.store.connection() as connection:
        events = read_events(connection)[-last:]

    def render() -> None:
        table = Table("No.", "When", "Who", "What", "To what", "Detail")
        for event in events:
            moment = event.happened_at.isoformat(sep=" ", timespec="seconds")
            cells = (str(event.event_id), moment, event.actor, event.action, event.object, event.detail)
            table.add_row(*(escape(cell) for cell in cells))
        console.print(table)

    emit({"events": events}, as_json=as_json, render=render)
