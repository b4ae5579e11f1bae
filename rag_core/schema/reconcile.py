"""Holds a schema against the accepted one, and brings events and the accepted schema up to date."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

import psycopg

from rag_core.datamodel.catalog import Catalog, CatalogTable
from rag_core.datamodel.drift import Change, ChangeKind, DriftEvent, DriftRules, Lineage
from rag_core.schema.accepted import UNDECIDED
from rag_core.schema.baseline import Side, advance_baseline
from rag_core.schema.change import ChangeMaker
from rag_core.schema.diff import diff_catalogs, matches
from rag_core.schema.events import (
    active_events,
    decide_event,
    open_event,
    read_rename_decisions,
    retire_events,
    touch_events,
)
from rag_core.schema.impact import find_affected
from rag_core.schema.profiles import read_profiles
from rag_core.schema.reused import mark_reused
from rag_core.schema.snapshots import Digests, Key, StoredSnapshot, find_baseline, read_tables

MASS = "mass_disappearance"
_NAMES_SHOWN = 5
# With a table, what was to be said of its columns is gone too.
_WHOLE = frozenset({"table_removed", "access_lost"})


class Comparison(NamedTuple):
    """What differs from the accepted schema.

    `changes` are all differences, `new` those without an event, `over` the events whose difference is gone.
    `missing` names tables that vanished, where they are so many that somebody must confirm it.
    """

    changes: tuple[Change, ...]
    new: tuple[Change, ...]
    over: tuple[DriftEvent, ...]
    active: dict[str, DriftEvent]
    missing: tuple[str, ...] = ()


class Recorded(NamedTuple):
    """Events that were closed because the schema went back, and how many are open."""

    reverted: tuple[DriftEvent, ...]
    open_events: int


def side_of(connection: psycopg.Connection, warehouse: str, snapshot: StoredSnapshot, digests: Digests) -> Side:
    """A stored snapshot as a side."""

    def tables(keys: Iterable[Key]) -> list[CatalogTable]:
        wanted = sorted(keys)
        found = read_tables(connection, [digests[key] for key in wanted])
        return [found[digests[key]] for key in wanted]

    return Side(warehouse, digests, tables, snapshot.closed_schemas, snapshot.taken_at)


def compare_sides(
    connection: psycopg.Connection,
    before: Side,
    now: Side,
    *,
    rules: DriftRules,
    earlier_rules: DriftRules | None = None,
) -> tuple[Change, ...]:
    """The differences of two schemas; only tables whose digests differ are loaded."""
    keys = set(before.digests) | set(now.digests)
    if earlier_rules is None or earlier_rules == rules:
        keys = {key for key in keys if before.digests.get(key) != now.digests.get(key)}
    return diff_catalogs(
        _catalog(before, keys),
        _catalog(now, keys),
        rules=rules,
        earlier_rules=earlier_rules,
        decisions=read_rename_decisions(connection, now.warehouse),
        profiles=read_profiles(connection, now.warehouse, (".".join(key) for key in keys)),
    )


def compare_with_baseline(
    connection: psycopg.Connection,
    now: Side,
    *,
    rules: DriftRules,
    earlier: StoredSnapshot,
    lineage: Sequence[Lineage] = (),
    confirmed: bool = False,
) -> Comparison:
    """Holds a schema against the accepted one.

    Args:
        connection: the store.
        now: the schema as it is.
        rules: what counts.
        earlier: the last complete snapshot, for the rules and the closed schemas of that time.
        lineage: what reads the schema; the changes come with whom they touch.
        confirmed: somebody has confirmed that so many tables are gone.
    """
    digests = find_baseline(connection, now.warehouse) or {}
    accepted = side_of(connection, now.warehouse, earlier, digests)
    found_changes = compare_sides(connection, accepted, now, rules=rules, earlier_rules=earlier.rules)
    changes = mark_reused(connection, now.warehouse, found_changes)
    active = active_events(connection, now.warehouse)
    vanished = [change for change in changes if change.kind == "table_removed" and change.change_id not in active]
    watched = sum(not matches(".".join(key), rules.ignore_tables) for key in digests)
    if not confirmed and len(vanished) >= rules.hold_minimum and len(vanished) > rules.hold_share * watched:
        missing = tuple(change.object for change in vanished)
        mass = _mass_change(now, watched, missing, rules)
        new = () if mass.change_id in active else (mass,)
        return Comparison((mass,), new, (), active, missing)
    found = {change.change_id for change in changes}
    return Comparison(
        changes=changes,
        new=find_affected([change for change in changes if change.change_id not in active], lineage),
        over=tuple(event for key, event in active.items() if key not in found),
        active=active,
    )


def record_held(
    connection: psycopg.Connection, comparison: Comparison, now: Side, *, snapshot_id: int, actor: str, moment: datetime
) -> int:
    """Opens the event that asks for confirmation; nothing else is touched. Returns how many events are open."""
    for change in comparison.new:
        open_event(connection, now.warehouse, change, snapshot_id=snapshot_id, actor=actor, moment=moment)
    return sum(event.state == "open" for event in active_events(connection, now.warehouse).values())


def record_comparison(
    connection: psycopg.Connection, comparison: Comparison, now: Side, *, snapshot_id: int, actor: str, moment: datetime
) -> Recorded:
    """Opens new events, closes those whose difference is gone, and accepts the tables on which all is decided."""
    reverted = []
    retired = [event.event_id for event in comparison.over if event.state not in UNDECIDED]
    if retired:
        retire_events(connection, retired)
    for event in comparison.over:
        if event.state not in UNDECIDED:
            continue
        if any(_replaces(change, event.change) for change in comparison.new):
            decide_event(connection, event, "supersede", actor=actor, moment=moment)
        else:
            decide_event(connection, event, "revert", actor=actor, moment=moment)
            reverted.append(event)
    seen = [
        comparison.active[change.change_id].event_id
        for change in comparison.changes
        if change.change_id in comparison.active
    ]
    if seen:
        touch_events(connection, seen, moment)
    for change in comparison.new:
        open_event(connection, now.warehouse, change, snapshot_id=snapshot_id, actor=actor, moment=moment)
    open_events = advance_baseline(connection, now, moment)
    return Recorded(tuple(reverted), open_events)


def _replaces(change: Change, earlier: Change) -> bool:
    """Whether a new change stands in the place of an earlier one, so that the earlier one was not undone."""
    if change.table != earlier.table or change.kind.endswith(("_added", "_gained")):
        return False
    if change.column is None and change.kind in _WHOLE:
        return True
    parted = earlier.column is None and change.kind == earlier.kind
    same = change.object == earlier.object and _family(change.kind) in (_family(earlier.kind), "column", "table")
    return same or parted


def _family(kind: ChangeKind) -> str:
    return kind.partition("_")[0]


def _catalog(side: Side, keys: Iterable[Key]) -> Catalog:
    dialect, _, database = side.warehouse.partition(":")
    return Catalog(
        dialect=dialect,
        database=database,
        taken_at=side.taken_at,
        tables=tuple(side.tables(key for key in keys if key in side.digests)),
        closed_schemas=side.closed_schemas,
    )


def _mass_change(now: Side, watched: int, missing: tuple[str, ...], rules: DriftRules) -> Change:
    shown = ", ".join(missing[:_NAMES_SHOWN]) + (", ..." if len(missing) > _NAMES_SHOWN else "")
    return ChangeMaker(rules).make(
        "mass_disappearance", now.warehouse, before=f"{watched} tables", after=f"{len(missing)} missing: {shown}"
    )
