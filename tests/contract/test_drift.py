"""Schema drift on all five connectors: one change of each sort, seen by the adapter's own snapshot.

Renames are proven on PostgreSQL only; elsewhere they are proposed, for a person to confirm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

from rag_core.connectors.base import Warehouse
from rag_core.connectors.embedded import EmbeddedPostgres
from rag_core.connectors.store import Store
from rag_core.connectors.warehouses import open_warehouse
from rag_core.schema.decisions import accept_events
from rag_core.schema.drift import detect_drift
from rag_core.schema.repair import pending_renames
from tests.contract.worlds import SCHEMA

pytestmark = pytest.mark.integration

# What `maker_name` becomes: the same words, so that it is likely wherever it cannot be proven.
NEW_NAME = "maker_nm"
REAL = (
    f"ALTER TABLE shop.makers RENAME maker_name TO {NEW_NAME}",
    "ALTER TABLE shop.things ALTER price TYPE text USING price::text",
    "ALTER TABLE shop.things ADD COLUMN weight integer",
    "CREATE TABLE shop.orders (order_id integer)",
    "DROP TABLE shop.numbers",
)


class Place(NamedTuple):
    """A warehouse, and a way to change its schema behind the adapter's back."""

    kind: str
    warehouse: Warehouse
    change: Callable[[], None]


def _postgres(kind: str, server: EmbeddedPostgres) -> Iterator[Place]:
    server.ensure_database(f"drift_{kind}")
    url = server.dsn(f"drift_{kind}")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS shop CASCADE; DROP TYPE IF EXISTS mood")
        connection.execute(SCHEMA.encode())

        def change() -> None:
            connection.execute("DROP VIEW shop.dear")
            for sql in REAL:
                connection.execute(sql.encode())

        warehouse = open_warehouse(
            url.replace("postgresql://", f"{'redshift' if kind == 'redshift' else 'postgresql'}://")
        )
        yield Place(kind, warehouse, change)
        warehouse.close()


def _duckdb(folder: Path) -> Iterator[Place]:
    duckdb = pytest.importorskip("duckdb")
    path = folder / "warehouse.duckdb"
    with duckdb.connect(str(path)) as connection:
        # DuckDB changes no table that another one refers to.
        connection.execute(SCHEMA.replace(" REFERENCES shop.makers (maker_id)", "").replace(" UNIQUE", ""))
    opened: list[Warehouse] = [open_warehouse(f"duckdb:///{path}")]

    def change() -> None:
        opened[0].close()
        with duckdb.connect(str(path)) as connection:
            connection.execute("DROP VIEW shop.dear")
            for sql in REAL:
                connection.execute(sql)

    yield Place("duckdb", opened[0], change)
    opened[0].close()


def _stand_in(kind: str) -> Iterator[Place]:
    """The real client against the local stand-in, whose information schema is changed."""
    service: Any
    if kind == "bigquery":
        pytest.importorskip("google.cloud.bigquery")
        from tests.contract.bigquery_stand_in import BigQueryStandIn

        service = BigQueryStandIn()
        changes = (
            f"UPDATE meta.COLUMNS SET column_name = '{NEW_NAME}' WHERE column_name = 'maker_name'",
            "UPDATE meta.COLUMNS SET data_type = 'STRING' WHERE table_name = 'things' AND column_name = 'price'",
            "INSERT INTO meta.COLUMNS VALUES"
            " ('things', 'weight', 'INT64', 'YES', 7, 'NULL', 'NEVER', 'NO', 'NO', NULL),"
            " ('orders', 'order_id', 'INT64', 'YES', 1, 'NULL', 'NEVER', 'NO', 'NO', NULL)",
            "INSERT INTO meta.TABLES VALUES ('shop', 'orders', 'BASE TABLE')",
            "DELETE FROM meta.TABLES WHERE table_name IN ('numbers', 'dear')",
            "DELETE FROM meta.COLUMNS WHERE table_name IN ('numbers', 'dear')",
            "DELETE FROM meta.VIEWS",
        )
    else:
        pytest.importorskip("snowflake.connector")
        from tests.contract.snowflake_stand_in import SnowflakeStandIn

        service = SnowflakeStandIn()
        changes = (
            f"UPDATE meta.columns SET column_name = '{NEW_NAME.upper()}' WHERE column_name = 'MAKER_NAME'",
            "UPDATE meta.columns SET data_type = 'TEXT', character_maximum_length = 50, numeric_precision = NULL,"
            " numeric_scale = NULL WHERE table_name = 'THINGS' AND column_name = 'PRICE'",
            "INSERT INTO meta.columns VALUES"
            " ('SHOP', 'THINGS', 'WEIGHT', 'NUMBER', NULL, 38, 0, 'YES', 7, NULL, NULL),"
            " ('SHOP', 'ORDERS', 'ORDER_ID', 'NUMBER', NULL, 38, 0, 'YES', 1, NULL, NULL)",
            "INSERT INTO meta.tables VALUES ('SHOP', 'ORDERS', 'BASE TABLE', 0, NULL)",
            "DELETE FROM meta.tables WHERE table_name IN ('NUMBERS', 'DEAR')",
            "DELETE FROM meta.columns WHERE table_name IN ('NUMBERS', 'DEAR')",
            "DELETE FROM meta.views",
        )
    warehouse = open_warehouse(service.dsn)

    def change() -> None:
        for sql in changes:
            service.database.execute(sql)

    yield Place(kind, warehouse, change)
    warehouse.close()
    service.close()


@pytest.fixture(params=["postgres", "redshift", "duckdb", "bigquery", "snowflake"])
def place(request: pytest.FixtureRequest, pg_server: EmbeddedPostgres, tmp_path: Path) -> Iterator[Place]:
    """Each of the five."""
    kind = request.param
    if kind in ("postgres", "redshift"):
        yield from _postgres(kind, pg_server)
    elif kind == "duckdb":
        yield from _duckdb(tmp_path)
    else:
        yield from _stand_in(kind)


@pytest.fixture
def drift_store(create_store: Callable[[str], str], place: Place) -> Iterator[Store]:
    """A store of its own for each of the five."""
    store = Store(create_store(f"drift_store_{place.kind}"))
    yield store
    store.close()


def test_every_connector_tells_what_changed(place: Place, drift_store: Store) -> None:
    first = detect_drift(place.warehouse, drift_store)
    assert (first.status, first.changes) == ("baseline", ())
    assert detect_drift(place.warehouse, drift_store).status == "unchanged"
    place.change()
    report = detect_drift(place.warehouse, drift_store)
    assert report.status == "changed"
    found = {(change.kind, change.object.lower()): change for change in report.changes}
    assert ("type_changed", "shop.things.price") in found
    assert ("column_added", "shop.things.weight") in found
    assert ("table_added", "shop.orders") in found
    assert ("table_removed", "shop.numbers") in found
    renamed = found["column_renamed", "shop.makers.maker_name"]
    assert (renamed.after or "").lower() == NEW_NAME
    assert (renamed.confidence == 1) == (place.kind == "postgres")
    assert detect_drift(place.warehouse, drift_store).status == "unchanged"

    accept_events(drift_store, [renamed.change_id], actor="ada")
    now = place.warehouse.snapshot()
    followed = pending_renames(drift_store, now).columns
    assert [(table.lower(), old.lower(), new.lower()) for (table, old), new in followed.items()] == [
        ("shop.makers", "maker_name", NEW_NAME)
    ]
