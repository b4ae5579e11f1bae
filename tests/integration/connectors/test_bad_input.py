"""Databases that fail, and schemas that are odd: said clearly, nothing guessed, nothing half."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import psycopg
import pytest

from rag_core.connectors import postgres_wire
from rag_core.connectors.base import Warehouse
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.query import GuardedSql, Limits
from rag_core.errors import QueryFault, ServiceUnavailable
from rag_core.policy.rules import ColumnRules, Policy, TableRules
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.card import build_card
from rag_core.schema.card_values import read_card_values
from rag_core.schema.join_probe import WarehouseProbe
from rag_core.schema.joins import find_joins

if TYPE_CHECKING:
    from rag_core.connectors.embedded import EmbeddedPostgres

pytestmark = pytest.mark.integration
WIDE = ", ".join(f"column_{number} integer" for number in range(1498))
SCHEMA = f'''
CREATE SCHEMA "Größen & ""Maße""";
CREATE TABLE "Größen & ""Maße"""."Kund:innen" ("Kunden Nr." integer PRIMARY KEY, "naïve ""Name""" text, "select" text);
INSERT INTO "Größen & ""Maße"""."Kund:innen" VALUES (1, 'Åsa', 'x'), (2, 'Ünal', 'y');
CREATE TABLE "Größen & ""Maße"""."Käufe 日本" ("Kunden Nr." integer, "Betrag €" numeric(10, 2));
INSERT INTO "Größen & ""Maße"""."Käufe 日本" VALUES (1, 10.10), (2, 20.20);
CREATE TABLE public.wide (id integer PRIMARY KEY, note text, {WIDE});
INSERT INTO public.wide (id, note, column_7) VALUES (1, 'Germany', 7);
CREATE TABLE public.later_revoked (x integer);
INSERT INTO public.later_revoked VALUES (1);
CREATE SCHEMA hollow;
'''


@pytest.fixture(scope="module")
def dsn(pg_server: EmbeddedPostgres) -> str:
    pg_server.ensure_database("odd")
    with psycopg.connect(pg_server.dsn("odd"), autocommit=True) as connection:
        connection.execute(SCHEMA.encode())
        connection.execute("DROP ROLE IF EXISTS odd_reader")
        connection.execute("CREATE ROLE odd_reader LOGIN")
        connection.execute('GRANT USAGE ON SCHEMA "Größen & ""Maße""", hollow TO odd_reader')
        connection.execute('GRANT SELECT ON ALL TABLES IN SCHEMA public, "Größen & ""Maße""" TO odd_reader')
    return pg_server.dsn("odd", "odd_reader")


@pytest.fixture
def warehouse(dsn: str) -> Iterator[Warehouse]:
    opened = open_warehouse(dsn)
    yield opened
    opened.close()


def run(warehouse: Warehouse, sql: str, **limits: float) -> object:
    return warehouse.execute(GuardedSql(text=sql, dialect="postgres", limits=Limits.model_validate(limits)))


def test_a_database_that_answers_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    # It accepts the connection and then says nothing, for ever: only the client's own clock ends that.
    monkeypatch.setattr(postgres_wire, "CONNECT_SECONDS", 2)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(ServiceUnavailable) as caught:
        open_warehouse(f"postgresql://u:hush@127.0.0.1:{silent.getsockname()[1]}/d").snapshot()
    assert "hush" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_database_that_fails_half_way_gives_no_half_result(dsn: str, pg_server: EmbeddedPostgres) -> None:
    opened = open_warehouse(dsn)
    run(opened, "SELECT 1")

    def cut() -> None:
        # Once rows flow, the connection is cut from outside.
        with psycopg.connect(pg_server.dsn("odd"), autocommit=True) as connection:
            for _ in range(200):
                found = connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'odd_reader' "
                    "AND state = 'active' AND query LIKE '%pg_sleep(0.02)%'"
                ).fetchall()
                if found:
                    return
                time.sleep(0.05)

    cutter = threading.Thread(target=cut)
    cutter.start()
    with pytest.raises(ServiceUnavailable) as caught:
        run(opened, "SELECT g, pg_sleep(0.02) FROM generate_series(1, 2000) AS g", timeout_seconds=30)
    cutter.join(timeout=20)
    assert "broke" in str(caught.value)
    # The next question gets a new connection.
    assert run(opened, "SELECT 1").rows == ((1,),)  # type: ignore[attr-defined]
    opened.close()


def test_a_snapshot_that_fails_half_way_is_none(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_core.connectors.postgres.SNAPSHOT_SECONDS", 0.001)
    opened = open_warehouse(dsn)
    with pytest.raises((QueryFault, ServiceUnavailable)):
        opened.snapshot()
    opened.close()


def test_a_grant_that_was_revoked_since_the_snapshot_is_told(
    warehouse: Warehouse, dsn: str, pg_server: EmbeddedPostgres
) -> None:
    guard = SqlGuard(Policy(version=1, schemas=("public",)), warehouse.snapshot())
    query = guard.check("SELECT x FROM later_revoked").query
    assert query is not None
    with psycopg.connect(pg_server.dsn("odd"), autocommit=True) as connection:
        connection.execute("REVOKE SELECT ON public.later_revoked FROM odd_reader")
    try:
        for call in (warehouse.explain, warehouse.execute):
            with pytest.raises(QueryFault) as caught:
                call(query)
            assert (caught.value.code, "permission denied" in caught.value.message) == ("permission", True)
        # Once the schema is read again it is said before the database is asked, and not as "there is none".
        later = SqlGuard(Policy(version=1, schemas=("public",)), warehouse.snapshot())
        again = later.check("SELECT x FROM later_revoked")
        assert (again.code, "not known, not none" in again.message) == ("not_permitted", True)
    finally:
        with psycopg.connect(pg_server.dsn("odd"), autocommit=True) as connection:
            connection.execute("GRANT SELECT ON public.later_revoked TO odd_reader")


def test_names_with_quotes_spaces_and_other_scripts(warehouse: Warehouse) -> None:
    catalog = warehouse.snapshot()
    schema = 'Größen & "Maße"'
    guard = SqlGuard(Policy(version=1, schemas=(schema,)), catalog)
    verdict = guard.check(
        'SELECT k."naïve ""Name""", b."Betrag €" FROM "Größen & ""Maße"""."Kund:innen" k '
        'JOIN "Größen & ""Maße"""."Käufe 日本" b ON k."Kunden Nr." = b."Kunden Nr." ORDER BY 2'
    )
    assert verdict.query is not None, verdict.message
    result = warehouse.execute(verdict.query)
    assert [column.name for column in result.columns] == ['naïve "Name"', "Betrag €"]
    assert [row[0] for row in result.rows] == ["Åsa", "Ünal"]
    near = guard.check('SELECT "naive Name" FROM "Größen & ""Maße"""."Kund:innen"')
    assert (near.code, near.suggestions) == ("unknown_column", ('"Kund:innen"."naïve ""Name"""',))
    probe = WarehouseProbe(warehouse, guard.check, guard.visible_catalog)
    joins = find_joins(guard.visible_catalog, probe, unique=probe.unique)
    assert [(join.left_columns, join.status) for join in joins] == [(("Kunden Nr.",), "usable")]
    values = read_card_values(guard.visible_catalog, warehouse, guard.check)
    card = build_card("Betrag der Käufe von Åsa", guard.visible_catalog, values=values, joins=joins)
    assert '"Betrag €" numeric(10,2)' in card
    policy = Policy(version=1, schemas=(schema,), columns=ColumnRules(exclude=(
        '"Größen & ""Maße"""."Kund:innen"."naïve ""Name"""',)))  # fmt: skip
    hidden = SqlGuard(policy, catalog).check('SELECT * FROM "Größen & ""Maße"""."Kund:innen"')
    assert hidden.query is not None
    assert [column.name for column in warehouse.execute(hidden.query).columns] == ["Kunden Nr.", "select"]


def test_a_table_with_1500_columns_in_every_part(warehouse: Warehouse) -> None:
    catalog = warehouse.snapshot()
    guard = SqlGuard(Policy(version=1, schemas=("public",), columns=ColumnRules(exclude=("*.wide.column_3",))), catalog)
    every = guard.check("SELECT * FROM wide")
    assert every.query is not None
    result = warehouse.execute(every.query)
    assert (len(result.columns), result.row_count) == (1499, 1)
    assert guard.check("SELECT colum_777 FROM wide").suggestions[0] == "wide.column_777"
    assert guard.check("SELECT column_3 FROM wide").code == "column_excluded"
    values = read_card_values(guard.visible_catalog, warehouse, guard.check)
    card = build_card("column_77 of Germany in wide", guard.visible_catalog, tokens=300, values=values)
    assert len(card) <= 300 * 3.4
    assert "column_77 integer" in card
    assert "note text -- values 'Germany'" in card


def test_a_schema_without_tables_and_a_policy_that_names_what_is_not_there(warehouse: Warehouse) -> None:
    policy = Policy(
        version=1,
        schemas=("hollow", "nowhere"),
        tables=TableRules(exclude=("hollow.ghosts",)),
        columns=ColumnRules(exclude=("hollow.ghosts.x",)),
    )
    guard = SqlGuard(policy, warehouse.snapshot())
    assert guard.visible_catalog.tables == ()
    told = "\n".join(guard.warnings())
    for name in ("nowhere", "hollow.ghosts", "hollow.ghosts.x"):
        assert name in told
    refused = guard.check("SELECT * FROM hollow.ghosts")
    assert (refused.code, refused.suggestions) == ("unknown_table", ())
    assert guard.check("SELECT * FROM wide").code == "schema_not_allowed"
    assert build_card("anything", guard.visible_catalog) == ""
