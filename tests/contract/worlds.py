"""The databases that the conformance suite runs on, each with the same little shop in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
import sqlglot

from rag_core.connectors.base import Warehouse
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.query import GuardedSql, Limits

if TYPE_CHECKING:
    from rag_core.connectors.embedded import EmbeddedPostgres

SCHEMA = """
CREATE SCHEMA shop;
CREATE TYPE mood AS ENUM ('glad', 'sad');
CREATE TABLE shop.makers (maker_id integer PRIMARY KEY, maker_name text NOT NULL UNIQUE);
CREATE TABLE shop.things (
    thing_id integer PRIMARY KEY,
    maker_id integer REFERENCES shop.makers (maker_id),
    price numeric(12, 2),
    feeling mood,
    made_at timestamptz,
    "Mixed Name" text DEFAULT 'x'
);
CREATE TABLE shop.numbers (n integer);
COMMENT ON TABLE shop.things IS 'Everything sold.';
COMMENT ON COLUMN shop.things.price IS 'In EUR.';
CREATE VIEW shop.dear AS SELECT thing_id, price FROM shop.things WHERE price > 100;
INSERT INTO shop.makers VALUES (1, 'one'), (2, 'two');
INSERT INTO shop.numbers SELECT g FROM generate_series(1, 100) AS s(g);
INSERT INTO shop.things VALUES
(1, 1, 10.50, 'glad', '2026-03-01 23:30:00+00', 'a'), (2, 2, 200.00, NULL, NULL, 'b'), (3, 2, NULL, 'sad', NULL, 'c');
"""
FAKESNOW_SCHEMA = """
CREATE SCHEMA IF NOT EXISTS DB1.SHOP;
CREATE TABLE SHOP.MAKERS (MAKER_ID integer, MAKER_NAME text);
CREATE TABLE SHOP.THINGS (THING_ID integer, MAKER_ID integer, PRICE number(12, 2), FEELING text, MADE_AT timestamp_ltz,
"Mixed Name" text);
CREATE TABLE SHOP.NUMBERS AS SELECT row_number() OVER (ORDER BY 1) AS N FROM TABLE(GENERATOR(ROWCOUNT => 100));
CREATE VIEW SHOP.DEAR AS SELECT THING_ID, PRICE FROM SHOP.THINGS WHERE PRICE > 100;
INSERT INTO SHOP.MAKERS VALUES (1, 'one'), (2, 'two');
INSERT INTO SHOP.THINGS VALUES (1, 1, 10.50, 'glad', '2026-03-01 23:30:00+00:00'::timestamp_ltz, 'a'),
(2, 2, 200.00, NULL, NULL, 'b'), (3, 2, NULL, 'sad', NULL, 'c');
"""
# Ten thousand million rows and more: no database counts them within a test.
SLOW = (
    "SELECT count(*) FROM shop.numbers AS a CROSS JOIN shop.numbers AS b CROSS JOIN shop.numbers AS c "
    "CROSS JOIN shop.numbers AS d CROSS JOIN shop.numbers AS e CROSS JOIN shop.numbers AS f "
    "WHERE (a.n * b.n + c.n * d.n + e.n * f.n) % 7 = 3"
)
# A folder with an environment that has fakesnow: its sqlglot is not ours, so that it cannot live in this one.
FAKESNOW = "TEST_FAKESNOW_ENVIRONMENT"
FAKESNOW_RECIPE = (
    f"set {FAKESNOW} to a folder made with: python -m venv FOLDER && "
    "FOLDER/bin/pip install 'fakesnow[server]' 'snowflake-connector-python<5'"
)
KINDS = [
    "duckdb",
    pytest.param("postgres", marks=pytest.mark.integration),
    # Redshift's adapter with its own catalog queries, over the wire of a PostgreSQL.
    pytest.param("redshift", marks=pytest.mark.integration),
    # The real clients, against local stand-ins of the services that they speak to.
    "bigquery",
    "snowflake",
    pytest.param("fakesnow", marks=pytest.mark.slow),
]


@dataclass(frozen=True)
class World:
    """One database of the suite.

    `lacks` names what the database itself (or its stand-in) does not have, so that a test can say what it leaves out.
    """

    kind: str
    dsn: str
    dialect: str
    lacks: frozenset[str] = field(default_factory=frozenset)
    mixed: str = "Mixed Name"

    def say(self, sql: str) -> str:
        """A statement of PostgreSQL in the words of this database."""
        if self.dialect in ("postgres", "redshift", "duckdb"):
            return sql
        return sqlglot.transpile(sql, read="postgres", write=self.dialect)[0]

    def guarded(self, sql: str, **limits: float) -> GuardedSql:
        """A statement made past the guard, to see what the adapter does by itself."""
        return GuardedSql(text=self.say(sql), dialect=self.dialect, limits=Limits.model_validate(limits))

    def name(self, name: str) -> str:
        """An unquoted name as this database spells it."""
        return name.upper() if self.dialect == "snowflake" else name

    def open(self, **options: object) -> Warehouse:
        """The adapter."""
        return open_warehouse(self.dsn, **options)  # type: ignore[arg-type]


def build_world(kind: str, request: pytest.FixtureRequest, folder: Path) -> Iterator[World]:
    """Makes the database, and takes it down afterwards."""
    if kind in ("postgres", "redshift"):
        server: EmbeddedPostgres = request.getfixturevalue("pg_server")
        server.ensure_database(kind)
        url = server.dsn(kind)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS shop CASCADE; DROP TYPE IF EXISTS mood")
            connection.execute(SCHEMA)
        if kind == "redshift":
            yield World(kind, url.replace("postgresql://", "redshift://"), "redshift", frozenset({"enums"}))
        else:
            yield World(kind, url, "postgres")
    elif kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        path = folder / "warehouse.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(SCHEMA)
        yield World(kind, f"duckdb:///{path}", "duckdb")
    elif kind == "bigquery":
        pytest.importorskip("google.cloud.bigquery")
        from tests.contract.bigquery_stand_in import BigQueryStandIn

        service = BigQueryStandIn()
        lacks = frozenset({"enums", "duplicates", "intervals", "unique keys", "row estimate of a plan"})
        yield World(kind, service.dsn, "bigquery", lacks, mixed="mixedName")
        service.close()
    elif kind == "snowflake":
        pytest.importorskip("snowflake.connector")
        from tests.contract.snowflake_stand_in import SnowflakeStandIn

        stand_in = SnowflakeStandIn()
        yield World(kind, stand_in.dsn, "snowflake", frozenset({"enums", "intervals", "row estimate of a plan"}))
        stand_in.close()
    else:
        yield from _fakesnow(folder)


def _fakesnow(folder: Path) -> Iterator[World]:
    """fakesnow as a server, run by the Python of its own environment."""
    environment = os.environ.get(FAKESNOW)
    if not environment:
        pytest.skip(FAKESNOW_RECIPE)
    pytest.importorskip("snowflake.connector")
    schema = folder / "schema.sql"
    schema.write_text(FAKESNOW_SCHEMA, encoding="utf-8")
    script = Path(__file__).parent / "fakesnow_server.py"
    process = subprocess.Popen(
        [str(Path(environment) / "bin" / "python"), str(script), str(schema)],
        stdout=subprocess.PIPE,
        stderr=sys.stderr,
        text=True,
    )
    try:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        if not port.isdigit():
            pytest.fail(f"fakesnow did not start: {port}")
        # What fakesnow does not know: plans, keys, comments, cancelling, two columns of one name, two threads.
        lacks = frozenset({"enums", "intervals", "row estimate of a plan", "explain", "snapshot", "duplicates",
                           "cancel", "time zones", "exact faults", "threads"})  # fmt: skip
        dsn = f"snowflake://fake:snow@fakesnow/DB1/SHOP?host=127.0.0.1&port={port}&protocol=http"
        yield World("fakesnow", dsn, "snowflake", lacks)
    finally:
        process.terminate()
        process.communicate(timeout=20)
