"""What every warehouse adapter must do, on each database that can run here (see `worlds.py`)."""

from __future__ import annotations

import math
import threading
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from rag_core.connectors.base import Warehouse
from rag_core.connectors.gate import StatementLimits
from rag_core.connectors.memory import MemoryWarehouse
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.query import GuardedSql
from rag_core.errors import ConfigurationError, QueryFault, ServiceUnavailable
from rag_core.policy.rules import Policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.workers.execution import check_planned, run_guarded
from tests.contract.worlds import SLOW, World


def needs(world: World, *wanted: str) -> None:
    """Skips where the database has not what the test is about."""
    missing = sorted(world.lacks.intersection(wanted))
    if missing:
        pytest.skip(f"{world.kind} has no {', '.join(missing)}")


def test_the_snapshot_tells_the_schema(world: World, warehouse: Warehouse) -> None:
    needs(world, "snapshot")
    catalog = warehouse.snapshot()
    assert (catalog.dialect, catalog.complete) == (world.dialect, True)
    things = catalog.table(world.name("shop.things"))
    assert things is not None
    assert things.kind == "table"
    assert [column.name for column in things.columns] == [
        *(world.name(name) for name in ("thing_id", "maker_id", "price", "feeling", "made_at")),
        world.mixed,
    ]
    assert [column.nullable for column in things.columns] == [False, True, True, True, True, True]
    assert things.comment == "Everything sold."
    price, feeling, mixed = things.columns[2], things.columns[3], things.columns[5]
    assert price.comment == "In EUR."
    spelt = price.type.lower().replace(" ", "").replace("decimal", "numeric").replace("number", "numeric")
    assert spelt == "numeric(12,2)"
    assert feeling.enum_labels == (() if "enums" in world.lacks else ("glad", "sad"))
    assert mixed.default is not None
    thing_id, maker_id = world.name("thing_id"), world.name("maker_id")
    assert [(key.columns, key.primary) for key in things.keys] == [((thing_id,), True)]
    assert [(key.columns, key.target, key.target_columns) for key in things.foreign_keys] == [
        ((maker_id,), world.name("shop.makers"), (maker_id,))
    ]
    makers = catalog.table(world.name("shop.makers"))
    assert makers is not None
    unique = set() if "unique keys" in world.lacks else {((world.name("maker_name"),), False)}
    assert {(key.columns, key.primary) for key in makers.keys} == {((maker_id,), True), *unique}
    dear = catalog.table(world.name("shop.dear"))
    assert dear is not None
    assert dear.kind == "view"
    assert dear.definition is not None
    assert dear.definition.strip().upper().startswith("SELECT")


def test_what_the_planner_expects(world: World, warehouse: Warehouse) -> None:
    needs(world, "explain")
    cost = warehouse.explain(world.guarded("SELECT thing_id FROM shop.things"))
    if "row estimate of a plan" in world.lacks:
        assert cost.cost is not None
    else:
        assert cost.rows is not None


def test_values_come_exact(world: World, warehouse: Warehouse) -> None:
    result = warehouse.execute(
        world.guarded(
            "SELECT 1 AS a, CAST(1.50 AS numeric(12, 2)) AS n, CAST('NaN' AS double precision) AS f, "
            "CAST(NULL AS integer) AS i, DATE '2026-01-31' AS d, 9007199254740993 AS big, TRUE AS b, 'ä''€' AS s, "
            "CAST(NULL AS double precision) AS g"
        )
    )
    assert [column.name.lower() for column in result.columns] == ["a", "n", "f", "i", "d", "big", "b", "s", "g"]
    row = result.rows[0]
    assert row[:2] == (1, Decimal("1.50"))
    assert isinstance(row[1], Decimal)
    # Not a number is a value, NULL is none.
    assert math.isnan(row[2])
    assert row[3:] == (None, date(2026, 1, 31), 9007199254740993, True, "ä'€", None)
    assert type(row[6]) is bool


def test_moments_are_aware_and_types_are_told(world: World, warehouse: Warehouse) -> None:
    result = warehouse.execute(world.guarded("SELECT made_at, price FROM shop.things WHERE thing_id = 1"))
    moment, price = result.rows[0]
    assert moment.tzinfo is not None
    assert moment == datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    assert price == Decimal("10.50")
    spelt = result.columns[1].type.lower().replace(" ", "").replace("decimal", "numeric").replace("number", "numeric")
    assert spelt.startswith("numeric")


def test_columns_are_positional(world: World, warehouse: Warehouse) -> None:
    query = world.guarded("SELECT 1 AS a, 2 AS a, 3 AS b")
    if world.kind == "bigquery":
        # BigQuery itself refuses it, which must come out as a fault and not as a result with a column less.
        with pytest.raises(QueryFault) as caught:
            warehouse.execute(query)
        assert "Duplicate column names" in caught.value.message
        return
    needs(world, "duplicates")
    result = warehouse.execute(query)
    assert [column.name.lower() for column in result.columns] == ["a", "a", "b"]
    assert result.rows == ((1, 2, 3),)


def test_intervals(world: World, warehouse: Warehouse) -> None:
    needs(world, "intervals")
    assert warehouse.execute(world.guarded("SELECT INTERVAL '2 days'")).rows == ((timedelta(days=2),),)


@pytest.mark.parametrize(("cap", "fetched", "truncated"), [(9, 9, "rows"), (10, 10, None), (11, 10, None)])
def test_the_row_cap_tells_more_from_just_as_many(
    world: World, warehouse: Warehouse, cap: int, fetched: int, truncated: str | None
) -> None:
    result = warehouse.execute(world.guarded("SELECT n FROM shop.numbers WHERE n <= 10 ORDER BY n", max_rows=cap))
    assert (result.row_count, result.truncated_by) == (fetched, truncated)
    assert [row[0] for row in result.rows] == list(range(1, fetched + 1))


def test_the_byte_cap_cuts_wide_rows(world: World, warehouse: Warehouse) -> None:
    wide = "SELECT repeat('x', 10000) AS x FROM shop.numbers"
    result = warehouse.execute(world.guarded(wide, max_bytes=55_000))
    assert (result.row_count, result.truncated_by) == (5, "bytes")
    result = warehouse.execute(world.guarded("SELECT repeat('x', 10000) AS x", max_bytes=5_000))
    assert (result.row_count, result.truncated_by) == (0, "bytes")


def test_nothing_found_is_no_fault(world: World, warehouse: Warehouse) -> None:
    result = warehouse.execute(world.guarded("SELECT thing_id FROM shop.things WHERE thing_id = 99"))
    assert (result.rows, result.row_count, result.truncated_by) == ((), 0, None)
    assert [column.name.lower() for column in result.columns] == ["thing_id"]


def test_slow_statements_are_stopped(world: World, warehouse: Warehouse) -> None:
    needs(world, "cancel")
    with pytest.raises(QueryFault) as caught:
        warehouse.execute(world.guarded(SLOW, timeout_seconds=0.5))
    assert caught.value.code == "timeout"
    assert warehouse.execute(world.guarded("SELECT 1 AS one")).rows == ((1,),)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT nope FROM shop.things", "unknown_column"),
        ("SELECT 1 FROM shop.nope", "unknown_table"),
        ("SELECT maker_id FROM shop.things, shop.makers", "ambiguous_column"),
        ("SELECT maker_id, count(*) FROM shop.things", "syntax"),
        ("SELECT sum(maker_id) FROM shop.makers WHERE nope(1)", "type"),
    ],
)
def test_faults_have_the_same_codes_everywhere(world: World, warehouse: Warehouse, sql: str, code: str) -> None:
    needs(world, "exact faults")
    for call in (warehouse.explain, warehouse.execute):
        with pytest.raises(QueryFault) as caught:
            call(world.guarded(sql))
        assert caught.value.code == code, caught.value.message
        assert "\n" not in caught.value.message


def test_what_is_no_sql_is_a_fault_of_syntax(world: World, warehouse: Warehouse) -> None:
    for call in (warehouse.explain, warehouse.execute):
        with pytest.raises(QueryFault) as caught:
            call(GuardedSql(text="SELECT FROM WHERE", dialect=world.dialect))
        assert caught.value.code == "syntax"


def test_faults_of_the_data_come_while_running(world: World, warehouse: Warehouse) -> None:
    query = world.guarded("SELECT CAST('x' || maker_name AS integer) FROM shop.makers")
    if "explain" not in world.lacks:
        warehouse.explain(query)
    with pytest.raises(QueryFault) as caught:
        warehouse.execute(query)
    assert caught.value.code in ("data", "type", "other")


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO shop.makers VALUES (3, 'three')",
        "CREATE TABLE shop.x (i integer)",
        "DELETE FROM shop.things WHERE TRUE",
        "SELECT 1; SELECT 2",
        "COMMIT; CREATE TABLE shop.x (i integer)",
        "SELECT 1; DROP TABLE shop.things",
    ],
)
def test_nothing_is_written_even_past_the_guard(world: World, warehouse: Warehouse, sql: str) -> None:
    query = GuardedSql(text=sql, dialect=world.dialect)
    with pytest.raises(QueryFault):
        warehouse.execute(query)
    with pytest.raises(QueryFault):
        warehouse.explain(GuardedSql(text=sql.split("; ")[-1] + "; SELECT 1", dialect=world.dialect))
    counted = "SELECT (SELECT count(*) FROM shop.makers) AS m, (SELECT count(*) FROM shop.things) AS t"
    assert warehouse.execute(world.guarded(counted)).rows == ((2, 3),)
    if "snapshot" not in world.lacks:
        assert warehouse.snapshot().table(world.name("shop.x")) is None


def test_the_session_has_the_time_zone_that_was_asked_for(world: World) -> None:
    needs(world, "time zones")
    sql = "SELECT CAST(made_at AS date) AS d FROM shop.things WHERE thing_id = 1"
    for zone, day in (("UTC", date(2026, 3, 1)), ("Asia/Tokyo", date(2026, 3, 2)), ("UTC", date(2026, 3, 1))):
        opened = world.open(timezone=zone)
        assert opened.execute(world.guarded(sql)).rows == ((day,),)
        opened.close()


def test_several_threads_may_ask_at_once(world: World, warehouse: Warehouse) -> None:
    needs(world, "threads")
    answers: dict[int, object] = {}

    def ask(number: int) -> None:
        answers[number] = warehouse.execute(world.guarded(f"SELECT {number} AS n")).rows

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert answers == {number: ((number,),) for number in range(12)}


def test_no_more_statements_are_begun_than_the_rate_allows(world: World) -> None:
    opened = world.open(limits=StatementLimits(max_concurrent=1, per_minute=2))
    view = opened.for_principal(None)
    opened._gate._wait = 0.2  # type: ignore[attr-defined]
    for asked in (opened, view):
        asked.execute(world.guarded("SELECT 1 AS one"))
    # The third one would have to wait for most of a minute, whoever asks.
    with pytest.raises(ServiceUnavailable, match="2 statements a minute"):
        view.execute(world.guarded("SELECT 1 AS one"))
    opened.close()


def test_a_view_of_a_warehouse_closes_nothing(world: World, warehouse: Warehouse) -> None:
    view = warehouse.for_principal(None)
    view.close()
    assert warehouse.execute(world.guarded("SELECT 1 AS one")).rows == ((1,),)


def test_a_database_without_roles_takes_no_principal(world: World, warehouse: Warehouse) -> None:
    if world.dialect in ("postgres", "snowflake"):
        assert warehouse.for_principal("ann") is not warehouse
        return
    with pytest.raises(ConfigurationError):
        warehouse.for_principal("ann")
    with pytest.raises(ConfigurationError):
        world.open(principal="ann")


def test_the_guard_and_the_adapter_work_together(world: World, warehouse: Warehouse) -> None:
    needs(world, "snapshot", "explain")
    shop = world.name("shop")
    guard = SqlGuard(Policy(version=1, schemas=(shop,)), warehouse.snapshot())
    execution = run_guarded(
        guard,
        warehouse,
        "SELECT m.maker_name, sum(t.price) AS total FROM shop.things t JOIN shop.makers m USING (maker_id) "
        "GROUP BY m.maker_name ORDER BY 1 LIMIT 2",
    )
    assert execution.result is not None
    assert execution.result.rows == (("one", Decimal("10.50")), ("two", Decimal("200.00")))
    assert execution.result.own_limit == 2
    assert execution.verdict.tables == (world.name("shop.makers"), world.name("shop.things"))
    assert run_guarded(guard, warehouse, "SELECT * FROM nope").result is None
    quote = "`" if world.dialect == "bigquery" else '"'
    assert check_planned(guard, warehouse, f"SELECT {quote}{world.mixed}{quote} FROM shop.things").allowed
    refused = check_planned(guard, warehouse, "SELECT maker_id, count(*) FROM shop.things")
    assert (refused.allowed, refused.code, refused.query) == (False, "syntax", None)


def test_qualify_is_passed_through_where_the_dialect_has_it(world: World, warehouse: Warehouse) -> None:
    needs(world, "snapshot", "explain")
    if world.dialect not in ("snowflake", "bigquery", "duckdb"):
        pytest.skip(f"{world.dialect} has no QUALIFY here")
    guard = SqlGuard(Policy(version=1, schemas=(world.name("shop"),)), warehouse.snapshot())
    latest = "QUALIFY row_number() OVER (PARTITION BY maker_id ORDER BY thing_id DESC) = 1"
    execution = run_guarded(
        guard, warehouse, f"SELECT maker_id, thing_id FROM shop.things WHERE TRUE {latest} ORDER BY maker_id"
    )
    assert execution.result is not None
    assert execution.result.rows == ((1, 1), (2, 3))


def test_the_double_answers_like_the_real_one(world: World, warehouse: Warehouse) -> None:
    needs(world, "snapshot")
    query = world.guarded("SELECT thing_id FROM shop.things ORDER BY 1")
    double = MemoryWarehouse(warehouse.snapshot(), {query.text: warehouse.execute(query)})
    assert double.snapshot() == warehouse.snapshot().model_copy(update={"taken_at": double.snapshot().taken_at})
    assert double.execute(query).rows == warehouse.execute(query).rows
    view = double.for_principal("ann")
    assert (view.principal, double.principal) == ("ann", None)
    assert view.execute(query).rows == double.execute(query).rows
    with pytest.raises(QueryFault):
        double.execute(world.guarded("SELECT 2 AS two"))


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
            opened.execute(GuardedSql(text=sql, dialect="duckdb"))
    opened.close()
    assert path.read_bytes() == before
