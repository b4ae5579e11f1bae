"""What PostgreSQL itself says it understood of a statement is judged, whatever the statement was spelt like.

The statements go to the judgement as they stand, past the guard's own parser, with only what the policy opens named as
theirs: what is refused here is refused however it was smuggled through.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import psycopg
import pytest

from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.query import GuardedSql
from rag_core.errors import QueryFault
from rag_core.policy.judged import JudgedWarehouse, tells
from rag_core.policy.rules import Policy
from rag_core.policy.sql_guard import SqlGuard
from tests.understood_statements import STATEMENTS

if TYPE_CHECKING:
    from rag_core.connectors.embedded import EmbeddedPostgres

pytestmark = pytest.mark.integration

SCHEMA = """
CREATE SCHEMA closed;
CREATE TABLE public.secrets (token text);
INSERT INTO public.secrets VALUES ('SECRET-5b7d');
CREATE TABLE closed.orders (id integer, token text);
CREATE TYPE closed.state AS ENUM ('open', 'paid');
CREATE TYPE closed.label AS ENUM ('SECRET-label');
CREATE FUNCTION public.leak() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
AS 'SELECT token FROM public.secrets';
CREATE FUNCTION public.tells(text) RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER
AS $$BEGIN RAISE EXCEPTION '%', (SELECT token FROM public.secrets); END$$;
CREATE FUNCTION public.nods(text) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
AS $$SELECT $1 < (SELECT token FROM public.secrets)$$;
CREATE FUNCTION public.leak_op(text, integer) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
AS 'SELECT token FROM public.secrets';
CREATE OPERATOR public.% (LEFTARG = text, RIGHTARG = integer, FUNCTION = public.leak_op);
CREATE DOMAIN public.telling AS text CHECK (public.tells(VALUE));
CREATE DOMAIN public.nodding AS text CHECK (public.nods(VALUE));
CREATE DOMAIN public.locking AS integer CHECK (pg_advisory_lock(VALUE) IS NULL);
CREATE DOMAIN public.year AS text CHECK (public.nods(VALUE));
CREATE DOMAIN public.positive AS integer CHECK (VALUE > 0);
CREATE DOMAIN public.relname AS regclass;
CREATE TYPE public.named AS (r regclass, n integer);
CREATE TYPE public.nodded AS (n public.nodding, i integer);
CREATE TYPE public.point_of AS (x integer, y integer);
CREATE TYPE public.pair AS (a integer, b integer);
CREATE FUNCTION public.pair_less(public.pair, public.pair) RETURNS boolean LANGUAGE sql IMMUTABLE
AS 'SELECT ($1).a < ($2).a';
CREATE FUNCTION public.pair_equal(public.pair, public.pair) RETURNS boolean LANGUAGE sql IMMUTABLE
AS 'SELECT ($1).a = ($2).a';
CREATE FUNCTION public.pair_compare(public.pair, public.pair) RETURNS integer LANGUAGE sql IMMUTABLE
AS 'SELECT ($1).a - ($2).a';
CREATE OPERATOR public.<% (LEFTARG = public.pair, RIGHTARG = public.pair, FUNCTION = public.pair_less);
CREATE OPERATOR public.=% (LEFTARG = public.pair, RIGHTARG = public.pair, FUNCTION = public.pair_equal);
CREATE OPERATOR CLASS public.pair_ops DEFAULT FOR TYPE public.pair USING btree AS
OPERATOR 1 public.<%, OPERATOR 3 public.=%, FUNCTION 1 public.pair_compare(public.pair, public.pair);
CREATE TYPE public.shape AS (w integer);
CREATE FUNCTION public.shape_json(public.shape) RETURNS json LANGUAGE sql STABLE SECURITY DEFINER
AS 'SELECT to_json(token) FROM public.secrets';
CREATE CAST (public.shape AS json) WITH FUNCTION public.shape_json(public.shape);
CREATE TABLE public.orders (
    id integer PRIMARY KEY, note text, total numeric, made timestamptz, state closed.state, nodded public.nodding,
    nods public.nodding[], row_of public.nodded, place public.point_of, sizes integer[], payload jsonb, code relname,
    kind regclass, pair public.pair, amount public.positive, mail text,
    shape public.shape, shapes public.shape[]
);
CREATE TABLE public.events (id integer, tenant integer, what text);
CREATE VIEW public.paid AS SELECT id, note FROM public.orders WHERE state = 'paid';
CREATE VIEW public.over_paid AS SELECT count(*) AS n, max(upper(note)) AS most FROM public.paid;
CREATE VIEW public.by_stats AS SELECT tablename AS t, most_common_vals::text AS v FROM pg_stats;
CREATE VIEW public.by_class AS SELECT relname::text AS t FROM pg_class;
CREATE VIEW public.by_activity AS SELECT query AS q FROM pg_stat_activity;
CREATE VIEW public.by_settings AS SELECT name AS n, setting AS s FROM pg_settings;
CREATE VIEW public.by_schema AS SELECT column_name::text AS c FROM information_schema.columns;
CREATE VIEW public.by_view AS SELECT t FROM public.by_class;
CREATE VIEW public.by_secret AS SELECT token FROM public.secrets;
CREATE VIEW public.by_column AS SELECT id, total FROM public.orders;
CREATE VIEW public.by_row AS SELECT to_jsonb(o) AS j FROM public.orders AS o;
CREATE VIEW public.by_function AS SELECT public.leak() AS x;
CREATE VIEW public.by_operator AS SELECT note % 1 AS x FROM public.orders;
CREATE VIEW public.by_check AS SELECT note::public.nodding AS x FROM public.orders;
CREATE VIEW public.vouched AS SELECT token, public.leak() AS x FROM public.secrets;
INSERT INTO public.orders (id, note, total, state, mail) VALUES (1, 'a', 918273645, 'paid', 'SECRET-mail');
INSERT INTO public.events VALUES (1, 7, 'SECRET-event'), (2, 8, 'seen');
CREATE TYPE public.spanof AS RANGE (subtype = float8, subtype_diff = float8mi);
CREATE TABLE public.parts (at date) PARTITION BY RANGE (at);
CREATE TABLE public.parts_2025 PARTITION OF public.parts FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE TABLE public.parent (a integer);
CREATE TABLE public.child (b integer) INHERITS (public.parent);
CREATE TABLE public.ruled (id integer);
ALTER TABLE public.ruled ENABLE ROW LEVEL SECURITY;
CREATE POLICY ruled ON public.ruled USING (public.leak() IS NOT NULL AND current_setting('app.x', true) IS NULL);
CREATE MATERIALIZED VIEW public.stored AS SELECT state::text AS s, count(*) AS n FROM public.orders GROUP BY state;
CREATE VIEW public.counted AS WITH RECURSIVE t (g) AS (VALUES (1) UNION ALL SELECT g + 1 FROM t WHERE g < 3)
SEARCH DEPTH FIRST BY g SET o CYCLE g SET is_again USING way SELECT g, o::text, is_again FROM t;
CREATE VIEW public.locking_rows AS SELECT id FROM public.orders FOR SHARE;
CREATE ROLE understood_reader LOGIN;
GRANT USAGE ON SCHEMA public, closed TO understood_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public, closed TO understood_reader;
ALTER ROLE understood_reader SET search_path = closed, public;
"""

# What turns numbers and texts into names, takes hidden rows, runs what it must not, by kind; each is put into every
# position below.
VALUES = {
    "an array as a cast": "('{16410}'::text)._regclass",
    "roles": "('{10}'::text)._regrole",
    "a number as a cast": "(1259).relname",
    "a call as a cast": "relname(1259::oid::regclass)",
    "a row's array": "to_jsonb(('{(x)}'::text)._secrets)",
    "an empty row": "to_jsonb(NULL::secrets)",
    "a row of a hidden column": "to_jsonb(NULL::public.orders)",
    "a populated row": "jsonb_populate_record(NULL::secrets, '{}')",
    "a populated type": 'jsonb_populate_record(NULL::named, \'{"r": "1259"}\')',
    "a populated check": 'jsonb_populate_record(NULL::nodded, \'{"n": "a"}\')',
    "a returned name": "JSON_VALUE('1259', '$' RETURNING relname)",
    "a returned query": "JSON_QUERY('{\"r\": 1259}', '$' RETURNING named)",
    "a serialized check": "JSON_OBJECT('a': 1 RETURNING nodding)",
    "a row with a name": "ROW('1259', 1)::named",
    "an array of names": "ARRAY['1259', NULL]::relname[]",
    "a catalog's row": "to_jsonb(NULL::pg_authid)",
    "a standard catalog's type": "'x'::information_schema.sql_identifier",
    "a closed type": "enum_range(NULL::closed.label)",
    "a check in an array": "(SELECT array_append(nods, 'a') FROM public.orders LIMIT 1)",
    "a check in a choice": "(SELECT coalesce(nods, '{a}') FROM public.orders LIMIT 1)",
    "a check in a case": "(SELECT CASE WHEN id > 1 THEN row_of ELSE '(a,1)' END FROM public.orders LIMIT 1)",
    "a check in a union": "(SELECT row_of FROM public.orders UNION ALL SELECT '(a,1)' LIMIT 1)",
    "a check in a default": "(SELECT lag(nods, 1, '{a}') OVER () FROM public.orders LIMIT 1)",
    "a check in a greatest": "(SELECT greatest(nods, '{a}') FROM public.orders LIMIT 1)",
    "a check in an overlap": "(SELECT nods && '{a}' FROM public.orders LIMIT 1)",
    "a check that is called": "year('a')",
    "a check as a field": "('a'::text).nodding",
    "a check that tells": "('a'::text).telling",
    "a check that locks": "(4711).locking",
    "a check in a record": '(SELECT n FROM jsonb_to_record(\'{"n": "a"}\') AS t (n nodding))',
    "a name in a record": '(SELECT r::text FROM jsonb_to_record(\'{"r": "1259"}\') AS t (r relname))',
    "a name in records": "(SELECT r FROM jsonb_to_recordset('[{\"r\": 1259}]') AS t (r regclass))",
    "a name in JSON": "(SELECT r FROM json_table('[1259]', '$[*]' COLUMNS (r regclass PATH '$')) AS t)",
    "another's order": "(SELECT count(*) FROM (SELECT pair FROM public.orders ORDER BY pair) AS s)",
    "another's group": "(SELECT count(*) FROM (SELECT pair FROM public.orders GROUP BY pair) AS s)",
    "another's greatest": "(SELECT greatest(pair, pair) FROM public.orders LIMIT 1)",
    "another's window": "(SELECT count(*) OVER (ORDER BY pair) FROM public.orders LIMIT 1)",
    "another's order in an array": "(SELECT max(ARRAY[pair]) FROM public.orders)",
    "another's cast": "(SELECT shape::json FROM public.orders LIMIT 1)",
    "a cast to JSON that is looked up": "(SELECT to_jsonb(shape) FROM public.orders LIMIT 1)",
    "a cast to JSON within": "(SELECT jsonb_agg(shapes) FROM public.orders)",
    "a cast to JSON of a row": "(SELECT row_to_json(s) FROM (SELECT shape FROM public.orders) AS s)",
    "another's operator": "('a'::text % 1)",
    "a named operator": "('a'::text OPERATOR(public.%) 1)",
    "a function": "leak()",
    "a field that runs": "(SELECT orders.leak_op FROM (SELECT 'a'::text) AS orders (leak_op))::text || leak()",
    "a hidden column": "(SELECT max(total) FROM public.orders)",
    "a hidden column in a row": "(SELECT to_jsonb(o) FROM public.orders o LIMIT 1)",
    "a masked column": "(SELECT max(mail) FROM public.orders)",
    "a system's column": "(SELECT max(xmin::text) FROM paid, public.orders)",
    "a filtered table": "(SELECT max(what) FROM events)",
    "a filter evaded": "(SELECT max(e.what) FROM events e, paid WHERE true)",
    "a filter of one's own": "(SELECT max(what) FROM (SELECT what FROM events WHERE true OFFSET 0) AS e)",
    "a filter widened": "(SELECT max(what) FROM (SELECT what FROM events WHERE tenant = 8 OR true) AS e)",
    "a filter of another value": "(SELECT max(what) FROM (SELECT what FROM events WHERE tenant = 7) AS e)",
    "a hidden table": "(SELECT token FROM secrets)",
    "a path's table": "(SELECT max(token) FROM closed.orders)",
    "a catalog": "(SELECT count(*) FROM pg_class)",
    "a setting": "current_setting('data_directory')",
    "a file": "pg_read_file('PG_VERSION')",
    "a random": "nextval('s'::text)",
    **{
        f"the view {name}": f"(SELECT max({name}::text) FROM public.{name})"
        for name in (
            *("by_stats", "by_class", "by_activity", "by_settings", "by_schema", "by_view", "by_secret", "by_column"),
            *("by_row", "by_function", "by_operator", "by_check", "locking_rows"),
        )
    },
}
POSITIONS = (
    "SELECT {v}",
    "SELECT id FROM public.orders WHERE ({v}) IS NOT NULL",
    "SELECT count(*) FILTER (WHERE ({v}) IS NULL) FROM public.orders",
    "WITH q AS (SELECT {v} AS x) SELECT * FROM q",
    "SELECT * FROM paid JOIN LATERAL (SELECT {v} AS x) s ON true",
    "SELECT 1 AS a UNION ALL SELECT 1 WHERE EXISTS (SELECT 1 WHERE ({v}) IS NULL)",
    "SELECT id FROM public.orders ORDER BY (({v}) IS NULL)",
    "SELECT id FROM public.orders LIMIT (SELECT count({v}))",
    "SELECT row_number() OVER (PARTITION BY (({v}) IS NULL)) FROM public.orders",
    "VALUES (({v}) IS NULL)",
)
HONEST = (
    "SELECT 1",
    "SELECT count(*), max(note), min(made) FROM orders WHERE state = 'paid' AND made > now() - interval '30 days'",
    "SELECT state, string_agg(note, ', ' ORDER BY note) FROM orders WHERE state IN ('paid', 'open') GROUP BY state",
    "SELECT state = ANY ('{paid}') FROM orders",
    "SELECT extract(year FROM made), to_char(made, 'YYYY-MM'), made AT TIME ZONE 'UTC' FROM orders",
    "SELECT nodded, nods, row_of, place, code::text FROM orders WHERE nodded = 'a'",
    "SELECT (place).x + 1, sizes[1], cardinality(sizes), payload ->> 'a', payload #>> '{a,b}' FROM orders",
    "SELECT coalesce(nodded, note), CASE WHEN id > 1 THEN nodded END, nods[1], (row_of).i FROM orders",
    "SELECT amount, amount + 1, 5::positive, sum(amount) FROM orders GROUP BY amount",
    "SELECT ROW(1, 2)::point_of, jsonb_populate_record(NULL::point_of, '{\"x\": 1}')",
    "SELECT * FROM jsonb_to_recordset('[{\"a\": 1}]') AS t (a integer, b text)",
    "SELECT rank() OVER (PARTITION BY state ORDER BY made DESC), lag(note, 1, 'none') OVER (ORDER BY id) FROM orders",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY id), array_agg(DISTINCT note), bool_or(id > 1) FROM orders",
    "SELECT id FROM orders o WHERE EXISTS (SELECT 1 FROM paid p WHERE p.id = o.id) OR note LIKE 'a%' OR note ~* 'b'",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r NATURAL JOIN paid",
    "SELECT d::date FROM generate_series(date '2026-01-01', date '2026-02-01', interval '1 day') AS g (d)",
    "SELECT a.id FROM orders a FULL JOIN paid b USING (id) WHERE (a.id, b.note) = (1, 'x') OR a.id BETWEEN 1 AND 2",
    "SELECT pg_typeof(id)::text, random(), current_date, position('a' IN note) FROM orders TABLESAMPLE SYSTEM (10)",
    "SELECT GROUPING(state), count(*) FROM orders GROUP BY ROLLUP (state) HAVING count(*) > 0 ORDER BY 2 DESC LIMIT 5",
    "SELECT pair, shape, kind FROM orders",
    "SELECT max(x.id), count(*) FROM (SELECT id, pair, shape, code FROM orders) AS x WHERE x.id > 0 GROUP BY x.id",
    "SELECT id FROM orders WHERE code IN (SELECT code FROM orders) UNION ALL SELECT id FROM paid",
    "SELECT id FROM orders WHERE (id, note) < (2, 'b') ORDER BY note COLLATE \"C\" FETCH FIRST 2 ROWS WITH TIES",
    "SELECT lower(spanof(1, 2)), spanof(1, 2) && '[0,3]', id FROM orders",
    "SELECT at FROM parts WHERE at > '2025-02-02'",
    "SELECT a FROM parent",
    "SELECT id FROM ruled",
    "SELECT s, n FROM stored",
    "SELECT g, o, is_again FROM counted",
    "SELECT '0/1'::pg_lsn < '0/2', id FROM orders",
    "SELECT * FROM paid",
    "SELECT n, most FROM over_paid",
    "SELECT token, x FROM vouched",
    "SELECT to_jsonb(p) FROM paid p",
    "SELECT e.what FROM (SELECT what FROM events WHERE tenant = 8 OFFSET 0) AS e",
    'SELECT note AS ":relid 5 {(", \'{"a) :relid \\}\' AS "a (b) \\\\" FROM orders AS ":securityQuals <>"',
    f'SELECT note AS "{"a (b) " * 10}", id AS "{"very_" * 12}" FROM orders AS "{"ä " * 20}"',
    "SELECT id IN (" + ", ".join(map(str, range(300))) + ") FROM orders",
)
CODES = {
    *("catalog_closed", "table_excluded", "column_excluded", "schema_not_allowed", "function_not_allowed"),
    "not_understood",
}
POLICY = Policy.model_validate(
    {
        "version": 1,
        "schemas": ("public",),
        "tables": {"include": ("*.*", "public.vouched"), "exclude": ("public.secrets",)},
        "columns": {"exclude": ("public.orders.total",), "mask": ({"column": "public.orders.mail"},)},
        "row_filters": ({"table": "public.events", "where": "tenant = 8"},),
    }
)


@pytest.fixture(scope="module")
def judged(pg_server: EmbeddedPostgres) -> Iterator[JudgedWarehouse]:
    pg_server.ensure_database("understood")
    with psycopg.connect(pg_server.dsn("understood"), autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS understood_reader")
        connection.execute(SCHEMA)
    opened = open_warehouse(pg_server.dsn("understood", "understood_reader"))
    assert tells(opened)
    guard = SqlGuard(POLICY, opened.snapshot())
    yield JudgedWarehouse(opened, lambda: guard)
    opened.close()


def past_the_parser(sql: str) -> GuardedSql:
    """The statement as if the guard had allowed it for what the policy opens."""
    names = (
        "orders",
        "events",
        "paid",
        "over_paid",
        "vouched",
        "parts",
        "parent",
        "ruled",
        "stored",
        "counted",
        *(n.split()[-1] for n in VALUES if "the view" in n),
    )
    return GuardedSql(text=sql, dialect="postgres", tables=tuple(f"public.{name}" for name in names))


def refused(warehouse: JudgedWarehouse, sql: str) -> str:
    """The code of the refusal, before anything was planned or run; empty where the statement is planned."""
    try:
        warehouse.explain(past_the_parser(sql))
    except QueryFault as fault:
        return "told" if "SECRET" in fault.message else fault.code
    return ""


@pytest.mark.parametrize("kind", VALUES)
def test_what_the_policy_closes_is_refused_wherever_it_stands(judged: JudgedWarehouse, kind: str) -> None:
    codes = {position: refused(judged, position.replace("{v}", VALUES[kind])) for position in POSITIONS}
    allowed = [position for position, code in codes.items() if not code]
    assert allowed == []
    assert set(codes.values()) <= CODES


@pytest.mark.parametrize("sql", STATEMENTS)
def test_what_must_not_run_does_not_whatever_it_looks_like(judged: JudgedWarehouse, sql: str) -> None:
    assert refused(judged, sql) in CODES


@pytest.mark.parametrize("sql", HONEST)
def test_honest_statements_pass(judged: JudgedWarehouse, sql: str) -> None:
    sql = sql.replace("orders", "public.orders")
    assert refused(judged, sql) == "", sql
