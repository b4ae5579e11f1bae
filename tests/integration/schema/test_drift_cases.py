"""Every kind of schema change, made on a real PostgreSQL, and what the next check says of it."""

from __future__ import annotations

import psycopg
import pytest

from rag_core.connectors.base import Warehouse
from rag_core.datamodel.drift import DriftRules
from tests.integration.schema.conftest import READER, Playground

pytestmark = pytest.mark.integration

ORDERS = """
CREATE TABLE orders (
    order_id int PRIMARY KEY, cust_id int NOT NULL, amt numeric(10,2), note varchar(20), placed_on date, paid boolean
);
"""

# before, change, expected (kind, object, before, after, severity)
CASES: dict[str, tuple[str, str, list[tuple[str, str, str | None, str | None, str]]]] = {
    "the same types under other names": (
        "CREATE TABLE t (a int4, b varchar(9), c timestamptz(3), d decimal(8,2), e float8, f bool)",
        "DROP TABLE t; CREATE TABLE t (a integer, b character varying(9), c timestamp(3) with time zone, "
        "d numeric(8,2), e double precision, f boolean)",
        [],
    ),
    "serial is an integer with a default": (
        "CREATE TABLE t (a serial)",
        "DROP TABLE t; CREATE SEQUENCE t_a_seq; CREATE TABLE t (a integer NOT NULL DEFAULT nextval('t_a_seq'))",
        [],
    ),
    "wider number": (
        ORDERS,
        "ALTER TABLE orders ALTER amt TYPE numeric(12,2)",
        [("type_widened", "public.orders.amt", "numeric(10,2)", "numeric(12,2)", "compatible")],
    ),
    "wider text": (
        ORDERS,
        "ALTER TABLE orders ALTER note TYPE varchar(50)",
        [("type_widened", "public.orders.note", "character varying(20)", "character varying(50)", "compatible")],
    ),
    "narrower number": (
        ORDERS,
        "ALTER TABLE orders ALTER amt TYPE numeric(5,0)",
        [("type_narrowed", "public.orders.amt", "numeric(10,2)", "numeric(5,0)", "risky")],
    ),
    "shorter text": (
        ORDERS,
        "ALTER TABLE orders ALTER note TYPE varchar(10)",
        [("type_narrowed", "public.orders.note", "character varying(20)", "character varying(10)", "risky")],
    ),
    "length removed": (
        ORDERS,
        "ALTER TABLE orders ALTER note TYPE varchar",
        [("type_widened", "public.orders.note", "character varying(20)", "character varying", "compatible")],
    ),
    "text without a length": (
        ORDERS,
        "ALTER TABLE orders ALTER note TYPE text",
        [("type_widened", "public.orders.note", "character varying(20)", "text", "compatible")],
    ),
    "number to text": (
        ORDERS,
        "ALTER TABLE orders ALTER cust_id TYPE text",
        [("type_changed", "public.orders.cust_id", "integer", "text", "breaking")],
    ),
    "date to timestamp": (
        ORDERS,
        "ALTER TABLE orders ALTER placed_on TYPE timestamptz",
        [("type_changed", "public.orders.placed_on", "date", "timestamp with time zone", "breaking")],
    ),
    "boolean to number": (
        ORDERS,
        "ALTER TABLE orders ALTER paid TYPE integer USING paid::int",
        [("type_changed", "public.orders.paid", "boolean", "integer", "breaking")],
    ),
    "another order of columns": (
        "CREATE TABLE t (a int, b text, c date)",
        "DROP TABLE t; CREATE TABLE t (c date, a int, b text)",
        [("column_order_changed", "public.t", "a, b, c", "c, a, b", "cosmetic")],
    ),
    "dropped and added again": (
        ORDERS,
        "ALTER TABLE orders DROP amt; ALTER TABLE orders ADD amt numeric(10,2)",
        [("column_recreated", "public.orders.amt", "numeric(10,2)", "numeric(10,2)", "risky")],
    ),
    "column renamed": (
        ORDERS,
        "ALTER TABLE orders RENAME amt TO amount",
        [("column_renamed", "public.orders.amt", "amt", "amount", "breaking")],
    ),
    "two columns swapped": (
        "CREATE TABLE t (a int, b int)",
        "ALTER TABLE t RENAME a TO x; ALTER TABLE t RENAME b TO a; ALTER TABLE t RENAME x TO b",
        [
            ("column_renamed", "public.t.a", "a", "b", "breaking"),
            ("column_renamed", "public.t.b", "b", "a", "breaking"),
        ],
    ),
    "table renamed with all that hangs on it": (
        ORDERS + "CREATE TABLE lines (order_id int REFERENCES orders); CREATE VIEW v AS SELECT o.amt FROM orders AS o",
        "ALTER TABLE orders RENAME TO purchases",
        [("table_renamed", "public.orders", "public.orders", "public.purchases", "breaking")],
    ),
    "table moved to another schema": (
        ORDERS + "CREATE SCHEMA sales",
        "ALTER TABLE orders SET SCHEMA sales",
        [("table_moved", "public.orders", "public.orders", "sales.orders", "breaking")],
    ),
    "table renamed and a column of it": (
        ORDERS,
        "ALTER TABLE orders RENAME TO purchases; ALTER TABLE purchases RENAME amt TO amount",
        [
            ("table_renamed", "public.orders", "public.orders", "public.purchases", "breaking"),
            ("column_renamed", "public.orders.amt", "amt", "amount", "breaking"),
        ],
    ),
    "rebuilt every night": (
        "CREATE TABLE t (a int PRIMARY KEY, b text)",
        "CREATE TABLE t__new (a int PRIMARY KEY, b text); DROP TABLE t; ALTER TABLE t__new RENAME TO t",
        [],
    ),
    "two added, none removed": (
        "CREATE TABLE t (a numeric, b numeric)",
        "ALTER TABLE t ADD c numeric, ADD d numeric",
        [
            ("column_added", "public.t.c", None, "numeric", "compatible"),
            ("column_added", "public.t.d", None, "numeric", "compatible"),
        ],
    ),
    "renamed and changed at once": (
        ORDERS,
        "ALTER TABLE orders RENAME amt TO amount; ALTER TABLE orders ALTER amount TYPE text",
        [
            ("column_renamed", "public.orders.amt", "amt", "amount", "breaking"),
            ("type_changed", "public.orders.amt", "numeric(10,2)", "text", "breaking"),
        ],
    ),
    "names that differ in case": (
        'CREATE TABLE t (name text, "Name" text)',
        'ALTER TABLE t DROP "Name"',
        [("column_removed", "public.t.Name", "text", None, "breaking")],
    ),
    "names that need quotes": (
        'CREATE TABLE "Odd table" ("weird ""col" int, "select" int, "größe ja" int)',
        'ALTER TABLE "Odd table" DROP "weird ""col", DROP "select", DROP "größe ja", ADD x date',
        [
            ("column_removed", "public.Odd table.größe ja", "integer", None, "breaking"),
            ("column_removed", "public.Odd table.select", "integer", None, "breaking"),
            ("column_removed", 'public.Odd table.weird "col', "integer", None, "breaking"),
            ("column_added", "public.Odd table.x", None, "date", "compatible"),
        ],
    ),
    "value added to an enum": (
        "CREATE TYPE mood AS ENUM ('a', 'b'); CREATE TABLE t (m mood)",
        "ALTER TYPE mood ADD VALUE 'c'",
        [("enum_value_added", "public.t.m", None, "c", "compatible")],
    ),
    "value of an enum renamed": (
        "CREATE TYPE mood AS ENUM ('a', 'b'); CREATE TABLE t (m mood)",
        "ALTER TYPE mood RENAME VALUE 'b' TO 'z'",
        [("enum_value_renamed", "public.t.m", "b", "z", "breaking")],
    ),
    "value of an enum removed": (
        "CREATE TYPE mood AS ENUM ('a', 'b', 'c'); CREATE TABLE t (m mood)",
        "CREATE TYPE mood2 AS ENUM ('a', 'b'); ALTER TABLE t ALTER m TYPE mood2 USING m::text::mood2; "
        "DROP TYPE mood; ALTER TYPE mood2 RENAME TO mood",
        [("enum_value_removed", "public.t.m", "c", None, "breaking")],
    ),
    "enum in an array": (
        "CREATE TYPE mood AS ENUM ('a', 'b'); CREATE TABLE t (m mood[])",
        "ALTER TYPE mood ADD VALUE 'c'",
        [("enum_value_added", "public.t.m", None, "c", "compatible")],
    ),
    "view does not follow its table": (
        "CREATE TABLE t (a int); CREATE VIEW v AS SELECT * FROM t",
        "ALTER TABLE t ADD b int",
        [("column_added", "public.t.b", None, "integer", "compatible")],
    ),
    "view follows a renamed column": (
        "CREATE TABLE t (a int, b int); CREATE VIEW v AS SELECT a, b FROM t WHERE a > 1",
        "ALTER TABLE t RENAME a TO alpha",
        [("column_renamed", "public.t.a", "a", "alpha", "breaking")],
    ),
    "new partition": (
        "CREATE TABLE t (d date, a int) PARTITION BY RANGE (d); "
        "CREATE TABLE t_11 PARTITION OF t FOR VALUES FROM ('2026-11-01') TO ('2026-12-01')",
        "CREATE TABLE t_12 PARTITION OF t FOR VALUES FROM ('2026-12-01') TO ('2027-01-01')",
        [],
    ),
    "table becomes partitioned": (
        "CREATE TABLE t (d date, a int)",
        "DROP TABLE t; CREATE TABLE t (d date, a int) PARTITION BY RANGE (d)",
        [("table_kind_changed", "public.t", "table", "partitioned_table", "risky")],
    ),
    "tables for a moment": ("CREATE TABLE t (a int)", "CREATE TABLE load_tmp (a int); CREATE TABLE tmp_x (a int)", []),
    "columns of loading tools": (
        "CREATE TABLE t (a int)",
        "ALTER TABLE t ADD _ab_cdc_lsn text, ADD _dlt_load_id text, ADD _fivetran_synced timestamptz",
        [],
    ),
    "primary key widened": (
        "CREATE TABLE t (a int PRIMARY KEY, b int NOT NULL)",
        "ALTER TABLE t DROP CONSTRAINT t_pkey; ALTER TABLE t ADD PRIMARY KEY (a, b)",
        [("primary_key_changed", "public.t", "a", "a, b", "breaking")],
    ),
    "primary key narrowed": (
        "CREATE TABLE t (a int NOT NULL, b int NOT NULL, PRIMARY KEY (a, b))",
        "ALTER TABLE t DROP CONSTRAINT t_pkey; ALTER TABLE t ADD PRIMARY KEY (a)",
        [("primary_key_changed", "public.t", "a, b", "a", "compatible")],
    ),
    "unique key dropped": (
        "CREATE TABLE t (a int, b int UNIQUE)",
        "ALTER TABLE t DROP CONSTRAINT t_b_key",
        [("unique_key_removed", "public.t", "b", None, "breaking")],
    ),
    "unique key under another name": (
        "CREATE TABLE t (a int, b int UNIQUE)",
        "ALTER TABLE t RENAME CONSTRAINT t_b_key TO t_b_unique",
        [],
    ),
    "foreign key dropped": (
        "CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE t (p_id int REFERENCES p)",
        "ALTER TABLE t DROP CONSTRAINT t_p_id_fkey",
        [("foreign_key_removed", "public.t", "(p_id) -> public.p (id)", None, "risky")],
    ),
    "foreign key to another table": (
        "CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE q (id int PRIMARY KEY); "
        "CREATE TABLE t (p_id int REFERENCES p)",
        "ALTER TABLE t DROP CONSTRAINT t_p_id_fkey; ALTER TABLE t ADD FOREIGN KEY (p_id) REFERENCES q",
        [("foreign_key_changed", "public.t", "(p_id) -> public.p (id)", "(p_id) -> public.q (id)", "breaking")],
    ),
    "key goes with its column": (
        "CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE t (a int, p_id int UNIQUE REFERENCES p)",
        "ALTER TABLE t DROP p_id",
        [("column_removed", "public.t.p_id", "integer", None, "breaking")],
    ),
    "reference goes with its table": (
        "CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE t (p_id int REFERENCES p)",
        "DROP TABLE p CASCADE",
        [("table_removed", "public.p", "table", None, "breaking")],
    ),
    "default written otherwise": (
        "CREATE TABLE t (a timestamptz DEFAULT now())",
        "ALTER TABLE t ALTER a SET DEFAULT CURRENT_TIMESTAMP",
        [("default_changed", "public.t.a", "now()", "CURRENT_TIMESTAMP", "cosmetic")],
    ),
    "comment on a table": (
        "CREATE TABLE t (a int)",
        "COMMENT ON TABLE t IS 'Everything'",
        [("comment_changed", "public.t", None, "Everything", "cosmetic")],
    ),
    "comment on a column": (
        "CREATE TABLE t (a int); COMMENT ON COLUMN t.a IS 'one'",
        "COMMENT ON COLUMN t.a IS 'two'",
        [("comment_changed", "public.t.a", "one", "two", "cosmetic")],
    ),
    "may be NULL now": (
        ORDERS,
        "ALTER TABLE orders ALTER cust_id DROP NOT NULL",
        [("became_nullable", "public.orders.cust_id", "not null", "nullable", "risky")],
    ),
    "must not be NULL any more": (
        ORDERS,
        "ALTER TABLE orders ALTER note SET NOT NULL",
        [("became_not_null", "public.orders.note", "nullable", "not null", "compatible")],
    ),
    "table added": (
        ORDERS,
        "CREATE TABLE extra (a int)",
        [("table_added", "public.extra", None, "table", "compatible")],
    ),
    "materialized view removed": (
        "CREATE TABLE t (a int); CREATE MATERIALIZED VIEW mv AS SELECT a FROM t",
        "DROP MATERIALIZED VIEW mv",
        [("table_removed", "public.mv", "materialized_view", None, "breaking")],
    ),
    "generated column computes otherwise": (
        "CREATE TABLE t (a int, b int GENERATED ALWAYS AS (a * 2) STORED)",
        "ALTER TABLE t ALTER b SET EXPRESSION AS (a * 3)",
        [("generation_changed", "public.t.b", "(a * 2)", "(a * 3)", "risky")],
    ),
}


@pytest.mark.parametrize("name", list(CASES))
def test_kind_of_change(playground: Playground, name: str) -> None:
    before, change, expected = CASES[name]
    playground.run(before)
    assert playground.check().status == "baseline"
    playground.run(change)
    report = playground.check()
    found = [(item.kind, item.object, item.before, item.after, item.severity) for item in report.changes]
    assert found == expected
    assert all(item.confidence == 1.0 for item in report.changes)
    assert report.status == ("changed" if expected else "unchanged")
    assert report.open_events == sum(item[4] in ("breaking", "risky") for item in expected)
    assert playground.check().status == "unchanged"


def test_serial_to_identity_is_history_only(playground: Playground) -> None:
    playground.run("CREATE TABLE t (a serial)")
    playground.check()
    playground.run(
        "ALTER TABLE t ALTER a DROP DEFAULT; DROP SEQUENCE t_a_seq; "
        "ALTER TABLE t ALTER a ADD GENERATED ALWAYS AS IDENTITY"
    )
    report = playground.check()
    assert [(item.kind, item.severity) for item in report.changes] == [("default_changed", "cosmetic")]
    assert report.open_events == 0


def test_view_with_another_expression(playground: Playground) -> None:
    playground.run("CREATE TABLE t (a int, b int); CREATE VIEW v AS SELECT a AS x FROM t")
    playground.check()
    playground.run("CREATE OR REPLACE VIEW v AS SELECT b AS x FROM t")
    change = playground.change()
    assert (change.kind, change.object, change.severity) == ("view_definition_changed", "public.v", "risky")
    assert "b AS x" in (change.after or "")


def test_temporary_table_of_another_session(playground: Playground) -> None:
    playground.run(ORDERS)
    playground.check()
    with psycopg.connect(playground.dsn) as other:
        other.execute("CREATE TEMPORARY TABLE scratch (a int)")
        assert playground.check().status == "unchanged"


def test_change_in_an_open_transaction_is_not_seen_and_blocks_nothing(playground: Playground) -> None:
    playground.run(ORDERS)
    playground.check()
    with psycopg.connect(playground.dsn) as other:
        other.execute("ALTER TABLE orders DROP COLUMN amt")
        assert playground.check().status == "unchanged"
        other.commit()
    assert playground.changes() == [("column_removed", "public.orders.amt")]


def test_lost_access_is_not_a_dropped_table(playground: Playground, reader_warehouse: Warehouse) -> None:
    playground.run(ORDERS + f"CREATE TABLE other (a int); GRANT SELECT ON ALL TABLES IN SCHEMA public TO {READER}")
    playground.check()
    playground.run(f"REVOKE SELECT ON orders FROM {READER}")
    change = playground.change()
    assert (change.kind, change.object, change.severity) == ("access_lost", "public.orders", "breaking")
    playground.run(f"GRANT SELECT ON orders TO {READER}")
    report = playground.check()
    assert [item.kind for item in report.changes] == ["access_gained"]
    assert len(report.reverted) == 1


def test_access_to_one_column_lost(playground: Playground, reader_warehouse: Warehouse) -> None:
    playground.run(ORDERS + f"GRANT SELECT (order_id, amt) ON orders TO {READER}")
    playground.check()
    playground.run(f"REVOKE SELECT (amt) ON orders FROM {READER}")
    assert playground.changes() == [("access_lost", "public.orders.amt")]


def test_rules_change_what_is_watched(playground: Playground) -> None:
    playground.run(ORDERS + "CREATE TABLE raw_load (a int)")
    playground.check()
    narrower = DriftRules(ignore_tables=("*.raw_*",))
    assert playground.changes(rules=narrower) == [("monitoring_stopped", "public.raw_load")]
    playground.run("ALTER TABLE raw_load ADD b int")
    assert playground.check(rules=narrower).changes == ()
    assert playground.changes() == [("monitoring_started", "public.raw_load")]
    assert playground.check().status == "unchanged"


def test_severity_follows_the_rules(playground: Playground) -> None:
    playground.run(ORDERS)
    rules = DriftRules(severities={"column_added": "risky"})
    playground.check(rules=rules)
    playground.run("ALTER TABLE orders ADD b int")
    assert playground.check(rules=rules).changes[0].severity == "risky"


def test_tables_of_an_extension(playground: Playground) -> None:
    playground.run("CREATE EXTENSION vector; CREATE TABLE t (a int)")
    playground.check()
    playground.run("CREATE TABLE vector_settings (a int); ALTER EXTENSION vector ADD TABLE vector_settings")
    assert playground.check().status == "unchanged"


def test_removed_table_with_its_views(playground: Playground) -> None:
    playground.run(ORDERS + "CREATE VIEW v AS SELECT amt FROM orders")
    playground.check()
    playground.run("DROP TABLE orders CASCADE")
    assert playground.changes() == [("table_removed", "public.orders"), ("table_removed", "public.v")]
