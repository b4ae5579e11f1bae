"""Brings the accepted schema up to date, table by table, as far as nothing waits for a decision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

import psycopg

from rag_core.datamodel.catalog import CatalogTable
from rag_core.datamodel.drift import DriftEvent
from rag_core.schema.accepted import UNDECIDED, accept_decided, accept_noted
from rag_core.schema.events import active_events, retire_events
from rag_core.schema.pairs import PROVING_DIALECTS
from rag_core.schema.renames import TABLE_RENAMES, Renames
from rag_core.schema.snapshots import Digests, Key, find_baseline, read_tables, save_baseline, save_tables

_RENAMED = TABLE_RENAMES | {"column_renamed"}


class Side(NamedTuple):
    """A schema as it is now: digests, and a way to get at the tables that are needed."""

    warehouse: str
    digests: Digests
    tables: Callable[[Iterable[Key]], list[CatalogTable]]
    closed_schemas: tuple[str, ...]
    taken_at: datetime


class _Merge(NamedTuple):
    """A table of which a part is accepted: its key before and now, and whether something about it is undecided.

    A new table has no key before.
    """

    before: Key | None
    now: Key
    waits: bool


def advance_baseline(connection: psycopg.Connection, now: Side, moment: datetime) -> int:
    """Accepts the present form of every table on which nothing waits for a decision. Returns how many events do.

    Where something waits, what needs no decision is accepted all the same. Decided events retire when their difference
    is part of the accepted schema.
    """
    active = list(active_events(connection, now.warehouse).values())
    baseline = find_baseline(connection, now.warehouse) or {}
    by_table: defaultdict[str, list[DriftEvent]] = defaultdict(list)
    for event in active:
        by_table[event.change.table].append(event)
    called = {event.change.table: event.change.after for event in active if event.change.kind in TABLE_RENAMES}
    origins = {new: old for old, new in called.items()}
    undecided = _undecided(active, called)
    # Views and references follow a rename without being changed themselves; they wait with it.
    waiting = _waiting_renames(active)
    keys = {".".join(key): key for key in now.digests}
    accepted: Digests = {}
    merges: list[_Merge] = []
    for key, digest in baseline.items():
        name = ".".join(key)
        present = keys.get(called.get(name) or name)
        if name in undecided:
            accepted[key] = digest
            if present is not None and any(event.state not in UNDECIDED for event in by_table[name]):
                merges.append(_Merge(key, present, waits=True))
        elif not waiting.empty and present is not None:
            accepted[present] = digest
            if name in by_table:
                merges.append(_Merge(key, present, waits=False))
    for key, digest in now.digests.items():
        name = ".".join(key)
        # A new table is watched at once, even where another is missed: `map` still takes it as what that one became.
        if key in accepted or origins.get(name, name) in undecided:
            continue
        accepted[key] = digest
        if not waiting.empty:
            merges.append(_Merge(None, key, waits=False))
    merged, applied = _merge(connection, merges, baseline, now, by_table, waiting)
    accepted.update(merged)
    if accepted != baseline:
        save_baseline(connection, now.warehouse, accepted, moment)
    settled = [
        event.event_id
        for event in active
        if event.state not in UNDECIDED and (event.event_id in applied or _settled(event, accepted, undecided))
    ]
    if settled:
        retire_events(connection, settled)
    return sum(event.state == "open" for event in active)


def _undecided(active: Sequence[DriftEvent], called: dict[str, str | None]) -> set[str]:
    """Tables that wait, by their earlier names; whoever takes the name of one that waits, waits with it."""
    found = {event.change.table for event in active if event.state in UNDECIDED}
    while more := {old for old, new in called.items() if new in found and new in called} - found:
        found |= more
    return found


def _waiting_renames(active: Sequence[DriftEvent]) -> Renames:
    tables: dict[str, str] = {}
    columns: dict[tuple[str, str], str] = {}
    for event in active:
        change = event.change
        if event.state not in UNDECIDED or change.kind not in _RENAMED or change.after is None:
            continue
        if change.column is None:
            tables[change.table] = change.after
        else:
            columns[(change.table, change.column)] = change.after
    return Renames(tables, columns)


def _merge(
    connection: psycopg.Connection,
    merges: Sequence[_Merge],
    baseline: Digests,
    now: Side,
    by_table: dict[str, list[DriftEvent]],
    waiting: Renames,
) -> tuple[Digests, set[int]]:
    """Digests of the tables of which a part is accepted, and the numbers of the events that are part of them."""
    if not merges:
        return {}, set()
    stored = read_tables(connection, [baseline[item.before] for item in merges if item.before is not None])
    wanted = sorted({item.now for item in merges})
    present = dict(zip(wanted, now.tables(wanted), strict=True))
    proving = now.warehouse.partition(":")[0] in PROVING_DIALECTS
    tables: list[CatalogTable] = []
    applied: set[int] = set()
    for item in merges:
        after = present[item.now]
        before = stored[baseline[item.before]] if item.before is not None else after
        events = by_table[".".join(item.before)] if item.before is not None else []
        if item.waits:
            form = accept_noted(before, after, events, proving=proving)
            tables.append(form.table)
            applied |= set(form.applied)
        else:
            tables.append(accept_decided(before, after, events, waiting))
    return save_tables(connection, tables), applied


def _settled(event: DriftEvent, accepted: Digests, undecided: set[str]) -> bool:
    if event.change.table in undecided:
        return False
    if event.change.kind in ("table_added", "table_recreated"):
        return any(".".join(key) == event.change.table for key in accepted)
    return True
