"""Rules of a policy follow tables that inherit from one another, as they follow partitions; on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import psycopg
import pytest

from rag_core.connectors.warehouses import open_warehouse
from rag_core.policy.rules import ColumnMask, ColumnRules, Policy, RowFilter, TableRules
from rag_core.policy.sql_guard import SqlGuard

if TYPE_CHECKING:
    from rag_core.connectors.base import Warehouse
    from rag_core.connectors.embedded import EmbeddedPostgres

pytestmark = pytest.mark.integration

SCHEMA = """
CREATE TABLE public.events (id integer, secret text);
CREATE TABLE public.clicks (page text) INHERITS (public.events);
CREATE TABLE public.taps (finger text) INHERITS (public.clicks);
CREATE TABLE public.other (id integer, secret text);
INSERT INTO public.events VALUES (1, 'SECRET-1');
INSERT INTO public.clicks VALUES (2, 'SECRET-2', 'p');
INSERT INTO public.taps VALUES (3, 'SECRET-3', 'q', 'thumb');
INSERT INTO public.other VALUES (4, 'open');
CREATE VIEW public.tap_secrets AS SELECT secret AS s FROM public.taps;
"""
FAMILY = ("events", "clicks", "taps")


@pytest.fixture(scope="module")
def warehouse(pg_server: EmbeddedPostgres) -> Iterator[Warehouse]:
    pg_server.ensure_database("inherited")
    dsn = pg_server.dsn("inherited")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        connection.execute(SCHEMA)
    opened = open_warehouse(dsn)
    yield opened
    opened.close()


def guard(warehouse: Warehouse, **changes: object) -> SqlGuard:
    return SqlGuard(
        Policy.model_validate({"version": 1, "schemas": ("public",), **changes}),
        warehouse.snapshot(),
    )


def rows(warehouse: Warehouse, checker: SqlGuard, sql: str) -> set[tuple[object, ...]]:
    verdict = checker.check(sql)
    assert verdict.query is not None, verdict.message
    return set(warehouse.execute(verdict.query).rows)


def test_the_snapshot_tells_who_inherits(warehouse: Warehouse) -> None:
    links = {(link.child[1], link.ancestor[1]) for link in warehouse.snapshot().inheritance}
    assert links == {("clicks", "events"), ("taps", "clicks"), ("taps", "events")}


@pytest.mark.parametrize("ruled", FAMILY)
def test_an_excluded_column_is_hidden_in_the_whole_line(warehouse: Warehouse, ruled: str) -> None:
    checker = guard(warehouse, columns=ColumnRules(exclude=(f"public.{ruled}.secret",)))
    for name in FAMILY:
        assert checker.check(f"SELECT secret FROM {name}").code == "column_excluded"
        assert "SECRET" not in str(rows(warehouse, checker, f"SELECT {name}.* FROM {name}"))
        assert "SECRET" not in str(rows(warehouse, checker, f"SELECT to_jsonb({name})::text FROM {name}"))
    assert not checker.check("SELECT s FROM tap_secrets").allowed
    assert rows(warehouse, checker, "SELECT secret FROM other") == {("open",)}


@pytest.mark.parametrize("ruled", FAMILY)
def test_an_excluded_table_closes_those_that_share_its_rows(warehouse: Warehouse, ruled: str) -> None:
    checker = guard(warehouse, tables=TableRules(exclude=(f"public.{ruled}",)))
    for name in FAMILY:
        verdict = checker.check(f"SELECT id FROM {name}")
        assert verdict.code == "table_excluded"
        assert f"public.{ruled}" in verdict.message
    assert checker.check("SELECT id FROM other").allowed
    assert not checker.check("SELECT s FROM tap_secrets").allowed


@pytest.mark.parametrize("ruled", FAMILY)
def test_masks_and_row_filters_follow(warehouse: Warehouse, ruled: str) -> None:
    masked = guard(
        warehouse, columns=ColumnRules(mask=(ColumnMask(column=f"public.{ruled}.secret", replace_with="x"),))
    )
    filtered = guard(warehouse, row_filters=(RowFilter(table=f"public.{ruled}", where="id > 2"),))
    for name in FAMILY:
        assert rows(warehouse, masked, f"SELECT secret FROM {name}") == {("x",)}
        assert rows(warehouse, filtered, f"SELECT id FROM {name}") == {(3,)}
