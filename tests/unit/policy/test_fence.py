"""Rows that a filter hides, where the database says nothing of the order in which it computes: their values are NULL.

DuckDB runs what was written for the other databases with the filter itself taken away, as if everything else had been
computed first.
"""

from __future__ import annotations

from datetime import UTC, datetime

import duckdb
import pytest
import sqlglot

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.policy.rules import ColumnMask, ColumnRules, Policy, RowFilter
from rag_core.policy.sql_guard import SqlGuard

ROWS = """
CREATE SCHEMA shop;
CREATE TABLE shop.people (id integer, tenant varchar, name varchar, secret varchar, tags integer[]);
INSERT INTO shop.people VALUES (1, 'a', '7', 's', [1]), (2, 'b', 'SECRET-5d0a', 's', [2]), (3, 'a', '8', 's', [3]);
"""
STATEMENTS = (
    ("SELECT id FROM people WHERE CAST(name AS INT) > 7", [(3,)]),
    ("SELECT id FROM people WHERE CAST(name AS INT) > 7 AND id = 2", []),
    ("SELECT p.id FROM people p WHERE 1 / (p.id - 2) < 5 ORDER BY id", [(1,), (3,)]),
    ("SELECT MAX(CAST(name AS INT)) FROM people", [(8,)]),
    ("SELECT COUNT(*) FROM people WHERE tags = tags AND secret IS NULL", [(2,)]),
    ("SELECT a.id FROM people a JOIN people b ON CAST(a.name AS INT) = CAST(b.name AS INT) ORDER BY 1", [(1,), (3,)]),
)


def guard(dialect: str, where: str = "tenant = 'a'") -> SqlGuard:
    fold = str.upper if dialect == "snowflake" else str
    columns = tuple(
        CatalogColumn(name=fold(name), type=kind)
        for name, kind in (
            ("id", "int"),
            ("tenant", "text"),
            ("name", "text"),
            ("secret", "varchar(9)"),
            ("tags", "array"),
        )
    )
    catalog = Catalog(
        dialect=dialect,
        database="db",
        taken_at=datetime(2026, 7, 1, tzinfo=UTC),
        search_path=(fold("shop"),),
        tables=(CatalogTable(schema_name=fold("shop"), name=fold("people"), columns=columns),),
    )
    policy = Policy(
        version=1,
        schemas=("shop",),
        columns=ColumnRules(mask=(ColumnMask(column="shop.people.secret"),)),
        row_filters=(RowFilter(table="shop.people", where=where), RowFilter(table="shop.people", where="id > 0")),
    )
    return SqlGuard(policy, catalog)


@pytest.mark.parametrize("dialect", ["snowflake", "bigquery", "redshift"])
@pytest.mark.parametrize(("sql", "rows"), STATEMENTS)
def test_no_order_of_computing_tells_a_hidden_value(dialect: str, sql: str, rows: list[tuple[int]]) -> None:
    query = guard(dialect).check(sql).query
    assert query is not None
    database = duckdb.connect()
    database.execute(ROWS)
    written = sqlglot.parse_one(query.text, read=dialect)
    assert database.execute(written.sql(dialect="duckdb")).fetchall() == rows
    filters = [node for node in written.find_all(sqlglot.exp.Where) if "tenant" in node.sql().lower()]
    assert filters
    for node in filters:
        node.pop()
    # No fault, whatever was computed first.
    database.execute(written.sql(dialect="duckdb")).fetchall()


def test_the_route_is_real() -> None:
    database = duckdb.connect()
    database.execute(ROWS)
    with pytest.raises(duckdb.ConversionException, match="SECRET-5d0a"):
        database.execute("SELECT id FROM (SELECT * FROM shop.people) AS p WHERE CAST(name AS INT) > 7").fetchall()


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
def test_where_a_subquery_is_computed_by_itself_it_is_fenced(dialect: str) -> None:
    query = guard(dialect).check("SELECT id FROM people").query
    assert query is not None
    assert "OFFSET 0" in query.text
    assert "CASE" not in query.text


def test_a_filter_that_cannot_be_parsed_lets_nothing_through() -> None:
    for dialect in ("snowflake", "postgres"):
        assert guard(dialect, where="tenant = = 'a'").check("SELECT id FROM people").code == "policy_error"
