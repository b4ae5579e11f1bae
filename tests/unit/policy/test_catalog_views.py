"""Views over catalogs are hidden in every dialect, unless the policy names them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable, TableKind
from rag_core.policy.rules import Policy, TableRules
from rag_core.policy.sql_guard import SqlGuard

READS_CATALOG = {
    "postgres": (
        "SELECT relname FROM pg_class",
        "SELECT pg_stats.most_common_vals FROM pg_stats",
        "SELECT s.setting FROM pg_settings s WHERE s.name = 'x'",
        "SELECT a.query FROM pg_stat_activity a",
        "SELECT tables.table_name FROM information_schema.tables",
        "SELECT 1 AS x FROM shop.orders WHERE (EXISTS ( SELECT 1 FROM pg_catalog.pg_class))",
        "SELECT x.relname FROM unseen.elsewhere e, LATERAL (SELECT relname FROM pg_class) x",
        "SELECT u.a FROM (SELECT 1 AS a UNION ALL SELECT 2 FROM pg_roles) u",
        "SELECT note AS relname FROM shop.orders WHERE id IN (SELECT oid FROM pg_namespace) GROUP BY %% broken",
    ),
    "redshift": (
        "SELECT query FROM stl_query",
        "SELECT table_name FROM svv_all_columns",
        "SELECT querytxt FROM pg_catalog.stl_query",
        "SELECT relname FROM pg_class",
        "SELECT query_text FROM sys_query_history",
        "SELECT tables.table_name FROM information_schema.tables",
    ),
    "snowflake": (
        "SELECT table_name FROM information_schema.tables",
        "SELECT table_name FROM DB.INFORMATION_SCHEMA.TABLES",
        "SELECT query_text FROM SNOWFLAKE.ACCOUNT_USAGE.QUERY_HISTORY",
        "SELECT query_text FROM snowflake.organization_usage.metering",
        "SELECT x FROM snowflake.local.anything",
        "SELECT query_text FROM TABLE(INFORMATION_SCHEMA.QUERY_HISTORY())",
        "SELECT query_text FROM TABLE(DB.INFORMATION_SCHEMA.QUERY_HISTORY(result_limit => 5)) AS q",
    ),
    "bigquery": (
        "SELECT table_name FROM shop.INFORMATION_SCHEMA.TABLES",
        "SELECT table_name FROM `db.shop.INFORMATION_SCHEMA.TABLES`",
        "SELECT query FROM `region-eu`.INFORMATION_SCHEMA.JOBS_BY_PROJECT",
        "SELECT table_id FROM shop.__TABLES__",
        "SELECT table_id FROM `db.shop.__TABLES_SUMMARY__`",
    ),
    "duckdb": (
        "SELECT table_name FROM duckdb_tables()",
        "SELECT table_name FROM duckdb_tables",
        "SELECT name FROM sqlite_master",
        "SELECT name FROM main.sqlite_master, pragma_show",
        "SELECT table_name FROM information_schema.tables",
        "SELECT relname FROM pg_catalog.pg_class",
        "SELECT relname FROM pg_class",
        "SELECT name FROM pragma_table_info('orders')",
        "SELECT table_name FROM system.information_schema.tables",
    ),
}
HARMLESS = (
    "SELECT id FROM shop.orders",
    "WITH pg_class AS (SELECT id FROM shop.orders) SELECT id FROM pg_class",
    "SELECT id AS pg_class FROM shop.orders WHERE 'pg_class' <> 'information_schema'",
    "SELECT e.id FROM unseen.elsewhere e",
)


def catalog(dialect: str, definition: str, kind: TableKind = "view") -> Catalog:
    """A shop with a view of this definition, and a view over that view."""
    fold = str.upper if dialect == "snowflake" else str
    columns = tuple(CatalogColumn(name=fold(name), type="int") for name in ("id", "note"))

    def table(name: str, kind: TableKind = "table", definition: str | None = None) -> CatalogTable:
        return CatalogTable(
            schema_name=fold("shop"), name=fold(name), kind=kind, columns=columns, definition=definition
        )

    return Catalog(
        dialect=dialect,
        database="db",
        taken_at=datetime(2026, 7, 1, tzinfo=UTC),
        search_path=(fold("shop"),),
        tables=(
            table("orders"),
            table("looks", kind, definition),
            table("through", "view", "SELECT id FROM shop.looks"),
            table("through_broken", "view", "SELECT l.id FROM shop.looks l, unseen.elsewhere e"),
        ),
    )


@pytest.mark.parametrize(
    ("dialect", "definition"), [(dialect, text) for dialect, texts in READS_CATALOG.items() for text in texts]
)
def test_views_over_catalogs_are_hidden(dialect: str, definition: str) -> None:
    for kind in ("view", "materialized_view"):
        guard = SqlGuard(Policy(version=1, schemas=("shop",)), catalog(dialect, definition, kind))
        for name in ("looks", "through", "through_broken"):
            assert guard.check(f"SELECT * FROM shop.{name}").code == "table_excluded", name
        assert {table.name.lower() for table in guard.visible_catalog.tables} == {"orders"}


@pytest.mark.parametrize(("dialect", "definition"), [(dialect, text) for dialect in READS_CATALOG for text in HARMLESS])
def test_other_views_stay_open(dialect: str, definition: str) -> None:
    guard = SqlGuard(Policy(version=1, schemas=("shop",)), catalog(dialect, definition))
    for name in ("looks", "through"):
        verdict = guard.check(f"SELECT * FROM shop.{name}")
        assert verdict.allowed, verdict.message


@pytest.mark.parametrize("dialect", READS_CATALOG)
def test_the_policy_may_vouch_for_one(dialect: str) -> None:
    policy = Policy(version=1, schemas=("shop",), tables=TableRules(include=("*.*", "shop.looks")))
    guard = SqlGuard(policy, catalog(dialect, READS_CATALOG[dialect][0]))
    for name in ("looks", "through"):
        assert guard.check(f"SELECT * FROM shop.{name}").allowed


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("duckdb", "SELECT * FROM duckdb_tables"),
        ("duckdb", "SELECT * FROM sqlite_master"),
        ("bigquery", "SELECT * FROM shop.__TABLES__"),
        ("redshift", "SELECT * FROM stl_query"),
        ("snowflake", "SELECT * FROM snowflake.local.anything"),
    ],
)
def test_catalogs_without_a_schema_are_closed_as_such(dialect: str, sql: str) -> None:
    guard = SqlGuard(Policy(version=1, schemas=("shop",)), catalog(dialect, "SELECT 1"))
    assert guard.check(sql).code == "catalog_closed"
