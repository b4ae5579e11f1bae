"""A warehouse to change and a store to watch it from, both on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from rag_core.connectors.base import Warehouse
from rag_core.connectors.embedded import EmbeddedPostgres
from rag_core.connectors.store import Store
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.drift import Change, DriftReport
from rag_core.schema.drift import detect_drift

DATABASE = "drift_playground"
READER = "drift_reader"
RESET = """
DO $$
DECLARE name text;
BEGIN
    FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
        EXECUTE format('DROP SCHEMA %I CASCADE', name);
    END LOOP;
END $$;
CREATE SCHEMA public;
"""
EMPTY_STORE = """
TRUNCATE nightshift.schema_baseline, nightshift.schema_table, nightshift.drift_decision, nightshift.drift_event,
    nightshift.schema_snapshot, nightshift.drift_run, nightshift.rename_decision, nightshift.join_decision,
    nightshift.plan, nightshift.column_profile, nightshift.value_lookup CASCADE
"""


class Playground:
    """A warehouse that a test changes as its owner, and the store that drift is recorded in."""

    def __init__(self, owner: psycopg.Connection, warehouse: Warehouse, store: Store, dsn: str) -> None:
        self.owner = owner
        self.warehouse = warehouse
        self.store = store
        self.dsn = dsn
        self._moment = datetime(2026, 7, 1, tzinfo=UTC)

    def run(self, sql: str) -> None:
        """Changes the warehouse."""
        self.owner.execute(sql.encode())

    def check(self, **arguments: Any) -> DriftReport:
        """One drift check, a day after the last."""
        self._moment += timedelta(days=1)
        return detect_drift(self.warehouse, self.store, now=self._moment, **arguments)

    def changes(self, **arguments: Any) -> list[tuple[str, str]]:
        """Kind and object of what a check finds."""
        return [(change.kind, change.object) for change in self.check(**arguments).changes]

    def change(self, **arguments: Any) -> Change:
        """The one change that a check finds."""
        report = self.check(**arguments)
        assert len(report.changes) == 1, report.changes
        return report.changes[0]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of the store."""
        with self.store.connection() as connection:
            return connection.execute(sql.encode()).fetchall()


@pytest.fixture(scope="session")
def drift_store_dsn(create_store: Callable[[str], str]) -> str:
    """A migrated store of its own."""
    return create_store("drift_store")


@pytest.fixture(scope="session")
def drift_owner(pg_server: EmbeddedPostgres) -> Iterator[psycopg.Connection]:
    """A connection of the warehouse's owner, and the role that reads it."""
    pg_server.ensure_database(DATABASE)
    with psycopg.connect(pg_server.dsn(DATABASE), autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (READER,)).fetchone() is None:
            connection.execute(f"CREATE ROLE {READER} LOGIN".encode())
        yield connection


@pytest.fixture
def playground(
    pg_server: EmbeddedPostgres, drift_owner: psycopg.Connection, drift_store_dsn: str
) -> Iterator[Playground]:
    """An empty warehouse and an empty store."""
    drift_owner.execute(RESET.encode())
    dsn = pg_server.dsn(DATABASE)
    store, warehouse = Store(drift_store_dsn), open_warehouse(dsn)
    with store.connection() as connection:
        connection.execute(EMPTY_STORE.encode())
    try:
        yield Playground(drift_owner, warehouse, store, dsn)
    finally:
        warehouse.close()
        store.close()


@pytest.fixture
def reader_warehouse(pg_server: EmbeddedPostgres, playground: Playground) -> Iterator[Warehouse]:
    """The same warehouse as a role that reads what it was granted."""
    playground.run(f"GRANT USAGE ON SCHEMA public TO {READER}")
    warehouse = open_warehouse(pg_server.dsn(DATABASE, READER))
    playground.warehouse.close()
    playground.warehouse = warehouse
    try:
        yield warehouse
    finally:
        warehouse.close()
