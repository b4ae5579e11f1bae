"""A range type of somebody's own, for which PostgreSQL makes functions and a cast, refuses no honest query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import psycopg
import pytest

from rag_core.connectors.warehouses import open_warehouse
from rag_core.policy.rules import Policy
from rag_core.policy.sql_guard import SqlGuard

if TYPE_CHECKING:
    from rag_core.connectors.base import Warehouse
    from rag_core.connectors.embedded import EmbeddedPostgres

pytestmark = pytest.mark.integration

SCHEMA = """
DROP SCHEMA public CASCADE;
CREATE SCHEMA public;
CREATE TYPE public.segment AS ENUM ('smb');
CREATE DOMAIN public.positive AS integer CHECK (VALUE > 0);
CREATE TYPE public.floatrange AS RANGE (subtype = float8, subtype_diff = float8mi);
CREATE TABLE public.tickets (id integer, segment public.segment, span public.floatrange);
INSERT INTO public.tickets VALUES (1, 'smb', '[1,2]');
"""
CANONICAL = """
CREATE TYPE public.spanning;
CREATE FUNCTION public.own_canonical(public.spanning) RETURNS public.spanning LANGUAGE internal IMMUTABLE STRICT
AS 'int4range_canonical';
CREATE TYPE public.spanning AS RANGE (subtype = integer, canonical = public.own_canonical);
"""


@pytest.fixture(scope="module")
def dsn(pg_server: EmbeddedPostgres) -> str:
    pg_server.ensure_database("ranges")
    dsn = pg_server.dsn("ranges")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(SCHEMA)
    return dsn


@pytest.fixture
def warehouse(dsn: str) -> Iterator[Warehouse]:
    opened = open_warehouse(dsn)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id::bigint, segment::text FROM tickets",
        "SELECT 'smb'::segment, segment::public.segment::text, 5::positive FROM tickets",
        "SELECT '[1,2)'::floatrange, floatrange(1, 2), floatrange(1, 2, '[]')::floatmultirange",
        "SELECT upper(floatmultirange(floatrange(1, id))) FROM tickets WHERE span @> 1.5::float8",
    ],
)
def test_it_refuses_nothing(warehouse: Warehouse, sql: str) -> None:
    verdict = SqlGuard(Policy(version=1, schemas=("public",)), warehouse.snapshot()).check(sql)
    assert verdict.query is not None, verdict.message
    assert len(warehouse.execute(verdict.query).rows) == 1


def test_a_function_of_somebodys_own_that_makes_it_canonical_does(dsn: str, warehouse: Warehouse) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(CANONICAL)
        catalog = warehouse.snapshot()
        connection.execute("DROP TYPE public.spanning CASCADE")
    guard = SqlGuard(Policy(version=1, schemas=("public",)), catalog)
    for sql in (
        "SELECT spanning(1, 2)",
        "SELECT spanning_multirange(spanning(1, 2))",
        "SELECT '[1,2)'::spanning::text",
    ):
        assert guard.check(sql).code == "function_not_allowed"
