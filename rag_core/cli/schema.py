"""`nightshift schema`: what is known of the warehouse's schema, as far as the policy opens it."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table

from rag_core.cli.joins import add_joins_command
from rag_core.cli.output import JsonOption, console, emit, error_console
from rag_core.datamodel.catalog import Catalog, CatalogTable
from rag_core.errors import ConfigurationError
from rag_core.schema.fingerprint import fingerprint, table_fingerprint
from rag_core.schema.names import asked_back, near_misses
from rag_core.wiring import open_services


def show(
    table: Annotated[str | None, typer.Argument(help="Only this table, as schema.table or by its bare name.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the tables, columns, types, keys and comments that questions may use."""
    with open_services() as services:
        catalog = services.catalog_cache.current()
        guard = services.guard
    warnings = guard.warnings()
    for warning in warnings:
        error_console.print(f"warning: {warning}", style="yellow", markup=False, soft_wrap=True)
    visible = guard.visible_catalog
    shown = list(visible.tables) if table is None else _chosen(visible, table)
    content = {
        "dialect": catalog.dialect,
        "database": catalog.database,
        "taken_at": catalog.taken_at,
        "fingerprint": fingerprint(catalog),
        "tables": [_table_json(item) for item in shown],
        "warnings": warnings,
    }
    emit(content, as_json=as_json, render=lambda: _render(shown, detailed=table is not None))


def _chosen(catalog: Catalog, wanted: str) -> list[CatalogTable]:
    folded = wanted.replace('"', "").lower()
    found = [item for item in catalog.tables if folded in (item.qualified_name.lower(), item.name.lower())]
    if found:
        return found
    pairs = [(item.qualified_name if "." in wanted else item.name, item.qualified_name) for item in catalog.tables]
    raise ConfigurationError(
        f"there is no table {wanted} that the policy opens and this role can see"
        f"{asked_back(near_misses(wanted, pairs))}"
    )


def _table_json(table: CatalogTable) -> dict[str, Any]:
    content = table.model_dump(exclude={"schema_name", "object_id"})
    return {"schema": table.schema_name, **content, "fingerprint": table_fingerprint(table)}


def _render(tables: list[CatalogTable], *, detailed: bool) -> None:
    if not tables:
        console.print("The policy opens no table that this role can see.")
        return
    if not detailed:
        listing = Table("table", "kind", "columns", "rows (estimate)", "comment")
        for item in tables:
            rows = f"{item.row_estimate:,}" if item.row_estimate is not None else ""
            listing.add_row(item.qualified_name, item.kind, str(len(item.columns)), rows, item.comment or "")
        console.print(listing, markup=False)
        return
    for item in tables:
        console.print(f"{item.qualified_name} ({item.kind}) {item.comment or ''}", markup=False, highlight=False)
        columns = Table("column", "type", "nullable", "key", "comment")
        for column in item.columns:
            kind = f"{column.type} ({', '.join(column.enum_labels)})" if column.enum_labels else column.type
            columns.add_row(
                column.name,
                kind + (" generated" if column.generated else ""),
                "yes" if column.nullable else "no",
                _key_of(item, column.name),
                column.comment or "",
            )
        console.print(columns, markup=False)


def _key_of(table: CatalogTable, column: str) -> str:
    words = ["primary" if key.primary else "unique" for key in table.keys if column in key.columns] + [
        f"to {key.target}" for key in table.foreign_keys if column in key.columns
    ]
    return ", ".join(dict.fromkeys(words))


def register(app: typer.Typer) -> None:
    """Adds `schema show`; other modules add their commands to the same group."""
    group = next((item.typer_instance for item in app.registered_groups if item.name == "schema"), None)
    if group is None:
        group = typer.Typer(help="What is known of the warehouse's schema.", no_args_is_help=True)
        app.add_typer(group, name="schema")
    group.command("show")(show)
    add_joins_command(group)
