"""Tables that a statement joins in vain, that do not exist, or that multiply what is counted."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rag_core.datamodel.catalog import Catalog
from rag_core.workers.outcome import Fault
from rag_core.workers.sql_repair.mender import mend_statement, refine_values
from rag_core.workers.sql_repair.shape import Shape
from tests.unit.workers.sql_repair.conftest import table


def mended(sql: str, shape: Shape, what: str = "column") -> str:
    fault = Fault(fault_class="unknown_table" if what == "table" else "unknown_column", code="x", message="unknown")
    return mend_statement(sql, fault, shape).sql


@pytest.mark.parametrize(
    ("sql", "meant"),
    [
        # Joined for a column that the other table has.
        (
            "SELECT c.first_name FROM customers c JOIN sales s ON s.customer_id = c.id WHERE s.city = 'Bern'",
            "SELECT c.first_name FROM customers AS c WHERE c.city = 'Bern'",
        ),
    ],
)
def test_a_table_whose_purpose_stands_elsewhere_is_left_out(shape: Shape, sql: str, meant: str) -> None:
    assert mended(sql, shape) == meant


@pytest.mark.parametrize(
    "sql",
    [
        # Nothing was ever asked of it: it says that there is a sale.
        "SELECT c.citty FROM customers c JOIN sales s ON s.customer_id = c.id",
        # Something else is asked of it as well.
        "SELECT s.first_name, s.amount FROM customers c JOIN sales s ON s.customer_id = c.id",
        "SELECT s.first_name, amount FROM customers c JOIN sales s ON s.customer_id = c.id",
        # Its rows are counted.
        "SELECT s.first_name, COUNT(*) FROM customers c JOIN sales s ON s.customer_id = c.id GROUP BY s.first_name",
        # It joins by more than a key.
        "SELECT s.first_name FROM customers c JOIN sales s ON s.customer_id = c.id AND s.amount > 5",
    ],
)
def test_a_table_that_still_says_something_stays(shape: Shape, sql: str) -> None:
    assert "JOIN sales AS s" in mended(sql, shape)


@pytest.mark.parametrize(
    ("sql", "meant"),
    [
        (
            "SELECT s.id FROM sales s JOIN channel ch ON s.channel = ch.id WHERE ch.name = 'web'",
            "SELECT s.id FROM sales AS s WHERE s.channel = 'web'",
        ),
        (
            "SELECT ch.name, SUM(s.amount) FROM sales s JOIN channels ch ON s.channel_id = ch.id GROUP BY ch.name",
            "SELECT s.channel AS name, SUM(s.amount) FROM sales AS s GROUP BY s.channel",
        ),
        (
            "SELECT COUNT(*) FROM sales WHERE channel_id IN (SELECT id FROM channels WHERE name = 'web')",
            "SELECT COUNT(*) FROM sales WHERE channel = 'web'",
        ),
    ],
)
def test_a_table_that_does_not_exist_is_the_column_that_is_called_like_it(shape: Shape, sql: str, meant: str) -> None:
    assert mended(sql, shape, "table") == meant


@pytest.mark.parametrize(
    "sql",
    [
        # More is asked of it than its name, or a number of a text.
        "SELECT s.id FROM sales s JOIN channel ch ON s.channel = ch.id WHERE ch.region = 'north'",
        "SELECT s.id FROM sales s JOIN channel ch ON s.channel = ch.id WHERE ch.id = 4",
        # No column is called like it.
        "SELECT s.id FROM sales s JOIN warehouse w ON s.bid = w.id WHERE w.name = 'north'",
    ],
)
def test_a_table_that_no_column_stands_for_stays_unknown(shape: Shape, sql: str) -> None:
    found = mended(sql, shape, "table")
    assert "JOIN channel AS ch" in found or "JOIN warehouse AS w" in found or found == sql


@pytest.mark.parametrize(
    ("sql", "meant"),
    [
        (
            "SELECT COUNT(*) FROM customers c WHERE c.amount > 5",
            "SELECT COUNT(DISTINCT c.id) FROM customers AS c JOIN sales ON c.id = sales.customer_id "
            "WHERE sales.amount > 5",
        ),
        (
            "SELECT c.first_name FROM customers c WHERE c.amount > 5",
            "SELECT DISTINCT c.first_name FROM customers AS c JOIN sales ON c.id = sales.customer_id "
            "WHERE sales.amount > 5",
        ),
        # A key that is counted in the table of the references.
        (
            "SELECT COUNT(bid), COUNT(DISTINCT wid) FROM book",
            "SELECT COUNT(DISTINCT bid), COUNT(DISTINCT wid) FROM wrote",
        ),
        # One row for each: nothing multiplies.
        (
            "SELECT COUNT(*) FROM sales s WHERE s.city = 'Bern'",
            "SELECT COUNT(*) FROM sales AS s JOIN customers ON s.customer_id = customers.id "
            "WHERE customers.city = 'Bern'",
        ),
        # What is joined is what is shown.
        (
            "SELECT c.first_name, c.amount FROM customers c WHERE c.channel = 'web'",
            "SELECT c.first_name, sales.amount FROM customers AS c JOIN sales ON c.id = sales.customer_id "
            "WHERE sales.channel = 'web'",
        ),
        # The pairs of two written tables.
        (
            "SELECT w.name, b.title FROM writer w JOIN book b ON w.bid = b.bid WHERE b.pages = 'many'",
            "SELECT w.name, b.title FROM writer AS w JOIN wrote ON w.wid = wrote.wid JOIN book AS b "
            "ON wrote.bid = b.bid WHERE b.pages = 'many'",
        ),
    ],
)  # fmt: skip
def test_a_join_that_a_mend_adds_does_not_multiply_what_is_counted(shape: Shape, sql: str, meant: str) -> None:
    assert mended(sql, shape) == meant


@pytest.fixture
def ports() -> Shape:
    """Ports by their code, and ships that call at them."""
    catalog = Catalog(
        dialect="postgres",
        database="sea",
        taken_at=datetime(2026, 1, 1, tzinfo=UTC),
        tables=(
            table("port", {"code": "text", "label": "text", "note": "text", "pilot": "text"}, "code"),
            table("ship", {"sid": "bigint", "home": "text"}, "sid", {"home": "port.code"}),
        ),
    )
    values = {
        "public.port.code": ("RTM", "HAM", "SIN"),
        "public.port.label": ("Rotterdam", "Hamburg", "Singapore"),
        "public.port.note": ("deep", "ice", "SIN"),
        "public.port.pilot": ("Ann", "Bob"),
    }
    return Shape(catalog, (), values)


@pytest.mark.parametrize(
    ("sql", "meant"),
    [
        # Three letters are the code of a port, which is the key.
        ("SELECT label FROM port WHERE label = 'ham'", "SELECT label FROM port WHERE code = 'HAM'"),
        ("SELECT label FROM port WHERE label ILIKE '%HAM%'", None),  # part of a value that it holds
        (
            "SELECT label FROM port WHERE pilot ILIKE '%Rotterdam%'",
            "SELECT label FROM port WHERE label ILIKE '%Rotterdam%'",
        ),
        # Short, and of no key.
        ("SELECT label FROM port WHERE label = 'ice'", None),
        ("SELECT sid FROM ship WHERE home = 'ice'", None),
        # Whether it has a pilot.
        ("SELECT label FROM port WHERE pilot = 'Yes'", "SELECT label FROM port WHERE NOT pilot IS NULL"),
        ("SELECT label FROM port WHERE pilot = 'No'", "SELECT label FROM port WHERE pilot IS NULL"),
        ("SELECT label FROM port WHERE pilot = 'Yes please'", None),
    ],
)  # fmt: skip
def test_a_value_leads_to_its_key_and_yes_to_whether_there_is_one(ports: Shape, sql: str, meant: str | None) -> None:
    assert refine_values(sql, ports).sql == (meant or sql)


def test_yes_is_a_value_where_a_column_holds_such(ports: Shape) -> None:
    ports.values["public.port.pilot"] = ("yes", "no", "once")
    assert refine_values("SELECT label FROM port WHERE pilot = 'Yes'", ports).sql.endswith("pilot = 'yes'")
