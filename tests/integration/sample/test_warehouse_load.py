"""The sample warehouse in a real PostgreSQL: shape, consistency, loading twice, and every planted answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from sample.warehouse import load
from sample.warehouse.generate import TABLES, Row
from sample.warehouse.load import WarehouseNotEmptyError, is_loaded, load_warehouse
from sample.warehouse.write_facts import read_facts, stale_facts

if TYPE_CHECKING:
    from rag_core.connectors.embedded import EmbeddedPostgres

pytestmark = pytest.mark.integration


@pytest.fixture
def empty_dsn(pg_server: EmbeddedPostgres) -> Iterator[str]:
    """An empty database of its own, dropped at the end."""
    pg_server.ensure_database("sample_empty_test")
    try:
        yield pg_server.dsn("sample_empty_test")
    finally:
        with psycopg.connect(pg_server.dsn("postgres"), autocommit=True) as connection:
            connection.execute("DROP DATABASE sample_empty_test WITH (FORCE)")


@pytest.fixture
def warehouse(sample_warehouse_dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection to the loaded sample as its owner; what a test changes is rolled back."""
    with psycopg.connect(sample_warehouse_dsn) as connection:
        yield connection
        connection.rollback()


@pytest.fixture
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load one region and nothing else: for what does not depend on the rows."""

    def one_region(seed: int) -> Iterator[tuple[str, Iterator[Row]]]:
        yield "public.regions", iter([("NOR", f"Region of seed {seed}", None)])

    monkeypatch.setattr(load, "generate", one_region)


def rows_of(connection: psycopg.Connection[Any], statement: str) -> list[tuple[Any, ...]]:
    return connection.execute(statement.encode()).fetchall()


def test_a_second_load_changes_nothing_and_counts_the_same(sample_warehouse_dsn: str) -> None:
    assert is_loaded(sample_warehouse_dsn)
    assert not is_loaded(sample_warehouse_dsn, seed=8)
    with psycopg.connect(sample_warehouse_dsn) as connection:
        before = rows_of(connection, "SELECT oid, relfilenode FROM pg_class ORDER BY oid")
    counts = load_warehouse(sample_warehouse_dsn)
    with psycopg.connect(sample_warehouse_dsn) as connection:
        assert rows_of(connection, "SELECT oid, relfilenode FROM pg_class ORDER BY oid") == before
    assert list(counts) == list(TABLES)
    assert len(counts) >= 14
    assert sum(counts.values()) >= 300_000
    assert all(counts.values())


def test_every_planted_answer_equals_the_load(warehouse: psycopg.Connection[Any]) -> None:
    facts = read_facts()
    assert len(facts["warehouse"]) >= 60
    assert stale_facts(facts, warehouse) == []


def test_tables_and_columns_are_commented(warehouse: psycopg.Connection[Any]) -> None:
    missing = rows_of(
        warehouse,
        """
        SELECT c.relnamespace::regnamespace || '.' || c.relname || coalesce('.' || a.attname, '')
        FROM pg_class AS c
        LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            AND NOT c.relispartition
        WHERE c.relnamespace::regnamespace::text IN ('public', 'ops') AND c.relkind IN ('r', 'p', 'v', 'm')
            AND (obj_description(c.oid, 'pg_class') IS NULL
                OR (a.attnum IS NOT NULL AND col_description(c.oid, a.attnum) IS NULL))
        """,
    )
    assert missing == []


def test_kinds_of_relations(warehouse: psycopg.Connection[Any]) -> None:
    kinds = dict(
        rows_of(
            warehouse,
            """
            SELECT relnamespace::regnamespace || '.' || relname, relkind::text
            FROM pg_class
            WHERE relnamespace::regnamespace::text IN ('public', 'ops') AND relkind IN ('r', 'p', 'v', 'm')
                AND NOT relispartition
            """,
        )
    )
    assert kinds.keys() == {*TABLES, "public.active_customers", "public.monthly_revenue"}
    assert kinds["public.orders"] == "p"
    assert kinds["public.active_customers"] == "v"
    assert kinds["public.monthly_revenue"] == "m"


def test_foreign_keys_stand_on_most_tables_and_not_on_some(warehouse: psycopg.Connection[Any]) -> None:
    keyed = {
        name
        for (name,) in rows_of(
            warehouse,
            "SELECT n.nspname || '.' || c.relname FROM pg_constraint AS k JOIN pg_class AS c ON k.conrelid = c.oid "
            "JOIN pg_namespace AS n ON c.relnamespace = n.oid WHERE k.contype = 'f' AND NOT c.relispartition",
        )
    }
    assert keyed >= {"public.countries", "public.orders", "public.order_lines", "public.SalesTarget", "ops.incidents"}
    assert not keyed & {"public.churn_events", "public.headcount"}
    customers = rows_of(
        warehouse,
        "SELECT 1 FROM pg_constraint WHERE contype = 'f' AND conrelid = 'ops.support_tickets'::regclass "
        "AND confrelid = 'public.customers'::regclass",
    )
    assert customers == []


def test_view_and_materialized_view_agree_with_the_tables(warehouse: psycopg.Connection[Any]) -> None:
    assert rows_of(warehouse, "SELECT count(*) FROM active_customers") == rows_of(
        warehouse,
        "SELECT count(*) FROM customers AS c WHERE NOT EXISTS "
        "(SELECT 1 FROM churn_events AS e WHERE e.customer_id = c.customer_id)",
    )
    assert rows_of(warehouse, "SELECT sum(order_count), sum(revenue) FROM monthly_revenue") == rows_of(
        warehouse, "SELECT count(*), sum(order_total) FROM orders"
    )
    by_month_and_region = "SELECT month, region_code, sum(revenue) FROM {} GROUP BY 1, 2 ORDER BY 1, 2"
    assert rows_of(warehouse, by_month_and_region.format("monthly_margins")) == rows_of(
        warehouse, by_month_and_region.format("monthly_revenue")
    )


def test_every_order_lies_in_the_partition_of_its_year(warehouse: psycopg.Connection[Any]) -> None:
    found = rows_of(
        warehouse, "SELECT tableoid::regclass::text, min(order_date), max(order_date) FROM orders GROUP BY 1 ORDER BY 1"
    )
    assert [name for name, _, _ in found] == [f"orders_{year}" for year in (2023, 2024, 2025, 2026)]
    assert all(name == f"orders_{first.year}" == f"orders_{last.year}" for name, first, last in found)


def test_nothing_is_granted_to_everybody(empty_dsn: str, few_rows: None) -> None:
    load_warehouse(empty_dsn)
    with psycopg.connect(empty_dsn) as connection:
        granted = rows_of(
            connection,
            "SELECT relname FROM pg_class WHERE relnamespace::regnamespace::text IN ('public', 'ops') "
            "AND relacl IS NOT NULL",
        )
        schemas = rows_of(connection, "SELECT nspacl FROM pg_namespace WHERE nspname = 'ops'")
    assert granted == []
    assert schemas == [(None,)]


def test_new_customers_get_the_next_number(warehouse: psycopg.Connection[Any]) -> None:
    (highest,) = rows_of(warehouse, "SELECT max(customer_id) FROM customers")[0]
    added = rows_of(
        warehouse,
        "INSERT INTO customers (customer_name, segment, country_code, signed_on) "
        "VALUES ('New One', 'smb', 'SE', '2026-07-01') RETURNING customer_id",
    )
    assert added == [(highest + 1,)]


def test_another_seed_is_loaded_anew(empty_dsn: str, few_rows: None) -> None:
    load_warehouse(empty_dsn, seed=7)
    assert load_warehouse(empty_dsn, seed=8)["public.regions"] == 1
    with psycopg.connect(empty_dsn) as connection:
        assert rows_of(connection, "SELECT region_name FROM regions") == [("Region of seed 8",)]
    assert is_loaded(empty_dsn, seed=8)
    assert not is_loaded(empty_dsn, seed=7)


def test_tables_of_others_are_left_alone(empty_dsn: str, few_rows: None) -> None:
    with psycopg.connect(empty_dsn) as connection:
        connection.execute("CREATE TABLE public.customers (name text)")
        connection.execute("INSERT INTO public.customers VALUES ('theirs')")
    with pytest.raises(WarehouseNotEmptyError, match=r"holds public\.customers"):
        load_warehouse(empty_dsn)
    with psycopg.connect(empty_dsn) as connection:
        assert rows_of(connection, "SELECT name FROM public.customers") == [("theirs",)]


def test_a_failed_load_leaves_nothing(empty_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(seed: int) -> Iterator[tuple[str, Iterator[Row]]]:
        yield "public.regions", iter([("NOR", f"Region of seed {seed}", None)])
        yield "public.countries", iter([("XX", "Nowhere", "NONE")])

    monkeypatch.setattr(load, "generate", broken)
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        load_warehouse(empty_dsn)
    assert not is_loaded(empty_dsn)
    with psycopg.connect(empty_dsn) as connection:
        assert rows_of(connection, "SELECT relname FROM pg_class WHERE relname = 'regions'") == []


def test_command_line_tells_what_is_wrong(empty_dsn: str, few_rows: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert load.main([empty_dsn]) == 0
    assert "public.regions" in capsys.readouterr().out
    with psycopg.connect(empty_dsn) as connection:
        connection.execute("COMMENT ON SCHEMA ops IS 'somebody else''s'")
    assert load.main([empty_dsn]) == 1
    assert "use an empty database" in capsys.readouterr().err
