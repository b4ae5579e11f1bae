"""The guard on warehouses of other dialects."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.policy.rules import ColumnRules, Policy, TableRules
from rag_core.policy.sql_guard import SqlGuard


def guard(dialect: str) -> SqlGuard:
    """A shop with a hidden column and a hidden table, spelled as the dialect's catalog would."""
    fold = str.upper if dialect == "snowflake" else str
    columns = tuple(CatalogColumn(name=fold(name), type="int") for name in ("id", "total", "at", "payload"))
    catalog = Catalog(
        dialect=dialect,
        database="db",
        taken_at=datetime(2026, 7, 1, tzinfo=UTC),
        search_path=(fold("shop"),),
        tables=(
            CatalogTable(schema_name=fold("shop"), name=fold("orders"), columns=columns),
            CatalogTable(schema_name=fold("shop"), name=fold("secrets"), columns=columns[:1]),
        ),
    )
    rules = ColumnRules(exclude=("shop.orders.total",))
    policy = Policy(version=1, schemas=("shop",), tables=TableRules(exclude=("shop.secrets",)), columns=rules)
    return SqlGuard(policy, catalog)


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("snowflake", "SELECT Id, ROW_NUMBER() OVER (ORDER BY id) AS n FROM shop.orders QUALIFY n = 1"),
        ("snowflake", "SELECT DATEDIFF(day, at, CURRENT_DATE), DATE_TRUNC('month', at), IFF(id = 1, 2, 3) FROM orders"),
        ("snowflake", "SELECT SEQ4() AS n, UNIFORM(1, 5, RANDOM()) FROM TABLE(GENERATOR(ROWCOUNT => 5)) AS g"),
        ("snowflake", "SELECT f.value FROM TABLE(SPLIT_TO_TABLE('a.b', '.')) f"),
        ("snowflake", "SELECT f.value FROM orders, TABLE(FLATTEN(input => payload)) f"),
        ("snowflake", "SELECT f.value:name::string FROM orders, LATERAL FLATTEN(input => payload) f"),
        ("snowflake", 'SELECT "ID" FROM "SHOP"."ORDERS" LIMIT 5'),
        ("bigquery", "SELECT id, SAFE_DIVIDE(id, 2), DATE_DIFF(at, CURRENT_DATE(), DAY) FROM `db.shop.orders`"),
        ("bigquery", "SELECT ID, payload.name.first FROM shop.orders"),
        ("bigquery", "SELECT item FROM shop.orders, UNNEST(payload) AS item WITH OFFSET AS pos WHERE pos = 0"),
        ("bigquery", "SELECT COUNTIF(id > 1), ARRAY_AGG(id ORDER BY id LIMIT 3) FROM orders"),
        ("bigquery", "SELECT id FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY at ORDER BY id) = 1"),
        ("duckdb", "SELECT ID, payload.name FROM Orders WHERE at > DATE '2026-01-01' LIMIT 5"),
        ("duckdb", "FROM orders SELECT id"),
        ("duckdb", "SELECT list_transform([1, 2], x -> x + 1), unnest([1, 2]) FROM orders"),
        ("redshift", "SELECT DATEADD(day, -7, GETDATE()), LISTAGG(id, ',') WITHIN GROUP (ORDER BY id) FROM orders"),
        ("redshift", "SELECT NVL(id, 0), DATEDIFF(month, at, GETDATE()) AS age FROM shop.orders"),
    ],
)
def test_honest_queries_of_every_dialect_are_allowed(dialect: str, sql: str) -> None:
    verdict = guard(dialect).check(sql)
    assert verdict.allowed, verdict.message


@pytest.mark.parametrize("dialect", ["snowflake", "bigquery", "duckdb", "redshift"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT Total FROM Orders",
        "SELECT o.TOTAL FROM orders o",
        "SELECT x FROM (SELECT total AS x FROM orders) s",
        "SELECT id FROM secrets",
        "SELECT id FROM SHOP.SECRETS",
        "WITH q AS (SELECT * FROM secrets) SELECT * FROM q",
        "SELECT * FROM information_schema.tables",
        "SELECT * FROM shop.INFORMATION_SCHEMA.TABLES",
        "DELETE FROM orders",
        "SELECT 1; SELECT 2",
        "SELECT id FROM other.shop.orders",
        "SELECT some_function_of_mine(id) FROM orders",
    ],
)
def test_hidden_data_is_refused_in_every_dialect(dialect: str, sql: str) -> None:
    assert not guard(dialect).check(sql).allowed


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("snowflake", "SELECT SYSTEM$WAIT(1)"),
        ("snowflake", "SELECT * FROM IDENTIFIER('shop.secrets')"),
        ("snowflake", "SELECT * FROM TABLE('shop.secrets')"),
        ("snowflake", "SELECT * FROM TABLE(RESULT_SCAN(LAST_QUERY_ID()))"),
        ("snowflake", "SELECT * FROM TABLE(RESULT_SCAN(LAST_QUERY_ID())) AS r"),
        ("snowflake", "SELECT * FROM TABLE(INFORMATION_SCHEMA.QUERY_HISTORY())"),
        ("snowflake", "SELECT * FROM TABLE(CONCAT('shop.', 'secrets'))"),
        ("snowflake", "SELECT * FROM TABLE(shop.some_function_of_mine(1))"),
        ("snowflake", "SELECT * FROM TABLE(FLATTEN(input => (SELECT total FROM orders)))"),
        ("snowflake", "SELECT $1 FROM @stage"),
        ("snowflake", "SELECT GET_DDL('table', 'secrets')"),
        ("snowflake", "SELECT * FROM orders AT(OFFSET => -60)"),
        ("bigquery", "SELECT * FROM EXTERNAL_QUERY('c', 'SELECT 1')"),
        ("bigquery", "SELECT * FROM ML.PREDICT(MODEL shop.m, TABLE shop.orders)"),
        ("bigquery", "SELECT @@project_id"),
        ("bigquery", "SELECT * FROM `shop.orders_*`"),
        ("bigquery", "SELECT AI.GENERATE('x')"),
        ("duckdb", "SELECT * FROM read_csv('/etc/passwd')"),
        ("duckdb", "SELECT * FROM '/etc/passwd'"),
        ("duckdb", "SELECT * FROM query('SELECT * FROM shop.secrets')"),
        ("duckdb", "SELECT * FROM query_table('shop.secrets')"),
        ("duckdb", "SELECT getenv('HOME')"),
        ("duckdb", "SELECT COLUMNS('t.*') FROM orders"),
        ("duckdb", "SELECT * FROM duckdb_settings()"),
        ("duckdb", "SUMMARIZE orders"),
        ("duckdb", "PRAGMA database_list"),
        ("redshift", "SELECT * FROM stv_sessions"),
        ("redshift", "SELECT pg_cancel_backend(1)"),
        ("redshift", "UNLOAD ('SELECT 1') TO 's3://x'"),
    ],
)
def test_ways_out_of_each_dialect_are_refused(dialect: str, sql: str) -> None:
    assert not guard(dialect).check(sql).allowed


def test_stars_come_without_the_hidden_column() -> None:
    texts = {}
    for dialect in ("snowflake", "bigquery", "duckdb", "redshift"):
        query = guard(dialect).check("SELECT * FROM orders o").query
        assert query is not None
        texts[dialect] = query.text
    assert texts == {
        "snowflake": "SELECT * FROM (SELECT ID, AT, PAYLOAD FROM SHOP.orders) AS o",
        "bigquery": "SELECT * FROM (SELECT id, `at`, payload FROM shop.orders) AS o",
        "duckdb": 'SELECT * FROM (SELECT id, "at", payload FROM shop.orders) AS o',
        "redshift": "SELECT * FROM (SELECT id, at, payload FROM shop.orders) AS o",
    }


@pytest.mark.parametrize("name", ["seq.nextval", "shop.seq.NEXTVAL", "f.nextval", 'other."NEXTVAL"', "payload.nextval"])
def test_no_sequence_of_snowflake_moves(name: str) -> None:
    verdict = guard("snowflake").check(f"SELECT {name} FROM orders, LATERAL FLATTEN(input => payload) f")
    assert not verdict.allowed


def test_a_column_called_like_it_stays_open() -> None:
    sql = "WITH a AS (SELECT id AS nextval FROM orders) SELECT a.nextval FROM a"
    assert guard("snowflake").check(sql).allowed
