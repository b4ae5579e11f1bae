"""What an answer has to say of changes that nobody has decided on, because its statement runs in spite of them."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg

from rag_core.connectors.sql_files import statement
from rag_core.datamodel.drift import DriftEvent
from rag_core.errors import QueryFault
from rag_core.schema.events import event_of
from rag_core.schema.impact import SILENT
from rag_core.schema.reused import advise_reused, find_reused


def find_cautions(connection: psycopg.Connection, warehouse: str, names: Sequence[str]) -> tuple[str, ...]:
    """A sentence for each undecided change that may silently change what a statement answers.

    Args:
        connection: the store.
        warehouse: as `dialect:database`.
        names: what the statement reads, `schema.table` and `schema.table.column`.

    Raises:
        QueryFault: one of the names means another column or table now.
    """
    tables = sorted({part for name in names for part in (name, name.rpartition(".")[0])})
    rows = connection.execute(
        statement("drift/list_undecided_events"), {"warehouse": warehouse, "tables": tables}
    ).fetchall()
    undecided = list(map(event_of, rows))
    if not undecided:
        return ()
    reused = find_reused(connection, warehouse)
    event = next((reused[name] for name in names if name in reused), None)
    if event is not None:
        raise QueryFault("other", advise_reused(event))
    wanted = set(names)
    return tuple(
        f"{'table' if item.change.column is None else 'column'} {tell_change(item)}"
        for item in undecided
        if item.change.kind in SILENT and item.change.object in wanted
    )


def tell_change(event: DriftEvent) -> str:
    """What changed and since when, in one sentence with the event's number."""
    change = event.change
    kind = change.kind.replace("_", " ")
    values = " -> ".join(" ".join(value.split()) for value in (change.before, change.after) if value)
    since = event.opened_at.date().isoformat()
    short = f" ({values})" if values and len(values) <= _MOST_CHARACTERS else ""
    return f"{change.object}: {kind}{short} since {since} (event {event.event_id})"


# Definitions of views are no part of a sentence.
_MOST_CHARACTERS = 120
