"""A small company of six orders in DuckDB, whose figures can be counted by hand, and the sample's model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from rag_core.datamodel.plan import MetricQuery
from rag_core.semantics.compile import compile_query
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.match import Match, Matcher
from rag_core.semantics.model import load_semantic_model
from rag_core.semantics.values import DimensionValues, ValueIndex

SMALL = """\
version: 1
dialect: duckdb
entities:
  customers: {table: main.customers, primary_key: [id], grain: one row a customer}
  orders: {table: main.orders, primary_key: [id], grain: one row an order}
  lines: {table: main.lines, primary_key: [order_id, no], grain: one row a line}
  staff: {table: main.staff, primary_key: [month, team], grain: one row a team and month}
joins:
  - {from: orders, to: customers, columns: {customer_id: id}}
  - {from: lines, to: orders, columns: {order_id: id}}
time_dimensions:
  ordered_on: {label: Order date, entity: orders, column: day}
  line_day: {label: Order date, entity: lines, column: day}
  staff_month: {label: Month, entity: staff, column: month}
dimensions:
  country: {label: Country, entity: customers, expression: country, synonyms: [country]}
  product: {label: Product, entity: lines, expression: product, synonyms: [product]}
  size: {label: Size, entity: customers, expression: size, synonyms: [size], order: [small, large]}
  team: {label: Team, entity: staff, expression: team, synonyms: [team]}
metrics:
  revenue: {label: Revenue, synonyms: [revenue], entity: orders, expression: sum(total), time: ordered_on, unit: EUR}
  orders: {label: Orders, synonyms: [orders], entity: orders, expression: count(*), time: ordered_on, decimals: 0}
  units: {label: Units, synonyms: [units], entity: lines, expression: sum(quantity), time: line_day}
  per_order:
    {label: Units per order, type: ratio, numerator: units, denominator: orders, decimals: 2}
  large_share: {label: Large share, type: ratio, numerator: large, denominator: revenue, unit: "%", decimals: 1}
  large:
    {label: Large revenue, entity: orders, expression: sum(total), filters: [total > 150], time: ordered_on, unit: EUR}
  margin: {label: Margin, type: derived, expression: revenue - 10 * orders, unit: EUR}
  employees:
    label: Employees
    type: snapshot
    entity: staff
    expression: sum(people)
    time: staff_month
    additivity: semi_additive
  members:
    label: Members
    type: stock
    entity: customers
    expression: count(*)
    valid_from: joined
    valid_to: gone
    additivity: semi_additive
  members_at_start:
    label: Members at the start
    type: stock
    entity: customers
    expression: count(*)
    valid_from: joined
    valid_to: gone
    at: start
    additivity: semi_additive
  members_lost:
    label: Members lost
    type: stock
    entity: customers
    expression: count(*)
    valid_from: joined
    valid_to: gone
    at: lost
    additivity: semi_additive
  loss_rate: {label: Loss rate, type: ratio, numerator: members_lost, denominator: members_at_start, unit: "%"}
"""
ROWS = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, country VARCHAR, size VARCHAR, joined DATE, gone DATE);
INSERT INTO customers VALUES
  (1, 'Norway', 'large', '2024-01-10', NULL), (2, 'Spain', 'small', '2024-02-01', '2025-02-15'),
  (3, NULL, 'small', '2025-01-20', NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, day DATE, total DECIMAL(10, 2));
INSERT INTO orders VALUES
  (1, 1, '2025-01-05', 100), (2, 1, '2025-02-10', 200), (3, 2, '2025-01-31', 50),
  (4, 3, '2025-02-28', 25), (5, 1, '2024-02-20', 160), (6, 99, '2025-03-01', 40);
CREATE TABLE lines (order_id INTEGER, no INTEGER, day DATE, product VARCHAR, quantity INTEGER);
INSERT INTO lines VALUES
  (1, 1, '2025-01-05', 'bolt', 3), (1, 2, '2025-01-05', 'nut', 4), (2, 1, '2025-02-10', 'bolt', 1),
  (3, 1, '2025-01-31', 'nut', 2), (4, 1, '2025-02-28', 'it''s', 5), (5, 1, '2024-02-20', 'bolt', 6);
CREATE TABLE staff (month DATE, team VARCHAR, people INTEGER);
INSERT INTO staff VALUES
  ('2025-01-01', 'a', 5), ('2025-01-01', 'b', 2), ('2025-02-01', 'a', 6), ('2025-02-01', 'b', 2),
  ('2025-03-01', 'a', 7);
"""

Ask = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> SemanticModel:
    """The model of the small company."""
    path = tmp_path_factory.mktemp("model") / "semantic_model.yaml"
    path.write_text(SMALL, encoding="utf-8")
    return load_semantic_model(path)


@pytest.fixture(scope="session")
def small_rows() -> str:
    """The statements that make the small company's tables."""
    return ROWS


@pytest.fixture(scope="session")
def ask(small: SemanticModel) -> Iterator[Ask]:
    """Compiles a metric query over the small company, runs it in DuckDB and returns its rows."""
    connection = duckdb.connect()
    connection.execute(ROWS)

    def run(**parts: Any) -> list[tuple[Any, ...]]:
        compiled = compile_query(MetricQuery.model_validate(parts), small, "duckdb")
        rows: list[tuple[Any, ...]] = connection.execute(compiled.sql).fetchall()
        assert all(len(row) == len(compiled.meanings) for row in rows)
        return rows

    yield run
    connection.close()


VALUES: dict[str, tuple[Any, ...]] = {
    "region": ("Benelux", "DACH", "Iberia", "Nordics", "UK and Ireland"),
    "country": (
        "Austria",
        "Belgium",
        "Germany",
        "Ireland",
        "Netherlands",
        "Norway",
        "Spain",
        "Sweden",
        "United Kingdom",
    ),
    "segment": ("enterprise", "mid_market", "smb"),
    "customer": ("Waalhaven Logistics", *(f"Customer Number {number} GmbH" for number in range(250))),
    "product": ("Calibration", "Cloud Plus", "Fleet Analytics", "Halo Gateway", "Halo Gateway Mini", "Installation"),
    "product_family": ("Gateways", "Meters", "Sensors", "Services", "Subscriptions"),
    "channel": ("direct", "distributor", "web"),
    "team": ("Billing", "Customer Care", "Data", "Devices", "Platform", "Security"),
    "service": ("billing-api", "customer-portal", "fleet-analytics", "metering-store"),
    "tier": (1, 2, 3),
    "incident_severity": ("sev1", "sev2", "sev3", "sev4"),
    "ticket_severity": ("critical", "high", "low", "medium"),
    "ticket_category": ("account", "battery", "billing", "connectivity", "installation", "other", "reading"),
    "churn_reason": ("closed_business", "consolidation", "price", "product_quality", "service"),
    "competitor": ("Brightmesh", "Ostrava Metrics"),
    "deployment_outcome": ("failed", "rolled_back", "succeeded"),
    "deployment_tool": ("ferry-deploy", "quay"),
    "account_manager": ("Jana Reinholt",),
}
RUN_DATE = date(2026, 7, 1)


@pytest.fixture(scope="session")
def sample_model(repo_root: Path) -> SemanticModel:
    """The model of the sample company."""
    return load_semantic_model(repo_root / "config" / "semantic_model.yaml")


@pytest.fixture(scope="session")
def sample_values() -> ValueIndex:
    """Some of the sample's values."""
    return ValueIndex(
        dimensions=tuple(
            DimensionValues(dimension=name, values=values, has_empty=name in ("churn_reason", "account_manager"))
            for name, values in VALUES.items()
        )
    )


@pytest.fixture(scope="session")
def matcher(sample_model: SemanticModel, sample_values: ValueIndex) -> Matcher:
    """A matcher over the sample's model."""
    return Matcher(sample_model, sample_values)


@pytest.fixture(scope="session")
def match(matcher: Matcher) -> Callable[[str], Match]:
    """Matches a question as of 2026-07-01."""
    return lambda text: matcher.match(text, RUN_DATE)
