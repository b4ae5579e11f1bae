"""Takes a mapping back: what vanished has not become what somebody said it had."""

from __future__ import annotations

from datetime import datetime

import psycopg

from rag_core.connectors.sql_files import statement
from rag_core.errors import ConfigurationError
from rag_core.schema.events import FoundEvent, decide_event, event_of, save_rename_decision
from rag_core.schema.snapshots import find_baseline, read_digests, save_baseline


def take_back(connection: psycopg.Connection, item: FoundEvent, *, actor: str, moment: datetime) -> None:
    """Undoes the mapping of an event; the caller then decides the event anew and compares once more.

    The table is held against its form before the change again, the rename is refused, and plans that were repaired by
    it become stale. Files that `drift repair --write` changed are not touched.

    Raises ConfigurationError where the earlier schema is not kept any more.
    """
    change, number = item.event.change, item.event.event_id
    row = connection.execute(statement("drift/find_mapping"), {"event_id": number}).fetchone()
    before = connection.execute(
        statement("drift/find_snapshot_before"), {"warehouse": item.warehouse, "snapshot_id": item.event.snapshot_id}
    ).fetchone()
    earlier = read_digests(connection, before[0]) if before is not None and before[0] is not None else {}
    old = {key: digest for key, digest in earlier.items() if ".".join(key) == change.table}
    if row is None or not old:
        raise ConfigurationError(f"the mapping of event {number} cannot be taken back: the earlier schema is not kept")
    target: str = row[0]
    rows = connection.execute(statement("drift/list_renames"), {"warehouse": item.warehouse}).fetchall()
    for event in map(event_of, rows):
        after = event.change.after or ""
        same = after == target if change.column is None else target.endswith(f".{after}")
        if event.change.object == change.object and event.state == "accepted" and same:
            decide_event(connection, event, "revert", actor=actor, moment=moment, note="the mapping was taken back")
    save_rename_decision(connection, item.warehouse, change.object, target, "refused", actor=actor, moment=moment)
    baseline = find_baseline(connection, item.warehouse) or {}
    kept = {key: digest for key, digest in baseline.items() if change.column is not None or ".".join(key) != target}
    save_baseline(connection, item.warehouse, {**kept, **old}, moment)
    reason = f"it follows the mapping of event {number}, which was taken back"
    connection.execute(statement("drift/end_repaired_plans"), {"target": target, "reason": reason, "moment": moment})
