"""Types that are tables count as the tables."""

from __future__ import annotations

import pytest

from rag_core.datamodel.catalog import CatalogColumn
from rag_core.policy.sql_guard import SqlGuard
from tests.warehouse_world import world, world_policy

STABLE = dict.fromkeys(("pg_typeof", "enum_range", "jsonb_populate_record", "jsonb_to_record"), "stable")
WORLD = world().model_copy(update={"functions": {**world().functions, **STABLE}})
GUARD = SqlGuard(world_policy(), WORLD)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT NULL::secrets", "table_excluded"),
        ("SELECT NULL::public.secrets", "table_excluded"),
        ('SELECT NULL::"public"."secrets"', "table_excluded"),
        ("SELECT CAST(NULL AS SECRETS)", "table_excluded"),
        ("SELECT '{}'::secrets[]", "table_excluded"),
        ("SELECT '{}'::_secrets", "table_excluded"),
        ("SELECT CAST(ARRAY[NULL] AS public._secrets)", "table_excluded"),
        ("SELECT '(x)'::secrets", "table_excluded"),
        ("SELECT to_jsonb(NULL::secrets)", "table_excluded"),
        ("SELECT * FROM customers WHERE (NULL::secrets) IS NULL", "table_excluded"),
        ("SELECT * FROM jsonb_to_recordset('[]') AS t (a secrets)", "table_excluded"),
        ("SELECT NULL::secret_view", "table_excluded"),
        ("SELECT NULL::hidden.vault", "schema_not_allowed"),
        ("SELECT NULL::orders", "column_excluded"),
        ("SELECT to_jsonb(ROW(1, 2)::orders)", "column_excluded"),
        ("SELECT NULL::pg_authid", "catalog_closed"),
        ("SELECT NULL::pg_catalog.pg_authid", "catalog_closed"),
        ("SELECT NULL::pg_catalog._pg_authid", "catalog_closed"),
        ("SELECT NULL::information_schema.tables", "catalog_closed"),
        ("SELECT NULL::pg_temp.x", "catalog_closed"),
        # Whatever a closed schema's types are: an enum's labels and a row's fields can be asked for.
        ("SELECT enum_range(NULL::hidden.mood)", "schema_not_allowed"),
        ("SELECT enum_range(NULL::HIDDEN._mood)", "schema_not_allowed"),
        ("SELECT jsonb_populate_record(NULL::hidden.pair, '{}')", "schema_not_allowed"),
        ('SELECT * FROM jsonb_to_record(\'{}\') AS t (a "hidden"."mood")', "schema_not_allowed"),
    ],
)
def test_types_of_hidden_tables_are_refused(sql: str, code: str) -> None:
    verdict = GUARD.check(sql)
    assert verdict.code == code, verdict


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT NULL::customers",
        "SELECT NULL::public.segment, '1'::pg_lsn, 1::pg_catalog.int4, 'a'::\"char\"",
        "SELECT '1'::int::text, '{1}'::int[], 1::numeric(5, 2), '2024-01-01'::timestamp with time zone, 'a'::name",
        'SELECT NULL::sales."OrderItem"',
    ],
)
def test_other_types_are_allowed(sql: str) -> None:
    verdict = GUARD.check(sql)
    assert verdict.allowed, verdict.message


def test_a_type_that_a_readable_column_has_stays_open() -> None:
    column = CatalogColumn(name="at", type="extensions.citext")
    catalog = world()
    orders = next(table for table in catalog.tables if table.name == "customers")
    tables = tuple(
        table.model_copy(update={"columns": (*table.columns, column)}) if table is orders else table
        for table in catalog.tables
    )
    guard = SqlGuard(world_policy(), catalog.model_copy(update={"tables": tables}))
    assert guard.check("SELECT id FROM customers WHERE at = 'x'::extensions.citext").allowed
    assert guard.check("SELECT '{x}'::extensions.citext[]").allowed
    assert guard.check("SELECT 'x'::extensions.other").code == "schema_not_allowed"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT (customers::customers).tableoid FROM customers",
        "SELECT ((c::customers)).ctid FROM customers AS c",
        "SELECT (CAST(c AS public.customers)).xmin::text FROM customers AS c",
    ],
)
def test_no_cast_opens_what_every_row_has(sql: str) -> None:
    assert GUARD.check(sql).code == "unknown_column"


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("SELECT array[pg_typeof(1), '16390']", "SELECT array[CAST(pg_typeof(1) AS TEXT), '16390']"),
        ("SELECT PG_TYPEOF(1)::text", "SELECT CAST(PG_TYPEOF(1) AS TEXT)"),
        ("SELECT pg_catalog.pg_typeof(1)", "SELECT CAST(pg_catalog.pg_typeof(1) AS TEXT)"),
        ("SELECT pg_typeof(pg_typeof(1))", "SELECT CAST(pg_typeof(CAST(pg_typeof(1) AS TEXT)) AS TEXT)"),
    ],
)
def test_the_name_of_a_type_is_a_text(sql: str, text: str) -> None:
    query = GUARD.check(sql).query
    assert query is not None
    assert query.text.lower() == text.lower()


def test_a_column_that_names_objects_is_shown_as_text() -> None:
    catalog = world()
    columns = (CatalogColumn(name="at", type="regclass"), CatalogColumn(name="all_of_it", type="regtype[]"))
    tables = tuple(
        table.model_copy(update={"columns": (*table.columns[:1], *columns)}) if table.name == "customers" else table
        for table in catalog.tables
    )
    guard = SqlGuard(world_policy(), catalog.model_copy(update={"tables": tables}))
    query = guard.check("SELECT coalesce(at, '16390'), all_of_it || '{16390}' FROM customers").query
    assert query is not None
    assert "FROM (SELECT id, CAST(at AS TEXT) AS at, CAST(all_of_it AS TEXT[]) AS all_of_it FROM" in query.text.replace(
        '"at"', "at"
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT (1).pg_typeof",
        "SELECT x FROM pg_typeof(1) AS x",
        "SELECT x FROM ROWS FROM (pg_typeof(1)) AS x",
        "SELECT x FROM customers, LATERAL pg_typeof(1) AS x",
    ],
)
def test_it_has_no_other_form(sql: str) -> None:
    assert GUARD.check(sql).code == "unsupported_syntax"
