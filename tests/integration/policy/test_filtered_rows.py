"""Rows that a filter of the policy hides are not computed with either: an error would tell their values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import psycopg
import pytest

from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.query import GuardedSql
from rag_core.errors import QueryFault
from rag_core.policy.rules import ColumnMask, ColumnRules, Policy, RowFilter
from rag_core.policy.sql_guard import SqlGuard
from rag_core.workers.execution import check_planned

if TYPE_CHECKING:
    from rag_core.connectors.base import Warehouse
    from rag_core.connectors.embedded import EmbeddedPostgres

pytestmark = pytest.mark.integration

SCHEMA = """
CREATE TABLE public.people (id integer PRIMARY KEY, tenant text, name text);
INSERT INTO public.people VALUES (1, 'a', '7'), (2, 'b', 'SECRET-5d0a'), (3, 'a', '8');
CREATE TABLE public.visits (person_id integer, shop integer);
CREATE TABLE public.orders (id integer, tenant text, total integer, note text);
INSERT INTO public.orders SELECT g, CASE WHEN g > 900 THEN 'a' ELSE 'b' END, 5, 'n' FROM generate_series(1, 1000) AS g;
INSERT INTO public.orders SELECT g, 'a', g, 'n' FROM generate_series(1001, 1100) AS g;
ANALYZE public.orders;
INSERT INTO public.visits VALUES (1, 7), (2, 8), (3, 8);
"""
# Dearer than what the statements compute, so that the planner would take those first.
FILTER = "lower(trim(tenant)) || '' = 'a'"
STATEMENTS = (
    ("SELECT id FROM people WHERE name::int > 7", [(3,)]),
    ("SELECT id FROM people WHERE id = 2 AND name::int > 7", []),
    ("SELECT id FROM people WHERE 1 / (id - 2) < 5 ORDER BY id", [(1,), (3,)]),
    ("SELECT p.id FROM people p JOIN visits v ON p.name::int = v.shop AND p.id = v.person_id ORDER BY 1", [(1,), (3,)]),
    ("SELECT shop FROM visits v WHERE EXISTS (SELECT 1 FROM people p WHERE p.name::int = 7) AND shop = 7", [(7,)]),
    ("SELECT max(name::int) FROM people", [(8,)]),
    ("SELECT count(*) FILTER (WHERE name::int = 7) FROM people", [(1,)]),
)


@pytest.fixture(scope="module")
def warehouse(pg_server: EmbeddedPostgres) -> Iterator[Warehouse]:
    pg_server.ensure_database("filtered")
    dsn = pg_server.dsn("filtered")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(SCHEMA)
    opened = open_warehouse(dsn)
    yield opened
    opened.close()


@pytest.mark.parametrize(("sql", "rows"), STATEMENTS)
def test_no_error_tells_a_hidden_value(warehouse: Warehouse, sql: str, rows: list[tuple[int]]) -> None:
    policy = Policy(version=1, schemas=("public",), row_filters=(RowFilter(table="public.people", where=FILTER),))
    query = SqlGuard(policy, warehouse.snapshot()).check(sql).query
    assert query is not None
    assert list(warehouse.execute(query).rows) == rows


def test_the_route_is_real(warehouse: Warehouse) -> None:
    unfenced = f"SELECT id FROM (SELECT * FROM public.people WHERE {FILTER}) AS p WHERE id = 2 AND name::int > 7"
    with pytest.raises(QueryFault, match="SECRET-5d0a"):
        warehouse.execute(GuardedSql(text=unfenced, dialect="postgres"))


def test_the_planners_estimates_are_told_to_nobody(warehouse: Warehouse) -> None:
    """They come from all rows, so that they tell which values the hidden ones hold."""
    policy = Policy(
        version=1, schemas=("public",), row_filters=(RowFilter(table="public.orders", where="tenant = 'a'"),)
    )
    guard = SqlGuard(policy, warehouse.snapshot())
    told = []
    estimates = []
    for value in (5, 6):
        verdict = check_planned(guard, warehouse, f"SELECT id FROM orders WHERE total = {value}")
        assert verdict.query is not None
        estimates.append(warehouse.explain(verdict.query).rows)
        content = verdict.model_dump(mode="json", exclude={"query": {"text"}})
        told.append(str(content))
    assert estimates[0] is not None
    assert estimates[1] is not None
    assert estimates[0] > 20 * estimates[1], "the route is real"
    assert told[0] == told[1]


def test_nothing_of_a_masked_column_is_in_the_estimates(warehouse: Warehouse) -> None:
    masked = ColumnRules(mask=(ColumnMask(column="public.orders.total"),))
    guard = SqlGuard(Policy(version=1, schemas=("public",), columns=masked), warehouse.snapshot())
    estimates = []
    for value in (5, 6):
        query = guard.check(f"SELECT id FROM orders WHERE total = {value}").query
        assert query is not None
        estimates.append(warehouse.explain(query).rows)
    assert estimates[0] == estimates[1]
