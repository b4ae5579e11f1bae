"""What people decide about drift events: accept, reject, or say what something became."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import psycopg

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.catalog import CatalogTable
from rag_core.datamodel.drift import DriftEvent, Lineage
from rag_core.errors import ConfigurationError
from rag_core.schema.events import FoundEvent, active_events, decide_event, find_event, save_rename_decision
from rag_core.schema.lineage import read_plan_lineage
from rag_core.schema.mappings import take_back
from rag_core.schema.reconcile import MASS, compare_with_baseline, record_comparison, side_of
from rag_core.schema.reused import find_reused
from rag_core.schema.snapshots import (
    find_baseline,
    find_snapshot,
    read_digests,
    read_tables,
    save_baseline,
    save_tables,
)

_GONE = frozenset({"column_removed", "table_removed"})
_RENAMED = frozenset({"column_renamed", "table_renamed", "table_moved"})


def accept_events(
    store: Store,
    names: Sequence[str],
    *,
    actor: str,
    note: str = "",
    now: datetime | None = None,
    lineage: Sequence[Lineage] = (),
) -> tuple[DriftEvent, ...]:
    """Accepts changes: what is there now becomes the schema that later checks compare with.

    A probable rename that is accepted counts as confirmed. All events are decided, or none.

    Raises ConfigurationError where a name is no event or its change is no longer there.
    """
    moment = now if now is not None else datetime.now(UTC)
    with store.connection() as connection:
        connection.execute(statement("drift/lock_check"))
        found = [_active(connection, name) for name in names]
        for item in found:
            change = item.event.change
            if change.kind in _RENAMED and change.confidence < 1:
                _confirm(connection, item, _successor(item.event), actor, moment)
            decide_event(connection, item.event, "accept", actor=actor, moment=moment, note=note)
            if change.kind == MASS:
                connection.execute(statement("drift/release_snapshot"), {"snapshot_id": item.event.snapshot_id})
        held = {item.warehouse for item in found if item.event.change.kind == MASS}
        for warehouse in dict.fromkeys(item.warehouse for item in found):
            settle(connection, warehouse, actor=actor, moment=moment, confirmed=warehouse in held, lineage=lineage)
        return tuple(find_event(connection, str(item.event.event_id)).event for item in found)


def accept_present(
    store: Store,
    warehouse: str,
    *,
    actor: str,
    note: str = "",
    now: datetime | None = None,
    lineage: Sequence[Lineage] = (),
) -> tuple[tuple[DriftEvent, ...], tuple[DriftEvent, ...]]:
    """Accepts all that waits for a decision, so that the schema as it was last seen becomes the baseline.

    What must be looked at one by one is left as it is: renames that nothing proves, names that mean something else now,
    and tables that vanished in great number. A change that was rejected stays so.

    Args:
        store: where events are kept.
        warehouse: as `dialect:database`.
        actor: who decides.
        note: why.
        now: time of the decision.
        lineage: what reads the schema besides kept plans, for events that follow from the decision.

    Returns the accepted events and those that are left open.
    """
    with store.connection() as connection:
        waiting = [event for event in active_events(connection, warehouse).values() if event.state == "open"]
        reused = {event.event_id for event in find_reused(connection, warehouse).values()}
    left = {
        event.event_id
        for event in waiting
        if event.event_id in reused
        or event.change.kind == MASS
        or (event.change.kind in _RENAMED and event.change.confidence < 1)
    }
    names = [str(event.event_id) for event in waiting if event.event_id not in left]
    accepted = accept_events(store, names, actor=actor, note=note, now=now, lineage=lineage)
    return accepted, tuple(event for event in waiting if event.event_id in left)


def reject_events(
    store: Store,
    names: Sequence[str],
    *,
    actor: str,
    note: str = "",
    now: datetime | None = None,
    lineage: Sequence[Lineage] = (),
) -> tuple[DriftEvent, ...]:
    """Rejects changes: they stay on record, without further alerts, until the schema goes back.

    A probable rename that is rejected becomes what it would be otherwise: something vanished and something appeared. A
    mapping that is rejected is taken back.
    """
    moment = now if now is not None else datetime.now(UTC)
    with store.connection() as connection:
        connection.execute(statement("drift/lock_check"))
        found = [_rejectable(connection, name) for name in names]
        for item in found:
            change = item.event.change
            if item.event.state == "mapped":
                take_back(connection, item, actor=actor, moment=moment)
            elif change.kind in _RENAMED and change.confidence < 1:
                save_rename_decision(
                    connection,
                    item.warehouse,
                    change.object,
                    _successor(item.event),
                    "refused",
                    actor=actor,
                    moment=moment,
                )
            decide_event(connection, item.event, "reject", actor=actor, moment=moment, note=note)
        for warehouse in dict.fromkeys(item.warehouse for item in found):
            settle(connection, warehouse, actor=actor, moment=moment, lineage=lineage)
        return tuple(find_event(connection, str(item.event.event_id)).event for item in found)


def map_event(
    store: Store,
    name: str,
    target: str,
    *,
    actor: str,
    note: str = "",
    now: datetime | None = None,
    lineage: Sequence[Lineage] = (),
) -> DriftEvent:
    """Records that what vanished is now called `target`, and accepts that rename.

    Args:
        store: where events are kept.
        name: number or change id of a removal, or of a probable rename whose target was another.
        target: `schema.table.column` or `schema.table`, or for a column just its new name in the same table.
        actor: who decides.
        note: why.
        now: time of the decision.
        lineage: what reads the schema besides kept plans, for events that follow from the decision.

    Raises:
        ConfigurationError: no such event, nothing vanished by it, or the target did not appear or is gone.
    """
    moment = now if now is not None else datetime.now(UTC)
    with store.connection() as connection:
        connection.execute(statement("drift/lock_check"))
        item = _active(connection, name)
        change = item.event.change
        if change.kind not in _GONE | _RENAMED:
            raise ConfigurationError(f"event {item.event.event_id} is {change.kind}: only what vanished can be mapped")
        full = target if "." in target or change.column is None else f"{change.table}.{target}"
        _require_target(connection, item, full)
        _reopen_added(connection, item, full, moment)
        _confirm(connection, item, full, actor, moment)
        decide_event(connection, item.event, "map", actor=actor, moment=moment, target=full, note=note)
        settle(connection, item.warehouse, actor=actor, moment=moment, lineage=lineage)
        for event in _renames_of(connection, item.warehouse, change.object, full):
            decide_event(connection, event, "accept", actor=actor, moment=moment, note=f"mapped to {full}")
            break
        else:
            raise ConfigurationError(
                f"{full} did not appear in the place of {change.object}: it cannot be its new name"
            )
        settle(connection, item.warehouse, actor=actor, moment=moment, lineage=lineage)
        return find_event(connection, str(item.event.event_id)).event


def settle(
    connection: psycopg.Connection,
    warehouse: str,
    *,
    actor: str,
    moment: datetime,
    confirmed: bool = False,
    lineage: Sequence[Lineage] = (),
) -> None:
    """Compares the last snapshot with the accepted schema once more, after decisions, without asking the warehouse."""
    last = find_snapshot(connection, warehouse)
    if last is None:
        return
    now = side_of(connection, warehouse, last, read_digests(connection, last.snapshot_id))
    comparison = compare_with_baseline(
        connection,
        now,
        rules=last.rules,
        earlier=last,
        lineage=(*read_plan_lineage(connection), *lineage),
        confirmed=confirmed,
    )
    if not comparison.missing:
        record_comparison(connection, comparison, now, snapshot_id=last.snapshot_id, actor=actor, moment=moment)


def _active(connection: psycopg.Connection, name: str) -> FoundEvent:
    found = find_event(connection, name)
    if not found.active:
        raise ConfigurationError(
            f"event {found.event.event_id} is {found.event.state} and closed: there is nothing to decide"
        )
    return found


def _rejectable(connection: psycopg.Connection, name: str) -> FoundEvent:
    found = find_event(connection, name)
    return found if found.event.state == "mapped" else _active(connection, name)


def _successor(event: DriftEvent) -> str:
    change = event.change
    if change.kind != "column_renamed":
        return change.after or ""
    return next(
        (item.object for item in change.candidates if item.object.endswith(f".{change.after}")),
        f"{change.table}.{change.after}",
    )


def _confirm(connection: psycopg.Connection, item: FoundEvent, target: str, actor: str, moment: datetime) -> None:
    save_rename_decision(
        connection, item.warehouse, item.event.change.object, target, "confirmed", actor=actor, moment=moment
    )


def _renames_of(connection: psycopg.Connection, warehouse: str, name: str, target: str) -> list[DriftEvent]:
    """The renames of an object to just this target; a column's new name is kept without its table."""
    return [
        event
        for event in active_events(connection, warehouse).values()
        if event.change.kind in _RENAMED
        and event.change.object == name
        and (event.change.after == target if event.change.column is None else target.endswith(f".{event.change.after}"))
    ]


def _require_target(connection: psycopg.Connection, item: FoundEvent, target: str) -> None:
    """Raises ConfigurationError where the last snapshot has no table, or for a column no column, of this name."""
    last = find_snapshot(connection, item.warehouse)
    digests = read_digests(connection, last.snapshot_id) if last is not None else {}
    names = {".".join(key): digest for key, digest in digests.items()}
    number, column = item.event.event_id, item.event.change.column
    if column is None:
        if target not in names:
            raise ConfigurationError(
                f"{target} did not appear: event {number} is of a table, and there is no such table"
            )
        return
    table, _, name = target.rpartition(".")
    found = read_tables(connection, [names[table]]) if table in names else {}
    if not any(holder.column(name) is not None for holder in found.values()):
        raise ConfigurationError(f"{target} did not appear: event {number} is of a column, and there is no such column")


def _reopen_added(connection: psycopg.Connection, item: FoundEvent, target: str, moment: datetime) -> None:
    """Takes what was noted as added out of the accepted schema, so that it can be what another one became."""
    baseline = find_baseline(connection, item.warehouse) or {}
    change = item.event.change
    name = target if change.column is None else f"{change.table}.{target.rpartition('.')[2]}"
    added = connection.execute(statement("drift/find_added"), {"warehouse": item.warehouse, "object": name}).fetchone()
    if added is None:
        return
    if change.column is None:
        kept = {key: digest for key, digest in baseline.items() if ".".join(key) != target}
    else:
        digests = [digest for key, digest in baseline.items() if ".".join(key) == change.table]
        tables = read_tables(connection, digests).values()
        kept = {**baseline, **save_tables(connection, [_without(table, name) for table in tables])}
    if kept != baseline:
        save_baseline(connection, item.warehouse, kept, moment)


def _without(table: CatalogTable, name: str) -> CatalogTable:
    columns = tuple(column for column in table.columns if f"{table.qualified_name}.{column.name}" != name)
    return table.model_copy(update={"columns": columns})
