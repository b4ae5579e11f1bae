"""`nightshift schema joins`: which columns may be joined, and what people decide about it."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from rich.table import Table

from rag_core.cli.output import JsonOption, console, emit
from rag_core.cli.person import person
from rag_core.errors import ConfigurationError
from rag_core.schema.join_probe import WarehouseProbe, decide_join, pick_join, read_join_decisions
from rag_core.schema.joins import Join, find_joins
from rag_core.wiring import Services, open_services

Left = Annotated[str, typer.Argument(help="One side as `schema joins` shows it.")]
Right = Annotated[str, typer.Argument(help="The other side.")]
Note = Annotated[str, typer.Option("--note", help="Why; kept with the decision.")]
Actor = Annotated[str | None, typer.Option("--actor", help="Who decides; the user of this machine by default.")]


def read_joins(services: Services, *, probe: bool) -> tuple[Join, ...]:
    """The joins of the warehouse as far as the policy opens it, with what people decided.

    Args:
        services: of this process.
        probe: whether values are looked up in the warehouse.
    """
    guard = services.guard
    catalog = guard.visible_catalog
    lookup = WarehouseProbe(services.warehouse, guard.check, catalog) if probe else None
    return find_joins(
        catalog,
        lookup,
        unique=lookup.unique if lookup is not None else None,
        decisions=read_join_decisions(services.store, catalog),
        need_approval=[(rule.left, rule.right) for rule in services.policy.joins.need_approval],
    )


def _render(joins: tuple[Join, ...]) -> None:
    table = Table("Left", "Right", "From", "Confidence", "Status", "Why")
    for join in joins:
        table.add_row(join.left, join.right, join.source, f"{join.confidence:.2f}", join.status, join.reason)
    console.print(table)


def joins(
    probe: Annotated[bool, typer.Option("--probe/--no-probe", help="Look values up in the warehouse.")] = True,
    as_json: JsonOption = False,
) -> None:
    """List which columns may be joined: foreign keys, and what names, keys and values suggest."""
    with open_services() as services:
        found = read_joins(services, probe=probe)
    emit({"joins": found}, as_json=as_json, render=lambda: _render(found))


def _decide(left: str, right: str, verdict: Literal["approved", "rejected"], actor: str | None, note: str) -> Join:
    with open_services() as services:
        probe = False
        try:
            chosen = pick_join(read_joins(services, probe=probe), left, right)
        except ConfigurationError:
            # A key that nobody declared is known by its values only.
            probe = True
            chosen = pick_join(read_joins(services, probe=probe), left, right)
        decide_join(services.store, services.catalog_cache.current(), chosen, verdict, actor=person(actor), note=note)
        return pick_join(read_joins(services, probe=probe), left, right)


def approve_join(left: Left, right: Right, note: Note = "", actor: Actor = None, as_json: JsonOption = False) -> None:
    """Approve a join that no foreign key declares."""
    join = _decide(left, right, "approved", actor, note)
    emit(join, as_json=as_json, render=lambda: _render((join,)))


def reject_join(left: Left, right: Right, note: Note = "", actor: Actor = None, as_json: JsonOption = False) -> None:
    """Reject a join, so that it is never used."""
    join = _decide(left, right, "rejected", actor, note)
    emit(join, as_json=as_json, render=lambda: _render((join,)))


def add_joins_command(group: typer.Typer) -> None:
    """Adds `joins`, `approve-join` and `reject-join` to the group `schema`."""
    group.command("joins")(joins)
    group.command("approve-join")(approve_join)
    group.command("reject-join")(reject_join)
