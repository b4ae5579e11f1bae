"""An unchanged schema is recognised without being read; every change is seen all the same."""

from __future__ import annotations

from typing import Any

import pytest

from rag_core.connectors.base import Warehouse
from rag_core.connectors.postgres import PostgresWarehouse
from rag_core.datamodel.catalog import Catalog
from tests.integration.schema.conftest import READER, Playground
from tests.integration.schema.test_drift_cases import CASES

pytestmark = pytest.mark.integration


class _Counted:
    """A warehouse that counts its snapshots."""

    def __init__(self, warehouse: Any) -> None:
        self._warehouse = warehouse
        self.snapshots = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._warehouse, name)

    def snapshot(self) -> Catalog:
        self.snapshots += 1
        found: Catalog = self._warehouse.snapshot()
        return found


@pytest.fixture
def counted(playground: Playground) -> _Counted:
    counted = _Counted(playground.warehouse)
    playground.warehouse = counted  # type: ignore[assignment]
    return counted


def _state(playground: Playground) -> str:
    warehouse = playground.warehouse
    assert isinstance(warehouse, PostgresWarehouse)
    return warehouse.schema_state()[1]


def test_unchanged_schema_is_not_read(playground: Playground, counted: _Counted) -> None:
    playground.run("CREATE TABLE t (id int PRIMARY KEY, note text)")
    assert playground.check().status == "baseline"
    playground.run("INSERT INTO t SELECT g, 'x' FROM generate_series(1, 100) AS g; ANALYZE t")
    playground.owner.execute("VACUUM t")
    report = playground.check()
    assert (report.status, counted.snapshots) == ("unchanged", 1)
    assert report.fingerprint
    playground.run("ALTER TABLE t ADD more int")
    assert playground.check().status == "changed"
    assert playground.check().status == "unchanged"
    assert counted.snapshots == 2


def test_open_events_are_seen_again_without_a_snapshot(playground: Playground, counted: _Counted) -> None:
    playground.run("CREATE TABLE t (id int, a int)")
    playground.check()
    playground.run("ALTER TABLE t DROP a")
    playground.check()
    assert playground.check().open_events == 1
    assert counted.snapshots == 2
    assert playground.rows("SELECT last_seen_at > opened_at FROM nightshift.drift_event") == [(True,)]


def test_schema_that_was_written_anew_as_it_was_is_read_once(playground: Playground, counted: _Counted) -> None:
    playground.run("CREATE TABLE t (id int)")
    playground.check()
    playground.run("ALTER TABLE t ADD a int; ALTER TABLE t RENAME id TO id2; ALTER TABLE t RENAME id2 TO id")
    playground.run("DROP TABLE t; CREATE TABLE t (id int)")
    assert playground.check().changes == ()
    snapshots = counted.snapshots
    assert playground.check().status == "unchanged"
    assert counted.snapshots == snapshots


def test_other_rules_read_the_schema_again(playground: Playground, counted: _Counted) -> None:
    from rag_core.datamodel.drift import DriftRules

    playground.run("CREATE TABLE t (id int)")
    playground.check()
    playground.check(rules=DriftRules(ignore_tables=("*.t",)))
    assert counted.snapshots == 2


def test_held_snapshot_is_looked_at_again(playground: Playground, counted: _Counted) -> None:
    playground.run("".join(f"CREATE TABLE t{number} (id int);" for number in range(6)))
    playground.check()
    playground.run("".join(f"DROP TABLE t{number};" for number in range(6)))
    assert [playground.check().status for _ in range(2)] == ["held", "held"]


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_kind_of_change_changes_the_state(playground: Playground, name: str) -> None:
    before, after, found, *_ = CASES[name]
    playground.run(before)
    first = _state(playground)
    assert _state(playground) == first
    playground.run(after)
    if found:
        assert _state(playground) != first


@pytest.mark.parametrize(
    ("grant", "change"),
    [
        (f"GRANT SELECT ON t TO {READER}", f"REVOKE SELECT ON t FROM {READER}"),
        (f"GRANT SELECT (id) ON t TO {READER}", f"REVOKE SELECT (id) ON t FROM {READER}"),
        (f"GRANT USAGE ON SCHEMA public TO {READER}", f"REVOKE USAGE ON SCHEMA public FROM {READER}"),
        ("SELECT 1", f"GRANT pg_read_all_data TO {READER}"),
        (f"GRANT pg_read_all_data TO {READER}", f"REVOKE pg_read_all_data FROM {READER}"),
    ],
)
def test_what_the_role_may_read_is_part_of_the_state(
    playground: Playground, reader_warehouse: Warehouse, grant: str, change: str
) -> None:
    playground.run("CREATE TABLE t (id int)")
    playground.run(grant)
    first = _state(playground)
    playground.run(change)
    try:
        assert _state(playground) != first
    finally:
        playground.run(f"REVOKE pg_read_all_data FROM {READER}")
