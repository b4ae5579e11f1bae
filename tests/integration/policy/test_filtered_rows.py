"""Rows that a filter of the policy hides are not computed with either: an error would tell their values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import psycopg
import pytest

from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.query import GuardedSql
from rag_core.errors import QueryFault
from rag_core.policy.rules import Policy, RowFilter
from rag_core.policy.sql_guard import SqlGuard

if TYPE_CHECKING:
    from rag_core.connectors.base import Warehouse
    from rag_core.connectors.embedded import EmbeddedPostgres

pytestmark = pytest.mark.integration

SCHEMA = """
CREATE TABLE public.people (id integer PRIMARY KEY, tenant text, name text);
INSERT INTO public.people VALUES (1, 'a', '7'), (2, 'b', 'SECRET-5d0a'), (3, 'a', '8');
CREATE TABLE public.visits (person_id integer, shop integer);
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
