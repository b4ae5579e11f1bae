"""Names that mean another column or table now, because the old one was renamed and its name is in use again.

Two columns or two tables that swap their names, a cycle of renames, and something new under a name that another one had
before: a statement over such a name still runs, and reads something else. Whether its author knew of the change cannot
be told, so that it is neither rewritten nor run until a person has accepted the change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import psycopg

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.drift import Change, ChangeKind, DriftEvent
from rag_core.schema.change import change_id
from rag_core.schema.events import active_events, event_of, read_renames
from rag_core.schema.renames import TABLE_RENAMES
from rag_core.schema.snapshots import find_snapshot, read_digests, read_tables

_RENAMED = TABLE_RENAMES | {"column_renamed"}
# What a change that adds a name says where another column or table had that name before.
_AGAIN: dict[ChangeKind, ChangeKind] = {"column_added": "column_recreated", "table_added": "table_recreated"}


def find_reused(connection: psycopg.Connection, warehouse: str) -> dict[str, DriftEvent]:
    """The undecided events of names in use again, by the name as statements write it now.

    That is `schema.table.column`, or `schema.table` where the whole table is another. Of two that swapped their names
    both are found. A column's table that was renamed too is named as it is called now.
    """
    rows = connection.execute(statement("drift/list_reused_names"), {"warehouse": warehouse}).fetchall()
    events = list(map(event_of, rows))
    if not events:
        return {}
    last = find_snapshot(connection, warehouse)
    digests = read_digests(connection, last.snapshot_id) if last is not None else {}
    names = {".".join(key): digest for key, digest in digests.items()}
    called = {
        event.change.table: event.change.after
        for event in active_events(connection, warehouse).values()
        if event.change.kind in TABLE_RENAMES and event.change.after is not None
    }
    tables = {event.event_id: called.get(event.change.table, event.change.table) for event in events}
    stored = read_tables(connection, {names[table] for table in tables.values() if table in names})
    found: dict[str, DriftEvent] = {}
    for event in events:
        name, column = tables[event.event_id], event.change.column
        table = stored.get(names.get(name, ""))
        if column is None and event.change.table in names:
            found[event.change.table] = event
        if table is not None and column is not None and table.column(column) is not None:
            found[f"{name}.{column}"] = event
    return found


def mark_reused(connection: psycopg.Connection, warehouse: str, changes: Sequence[Change]) -> tuple[Change, ...]:
    """The changes, with a column or table that takes a name which another had before as recreated, which breaks.

    A rename that is among the changes tells of that itself; here those count that were decided before.
    """
    if not any(change.kind in _AGAIN for change in changes):
        return tuple(changes)
    told = {change.object for change in changes if change.kind in _RENAMED}
    earlier = _latest(change for day in read_renames(connection, warehouse) for change in day)
    return tuple(
        _recreated(change, earlier[change.object])
        if change.kind in _AGAIN and change.object in earlier and change.object not in told
        else change
        for change in changes
    )


def list_reused(store: Store, catalog: Catalog) -> tuple[tuple[str, str], ...]:
    """The names that nothing is rewritten over, each with the reason and the command that decides."""
    with store.connection() as connection:
        found = find_reused(connection, f"{catalog.dialect}:{catalog.database}")
    return tuple((name, advise_reused(event)) for name, event in sorted(found.items()))


def advise_reused(event: DriftEvent) -> str:
    """What such an event means, and what a person does about it."""
    return f"{tell_reused(event)}: correct what reads it, then `nightshift drift accept {event.event_id}`"


def tell_reused(event: DriftEvent) -> str:
    """What such an event means for a question that reads the name, in one sentence."""
    change, since = event.change, event.opened_at.date().isoformat()
    what = "table" if change.column is None else "column"
    if change.kind in _RENAMED:
        return f"{what} {change.object} is called {change.after} since {since}, and its old name means another {what}"
    return f"{what} {change.object} is another one since {since} ({change.before} -> {change.after})"


def _latest(changes: Iterable[Change]) -> dict[str, str]:
    return {change.object: change.after for change in changes if change.kind in _RENAMED and change.after is not None}


def _recreated(change: Change, successor: str) -> Change:
    before, kind = f"renamed to {successor}", _AGAIN[change.kind]
    return change.model_copy(
        update={
            "change_id": change_id(change.object, kind, before, change.after),
            "kind": kind,
            "before": before,
            "severity": "breaking",
        }
    )
