"""What every warehouse adapter must do, on each database that can run here."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from rag_core.connectors.base import Warehouse
from rag_core.connectors.memory import MemoryWarehouse
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.query import GuardedSql, Limits
from rag_core.errors import ConfigurationError, QueryFault, ServiceUnavailable
from rag_core.policy.rules import Policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.workers.execution import check_planned, run_guarded

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
COMMENT ON TABLE shop.things IS 'Everything sold.';
COMMENT ON COLUMN shop.things.price IS 'In EUR.';
CREATE VIEW shop.dear AS SELECT thing_id, price FROM shop.things WHERE price > 100;
INSERT INTO shop.makers VALUES (1, 'one'), (2, 'two');
INSERT INTO shop.things VALUES
(1, 1, 10.50, 'glad', '2026-03-01 23:30:00+00', 'a'), (2, 2, 200.00, NULL, NULL, 'b'), (3, 2, NULL, 'sad', NULL, 'c');
"""


@pytest.fixture(
    scope="module",
    params=[
        "duckdb",
        pytest.param("postgres", marks=pytest.mark.integration),
        # Redshift's adapter with its own catalog queries, over the wire of a PostgreSQL.
        pytest.param("redshift", marks=pytest.mark.integration),
    ],
)
def dsn(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """URL of a database with the little shop in it."""
    if request.param in ("postgres", "redshift"):
        server: EmbeddedPostgres = request.getfixturevalue("pg_server")
        server.ensure_database(request.param)
        url = server.dsn(request.param)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS shop CASCADE; DROP TYPE IF EXISTS mood")
            connection.execute(SCHEMA)
        return url.replace("postgresql://", "redshift://") if request.param == "redshift" else url
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path_factory.mktemp("duckdb") / "warehouse.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA)
    return f"duckdb:///{path}"


@pytest.fixture(scope="module")
def warehouse(dsn: str) -> Iterator[Warehouse]:
    opened = open_warehouse(dsn)
    yield opened
    opened.close()


def guarded(warehouse: Warehouse, sql: str, **limits: float) -> GuardedSql:
    """A statement made past the guard, to see what the adapter does by itself."""
    return GuardedSql(text=sql, dialect=warehouse.dialect, limits=Limits.model_validate(limits))


def test_the_snapshot_tells_the_schema(warehouse: Warehouse) -> None:
    catalog = warehouse.snapshot()
    assert (catalog.dialect, catalog.complete) == (warehouse.dialect, True)
    things = catalog.table("shop.things")
    assert things is not None
    assert things.kind == "table"
    assert [column.name for column in things.columns] == [
        "thing_id",
        "maker_id",
        "price",
        "feeling",
        "made_at",
        "Mixed Name",
    ]
    assert [column.nullable for column in things.columns] == [False, True, True, True, True, True]
    assert things.comment == "Everything sold."
    price, feeling, mixed = things.columns[2], things.columns[3], things.columns[5]
    assert price.comment == "In EUR."
    assert price.type.lower().replace("decimal", "numeric") == "numeric(12,2)"
    # Redshift has no enums.
    assert feeling.enum_labels == (() if warehouse.dialect == "redshift" else ("glad", "sad"))
    assert mixed.default is not None
    assert [(key.columns, key.primary) for key in things.keys] == [(("thing_id",), True)]
    assert [(key.columns, key.target, key.target_columns) for key in things.foreign_keys] == [
        (("maker_id",), "shop.makers", ("maker_id",))
    ]
    makers = catalog.table("shop.makers")
    assert makers is not None
    assert {(key.columns, key.primary) for key in makers.keys} == {(("maker_id",), True), (("maker_name",), False)}
    dear = catalog.table("shop.dear")
    assert dear is not None
    assert dear.kind == "view"
    assert dear.definition is not None
    assert dear.definition.strip().upper().startswith("SELECT")
    assert catalog.functions["random"] == "volatile"
    assert catalog.functions["lower"] == "immutable"


def test_values_come_exact_with_their_types(warehouse: Warehouse) -> None:
    result = warehouse.execute(
        guarded(
            warehouse,
            "SELECT 1 AS a, 2 AS a, CAST(1.50 AS numeric(12, 2)) AS n, CAST('NaN' AS double precision) AS f, "
            "CAST(NULL AS integer) AS i, DATE '2026-01-31' AS d, 9007199254740993 AS big, "
            "TIMESTAMPTZ '2026-03-01 23:30:00+00' AS t, TRUE AS b, INTERVAL '2 days' AS days",
        )
    )
    assert [column.name for column in result.columns] == ["a", "a", "n", "f", "i", "d", "big", "t", "b", "days"]
    row = result.rows[0]
    assert row[:3] == (1, 2, Decimal("1.50"))
    assert row[3] != row[3]
    assert row[4:7] == (None, date(2026, 1, 31), 9007199254740993)
    assert row[7] == datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    assert row[8:] == (True, timedelta(days=2))
    assert result.columns[2].type.lower().replace("decimal", "numeric") == "numeric(12,2)"


@pytest.mark.parametrize(("rows", "fetched", "truncated"), [(9, 9, "rows"), (10, 10, None), (11, 10, None)])
def test_the_row_cap_tells_more_from_just_as_many(
    warehouse: Warehouse, rows: int, fetched: int, truncated: str | None
) -> None:
    result = warehouse.execute(
        guarded(warehouse, "SELECT g FROM generate_series(1, 10) AS s(g) ORDER BY g", max_rows=rows)
    )
    assert (result.row_count, result.truncated_by) == (fetched, truncated)
    assert [row[0] for row in result.rows] == list(range(1, fetched + 1))


def test_the_byte_cap_cuts_wide_rows(warehouse: Warehouse) -> None:
    wide = "SELECT repeat('x', 10000) AS x FROM generate_series(1, 100) AS s(g)"
    result = warehouse.execute(guarded(warehouse, wide, max_bytes=55_000))
    assert (result.row_count, result.truncated_by) == (5, "bytes")
    result = warehouse.execute(guarded(warehouse, "SELECT repeat('x', 10000) AS x", max_bytes=5_000))
    assert (result.row_count, result.truncated_by) == (0, "bytes")


def test_slow_statements_are_stopped(warehouse: Warehouse) -> None:
    slow = "SELECT count(*) FROM generate_series(1, 100000000000) AS s(g) WHERE g % 7 = 3"
    started = time.monotonic()
    with pytest.raises(QueryFault) as caught:
        warehouse.execute(guarded(warehouse, slow, timeout_seconds=0.5))
    assert caught.value.code == "timeout"
    assert time.monotonic() - started < 10
    assert warehouse.execute(guarded(warehouse, "SELECT 1")).rows == ((1,),)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT nope FROM shop.things", "unknown_column"),
        ("SELECT 1 FROM shop.nope", "unknown_table"),
        ("SELECT maker_id FROM shop.things, shop.makers", "ambiguous_column"),
        ("SELECT FROM WHERE", "syntax"),
        ("SELECT maker_id, count(*) FROM shop.things", "syntax"),
        ("SELECT sum(maker_name) FROM shop.makers WHERE nope(1)", "type"),
    ],
)
def test_faults_have_the_same_codes_everywhere(warehouse: Warehouse, sql: str, code: str) -> None:
    for call in (warehouse.explain, warehouse.execute):
        with pytest.raises(QueryFault) as caught:
            call(guarded(warehouse, sql))
        assert caught.value.code == code, caught.value.message
        assert "\n" not in caught.value.message


def test_faults_of_the_data_come_while_running(warehouse: Warehouse) -> None:
    query = guarded(warehouse, "SELECT CAST('x' || maker_name AS integer) FROM shop.makers")
    warehouse.explain(query)
    with pytest.raises(QueryFault) as caught:
        warehouse.execute(query)
    assert caught.value.code in ("data", "type")


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO shop.makers VALUES (3, 'three')",
        "CREATE TABLE shop.x (i integer)",
        "DELETE FROM shop.things",
        "SELECT 1; SELECT 2",
        "COMMIT; CREATE TABLE shop.x (i integer)",
        "SELECT 1; DROP TABLE shop.things",
    ],
)
def test_nothing_is_written_even_past_the_guard(warehouse: Warehouse, sql: str) -> None:
    before = warehouse.snapshot()
    with pytest.raises(QueryFault):
        warehouse.execute(guarded(warehouse, sql))
    with pytest.raises(QueryFault):
        warehouse.explain(guarded(warehouse, sql.split("; ")[-1] + "; SELECT 1"))
    assert warehouse.snapshot().tables == before.tables
    assert warehouse.execute(guarded(warehouse, "SELECT count(*) FROM shop.makers")).rows == ((2,),)


def test_the_session_has_the_time_zone_that_was_asked_for(dsn: str) -> None:
    sql = "SELECT CAST(made_at AS date) FROM shop.things WHERE thing_id = 1"
    for zone, day in (("UTC", date(2026, 3, 1)), ("Asia/Tokyo", date(2026, 3, 2)), ("UTC", date(2026, 3, 1))):
        opened = open_warehouse(dsn, timezone=zone)
        assert opened.execute(guarded(opened, sql)).rows == ((day,),)
        opened.close()


def test_several_threads_may_ask_at_once(warehouse: Warehouse) -> None:
    answers: dict[int, object] = {}

    def ask(number: int) -> None:
        answers[number] = warehouse.execute(guarded(warehouse, f"SELECT {number}")).rows

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert answers == {number: ((number,),) for number in range(12)}


def test_the_guard_and_the_adapter_work_together(warehouse: Warehouse) -> None:
    guard = SqlGuard(Policy(version=1, schemas=("shop",)), warehouse.snapshot())
    execution = run_guarded(
        guard,
        warehouse,
        "SELECT m.maker_name, sum(t.price) AS total FROM shop.things t JOIN shop.makers m USING (maker_id) "
        "GROUP BY m.maker_name ORDER BY 1 LIMIT 2",
    )
    assert execution.result is not None
    assert execution.result.rows == (("one", Decimal("10.50")), ("two", Decimal("200.00")))
    assert execution.result.own_limit == 2
    assert execution.verdict.tables == ("shop.makers", "shop.things")
    assert run_guarded(guard, warehouse, "SELECT * FROM nope").result is None
    assert check_planned(guard, warehouse, 'SELECT "Mixed Name" FROM shop.things').allowed
    refused = check_planned(guard, warehouse, "SELECT maker_id, count(*) FROM shop.things")
    assert (refused.allowed, refused.code, refused.query) == (False, "syntax", None)


def test_the_double_answers_like_the_real_one(warehouse: Warehouse) -> None:
    query = guarded(warehouse, "SELECT thing_id FROM shop.things ORDER BY 1")
    double = MemoryWarehouse(warehouse.snapshot(), {query.text: warehouse.execute(query)})
    assert double.snapshot() == warehouse.snapshot().model_copy(update={"taken_at": double.snapshot().taken_at})
    assert double.execute(query).rows == warehouse.execute(query).rows
    with pytest.raises(QueryFault):
        double.execute(guarded(warehouse, "SELECT 2"))


@pytest.mark.parametrize(
    ("url", "error", "word"),
    [
        ("no url at all", ConfigurationError, "NIGHTSHIFT_WAREHOUSE__DSN"),
        ("mysql://u:secret@h/d", ConfigurationError, "mysql"),
        ("duckdb:///:memory:", ConfigurationError, "DuckDB file"),
        ("postgresql://u:secret@127.0.0.1:1/d", ServiceUnavailable, "cannot connect"),
        ("duckdb:////nowhere/at/all.duckdb", ServiceUnavailable, "cannot open"),
    ],
)
def test_a_wrong_url_is_told_in_one_line_without_its_password(url: str, error: type[Exception], word: str) -> None:
    with pytest.raises(error) as caught:
        open_warehouse(url).snapshot()
    text = str(caught.value)
    assert word in text
    assert "secret" not in text
    assert "\n" not in text


def test_the_embedded_example_file_is_not_written(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (i integer)")
    before = path.read_bytes()
    opened = open_warehouse(f"duckdb:///{path}")
    opened.snapshot()
    forbidden = (
        "SELECT * FROM read_csv('/etc/hostname')",
        "SET threads = 1",
        "ATTACH ':memory:' AS m",
        "COPY t TO 'x'",
    )
    for sql in forbidden:
        with pytest.raises(QueryFault):
            opened.execute(guarded(opened, sql))
    opened.close()
    assert path.read_bytes() == before
