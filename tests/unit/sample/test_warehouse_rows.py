"""The generated rows fit together, and the same seed makes the same rows in every process."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from sample.warehouse.catalog import COUNTRIES, PRODUCTS
from sample.warehouse.customers import build_customers
from sample.warehouse.generate import GENERATOR_VERSION, TABLES, Row, generate
from sample.warehouse.timeline import FIRST_DAY, LAST_DAY, MONTHS

# Of every table's rows, for seed 7. Each test run has another hash seed, so it shows too that none is used. When it
# changes, raise GENERATOR_VERSION, or databases that hold the old rows keep them, and answer sample/facts.yaml anew.
DIGEST = (4, "8c767b9013ecb8c2")

KEYS = {
    "public.regions": ("region_code",),
    "public.countries": ("country_code",),
    "public.products": ("product_id",),
    "public.customers": ("customer_id",),
    "public.orders": ("order_id",),
    "public.order_lines": ("order_id", "line_no"),
    "public.monthly_margins": ("month", "region_code", "product_family"),
    "public.SalesTarget": ("RegionCode", "QuarterStart"),
    "public.headcount": ("month", "team"),
    "public.churn_events": ("customer_id",),
    "ops.services": ("service_id",),
    "ops.deployments": ("deployment_id",),
    "ops.incidents": ("incident_id",),
    "ops.support_tickets": ("ticket_id",),
}

Tables = dict[str, list[Row]]


@pytest.fixture(scope="module")
def tables() -> Tables:
    return {name: list(rows) for name, rows in generate(7)}


def digest(tables: dict[str, list[Row]]) -> str:
    found = hashlib.sha256()
    for name, rows in tables.items():
        found.update(name.encode())
        for row in rows:
            found.update(repr(tuple(str(value) for value in row)).encode())
    return found.hexdigest()[:16]


def column(tables: Tables, table: str, name: str) -> Iterator[object]:
    position = TABLES[table].index(name)
    return (row[position] for row in tables[table])


def test_every_table_has_rows_as_wide_as_its_columns(tables: Tables) -> None:
    assert list(tables) == list(TABLES)
    assert len(TABLES) >= 14
    for name, rows in tables.items():
        assert rows, name
        assert {len(row) for row in rows} == {len(TABLES[name])}, name


def test_there_are_three_hundred_thousand_rows(tables: Tables) -> None:
    assert sum(len(rows) for rows in tables.values()) >= 300_000


@pytest.mark.parametrize("table", KEYS)
def test_keys_are_unique(tables: Tables, table: str) -> None:
    positions = [TABLES[table].index(name) for name in KEYS[table]]
    counts = Counter(tuple(row[position] for position in positions) for row in tables[table])
    assert [key for key, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("table", ["public.orders", "public.order_lines", "public.churn_events", "public.pii_raw"])
def test_customers_and_orders_exist(tables: Tables, table: str) -> None:
    if table == "public.order_lines":
        assert set(column(tables, table, "order_id")) == set(column(tables, "public.orders", "order_id"))
    else:
        known = set(column(tables, "public.customers", "customer_id"))
        assert set(column(tables, table, "customer_id")) <= known


def test_tickets_match_customers_and_products_without_a_foreign_key(tables: Tables) -> None:
    known = set(column(tables, "public.customers", "customer_id"))
    assert set(column(tables, "ops.support_tickets", "customer_id")) <= known
    products: set[object] = {product.product_id for product in PRODUCTS}
    assert set(column(tables, "ops.support_tickets", "product_id")) == products | {None}


def test_an_order_is_the_sum_of_its_lines(tables: Tables) -> None:
    lines: dict[object, Decimal] = {}
    for order_id, _, _, _, quantity, price, discount, total in tables["public.order_lines"]:
        exact = Decimal(str(quantity)) * Decimal(str(price)) * (1 - Decimal(str(discount or "0")))
        assert abs(exact - Decimal(str(total))) <= Decimal("0.005")
        lines[order_id] = lines.get(order_id, Decimal(0)) + Decimal(str(total))
    totals = {row[0]: Decimal(str(row[4])) for row in tables["public.orders"]}
    assert totals == lines


def test_margins_agree_with_the_orders_to_the_cent(tables: Tables) -> None:
    region_of = {country.code: country.region_code for country in COUNTRIES}
    region = {row[0]: region_of[str(row[3])] for row in tables["public.customers"]}
    customer = {row[0]: row[2] for row in tables["public.orders"]}
    sold: dict[tuple[date, str, str], Decimal] = {}
    for order_id, _, day, product_id, _, _, _, total in tables["public.order_lines"]:
        assert isinstance(day, date)
        assert isinstance(product_id, int)
        key = (day.replace(day=1), region[customer[order_id]], PRODUCTS[product_id - 1].family)
        sold[key] = sold.get(key, Decimal(0)) + Decimal(str(total))
    booked = {row[:3]: Decimal(str(row[3])) for row in tables["public.monthly_margins"]}
    assert booked == sold


def test_net_margin_is_revenue_less_costs(tables: Tables) -> None:
    for row in tables["public.monthly_margins"]:
        revenue, goods, freight, operating, net = (Decimal(str(value)) for value in row[3:])
        assert net == revenue - goods - freight - operating


def test_everything_happens_within_the_three_years(tables: Tables) -> None:
    begin = datetime(2023, 7, 1, tzinfo=UTC)
    end = datetime(2026, 7, 1, tzinfo=UTC)
    for name in ("public.orders", "public.order_lines"):
        days = list(column(tables, name, "order_date"))
        assert all(isinstance(day, date) and FIRST_DAY <= day <= LAST_DAY for day in days)
    for table, name in (
        ("ops.support_tickets", "opened_at"),
        ("ops.support_tickets", "resolved_at"),
        ("ops.incidents", "started_at"),
        ("ops.incidents", "acknowledged_at"),
        ("ops.incidents", "resolved_at"),
        ("ops.deployments", "deployed_at"),
    ):
        for at in column(tables, table, name):
            assert at is None or (isinstance(at, datetime) and begin <= at < end), (table, name, at)
    assert {row[0] for row in tables["public.monthly_margins"]} == {month.first for month in MONTHS}


def test_nobody_orders_before_signing_or_after_leaving(tables: Tables) -> None:
    span = {row[0]: (row[4], row[7]) for row in tables["public.customers"]}
    for _, day, customer, _, _ in tables["public.orders"]:
        signed, left = span[customer]
        assert isinstance(signed, date)
        assert isinstance(day, date)
        assert signed <= day
        assert left is None or (isinstance(left, date) and day < left)


def test_churn_events_are_the_customers_that_left(tables: Tables) -> None:
    left = {row[0]: row[7] for row in tables["public.customers"] if row[7] is not None}
    assert {row[0]: row[1] for row in tables["public.churn_events"]} == left


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("public.regions", "sales_lead"),
        ("public.customers", "account_manager"),
        ("public.order_lines", "discount_rate"),
        ("public.SalesTarget", "ApprovedBy"),
        ("public.churn_events", "reason"),
        ("public.pii_raw", "phone"),
        ("ops.deployments", "duration_seconds"),
        ("ops.incidents", "resolved_at"),
        ("ops.support_tickets", "resolved_at"),
        ("ops.support_tickets", "first_response_minutes"),
    ],
)
def test_nulls_stand_where_they_are_natural(tables: Tables, table: str, name: str) -> None:
    values = list(column(tables, table, name))
    assert None in values
    assert any(value is not None for value in values)


def test_personal_data_uses_reserved_names(tables: Tables) -> None:
    assert all(str(address).endswith(".example") for address in column(tables, "public.pii_raw", "email"))


def test_rows_are_those_of_this_version(tables: Tables) -> None:
    assert (GENERATOR_VERSION, digest(tables)) == DIGEST


def test_another_seed_makes_other_customers(tables: Tables) -> None:
    assert build_customers(8)[0].name != tables["public.customers"][0][1]
