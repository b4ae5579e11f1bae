"""Drift detection: a snapshot, held against the accepted schema, becomes events that say what changed for whom."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Protocol

import psycopg
from psycopg.types.json import Jsonb

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.catalog import Catalog, CatalogTable
from rag_core.datamodel.drift import Change, DriftReport, DriftRules, Lineage
from rag_core.errors import QueryFault, ServiceUnavailable
from rag_core.schema.baseline import Side
from rag_core.schema.events import active_events, touch_events
from rag_core.schema.lineage import read_plan_lineage
from rag_core.schema.profiles import Profiler, save_profiles
from rag_core.schema.reconcile import (
    MASS,
    compare_sides,
    compare_with_baseline,
    record_comparison,
    record_held,
    side_of,
)
from rag_core.schema.snapshots import (
    Described,
    Key,
    StoredSnapshot,
    describe,
    find_snapshot,
    read_digests,
    save_baseline,
    save_incomplete,
    save_snapshot,
    snapshot_form,
    touch_snapshot,
)

logger = logging.getLogger(__name__)


class SchemaSource(Protocol):
    """What a snapshot is taken of: a warehouse, or the document index."""

    @property
    def dialect(self) -> str:
        """Name of its kind; with the database's name it tells one source from another."""
        ...

    def snapshot(self) -> Catalog:
        """The whole schema. Raises ServiceUnavailable or QueryFault."""
        ...


def detect_drift(
    warehouse: SchemaSource,
    store: Store,
    *,
    record: bool = True,
    actor: str = "system",
    now: datetime | None = None,
    rules: DriftRules | None = None,
    lineage: Sequence[Lineage] = (),
    requested_at: datetime | None = None,
    profiler: Profiler | None = None,
) -> DriftReport:
    """Takes a snapshot of the warehouse's schema and finds what changed since the accepted one.

    Two runs at once take one snapshot: the second waits for the first and returns its report. A snapshot that fails
    half-way is recorded as incomplete and compared with nothing.

    Args:
        warehouse: whose schema is read.
        store: where snapshots, events and decisions are kept.
        record: False finds the changes and writes nothing.
        actor: who is named in the history.
        now: time that is recorded; the order of snapshots never depends on it.
        rules: section `drift` of the policy.
        lineage: what reads the schema besides the plans in the store.
        requested_at: by the store's clock, when the caller saw the need; a check that ended since is joined. Without
            it that is now.
        profiler: reads what columns hold that may be ones that vanished; without it names and places decide.

    Raises:
        ServiceUnavailable: the store cannot be reached. A warehouse that cannot be reached is told in the report.
    """
    moment = now if now is not None else datetime.now(UTC)
    wanted = rules if rules is not None else DriftRules()
    with store.connection() as connection:
        if record:
            joined = _wait_for_turn(connection, warehouse.dialect, requested_at)
            if joined is not None:
                return joined
        check = _Check(connection, wanted, record=record, actor=actor, moment=moment, lineage=lineage)
        check.profiler = profiler
        report = check.run(warehouse)
        if report.status != "unchanged":
            logger.info("schema drift: %s, %d changes", report.status, len(report.changes))
        return report


def schema_moved(warehouse: SchemaSource, store: Store, catalog: Catalog | None) -> bool:
    """Whether the schema is another than when it was last checked; False before the first check.

    Args:
        warehouse: asked for its state where it has one, which reads nothing of the schema.
        store: where snapshots are kept.
        catalog: the schema as the caller knows it, for warehouses without a state; None where the caller's is no use.

    A warehouse that does not tell its state may have changed: the check that follows finds out why. Raises
    ServiceUnavailable where the store cannot be reached.
    """
    try:
        name, state = _read_state(warehouse)
    except (QueryFault, ServiceUnavailable):
        return True
    if not state and catalog is None:
        return False
    described = describe(catalog) if catalog is not None and not state else None
    with store.connection() as connection:
        last = find_snapshot(connection, described.warehouse if described is not None else name)
    if last is None:
        return False
    return last.state != state if described is None else last.fingerprint != described.fingerprint


def store_clock(connection: psycopg.Connection) -> datetime:
    """The time by the store's clock, the one clock that all processes share."""
    row = connection.execute(statement("drift/read_clock")).fetchone()
    assert row is not None
    moment: datetime = row[0]
    return moment


def _wait_for_turn(connection: psycopg.Connection, dialect: str, requested_at: datetime | None) -> DriftReport | None:
    """Waits until no other check runs; the report of one that ended meanwhile, else None."""
    moment = requested_at if requested_at is not None else store_clock(connection)
    connection.execute(statement("drift/lock_check"))
    row = connection.execute(
        statement("drift/find_finished_run"), {"requested_at": moment, "prefix": f"{dialect}:"}
    ).fetchone()
    return DriftReport.model_validate(row[0]) if row else None


class _Check:
    """One drift check within one transaction of the store."""

    def __init__(
        self,
        connection: psycopg.Connection,
        rules: DriftRules,
        *,
        record: bool,
        actor: str,
        moment: datetime,
        lineage: Sequence[Lineage],
    ) -> None:
        self._connection = connection
        self._rules = rules
        self._record = record
        self._actor = actor
        self._moment = moment
        self._lineage = lineage
        self._state = ""
        self.profiler: Profiler | None = None

    def run(self, warehouse: SchemaSource) -> DriftReport:
        try:
            name, state = _read_state(warehouse)
            report = self._without_snapshot(name, state) if state else None
            if report is not None:
                self._log_run(name, report)
                return report
            catalog = warehouse.snapshot()
        except (QueryFault, ServiceUnavailable) as error:
            reachable = not isinstance(error, ServiceUnavailable)
            return self._incomplete(warehouse.dialect, str(error), reachable=reachable)
        if not catalog.complete:
            return self._incomplete(warehouse.dialect, catalog.reason or "the snapshot is incomplete", reachable=True)
        described = describe(catalog)
        self._state = state
        last = find_snapshot(self._connection, described.warehouse)
        if last is None:
            report = self._baseline(described)
        elif (
            last.fingerprint == described.fingerprint
            and last.rules == self._rules
            and not self._held(described.warehouse)
        ):
            report = self._unchanged(described.warehouse, last)
        else:
            report = self._changed(described, last)
        self._log_run(described.warehouse, report)
        return report

    def _without_snapshot(self, name: str, state: str) -> DriftReport | None:
        """The report where the database says that nothing was written since the last snapshot; else None."""
        last = find_snapshot(self._connection, name)
        if last is None or last.state != state or last.rules != self._rules or self._held(name):
            return None
        # A held snapshot is newer than the last complete one and differs from it.
        held = find_snapshot(self._connection, name, "held")
        if held is not None and held.snapshot_id > last.snapshot_id:
            return None
        self._state = state
        return self._unchanged(name, last)

    def _incomplete(self, dialect: str, reason: str, *, reachable: bool) -> DriftReport:
        report = DriftReport(snapshot_id=None, status="incomplete", reason=reason, reachable=reachable)
        if self._record:
            snapshot_id, name = save_incomplete(
                self._connection, dialect, reason=reason, rules=self._rules, actor=self._actor, moment=self._moment
            )
            report = report.model_copy(update={"snapshot_id": snapshot_id})
            self._log_run(name, report)
        return report

    def _baseline(self, described: Described) -> DriftReport:
        snapshot_id = self._save(described)
        if self._record:
            save_baseline(self._connection, described.warehouse, described.digests, self._moment)
        return DriftReport(snapshot_id=snapshot_id, status="baseline", fingerprint=described.fingerprint)

    def _held(self, name: str) -> bool:
        active = active_events(self._connection, name).values()
        return any(event.change.kind == MASS for event in active)

    def _unchanged(self, name: str, last: StoredSnapshot) -> DriftReport:
        active = list(active_events(self._connection, name).values())
        if self._record:
            touch_snapshot(self._connection, last.snapshot_id, self._moment, self._state)
            touch_events(self._connection, [event.event_id for event in active], self._moment)
        return DriftReport(
            snapshot_id=last.snapshot_id,
            status="unchanged",
            open_events=sum(event.state == "open" for event in active),
            fingerprint=last.fingerprint,
        )

    def _changed(self, described: Described, last: StoredSnapshot) -> DriftReport:
        now = _side(described)
        lineage = (*read_plan_lineage(self._connection), *self._lineage)
        comparison = compare_with_baseline(self._connection, now, rules=self._rules, earlier=last, lineage=lineage)
        if self._profile(comparison.changes, described):
            comparison = compare_with_baseline(self._connection, now, rules=self._rules, earlier=last, lineage=lineage)
        if comparison.missing:
            snapshot_id = self._save_held(described)
            open_events = 0
            if self._record and snapshot_id is not None:
                open_events = record_held(
                    self._connection, comparison, now, snapshot_id=snapshot_id, actor=self._actor, moment=self._moment
                )
            reason = "so many tables vanished at once that somebody must confirm it: nightshift drift accept EVENT"
            return DriftReport(
                snapshot_id=snapshot_id,
                status="held",
                changes=comparison.changes,
                reason=reason,
                open_events=open_events,
                fingerprint=described.fingerprint,
            )
        since_last = self._changes_since(last, now)
        changed = {change.object for change in comparison.changes}
        gone = {event.change.table for event in comparison.over if event.change.object not in changed}
        back = [change for change in since_last if change.table in gone]
        new_ids = {change.change_id for change in comparison.new}
        changes = (*comparison.new, *(change for change in back if change.change_id not in new_ids))
        snapshot_id = self._save(described, known=last)
        reverted: tuple[int, ...] = ()
        open_events = sum(event.state == "open" for event in comparison.active.values())
        if self._record and snapshot_id is not None:
            recorded = record_comparison(
                self._connection, comparison, now, snapshot_id=snapshot_id, actor=self._actor, moment=self._moment
            )
            reverted = tuple(event.event_id for event in recorded.reverted)
            open_events = recorded.open_events
        return DriftReport(
            snapshot_id=snapshot_id,
            status="changed" if changes or reverted else "unchanged",
            changes=changes,
            open_events=open_events,
            reverted=reverted,
            fingerprint=described.fingerprint,
        )

    def _profile(self, changes: Sequence[Change], described: Described) -> bool:
        """Takes profiles of new columns of tables in which one vanished and nothing proves what it became."""
        if self.profiler is None or not self._record:
            return False
        unproven = {
            change.table
            for change in changes
            if change.kind == "column_removed" or (change.kind == "column_renamed" and change.confidence < 1)
        }
        appeared = [(change.table, change.column) for change in changes if change.kind == "column_added"]
        appeared += [(change.table, change.after) for change in changes if change.kind == "column_renamed"]
        done = False
        for table in sorted(unproven):
            found = described.catalog.table(table)
            columns = [name for owner, name in appeared if owner == table and name is not None]
            profiles = self.profiler.read(found, columns) if found is not None and columns else {}
            save_profiles(self._connection, described.warehouse, table, profiles, self._moment)
            done = done or bool(profiles)
        return done

    def _changes_since(self, last: StoredSnapshot, now: Side) -> tuple[Change, ...]:
        before = side_of(self._connection, now.warehouse, last, read_digests(self._connection, last.snapshot_id))
        return compare_sides(self._connection, before, now, rules=self._rules)

    def _save(self, described: Described, known: StoredSnapshot | None = None) -> int | None:
        if not self._record:
            return None
        stored = read_digests(self._connection, known.snapshot_id).values() if known is not None else ()
        return save_snapshot(
            self._connection,
            described,
            status="complete",
            rules=self._rules,
            actor=self._actor,
            moment=self._moment,
            known=stored,
            state=self._state,
        )

    def _save_held(self, described: Described) -> int | None:
        held = find_snapshot(self._connection, described.warehouse, "held")
        if held is not None and held.fingerprint == described.fingerprint:
            return held.snapshot_id
        if not self._record:
            return None
        return save_snapshot(
            self._connection,
            described,
            status="held",
            rules=self._rules,
            actor=self._actor,
            moment=self._moment,
            reason="many tables vanished at once",
        )

    def _log_run(self, name: str, report: DriftReport) -> None:
        if self._record:
            self._connection.execute(
                statement("drift/insert_run"),
                {
                    "warehouse": name,
                    "status": report.status,
                    "actor": self._actor,
                    "report": Jsonb(report.model_dump(mode="json")),
                },
            )


def _read_state(source: SchemaSource) -> tuple[str, str]:
    """Which warehouse it is, and the text that any change of its schema changes; empty where the database has none.

    What a snapshot is made of by this version belongs to it, so that an update reads the schema again.
    """
    read: Callable[[], tuple[str, str]] | None = getattr(source, "schema_state", None)
    if read is None:
        return "", ""
    database, state = read()
    return f"{source.dialect}:{database}", f"{snapshot_form(source.dialect)} {state}"


def _side(described: Described) -> Side:
    by_key = {(table.schema_name, table.name): table for table in described.catalog.tables}

    def tables(keys: Iterable[Key]) -> list[CatalogTable]:
        return [by_key[key] for key in sorted(keys)]

    return Side(
        warehouse=described.warehouse,
        digests=described.digests,
        tables=tables,
        closed_schemas=described.catalog.closed_schemas,
        taken_at=described.catalog.taken_at,
    )
