"""From a change to an event, its decision and its end; what must never make a false event."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import psycopg
import pytest
from psycopg.types.json import Jsonb

from rag_core.connectors.store import Store
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.drift import Lineage
from rag_core.schema.decisions import accept_events
from rag_core.schema.drift import detect_drift
from rag_core.schema.events import list_decisions, list_events
from tests.integration.schema.conftest import Playground

pytestmark = pytest.mark.integration

TABLE = "CREATE TABLE t (id int PRIMARY KEY, amt numeric, note text);"
SEVEN = "".join(f"CREATE TABLE t{number} (id int);" for number in range(7))


def test_first_run_is_a_baseline(playground: Playground) -> None:
    playground.run(TABLE)
    report = playground.check()
    assert (report.status, report.changes, report.open_events) == ("baseline", (), 0)
    assert report.snapshot_id is not None
    assert playground.rows("SELECT count(*) FROM nightshift.drift_event") == [(0,)]


def test_unchanged_schema_keeps_its_snapshot(playground: Playground) -> None:
    playground.run(TABLE)
    first = playground.check()
    second = playground.check()
    assert (second.status, second.snapshot_id, second.fingerprint) == (
        "unchanged",
        first.snapshot_id,
        first.fingerprint,
    )
    assert playground.rows("SELECT count(*) FROM nightshift.schema_snapshot") == [(1,)]
    assert playground.rows("SELECT last_seen_at > taken_at FROM nightshift.schema_snapshot") == [(True,)]


def test_rows_and_statistics_are_no_change(playground: Playground) -> None:
    playground.run(TABLE)
    playground.check()
    playground.run("INSERT INTO t SELECT g, g FROM generate_series(1, 1000) AS g; ANALYZE t")
    assert playground.check().status == "unchanged"


def test_no_record_writes_nothing(playground: Playground) -> None:
    playground.run(TABLE)
    assert playground.check(record=False).status == "baseline"
    assert playground.rows("SELECT count(*) FROM nightshift.schema_snapshot") == [(0,)]
    playground.check()
    playground.run("ALTER TABLE t DROP note")
    for _ in range(2):
        report = playground.check(record=False)
        assert [change.kind for change in report.changes] == ["column_removed"]
        assert report.snapshot_id is None
    assert playground.rows("SELECT count(*) FROM nightshift.drift_event") == [(0,)]


def test_one_event_a_difference_however_often_it_is_seen(playground: Playground) -> None:
    playground.run(TABLE)
    playground.check()
    playground.run("ALTER TABLE t DROP note")
    assert playground.check().open_events == 1
    playground.run("ALTER TABLE t ADD extra int")
    report = playground.check()
    assert [change.kind for change in report.changes] == ["column_added"]
    assert report.open_events == 1
    events = list_events(playground.store)
    assert [(event.change.kind, event.state) for event in events] == [
        ("column_added", "noted"),
        ("column_removed", "open"),
    ]
    assert events[1].last_seen_at > events[1].opened_at


def test_a_change_that_is_undone_closes_its_event(playground: Playground) -> None:
    playground.run("CREATE TABLE t (id int, amt int)")
    playground.check()
    playground.run("ALTER TABLE t ALTER amt TYPE text")
    event = list_events(playground.store) if playground.check() else ()
    playground.run("ALTER TABLE t ALTER amt TYPE bigint USING amt::bigint")
    report = playground.check()
    assert [change.kind for change in report.changes] == ["type_widened"]
    playground.run("ALTER TABLE t ALTER amt TYPE int")
    report = playground.check()
    assert report.reverted == () or event[0].event_id not in report.reverted
    states = {event.change.kind: event.state for event in list_events(playground.store)}
    assert states["type_changed"] == "superseded"


def test_a_column_put_back_in_a_rebuilt_table_reverts(playground: Playground) -> None:
    playground.run("CREATE TABLE t (id int, note text)")
    playground.check()
    playground.run("DROP TABLE t; CREATE TABLE t (id int)")
    removed = playground.change()
    playground.run("DROP TABLE t; CREATE TABLE t (id int, note text)")
    report = playground.check()
    assert [change.kind for change in report.changes] == ["column_added"]
    (event,) = list_events(playground.store)
    assert (event.change.change_id, event.state) == (removed.change_id, "reverted")
    assert report.reverted == (event.event_id,)
    assert [entry.decision for entry in list_decisions(playground.store)] == ["revert"]
    assert playground.check().status == "unchanged"


def test_the_same_drift_can_come_again_after_it_was_undone(playground: Playground) -> None:
    playground.run("CREATE TABLE t (id int, note text)")
    playground.check()
    for _ in range(2):
        playground.run("ALTER TABLE t RENAME note TO remark")
        assert playground.check().open_events == 1
        playground.run("ALTER TABLE t RENAME remark TO note")
        assert playground.check().open_events == 0
    assert [event.state for event in list_events(playground.store)] == ["reverted", "reverted"]


def test_mass_disappearance_is_held_and_comes_back(playground: Playground) -> None:
    playground.run(SEVEN)
    baseline = playground.check()
    playground.run("".join(f"DROP TABLE t{number};" for number in range(4)))
    for _ in range(2):
        report = playground.check()
        assert (report.status, report.open_events) == ("held", 1)
        assert [change.kind for change in report.changes] == ["mass_disappearance"]
        assert "public.t0" in (report.changes[0].after or "")
    assert [event.state for event in list_events(playground.store)] == ["open"]
    playground.run("".join(f"CREATE TABLE t{number} (id int);" for number in range(4)))
    report = playground.check()
    assert report.open_events == 0
    assert len(report.reverted) == 1
    assert baseline.snapshot_id != report.snapshot_id


def test_mass_disappearance_can_be_confirmed(playground: Playground) -> None:
    playground.run(SEVEN)
    playground.check()
    playground.run("".join(f"DROP TABLE t{number};" for number in range(4)))
    mass = playground.change()
    accept_events(playground.store, [mass.change_id], actor="ada")
    kinds = sorted(event.change.kind for event in list_events(playground.store, state="open"))
    assert kinds == ["table_removed"] * 4
    report = playground.check()
    assert (report.status, report.open_events) == ("unchanged", 4)


def test_a_few_dropped_tables_are_not_held(playground: Playground) -> None:
    playground.run(SEVEN)
    playground.check()
    playground.run("DROP TABLE t0, t1")
    assert playground.check().status == "changed"


def test_snapshot_that_fails_half_way(playground: Playground) -> None:
    playground.run(TABLE)
    good = playground.check()
    with psycopg.connect(playground.dsn) as blocker:
        # Columns are read after tables: the lock stops the snapshot between the two.
        blocker.execute("LOCK TABLE pg_catalog.pg_attrdef IN ACCESS EXCLUSIVE MODE")
        stop = threading.Timer(1.0, _terminate_snapshot, [playground])
        stop.start()
        report = playground.check()
        stop.join()
        blocker.rollback()
    assert (report.status, report.changes) == ("incomplete", ())
    assert report.reason
    assert playground.rows("SELECT status FROM nightshift.schema_snapshot ORDER BY snapshot_id") == [
        ("complete",),
        ("incomplete",),
    ]
    after = playground.check()
    assert (after.status, after.snapshot_id) == ("unchanged", good.snapshot_id)
    assert list_events(playground.store) == ()


def _terminate_snapshot(playground: Playground) -> None:
    playground.owner.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
        "AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()"
    )


def test_warehouse_that_cannot_be_reached(playground: Playground) -> None:
    playground.run(TABLE)
    playground.check()
    nowhere = open_warehouse("postgresql://nobody@127.0.0.1:1/nothing")
    report = detect_drift(nowhere, playground.store)
    nowhere.close()
    assert (report.status, report.reachable) == ("incomplete", False)
    assert playground.check().status == "unchanged"


def test_clock_that_goes_back(playground: Playground) -> None:
    playground.run(TABLE)
    playground.check()
    playground.run("ALTER TABLE t DROP note")
    past = datetime(2001, 1, 1, tzinfo=UTC)
    assert detect_drift(playground.warehouse, playground.store, now=past).status == "changed"
    assert detect_drift(playground.warehouse, playground.store, now=past).status == "unchanged"
    assert playground.check().status == "unchanged"


def test_two_checks_at_once_take_one_snapshot(playground: Playground) -> None:
    playground.run(TABLE)
    playground.check()
    playground.run("ALTER TABLE t DROP note")
    counting = _Counting(playground)
    with ThreadPoolExecutor(6) as pool:
        reports = list(pool.map(lambda _: detect_drift(counting, playground.store), range(6)))
    assert counting.snapshots == 1
    assert {report.status for report in reports} == {"changed"}
    assert len({report.snapshot_id for report in reports}) == 1
    assert len(list_events(playground.store)) == 1


class _Counting:
    """The real warehouse, with a count of its snapshots, each of which waits until the other checks are there."""

    def __init__(self, playground: Playground) -> None:
        self._real = playground.warehouse
        self._store_dsn = playground.store.dsn
        self.snapshots = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)

    def snapshot(self) -> object:
        self.snapshots += 1
        with psycopg.connect(self._store_dsn, autocommit=True) as connection:
            for _ in range(100):
                row = connection.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                    "AND wait_event_type = 'Lock'"
                ).fetchone()
                if row is not None and row[0] >= 5:
                    break
                connection.execute("SELECT pg_sleep(0.02)")
        return self._real.snapshot()


def test_changes_find_the_plans_and_metrics_they_touch(playground: Playground) -> None:
    playground.run(TABLE)
    playground.check()
    _keep_plan(
        playground.store, "p1", "q_margin", ["public.t"], ["public.t.id", "public.t.amt"], "SELECT id, amt FROM t"
    )
    _keep_plan(playground.store, "p2", "q_all", ["public.t"], ["public.t.id"], "SELECT * FROM t")
    _keep_plan(playground.store, "p3", "q_other", ["public.u"], ["public.u.amt"], "SELECT amt FROM u")
    metric = Lineage(kind="metric", id="total", tables=("public.t",), columns=("public.t.amt",), owner="Finance")
    playground.run("ALTER TABLE t ALTER amt TYPE text")
    change = playground.change(lineage=[metric])
    assert [(item.kind, item.id, item.question_id, item.metric, item.effect) for item in change.affected] == [
        ("metric", "total", None, "total", "may_change_answer"),
        ("plan", "p1", "q_margin", None, "may_change_answer"),
    ]
    playground.run("ALTER TABLE t DROP note")
    (dropped,) = playground.check().changes
    assert [(item.plan_id, item.effect) for item in dropped.affected] == [("p2", "may_change_answer")]
    view = playground.rows(
        "SELECT kind, affected_count, affected_questions, affected_metrics FROM reports.schema_change ORDER BY event_id"
    )
    assert view == [("type_changed", 2, "q_margin", "total"), ("column_removed", 1, "q_all", None)]


def _keep_plan(store: Store, plan_id: str, question_id: str, tables: list[str], columns: list[str], sql: str) -> None:
    with store.connection() as connection:
        connection.execute(
            "INSERT INTO nightshift.plan (plan_id, question_key, question, question_id, state, strategy, plan, "
            "statements, tables, columns, fingerprints) "
            "VALUES (%s, %s, 'How much?', %s, 'draft', 'metric', '{}', %s, %s, %s, '{}')",
            (plan_id, plan_id, question_id, Jsonb({"s1": sql}), tables, columns),
        )


def test_added_table_is_watched_at_once_although_another_is_missed(playground: Playground) -> None:
    playground.run(TABLE + "CREATE TABLE missed (id int, q text)")
    playground.check()
    playground.run("DROP TABLE missed")
    assert playground.changes() == [("table_removed", "public.missed")]
    playground.run("CREATE TABLE later (x int, y int)")
    assert playground.changes() == [("table_added", "public.later")]
    playground.run("ALTER TABLE later DROP x; ALTER TABLE later ALTER y TYPE text")
    assert playground.changes() == [("column_removed", "public.later.x"), ("type_changed", "public.later.y")]
    playground.run("ALTER TABLE later RENAME TO latest")
    assert playground.changes() == [("table_renamed", "public.later")]
    playground.run("DROP TABLE latest")
    assert playground.changes() == [("table_removed", "public.later")]
    states = {(event.change.kind, event.change.object): event.state for event in list_events(playground.store)}
    assert states["table_removed", "public.later"] == "open"
