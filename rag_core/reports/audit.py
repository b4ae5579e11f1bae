"""The audit trail: events in a chain of hashes, so that a changed, removed or inserted one shows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import psycopg

from rag_core.connectors.sql_files import statement
from rag_core.datamodel.base import Record
from rag_core.reports.rows import clean_row

FIRST_HASH = "0" * 64


class AuditEvent(Record):
    """One event; `hash` is over the other fields, `previous_hash` that of the event before."""

    event_id: int
    happened_at: datetime
    actor: str
    action: str
    object: str
    detail: str
    previous_hash: str
    hash: str


class AuditVerdict(Record):
    """Whether the chain holds. `head` is the last hash: kept elsewhere, it proves that no event was cut off the end."""

    intact: bool
    events: int
    head: str
    broken_at: int | None = None
    reason: str = ""


def append_event(
    connection: psycopg.Connection, *, actor: str, action: str, target: str, detail: dict[str, Any]
) -> int:
    """Adds an event inside the caller's transaction; returns its number."""
    spelled = json.dumps(detail, ensure_ascii=False, sort_keys=True, default=str)
    row = connection.execute(
        statement("reports/append_audit_event"),
        clean_row({"actor": actor, "action": action, "object": target, "detail": spelled}),
    ).fetchone()
    return int(row[0]) if row is not None else 0


def read_events(connection: psycopg.Connection) -> list[AuditEvent]:
    """All events in order."""
    fields = tuple(AuditEvent.model_fields)
    rows = connection.execute(statement("reports/list_audit_events")).fetchall()
    return [AuditEvent(**dict(zip(fields, row, strict=True))) for row in rows]


def event_hash(event: AuditEvent) -> str:
    """The hash that an event must have: SHA-256 over its other fields, each spelled as `length:text;`."""
    moment = event.happened_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    fields = (
        str(event.event_id),
        moment,
        event.actor,
        event.action,
        event.object,
        event.detail,
        event.previous_hash,
    )
    spelled = "".join(f"{len(field.encode())}:{field};" for field in fields)
    return hashlib.sha256(spelled.encode()).hexdigest()


def verify_chain(events: Iterable[AuditEvent], *, known_head: str | None = None) -> AuditVerdict:
    """Checks number, link and hash of each event, and that `known_head`, noted earlier, is still part of the chain."""
    previous, count = FIRST_HASH, 0
    seen_head = known_head is None or known_head == FIRST_HASH
    for event in events:
        reason = ""
        if event.event_id != count + 1:
            reason = f"event {count + 1} is missing"
        elif event.previous_hash != previous:
            reason = f"event {event.event_id} does not follow the event before it"
        elif event.hash != event_hash(event):
            reason = f"event {event.event_id} was changed"
        if reason:
            return AuditVerdict(intact=False, events=count, head=previous, broken_at=count + 1, reason=reason)
        previous, count = event.hash, count + 1
        seen_head = seen_head or event.hash == known_head
    if not seen_head:
        return AuditVerdict(
            intact=False, events=count, head=previous, broken_at=count + 1, reason="the noted head is not in the chain"
        )
    return AuditVerdict(intact=True, events=count, head=previous)
