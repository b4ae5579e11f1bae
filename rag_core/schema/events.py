"""Drift events in the store: one active event a fingerprint, with the history of every decision."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import psycopg
from psycopg.types.json import Jsonb

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.base import Record
from rag_core.datamodel.drift import Change, DriftEvent, EventState
from rag_core.errors import ConfigurationError
from rag_core.schema.pairs import RenameDecisions

Decision = Literal["accept", "reject", "map", "revert", "supersede"]
# What these changes do to answers is nothing that somebody must decide.
NOTED = frozenset({"compatible", "cosmetic"})
HISTORY_LENGTH = 500


class DecisionEntry(Record):
    """One decision on an event: who, what and when; `target` is what it became, for a mapping."""

    event_id: int
    decision: Decision
    target: str | None
    actor: str
    note: str
    decided_at: datetime


class FoundEvent(Record):
    """An event with the warehouse it belongs to, and whether the schema still differs in this way."""

    event: DriftEvent
    warehouse: str
    active: bool


def active_events(connection: psycopg.Connection, warehouse: str) -> dict[str, DriftEvent]:
    """The events that still describe the schema, by fingerprint."""
    rows = connection.execute(statement("drift/list_active_events"), {"warehouse": warehouse}).fetchall()
    return {event.change.change_id: event for event in map(event_of, rows)}


def open_event(
    connection: psycopg.Connection, warehouse: str, change: Change, *, snapshot_id: int, actor: str, moment: datetime
) -> DriftEvent:
    """Records a change. Compatible and cosmetic ones are noted, which needs no decision; the others are open."""
    state: EventState = "noted" if change.severity in NOTED else "open"
    closed_at = moment if state == "noted" else None
    decided_by = actor if state == "noted" else None
    row = connection.execute(
        statement("drift/insert_event"),
        {
            "warehouse": warehouse,
            "change_id": change.change_id,
            "kind": change.kind,
            "object": change.object,
            "table_name": change.table,
            "severity": change.severity,
            "change": Jsonb(change.model_dump(mode="json")),
            "state": state,
            "snapshot_id": snapshot_id,
            "moment": moment,
            "closed_at": closed_at,
            "actor": decided_by,
        },
    ).fetchone()
    assert row is not None
    return DriftEvent(
        event_id=row[0],
        change=change,
        state=state,
        snapshot_id=snapshot_id,
        opened_at=moment,
        last_seen_at=moment,
        closed_at=closed_at,
        decided_by=decided_by,
    )


def touch_events(connection: psycopg.Connection, event_ids: list[int], moment: datetime) -> None:
    """Notes that the differences were seen again."""
    connection.execute(statement("drift/touch_events"), {"event_ids": event_ids, "moment": moment})


def retire_events(connection: psycopg.Connection, event_ids: list[int]) -> None:
    """Marks decided events whose difference is no longer one."""
    connection.execute(statement("drift/retire_events"), {"event_ids": event_ids})


def decide_event(
    connection: psycopg.Connection,
    event: DriftEvent,
    decision: Decision,
    *,
    actor: str,
    moment: datetime,
    target: str | None = None,
    note: str = "",
) -> None:
    """Records a decision and moves the event into the state that follows from it."""
    states: dict[Decision, EventState] = {
        "accept": "accepted",
        "reject": "rejected",
        "map": "mapped",
        "revert": "reverted",
        "supersede": "superseded",
    }
    connection.execute(
        statement("drift/close_event"),
        {
            "event_id": event.event_id,
            "state": states[decision],
            "active": decision in ("accept", "reject"),
            "moment": moment,
            "actor": actor,
            "note": note,
        },
    )
    connection.execute(
        statement("drift/insert_decision"),
        {
            "event_id": event.event_id,
            "decision": decision,
            "target": target,
            "actor": actor,
            "note": note,
            "moment": moment,
        },
    )


def find_event(connection: psycopg.Connection, name: str) -> FoundEvent:
    """The event with this number, or the latest with this change id. Raises ConfigurationError."""
    row = connection.execute(statement("drift/find_event"), {"name": name.strip()}).fetchone()
    if row is None:
        raise ConfigurationError(f"there is no drift event {name!r}: `nightshift drift history` lists them")
    return FoundEvent(event=event_of(row[:9]), warehouse=row[9], active=row[10])


def list_events(
    store: Store, *, state: EventState | None = None, name: str | None = None, limit: int = HISTORY_LENGTH
) -> tuple[DriftEvent, ...]:
    """Events, the latest first, of one state or object where given."""
    with store.connection() as connection:
        rows = connection.execute(
            statement("drift/list_events"), {"state": state, "object": name, "event_count": limit}
        ).fetchall()
    return tuple(map(event_of, rows))


def list_decisions(store: Store, *, limit: int = HISTORY_LENGTH) -> tuple[DecisionEntry, ...]:
    """Decisions on events, the latest first."""
    with store.connection() as connection:
        rows = connection.execute(statement("drift/list_decisions"), {"event_count": limit}).fetchall()
    return tuple(
        DecisionEntry(event_id=row[0], decision=row[1], target=row[2], actor=row[3], note=row[4], decided_at=row[5])
        for row in rows
    )


def read_rename_decisions(connection: psycopg.Connection, warehouse: str) -> RenameDecisions:
    """Which renames people confirmed and refused."""
    rows = connection.execute(statement("drift/list_rename_decisions"), {"warehouse": warehouse}).fetchall()
    return RenameDecisions(
        confirmed=tuple((before, after) for before, after, verdict in rows if verdict == "confirmed"),
        refused=tuple((before, after) for before, after, verdict in rows if verdict == "refused"),
    )


def save_rename_decision(
    connection: psycopg.Connection,
    warehouse: str,
    before: str,
    after: str,
    verdict: Literal["confirmed", "refused"],
    *,
    actor: str,
    moment: datetime,
) -> None:
    """Records that `after` is, or is not, what `before` became; the next comparison follows it."""
    connection.execute(
        statement("drift/save_rename_decision"),
        {
            "warehouse": warehouse,
            "before_object": before,
            "after_object": after,
            "verdict": verdict,
            "actor": actor,
            "moment": moment,
        },
    )


def read_renames(connection: psycopg.Connection, warehouse: str) -> tuple[tuple[Change, ...], ...]:
    """Every certain rename that was not undone (proven ones and accepted ones), by the snapshot that found it."""
    rows = connection.execute(statement("drift/list_renames"), {"warehouse": warehouse}).fetchall()
    found: dict[int, list[Change]] = {}
    for event in map(event_of, rows):
        if event.change.confidence == 1 or event.state == "accepted":
            found.setdefault(event.snapshot_id, []).append(event.change)
    return tuple(tuple(found[snapshot_id]) for snapshot_id in sorted(found))


def event_of(row: tuple[Any, ...]) -> DriftEvent:
    """A row of the event queries as an event."""
    event_id, change, state, snapshot_id, opened_at, last_seen_at, closed_at, decided_by, note = row
    return DriftEvent(
        event_id=event_id,
        change=Change.model_validate(change),
        state=state,
        snapshot_id=snapshot_id,
        opened_at=opened_at,
        last_seen_at=last_seen_at,
        closed_at=closed_at,
        decided_by=decided_by,
        note=note,
    )


def find_events_by_name(connection: psycopg.Connection, warehouse: str, name: str) -> tuple[DriftEvent, ...]:
    """What became of a table or column of this (perhaps partial) name; what still holds and is latest first."""
    rows = connection.execute(statement("drift/find_events_by_name"), {"warehouse": warehouse, "name": name}).fetchall()
    return tuple(map(event_of, rows))
