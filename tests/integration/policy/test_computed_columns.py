"""Generated columns over hidden ones, and views over catalogs: on a real PostgreSQL and a real DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import psycopg
import pytest

from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.query import GuardedSql
from rag_core.policy.rules import ColumnMask, ColumnRules, Policy, TableRules
from rag_core.policy.sql_guard import SqlGuard

if TYPE_CHECKING:
    from rag_core.connectors.base import Warehouse
    from rag_core.connectors.embedded import EmbeddedPostgres

pytestmark = pytest.mark.integration

POSTGRES = """
CREATE TABLE public.sales (
    id integer, total integer, "Net" integer, note text,
    dbl integer GENERATED ALWAYS AS (total * 1) STORED,
    net_twice integer GENERATED ALWAYS AS ("Net" * 2) STORED,
    live integer GENERATED ALWAYS AS (COALESCE(total, 0) + 0) VIRTUAL,
    loud text GENERATED ALWAYS AS (upper(note)) STORED,
    named text GENERATED ALWAYS AS ('total' || note) STORED
);
INSERT INTO public.sales (id, total, "Net", note) VALUES (1, 918273645, 5, 'a');
CREATE TABLE public.kept (loud text GENERATED ALWAYS AS (note || "Net"::text) STORED) INHERITS (public.sales);
CREATE VIEW public.doubles AS SELECT dbl AS x FROM public.sales;
CREATE VIEW public.lives AS SELECT live AS x FROM public.sales;
CREATE VIEW public.loud_view AS SELECT loud AS x FROM public.sales;
CREATE VIEW public.values_told AS SELECT most_common_vals::text AS x FROM pg_stats;
CREATE VIEW public.relations AS SELECT relname::text AS x FROM pg_class;
CREATE VIEW public.sessions AS SELECT query AS x FROM pg_stat_activity;
CREATE VIEW public.settings AS SELECT name AS x FROM pg_settings;
CREATE VIEW public.listed AS SELECT table_name::text AS x FROM information_schema.tables;
CREATE VIEW public.listed_through AS SELECT x FROM public.listed;
CREATE MATERIALIZED VIEW public.relations_kept AS SELECT relname::text AS x FROM pg_class;
"""
# A child of sales computes one of its columns by an expression of its own.
DUCKDB = """
CREATE TABLE sales (
    id integer, total integer, note varchar,
    dbl integer GENERATED ALWAYS AS (total * 1), again integer AS (dbl + 1), loud varchar AS (upper(note))
);
INSERT INTO sales (id, total, note) VALUES (1, 918273645, 'a');
CREATE VIEW doubles AS SELECT again AS x FROM sales;
CREATE VIEW loud_view AS SELECT loud AS x FROM sales;
CREATE VIEW relations AS SELECT table_name AS x FROM duckdb_tables();
CREATE VIEW listed AS SELECT table_name AS x FROM information_schema.tables;
CREATE VIEW mastered AS SELECT name AS x FROM sqlite_master;
CREATE VIEW listed_through AS SELECT x FROM listed;
"""
CATALOG_VIEWS = {
    "postgres": (
        "values_told", "relations", "sessions", "settings", "listed", "listed_through", "relations_kept",
    ),
    "duckdb": ("relations", "listed", "mastered", "listed_through"),
}  # fmt: skip
TELLING = {"postgres": ("dbl", "live"), "duckdb": ("dbl", "again")}


TOLD = (((918273645,),), ((918273646,),))


@pytest.fixture(scope="module", params=["postgres", "duckdb"])
def warehouse(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, pg_server: EmbeddedPostgres
) -> Iterator[Warehouse]:
    if request.param == "duckdb":
        path: Path = tmp_path_factory.mktemp("computed") / "shop.duckdb"
        with duckdb.connect(str(path)) as database:
            database.execute(DUCKDB)
        opened = open_warehouse(f"duckdb:///{path}")
    else:
        pg_server.ensure_database("computed")
        dsn = pg_server.dsn("computed")
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
            connection.execute(POSTGRES)
            connection.execute("ANALYZE public.sales")
        opened = open_warehouse(dsn)
    yield opened
    opened.close()


def home(warehouse: Warehouse) -> str:
    return "main" if warehouse.dialect == "duckdb" else "public"


def guard(warehouse: Warehouse, columns: ColumnRules, **changes: object) -> SqlGuard:
    policy = Policy.model_validate({"version": 1, "schemas": (home(warehouse),), "columns": columns, **changes})
    return SqlGuard(policy, warehouse.snapshot())


def hiding(warehouse: Warehouse, how: str) -> ColumnRules:
    column = f"{home(warehouse)}.sales.total"
    if how == "excluded":
        return ColumnRules(exclude=(column,))
    return ColumnRules(mask=(ColumnMask(column=column),))


@pytest.mark.parametrize("how", ["excluded", "masked"])
def test_no_generated_column_tells_a_hidden_one(warehouse: Warehouse, how: str) -> None:
    checker = guard(warehouse, hiding(warehouse, how))
    for name in TELLING[warehouse.dialect]:
        told = warehouse.execute(GuardedSql(text=f"SELECT {name} FROM sales", dialect=warehouse.dialect)).rows
        assert told in TOLD, "the route is real"
        for sql in (f"SELECT {name} FROM sales", f"SELECT s.id FROM sales s WHERE s.{name} > 5"):
            verdict = checker.check(sql)
            assert (verdict.code, "columns.show" in verdict.message) == ("column_excluded", True)
    starred = checker.check("SELECT * FROM sales").query
    assert starred is not None
    assert "91827364" not in str(warehouse.execute(starred).rows)
    assert checker.check("SELECT * FROM doubles").code == "table_excluded"
    visible = {column.name for table in checker.visible_catalog.tables for column in table.columns}
    assert visible.isdisjoint(TELLING[warehouse.dialect])


def test_those_that_tell_nothing_hidden_stay_open(warehouse: Warehouse) -> None:
    checker = guard(warehouse, hiding(warehouse, "excluded"))
    for sql in ("SELECT loud FROM sales", "SELECT x FROM loud_view", "SELECT note FROM sales"):
        query = checker.check(sql).query
        assert query is not None, sql
        assert warehouse.execute(query).rows in ((("A",),), (("a",),))
    if warehouse.dialect == "postgres":
        assert checker.check("SELECT named, net_twice FROM sales").allowed


def test_the_policy_may_vouch_for_one(warehouse: Warehouse) -> None:
    rules = hiding(warehouse, "excluded").model_copy(update={"show": (f"{home(warehouse)}.sales.dbl",)})
    checker = guard(warehouse, rules)
    assert checker.check("SELECT dbl FROM sales").allowed
    assert checker.check("SELECT * FROM doubles").allowed
    assert checker.check("SELECT total FROM sales").code == "column_excluded"
    if warehouse.dialect == "postgres":
        assert checker.check("SELECT live FROM sales").code == "column_excluded"


def test_names_are_compared_as_the_database_does(warehouse: Warehouse) -> None:
    if warehouse.dialect != "postgres":
        pytest.skip("only PostgreSQL tells names by their case")
    checker = guard(warehouse, ColumnRules(exclude=("public.sales.Net",)))
    assert checker.check("SELECT net_twice FROM sales").code == "column_excluded"
    assert checker.check("SELECT loud FROM sales").code == "column_excluded", "rows of kept are among those of sales"
    assert checker.check("SELECT dbl FROM sales").allowed


def test_views_over_catalogs_are_hidden_unless_vouched_for(warehouse: Warehouse) -> None:
    names = CATALOG_VIEWS[warehouse.dialect]
    checker = guard(warehouse, ColumnRules())
    vouching = TableRules(include=("*.*", *(f"{home(warehouse)}.{name}" for name in names)))
    vouched = guard(warehouse, ColumnRules(), tables=vouching)
    for name in names:
        assert warehouse.execute(GuardedSql(text=f"SELECT * FROM {name}", dialect=warehouse.dialect)).rows
        assert checker.check(f"SELECT * FROM {name}").code == "table_excluded"
        assert vouched.check(f"SELECT * FROM {name}").allowed
