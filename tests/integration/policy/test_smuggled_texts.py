"""Texts and names that hold SQL, on a real PostgreSQL: whatever the session's settings, they stay texts and names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import psycopg
import pytest

from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.query import GuardedSql
from rag_core.policy.rules import Policy, TableRules
from rag_core.policy.sql_guard import SqlGuard

if TYPE_CHECKING:
    from rag_core.connectors.base import Warehouse
    from rag_core.connectors.embedded import EmbeddedPostgres

pytestmark = pytest.mark.integration

POLICY = Policy(version=1, schemas=("public",), tables=TableRules(exclude=("public.secrets",)))
TAIL = " , (SELECT token FROM public.secrets) --"


@pytest.fixture(scope="module")
def dsn(pg_server: EmbeddedPostgres) -> str:
    """A database whose default makes backslashes escape, as servers of long ago have it."""
    pg_server.ensure_database("smuggled")
    dsn = pg_server.dsn("smuggled")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE public.secrets (token text)")
        connection.execute("INSERT INTO public.secrets VALUES ('SECRET-2b7d')")
        connection.execute("ALTER DATABASE smuggled SET standard_conforming_strings = off")
    return dsn


@pytest.fixture(scope="module")
def warehouse(dsn: str) -> Iterator[Warehouse]:
    opened = open_warehouse(dsn)
    yield opened
    opened.close()


@pytest.mark.parametrize("text", ["\\", f"{TAIL}", f"\\'{TAIL}", "\\\\", "a\\'b", "--", "/*", "$$", "\\x41\\u0041"])
def test_a_text_comes_back_as_it_was_written(warehouse: Warehouse, text: str) -> None:
    written = text.replace("'", "''")
    query = SqlGuard(POLICY, warehouse.snapshot()).check(f"SELECT '{written}', '{TAIL}'").query
    assert query is not None
    assert list(warehouse.execute(query).rows) == [(text, TAIL)]


@pytest.mark.parametrize("text", [f"'{TAIL}", f"x\\'{TAIL}", f"\\\\'{TAIL}", f"it's{TAIL}"])
def test_a_text_written_for_redshift_ends_where_it_ended(pg_server: EmbeddedPostgres, dsn: str, text: str) -> None:
    written = text.replace("\\", "\\\\").replace("'", "''")
    opened = open_warehouse(dsn.replace("postgresql://", "redshift://"))
    try:
        query = SqlGuard(POLICY, opened.snapshot()).check(f"SELECT '{written}' AS a, 1 AS b").query
        assert query is not None
        for conforming in ("on", "off"):
            with psycopg.connect(pg_server.dsn("postgres"), autocommit=True) as connection:
                connection.execute(f"SET standard_conforming_strings = {conforming}")
                row = connection.execute(query.text.encode()).fetchone()
            assert row is not None
            doubled = text.replace("\\", "\\\\")
            assert tuple(row) == (doubled if conforming == "on" else text, 1)
    finally:
        opened.close()


def test_the_routes_are_real(warehouse: Warehouse, dsn: str) -> None:
    with psycopg.connect(dsn) as connection:
        row = connection.execute(f"SELECT '\\', '{TAIL}'".encode()).fetchone()
    assert row is not None
    assert "SECRET-2b7d" in row
    smuggled = GuardedSql(text=f"SELECT 'x\\'{TAIL}'", dialect="postgres")
    assert ("x\\", "SECRET-2b7d") in list(warehouse.execute(smuggled).rows)


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT EXTRACT("year FROM now()), token FROM public.secrets --" FROM now())',
        'SELECT make_interval("days => 1), token FROM public.secrets --" => 1)',
        "SELECT satisfies_hash_partition('public.secrets', 1, 0, 1)",
        *(f"SELECT coalesce(nullif({call}, {call}), '{{oid}}')" for call in ("pg_typeof(1)", "(1).pg_typeof")),
        "SELECT array[pg_typeof(1), '{oid}']",
        "SELECT satisfies_hash_partition({oid}::oid, 1, 0, 1)",
    ],
)
def test_nothing_names_or_tells_the_hidden_table(warehouse: Warehouse, dsn: str, sql: str) -> None:
    with psycopg.connect(dsn) as connection:
        row = connection.execute("SELECT 'public.secrets'::regclass::oid::text").fetchone()
    assert row is not None
    query = SqlGuard(POLICY, warehouse.snapshot()).check(sql.replace("{oid}", row[0])).query
    told = str(list(warehouse.execute(query).rows)) if query is not None else ""
    assert "secret" not in told.lower()
