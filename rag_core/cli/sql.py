"""`nightshift sql`: checks and runs one statement through the guard."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from rag_core.cli.output import JsonOption, console, emit
from rag_core.datamodel.query import GuardVerdict, QueryResult, cell_to_json
from rag_core.errors import ConfigurationError, QueryFault
from rag_core.wiring import open_services
from rag_core.workers.execution import check_planned, run_guarded

SqlArgument = Annotated[str, typer.Argument(metavar="SQL", help="One SELECT statement.")]
SHOWN_ROWS = 50


def check(
    sql: SqlArgument,
    dialect: Annotated[
        str | None, typer.Option(help="The dialect it is written in; the warehouse's unless given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Tell whether a statement would be run, and why not. Nothing is run."""
    with open_services() as services:
        verdict = check_planned(services.guard, services.warehouse, sql, dialect=dialect)
    if verdict.code == "unknown_dialect":
        raise ConfigurationError(verdict.message)
    emit(_verdict_json(verdict), as_json=as_json, render=lambda: _render_verdict(verdict))
    if not verdict.allowed:
        raise typer.Exit(1)


def run(sql: SqlArgument, as_json: JsonOption = False) -> None:
    """Run a statement through the guard, under the policy's limits."""
    with open_services() as services:
        try:
            execution = run_guarded(services.guard, services.warehouse, sql)
        except QueryFault as fault:
            refused = GuardVerdict(
                allowed=False,
                code=fault.code,
                message=fault.message,
                dialect=services.warehouse.dialect,
                suggestions=fault.suggestions,
            )
            emit(_verdict_json(refused), as_json=as_json, render=lambda: _render_verdict(refused))
            raise typer.Exit(1) from None
    result = execution.result
    if result is None:
        emit(_verdict_json(execution.verdict), as_json=as_json, render=lambda: _render_verdict(execution.verdict))
        raise typer.Exit(1)
    emit(
        {
            "columns": [{"name": column.name, "type": column.type} for column in result.columns],
            "rows": result.rows,
            "row_count": result.row_count,
            "truncated_by": result.truncated_by,
            "own_limit": result.own_limit,
            "seconds": result.seconds,
        },
        as_json=as_json,
        render=lambda: _render_result(result),
    )


def _verdict_json(verdict: GuardVerdict) -> dict[str, object]:
    content: dict[str, object] = verdict.model_dump(exclude={"query"})
    content["sql"] = verdict.query.text if verdict.query is not None else None
    return content


def _render_verdict(verdict: GuardVerdict) -> None:
    if verdict.allowed and verdict.query is not None:
        console.print("allowed", style="green")
        console.print(verdict.query.text, markup=False, highlight=False, soft_wrap=True)
        return
    console.print(f"refused ({verdict.code}): {verdict.message}", style="red", markup=False, soft_wrap=True)
    for suggestion in verdict.suggestions:
        console.print(f"  {suggestion}", markup=False, highlight=False)


def _render_result(result: QueryResult) -> None:
    table = Table(*(column.name for column in result.columns))
    for row in result.rows[:SHOWN_ROWS]:
        table.add_row(*("NULL" if cell is None else str(cell_to_json(cell)) for cell in row))
    console.print(table, markup=False)
    more = f", the first {SHOWN_ROWS} shown" if result.row_count > SHOWN_ROWS else ""
    cut = f", cut off by the limit on {result.truncated_by}" if result.truncated_by else ""
    console.print(f"{result.row_count} rows{more}{cut} in {result.seconds:.2f} s", highlight=False)


def register(app: typer.Typer) -> None:
    """Adds `sql check` and `sql run`."""
    group = typer.Typer(help="Check and run one SQL statement through the guard.", no_args_is_help=True)
    # A statement may begin with a comment, which two dashes begin as they do an option.
    takes_dashes = {"ignore_unknown_options": True}
    group.command("check", context_settings=takes_dashes)(check)
    group.command("run", context_settings=takes_dashes)(run)
    app.add_typer(group, name="sql")
