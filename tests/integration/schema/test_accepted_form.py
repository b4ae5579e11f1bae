"""What needs no decision is accepted beside what waits for one, and what was replaced is not told as undone."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from rag_core.connectors.warehouses import open_warehouse
from rag_core.schema.decisions import accept_events
from rag_core.schema.drift import detect_drift
from rag_core.schema.events import list_events
from tests.integration.schema.conftest import READER, Playground

pytestmark = pytest.mark.integration

ORDERS = "CREATE TABLE orders (id int PRIMARY KEY, total numeric(8, 2), code varchar(20), note text)"
REBUILT = """
CREATE TABLE next (LIKE orders INCLUDING ALL);
DROP TABLE orders;
ALTER TABLE next RENAME TO orders;
"""


def states(playground: Playground) -> dict[tuple[str, str], str]:
    """The state of each event, by kind and object; the latest where there are several."""
    events = reversed(list_events(playground.store))
    return {(event.change.kind, event.change.object): event.state for event in events}


def numbers(playground: Playground) -> list[str]:
    return [str(event.event_id) for event in list_events(playground.store, state="open")]


@pytest.fixture
def orders(playground: Playground) -> Playground:
    playground.run(ORDERS)
    playground.check()
    return playground


@pytest.mark.parametrize("meanwhile", ["", REBUILT], ids=["in place", "rebuilt"])
def test_column_that_was_noted_beside_an_undecided_change_is_watched(orders: Playground, meanwhile: str) -> None:
    orders.run(f"ALTER TABLE orders DROP note; ALTER TABLE orders ADD tax int; {meanwhile}")
    assert orders.changes() == [("column_removed", "public.orders.note"), ("column_added", "public.orders.tax")]
    orders.run("ALTER TABLE orders DROP tax")
    change = orders.change()
    assert (change.kind, change.object, change.severity) == ("column_removed", "public.orders.tax", "breaking")
    assert states(orders)[("column_removed", "public.orders.tax")] == "open"
    accept_events(orders.store, numbers(orders), actor="ada")
    assert orders.check().status == "unchanged"


def test_noted_column_is_followed_when_it_is_renamed_or_changed(orders: Playground) -> None:
    orders.run("ALTER TABLE orders DROP note; ALTER TABLE orders ADD tax int; ALTER TABLE orders ADD region text")
    orders.check()
    orders.run("ALTER TABLE orders RENAME tax TO levy; ALTER TABLE orders ALTER region TYPE int USING 1")
    found = {(change.kind, change.object, change.confidence) for change in orders.check().changes}
    assert found == {("column_renamed", "public.orders.tax", 1.0), ("type_changed", "public.orders.region", 1.0)}


def test_what_was_widened_beside_an_undecided_change_is_narrowed_again(orders: Playground) -> None:
    orders.run("ALTER TABLE orders DROP note; ALTER TABLE orders ALTER code TYPE varchar(50)")
    orders.check()
    orders.run("ALTER TABLE orders ALTER code TYPE varchar(30)")
    change = orders.change()
    assert (change.kind, change.before, change.after) == (
        "type_narrowed",
        "character varying(50)",
        "character varying(30)",
    )


def test_key_that_was_noted_beside_an_undecided_change_is_missed(orders: Playground) -> None:
    orders.run("ALTER TABLE orders DROP note; ALTER TABLE orders ADD CONSTRAINT u UNIQUE (code)")
    orders.check()
    orders.run("ALTER TABLE orders DROP CONSTRAINT u")
    assert orders.changes() == [("unique_key_removed", "public.orders")]


def test_table_that_changes_while_another_is_renamed_keeps_its_reference(orders: Playground) -> None:
    orders.run("CREATE TABLE lines (id int PRIMARY KEY, order_id int REFERENCES orders)")
    orders.check()
    orders.run("ALTER TABLE orders RENAME TO sales")
    orders.check()
    orders.run("ALTER TABLE lines ADD note text; CREATE TABLE more (id int, order_id int REFERENCES sales)")
    assert orders.changes() == [("column_added", "public.lines.note"), ("table_added", "public.more")]
    orders.run("ALTER TABLE sales RENAME TO orders")
    report = orders.check()
    assert len(report.reverted) == 1
    assert numbers(orders) == []
    orders.run("ALTER TABLE lines DROP note")
    assert orders.changes() == [("column_removed", "public.lines.note")]


def test_change_of_a_column_whose_table_went_was_not_undone(orders: Playground) -> None:
    orders.run("ALTER TABLE orders ALTER total TYPE text")
    orders.check()
    orders.run("DROP TABLE orders")
    assert orders.check().reverted == ()
    assert states(orders)[("type_changed", "public.orders.total")] == "superseded"


def test_change_that_was_undone_beside_a_noted_one_is_told_as_undone(orders: Playground) -> None:
    orders.run("CREATE TYPE size AS ENUM ('small', 'large'); ALTER TABLE orders ADD size size")
    orders.check()
    orders.run("ALTER TYPE size RENAME VALUE 'small' TO 'tiny'")
    orders.check()
    orders.run("ALTER TYPE size RENAME VALUE 'tiny' TO 'small'; ALTER TYPE size ADD VALUE 'huge'")
    report = orders.check()
    assert (report.status, len(report.reverted)) == ("changed", 1)
    assert states(orders)[("enum_value_renamed", "public.orders.size")] == "reverted"


def test_access_that_is_given_back_in_part_was_not_given_back(
    orders: Playground, request: pytest.FixtureRequest
) -> None:
    orders.run(f"GRANT SELECT ON orders TO {READER}")
    request.getfixturevalue("reader_warehouse")
    with orders.store.connection() as connection:
        connection.execute("TRUNCATE nightshift.schema_baseline, nightshift.schema_snapshot CASCADE")
    orders.check()
    orders.run(f"REVOKE SELECT ON orders FROM {READER}")
    orders.check()
    orders.run(f"GRANT SELECT (id, total, code) ON orders TO {READER}")
    assert orders.check().reverted == ()
    assert states(orders)[("access_lost", "public.orders")] == "superseded"
    assert states(orders)[("access_lost", "public.orders.note")] == "open"


def test_noted_column_is_watched_where_columns_are_numbered_anew(playground: Playground, tmp_path: Path) -> None:
    """DuckDB: nothing is proven, and what comes after a dropped column takes its number."""
    path = tmp_path / "shop.duckdb"

    def changes(sql: str) -> list[tuple[str, str]]:
        with duckdb.connect(str(path)) as connection:
            connection.execute(sql)
        warehouse = open_warehouse(f"duckdb:///{path}")
        try:
            found = detect_drift(warehouse, playground.store).changes
        finally:
            warehouse.close()
        return [(change.kind, change.object) for change in found]

    assert changes("CREATE TABLE orders (id int, total int, note varchar)") == []
    assert changes("ALTER TABLE orders DROP note; ALTER TABLE orders ADD cust_amt int") == [
        ("column_removed", "main.orders.note"),
        ("column_added", "main.orders.cust_amt"),
    ]
    assert changes("ALTER TABLE orders RENAME cust_amt TO customer_amount") == [
        ("column_renamed", "main.orders.cust_amt")
    ]
    assert changes("ALTER TABLE orders DROP customer_amount") == [("column_removed", "main.orders.cust_amt")]
