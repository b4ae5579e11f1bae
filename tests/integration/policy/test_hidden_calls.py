"""Functions behind views, operators and casts, and types that are tables, on a real PostgreSQL: nothing leaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import psycopg
import pytest

from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.query import GuardedSql, Limits
from rag_core.errors import QueryFault
from rag_core.policy.rules import ColumnRules, FunctionRules, Policy, TableRules
from rag_core.policy.sql_guard import SqlGuard

if TYPE_CHECKING:
    from rag_core.connectors.base import Warehouse
    from rag_core.connectors.embedded import EmbeddedPostgres

pytestmark = pytest.mark.integration

SCHEMA = """
CREATE TYPE public.segment AS ENUM ('smb');
CREATE TABLE public.secrets (token text);
INSERT INTO public.secrets VALUES ('SECRET-9c1e');
CREATE TABLE public.tickets (id integer, name text, segment public.segment);
INSERT INTO public.tickets VALUES (1, 'a', 'smb');
CREATE FUNCTION public.leak() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
AS 'SELECT token FROM public.secrets';
CREATE FUNCTION public.leak_op(text, integer) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
AS 'SELECT token FROM public.secrets';
CREATE FUNCTION public.leak_cast(public.segment) RETURNS integer LANGUAGE sql STABLE SECURITY DEFINER
AS 'SELECT 918273645 FROM public.secrets';
CREATE OPERATOR public.% (LEFTARG = text, RIGHTARG = integer, FUNCTION = public.leak_op);
CREATE CAST (public.segment AS integer) WITH FUNCTION public.leak_cast(public.segment);
CREATE VIEW public.by_function AS SELECT public.leak() AS x;
CREATE VIEW public.by_operator AS SELECT name % 1 AS x FROM public.tickets;
CREATE VIEW public.by_cast AS SELECT segment::integer AS x FROM public.tickets;
CREATE VIEW public.by_view AS SELECT x FROM public.by_function;
CREATE MATERIALIZED VIEW public.stored AS SELECT public.leak() AS x;
CREATE FUNCTION public.leak_check(text) RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER
AS $$BEGIN RAISE EXCEPTION '%', (SELECT token FROM public.secrets); END$$;
CREATE DOMAIN public.telling AS text CHECK (public.leak_check(VALUE));
CREATE DOMAIN public.inner_telling AS public.telling;
CREATE DOMAIN public.locking AS integer CHECK (pg_advisory_lock(VALUE) IS NULL);
CREATE DOMAIN public.operating AS text CHECK ((VALUE % 1) IS NULL);
CREATE DOMAIN public.positive AS integer CHECK (VALUE > 0 AND length(VALUE::text) < 9);
CREATE TYPE public.pair AS (a public.telling, b integer);
CREATE VIEW public.by_domain AS SELECT name::public.telling AS x FROM public.tickets;
CREATE VIEW public.harmless AS SELECT id, upper(name) AS x, id + 1 AS y FROM public.tickets;
"""
LEAKS = (
    "SELECT * FROM by_function",
    "SELECT * FROM by_operator",
    "SELECT * FROM by_cast",
    "SELECT * FROM by_view",
    "SELECT * FROM stored",
    "SELECT name % 1 FROM tickets",
    "SELECT segment::int FROM tickets",
)


@pytest.fixture(scope="module")
def warehouse(pg_server: EmbeddedPostgres) -> Iterator[Warehouse]:
    pg_server.ensure_database("implied")
    dsn = pg_server.dsn("implied")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        connection.execute(SCHEMA)
    opened = open_warehouse(dsn)
    yield opened
    opened.close()


def policy(**changes: object) -> Policy:
    return Policy.model_validate(
        {"version": 1, "schemas": ("public",), "tables": TableRules(exclude=("public.secrets",)), **changes}
    )


def test_the_snapshot_tells_operators_and_casts(warehouse: Warehouse) -> None:
    catalog = warehouse.snapshot()
    assert [(item.symbol, item.function) for item in catalog.user_operators] == [("%", "leak_op")]
    assert [(item.source, item.target, item.function, item.implicit) for item in catalog.user_casts] == [
        ("public.segment", "integer", "leak_cast", False)
    ]


@pytest.mark.parametrize("sql", LEAKS)
def test_no_route_runs_a_function(warehouse: Warehouse, sql: str) -> None:
    # The route is real: past the guard it tells the secret.
    told = warehouse.execute(GuardedSql(text=sql, dialect="postgres", limits=Limits())).rows
    assert told in ((("SECRET-9c1e",),), ((918273645,),)), told
    assert not SqlGuard(policy(), warehouse.snapshot()).check(sql).allowed
    assert not SqlGuard(policy(tables=TableRules()), warehouse.snapshot()).check(sql).allowed
    opened = policy(functions=FunctionRules(allow=("leak", "leak_op", "leak_cast")))
    verdict = SqlGuard(opened, warehouse.snapshot()).check(sql)
    assert verdict.allowed, verdict.message


def test_what_only_computes_stays_open(warehouse: Warehouse) -> None:
    guard = SqlGuard(policy(columns=ColumnRules(exclude=("public.tickets.name",))), warehouse.snapshot())
    assert guard.check("SELECT id, segment::text, id::bigint FROM tickets WHERE segment = 'smb'").allowed
    assert SqlGuard(policy(), warehouse.snapshot()).check("SELECT * FROM harmless").allowed


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT to_jsonb(jsonb_populate_record(NULL::secrets, '{}'))::text",
        "SELECT to_jsonb('(token)'::public.secrets)::text",
        "SELECT to_jsonb('{(token)}'::_secrets)::text",
        "SELECT to_jsonb('{(token)}'::secrets[])::text",
        "SELECT to_jsonb(jsonb_populate_record(NULL::pg_authid, '{}'))::text || 'token'",
    ],
)
def test_row_types_do_not_tell_hidden_columns(warehouse: Warehouse, sql: str) -> None:
    told = warehouse.execute(GuardedSql(text=sql, dialect="postgres", limits=Limits())).rows
    assert "token" in str(told)
    assert SqlGuard(policy(), warehouse.snapshot()).check(sql).code in ("table_excluded", "catalog_closed")


DOMAINS = (
    "SELECT 'a'::telling",
    "SELECT CAST(name AS public.telling) FROM tickets",
    "SELECT 'a'::inner_telling",
    "SELECT '{a}'::telling[]",
    "SELECT '{a}'::_telling",
    "SELECT '(a,1)'::pair",
    "SELECT ROW('a', 1)::public.pair",
    'SELECT (jsonb_populate_record(NULL::pair, \'{"a": "x"}\')).a',
    'SELECT t.a FROM jsonb_to_recordset(\'[{"a": "x"}]\') AS t(a telling)',
    "SELECT JSON_VALUE('{\"a\": \"x\"}'::jsonb, '$.a' RETURNING telling)",
    "SELECT * FROM by_domain",
    "SELECT 'a'::operating",
)


@pytest.mark.parametrize("sql", DOMAINS)
def test_checks_of_domains_run_nothing(warehouse: Warehouse, sql: str) -> None:
    # The route is real: past the guard the check runs a function (which tells the secret, or calls the operator's).
    with pytest.raises(QueryFault) as caught:
        warehouse.execute(GuardedSql(text=sql, dialect="postgres", limits=Limits()))
    assert "SECRET-9c1e" in caught.value.message or "check constraint" in caught.value.message
    guard = SqlGuard(policy(tables=TableRules()), warehouse.snapshot())
    assert guard.check(sql).code in ("function_not_allowed", "table_excluded")


def test_domains_that_only_compute_stay_open(warehouse: Warehouse) -> None:
    guard = SqlGuard(policy(functions=FunctionRules(allow=("leak_cast",))), warehouse.snapshot())
    assert guard.check("SELECT 5::positive").allowed
    assert guard.check("SELECT 5::locking").code == "function_not_allowed"
    opened = SqlGuard(policy(functions=FunctionRules(allow=("leak_cast", "leak_check"))), warehouse.snapshot())
    assert opened.check("SELECT 'a'::telling").allowed
