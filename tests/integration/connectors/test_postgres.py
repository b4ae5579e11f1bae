"""What PostgreSQL's adapter does beyond the conformance suite."""

from __future__ import annotations

import math
import resource
import threading
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from rag_core.connectors.base import Warehouse
from rag_core.connectors.gate import StatementLimits
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.query import GuardedSql, Limits, QueryResult
from rag_core.errors import ConfigurationError, QueryFault, ServiceUnavailable
from rag_core.policy.rules import Policy
from rag_core.policy.sql_guard import SqlGuard

if TYPE_CHECKING:
    from rag_core.connectors.embedded import EmbeddedPostgres

pytestmark = pytest.mark.integration

SCHEMA = """
CREATE SCHEMA extra;
CREATE SCHEMA closed;
CREATE SCHEMA "Größen & Maße";
CREATE TYPE public.state AS ENUM ('open', 'it''s done');
CREATE DOMAIN public.checked AS public.state CHECK (VALUE <> 'open');
CREATE DOMAIN public.cents AS bigint;
CREATE TABLE public.parts (
    id integer GENERATED ALWAYS AS IDENTITY, day date NOT NULL, now_state public.state, old_state public.checked,
    all_states public.state[], amount public.cents, twice bigint GENERATED ALWAYS AS (amount * 2) STORED,
    gone integer, PRIMARY KEY (id, day)
) PARTITION BY RANGE (day);
ALTER TABLE public.parts DROP COLUMN gone;
CREATE TABLE public.parts_1 PARTITION OF public.parts FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE TABLE public.parts_2 PARTITION OF public.parts FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')
PARTITION BY LIST (day);
CREATE TABLE public.parts_2_a PARTITION OF public.parts_2 FOR VALUES IN ('2026-01-01');
INSERT INTO public.parts (day, amount) VALUES ('2025-05-05', 5), ('2026-01-01', 6);
ANALYZE public.parts;
CREATE TABLE extra.notes (
    part_id integer, part_day date, note text, FOREIGN KEY (part_id, part_day) REFERENCES public.parts (id, day)
);
CREATE UNIQUE INDEX notes_note ON extra.notes (note);
CREATE UNIQUE INDEX notes_lower ON extra.notes (lower(note));
CREATE UNIQUE INDEX notes_some ON extra.notes (part_id) WHERE note IS NULL;
CREATE MATERIALIZED VIEW extra.monthly AS
SELECT date_trunc('month', day) AS month, count(*) FROM public.parts GROUP BY 1;
CREATE VIEW extra.latest AS SELECT p.id, p.now_state FROM public.parts AS p;
CREATE TABLE "Größen & Maße"."Ein ""Name"" x" ("Länge (mm)" integer, "user" text);
CREATE TABLE closed.secret (x integer);
CREATE TABLE public.tenants (tenant text, v integer);
INSERT INTO public.tenants VALUES ('a', 1), ('b', 2), ('b', 3);
ALTER TABLE public.tenants ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON public.tenants USING (tenant = current_user::text);
CREATE TABLE public.half (shown integer, unshown integer);
CREATE TABLE public.revoked (x integer);
CREATE FUNCTION public.mine(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1';
"""
ROLES = """
DROP ROLE IF EXISTS parts_reader;
CREATE ROLE parts_reader LOGIN;
GRANT USAGE ON SCHEMA extra, "Größen & Maße" TO parts_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public, extra, "Größen & Maße" TO parts_reader;
REVOKE SELECT ON public.revoked, public.half, public.parts_1 FROM parts_reader;
GRANT SELECT (shown) ON public.half TO parts_reader;
DROP ROLE IF EXISTS a;
DROP ROLE IF EXISTS b;
CREATE ROLE a;
CREATE ROLE b;
GRANT SELECT ON public.tenants TO a, b;
GRANT a, b TO parts_reader;
"""


@pytest.fixture(scope="module")
def dsn(pg_server: EmbeddedPostgres) -> str:
    pg_server.ensure_database("parts")
    with psycopg.connect(pg_server.dsn("parts"), autocommit=True) as connection:
        connection.execute(SCHEMA)
        connection.execute(ROLES)
    return pg_server.dsn("parts", "parts_reader")


@pytest.fixture(scope="module")
def warehouse(dsn: str) -> Iterator[Warehouse]:
    opened = open_warehouse(dsn)
    yield opened
    opened.close()


def run(warehouse: Warehouse, sql: str, **limits: float) -> QueryResult:
    return warehouse.execute(GuardedSql(text=sql, dialect="postgres", limits=Limits.model_validate(limits)))


def test_the_snapshot_shows_what_the_role_can_use(warehouse: Warehouse) -> None:
    catalog = warehouse.snapshot()
    kinds = {table.qualified_name: table.kind for table in catalog.tables}
    assert kinds == {
        "public.parts": "partitioned_table",
        "extra.notes": "table",
        "extra.monthly": "materialized_view",
        "extra.latest": "view",
        'Größen & Maße.Ein "Name" x': "table",
        "public.tenants": "table",
        "public.half": "table",
        "public.revoked": "table",
    }
    assert catalog.search_path == ("public",)
    assert catalog.user_functions == ("mine",)
    assert catalog.functions["nextval"] == "volatile"
    assert catalog.functions["to_char"] == "stable"


def test_partitions_are_folded_into_their_parent(warehouse: Warehouse) -> None:
    parts = warehouse.snapshot().table("public.parts")
    assert parts is not None
    assert parts.partition_key == "RANGE (day)"
    assert parts.row_estimate == 2
    assert [key.columns for key in parts.keys] == [("id", "day")]
    assert [column.name for column in parts.columns] == [
        "id",
        "day",
        "now_state",
        "old_state",
        "all_states",
        "amount",
        "twice",
    ]


def test_types_enums_domains_and_generated_columns(warehouse: Warehouse) -> None:
    parts = warehouse.snapshot().table("public.parts")
    assert parts is not None
    labels = ("open", "it's done")
    assert [(column.type, column.enum_labels) for column in parts.columns[2:6]] == [
        ("public.state", labels),
        ("public.checked", labels),
        ("public.state[]", labels),
        ("public.cents", ()),
    ]
    assert [column.generated for column in parts.columns] == [False] * 6 + [True]
    assert parts.columns[6].default == "((amount)::bigint * 2)"


def test_keys_views_and_names(warehouse: Warehouse) -> None:
    catalog = warehouse.snapshot()
    notes, latest, monthly = (catalog.table(f"extra.{name}") for name in ("notes", "latest", "monthly"))
    assert notes is not None
    assert latest is not None
    assert monthly is not None
    assert [(key.columns, key.target, key.target_columns) for key in notes.foreign_keys] == [
        (("part_id", "part_day"), "public.parts", ("id", "day"))
    ]
    # Neither an index over an expression nor one over some of the rows makes a column unique.
    assert [key.columns for key in notes.keys] == [("note",)]
    assert latest.definition is not None
    assert "FROM public.parts p" in latest.definition
    assert [column.name for column in monthly.columns] == ["month", "count"]
    odd = next(table for table in catalog.tables if "Größen" in table.schema_name)
    assert [column.name for column in odd.columns] == ["Länge (mm)", "user"]
    guard = SqlGuard(Policy(version=1, schemas=(odd.schema_name, "public")), catalog)
    verdict = guard.check('SELECT "Länge (mm)", "user" FROM "Größen & Maße"."Ein ""Name"" x"')
    assert verdict.query is not None
    assert warehouse.execute(verdict.query).rows == ()


def test_not_permitted_is_told_apart_from_none(warehouse: Warehouse) -> None:
    catalog = warehouse.snapshot()
    guard = SqlGuard(Policy(version=1, schemas=("public", "extra", "closed")), catalog)
    revoked = guard.check("SELECT x FROM revoked")
    assert (revoked.code, "may not read" in revoked.message) == ("not_permitted", True)
    assert guard.check("SELECT unshown FROM half").code == "not_permitted"
    # A schema that the policy opens and the role may not use is said to be so; others stay unknown.
    assert guard.check("SELECT x FROM closed.secret").code == "not_permitted"
    unopened = SqlGuard(Policy(version=1, schemas=("public", "extra")), catalog)
    assert unopened.check("SELECT x FROM closed.secret").code != "not_permitted"
    shown = guard.check("SELECT * FROM half")
    assert shown.query is not None
    result = warehouse.execute(shown.query)
    assert [column.name for column in result.columns] == ["shown"]
    # The child is not granted although the parent is: reading the parent is enough.
    assert run(warehouse, "SELECT count(*) FROM public.parts").rows == ((2,),)
    with pytest.raises(QueryFault) as caught:
        run(warehouse, "SELECT x FROM public.revoked")
    assert caught.value.code == "permission"


def test_the_databases_own_row_policies_decide_for_the_principal(dsn: str) -> None:
    seen = {}
    for principal in ("a", "b", None):
        opened = open_warehouse(dsn, principal=principal)
        seen[principal] = [row[0] for row in run(opened, "SELECT v FROM public.tenants ORDER BY v").rows]
        assert run(opened, "SELECT current_user::text").rows == ((principal or "parts_reader",),)
        tables = {table.name: table.readable for table in opened.snapshot().tables if table.schema_name == "public"}
        assert tables["parts"] is (principal is None)
        opened.close()
    assert seen == {"a": [1], "b": [2, 3], None: []}
    # A role that the login may not take on is the operator's to mend: nothing is run as somebody else instead.
    with pytest.raises(ConfigurationError, match="cannot be asked as postgres"):
        run(open_warehouse(dsn, principal="postgres"), "SELECT 1")


def test_rows_that_may_not_be_seen_are_told_apart_from_none(dsn: str) -> None:
    opened = open_warehouse(dsn)
    guard = SqlGuard(Policy(version=1, schemas=("public",)), opened.snapshot())
    hidden = guard.check("SELECT v FROM tenants").query
    open_to_all = guard.check("SELECT id FROM parts WHERE id < 0").query
    assert hidden is not None
    assert open_to_all is not None
    # Both are empty: of the one there may be more than this role sees, of the other there is none.
    results = [opened.execute(query) for query in (hidden, open_to_all)]
    assert [(result.rows, result.row_limited) for result in results] == [((), ("public.tenants",)), ((), ())]
    opened.close()


def test_one_warehouse_is_asked_as_many_principals_at_once(dsn: str) -> None:
    opened = open_warehouse(dsn, limits=StatementLimits(max_concurrent=2))
    answers: dict[int, tuple[str | None, list[int]]] = {}

    def ask(number: int, principal: str | None) -> None:
        view = opened.for_principal(principal)
        answers[number] = principal, [row[0] for row in run(view, "SELECT v FROM public.tenants ORDER BY v").rows]
        view.close()

    principals = ["a", "b", None] * 6
    threads = [threading.Thread(target=ask, args=item) for item in enumerate(principals)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert len(answers) == len(principals)
    rows: dict[str | None, list[int]] = {"a": [1], "b": [2, 3], None: []}
    assert all(seen == rows[principal] for principal, seen in answers.values())
    # A role taken on for one statement never outlives it: the login asks as itself again.
    assert run(opened, "SELECT current_user::text").rows == (("parts_reader",),)
    # What the principal may read is its own catalog, not the login's.
    guard = SqlGuard(Policy(version=1, schemas=("public", "extra")), opened.for_principal("a").snapshot())
    assert guard.check("SELECT day FROM parts").code == "not_permitted"
    assert guard.check("SELECT v FROM tenants").allowed
    opened.close()


def test_no_setting_outlives_its_query(warehouse: Warehouse) -> None:
    run(warehouse, "SELECT set_config('statement_timeout', '0', false), set_config('work_mem', '123MB', false)")
    settings = run(warehouse, "SELECT current_setting('work_mem'), current_setting('statement_timeout')").rows[0]
    assert settings == ("4MB", "30s")
    with pytest.raises(QueryFault) as caught:
        run(warehouse, "SELECT set_config('transaction_read_only', 'off', true)")
    assert caught.value.code in ("other", "data", "permission")
    assert run(warehouse, "SELECT current_setting('transaction_read_only')").rows == (("on",),)


def test_the_clients_deadline_holds_where_the_servers_does_not(warehouse: Warehouse) -> None:
    # The server counts each fetch anew, so that a cursor with a row now and then would outlive its timeout. Left alone
    # each of these takes days.
    for endless in (
        "SELECT pg_sleep(0.2) FROM generate_series(1, 10000000)",
        "SELECT set_config('statement_timeout', '0', true), pg_sleep(1000000)",
    ):
        with pytest.raises(QueryFault) as caught:
            run(warehouse, endless, timeout_seconds=1)
        assert caught.value.code == "timeout"


def test_values_that_are_easily_lost(warehouse: Warehouse) -> None:
    result = run(
        warehouse,
        "SELECT 10::numeric ^ 60, 'NaN'::numeric, 'NaN'::float8, '-Infinity'::float8, "
        "avg(9223372036854775807::bigint), "
        "interval '1 year 2 months 3 days', interval '36:00', '{\"a\": 0.1000000000000000055511151231257827}'::jsonb, "
        "5 / 2, round(2.5), round(2.5::float8), 1.10::numeric",
    )
    row = result.rows[0]
    assert row[0] == Decimal(10) ** 60
    assert row[1].is_nan()
    assert math.isnan(row[2])
    assert row[3] == -math.inf
    assert row[4] == Decimal("9223372036854775807")
    assert row[5] == "1 year 2 mons 3 days"
    assert row[6] == timedelta(hours=36)
    assert row[7] == {"a": Decimal("0.1000000000000000055511151231257827")}
    assert row[8:11] == (2, Decimal("3"), 2.0)
    assert str(row[11]) == "1.10"
    for value in ("'infinity'::timestamp", "'-infinity'::date", "'4000-01-01 BC'::date"):
        with pytest.raises(QueryFault) as caught:
            run(warehouse, f"SELECT {value}")
        assert caught.value.code == "data"


def test_parameters_of_other_languages_are_only_text(warehouse: Warehouse) -> None:
    assert run(warehouse, "SELECT '%s', '%(a)s', 5 % 3, '{}', '100%'").rows == (("%s", "%(a)s", 2, "{}", "100%"),)


def test_a_table_with_very_many_columns(pg_server: EmbeddedPostgres) -> None:
    pg_server.ensure_database("wide")
    columns = ", ".join(f"column_{number} integer" for number in range(1500))
    with psycopg.connect(pg_server.dsn("wide"), autocommit=True) as connection:
        connection.execute(f"CREATE TABLE IF NOT EXISTS wide ({columns})".encode())
    opened = open_warehouse(pg_server.dsn("wide"))
    catalog = opened.snapshot()
    assert len(catalog.tables[0].columns) == 1500
    verdict = SqlGuard(Policy(version=1, schemas=("public",)), catalog).check("SELECT * FROM wide")
    assert verdict.query is not None
    assert len(verdict.columns) == 1500
    assert len(opened.execute(verdict.query).columns) == 1500
    assert SqlGuard(Policy(version=1, schemas=("public",)), catalog).check("SELECT colum_77 FROM wide").suggestions
    opened.close()


def test_an_empty_database_is_no_error(pg_server: EmbeddedPostgres) -> None:
    pg_server.ensure_database("empty")
    opened = open_warehouse(pg_server.dsn("empty"))
    catalog = opened.snapshot()
    assert (catalog.tables, catalog.complete) == ((), True)
    verdict = SqlGuard(Policy(version=1, schemas=("public",)), catalog).check("SELECT * FROM anything")
    assert (verdict.code, verdict.suggestions) == ("unknown_table", ())
    opened.close()


def test_a_connection_that_breaks_is_told_and_replaced(dsn: str, pg_server: EmbeddedPostgres) -> None:
    opened = open_warehouse(dsn)
    pid = run(opened, "SELECT pg_backend_pid()").rows[0][0]
    with psycopg.connect(pg_server.dsn("parts"), autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(%s)", (pid,))
    with pytest.raises(ServiceUnavailable) as caught:
        run(opened, "SELECT 1")
    assert "\n" not in str(caught.value)
    assert run(opened, "SELECT 1").rows == ((1,),)
    opened.close()


def test_pagila_reads_whole(pg_server: EmbeddedPostgres, shared_data: Path) -> None:
    pg_server.ensure_database("pagila")
    with psycopg.connect(pg_server.dsn("pagila"), autocommit=True) as connection:
        text = (shared_data / "pagila_schema" / "pagila-schema.sql").read_text(encoding="utf-8")
        connection.execute("\n".join(line for line in text.splitlines() if not line.startswith("\\")).encode())
    opened = open_warehouse(pg_server.dsn("pagila"))
    catalog = opened.snapshot()
    opened.close()
    parents = [table for table in catalog.tables if table.kind == "partitioned_table"]
    assert len(parents) == 1
    assert not [table for table in catalog.tables if table.name.startswith(parents[0].name + "_")]
    assert [table.kind for table in catalog.tables].count("materialized_view") == 1
    film = next(table for table in catalog.tables if table.name == "film")
    assert film.column("length_hours") is None or film.column("length_hours").generated  # type: ignore[union-attr]
    assert any(column.enum_labels for column in film.columns)


def test_one_huge_value_is_not_sent(dsn: str) -> None:
    opened = open_warehouse(dsn)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # No constant tells the size: a statement that the guard cannot refuse.
    huge = "SELECT g, repeat('x', g * 30) AS x FROM generate_series(1, 2000000, 1000000) AS s(g) ORDER BY g"
    result = run(opened, huge, max_bytes=1_000_000)
    assert ([row[0] for row in result.rows], result.truncated_by) == ([1], "bytes")
    assert [column.name for column in result.columns] == ["g", "x"]
    # Thirty megabytes are computed; the client never holds them (kilobytes on Linux, with room for other tests).
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 25_000
    opened.close()


def test_the_bound_on_rows_changes_no_result(dsn: str) -> None:
    opened = open_warehouse(dsn)
    ordered = run(opened, "SELECT g AS a, -g AS a, NULL, ROW(g, 'x') FROM generate_series(1, 300) AS s(g) ORDER BY 2")
    assert [row[0] for row in ordered.rows] == list(range(300, 0, -1))
    assert [column.name for column in ordered.columns] == ["a", "a", "?column?", "row"]
    assert run(opened, "SELECT CAST(1.5 AS numeric(12, 2))").columns[0].type == "numeric(12,2)"
    assert run(opened, "SELECT").rows == ((),)
    assert run(opened, "VALUES (2), (1)").rows == ((2,), (1,))
    assert run(opened, "WITH q AS (SELECT 1 AS n) SELECT q.n FROM q -- last").rows == ((1,),)
    opened.close()
