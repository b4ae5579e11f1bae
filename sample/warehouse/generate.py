"""The rows of every table of the sample warehouse from one seed number. Pure: no clock, database or file."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from sample.warehouse.catalog import COUNTRIES, PRODUCTS, REGIONS, SERVICES
from sample.warehouse.customers import Customer, build_customers
from sample.warehouse.margins import Margin, Target, build_margins, build_targets
from sample.warehouse.operations import (
    Deployment,
    Headcount,
    Incident,
    build_deployments,
    build_headcount,
    build_incidents,
)
from sample.warehouse.orders import Order, build_orders
from sample.warehouse.people import Person, build_people
from sample.warehouse.tickets import Ticket, build_tickets

Value = str | int | bool | date | datetime | None
Row = tuple[Value, ...]

# Raise it with every change that alters a row or the schema: the loader then loads anew.
GENERATOR_VERSION = 4

# Columns of each table in the order of its rows; tables in an order that satisfies the foreign keys.
TABLES: dict[str, tuple[str, ...]] = {
    "public.regions": ("region_code", "region_name", "sales_lead"),
    "public.countries": ("country_code", "country_name", "region_code"),
    "public.products": (
        "product_id",
        "product_name",
        "product_family",
        "list_price",
        "unit_cost",
        "is_recurring",
        "launched_on",
        "discontinued_on",
    ),
    "public.customers": (
        "customer_id",
        "customer_name",
        "segment",
        "country_code",
        "signed_on",
        "contract_renews_on",
        "account_manager",
        "churned_on",
    ),
    "public.orders": ("order_id", "order_date", "customer_id", "channel", "order_total"),
    "public.order_lines": (
        "order_id",
        "line_no",
        "order_date",
        "product_id",
        "quantity",
        "unit_price",
        "discount_rate",
        "line_total",
    ),
    "public.monthly_margins": (
        "month",
        "region_code",
        "product_family",
        "revenue",
        "cost_of_goods",
        "freight_cost",
        "operating_cost",
        "net_margin",
    ),
    "public.SalesTarget": ("TargetId", "RegionCode", "QuarterStart", "TargetAmount", "ApprovedBy"),
    "public.headcount": ("month", "team", "employees", "open_positions"),
    "public.churn_events": ("customer_id", "churned_on", "reason", "competitor", "lost_annual_revenue"),
    "public.pii_raw": ("customer_id", "full_name", "email", "phone", "collected_at"),
    "ops.services": ("service_id", "service_name", "owning_team", "tier", "launched_on"),
    "ops.deployments": (
        "deployment_id",
        "service_id",
        "deployed_at",
        "version",
        "deployed_with",
        "outcome",
        "duration_seconds",
    ),
    "ops.incidents": (
        "incident_id",
        "service_id",
        "severity",
        "title",
        "started_at",
        "acknowledged_at",
        "resolved_at",
        "deployment_id",
    ),
    "ops.support_tickets": (
        "ticket_id",
        "customer_id",
        "product_id",
        "opened_at",
        "severity",
        "category",
        "first_response_minutes",
        "resolved_at",
        "satisfaction",
    ),
}


@dataclass(frozen=True)
class Business:
    """Everything that happened at Larkspur Instruments, as values; amounts in euro cents."""

    customers: list[Customer]
    orders: list[Order]
    margins: list[Margin]
    targets: list[Target]
    headcount: list[Headcount]
    people: list[Person]
    deployments: list[Deployment]
    incidents: list[Incident]
    tickets: list[Ticket]


def build_business(seed: int = 7) -> Business:
    """Make the three years; the same seed gives the same values in every process and on every Python."""
    customers = build_customers(seed)
    orders = build_orders(seed, customers)
    margins = build_margins(seed, orders)
    deployments = build_deployments(seed)
    return Business(
        customers=customers,
        orders=orders,
        margins=margins,
        targets=build_targets(seed, margins),
        headcount=build_headcount(seed),
        people=build_people(seed, customers),
        deployments=deployments,
        incidents=build_incidents(seed, deployments),
        tickets=build_tickets(seed, customers),
    )


def generate(seed: int = 7) -> Iterator[tuple[str, Iterator[Row]]]:
    """Yield ``(table, rows)`` in the order of ``TABLES``; each row follows that table's columns.

    Amounts are text with two decimals (EUR), times are aware datetimes in UTC.
    """
    yield from tables_of(build_business(seed)).items()


def tables_of(business: Business) -> dict[str, Iterator[Row]]:
    """The rows of each table, in the order of ``TABLES``."""
    return {
        "public.regions": iter([(r.code, r.name, r.lead) for r in REGIONS]),
        "public.countries": iter([(c.code, c.name, c.region_code) for c in COUNTRIES]),
        "public.products": _products(),
        "public.customers": _customers(business.customers),
        "public.orders": _orders(business.orders),
        "public.order_lines": _lines(business.orders),
        "public.monthly_margins": _margins(business.margins),
        "public.SalesTarget": (
            (t.target_id, t.region_code, t.quarter, euro(t.amount), t.approved_by) for t in business.targets
        ),
        "public.headcount": iter(business.headcount),
        "public.churn_events": _churn(business),
        "public.pii_raw": iter(business.people),
        "ops.services": iter([(s.service_id, s.name, s.team, s.tier, s.launched_on) for s in SERVICES]),
        "ops.deployments": (
            (d.deployment_id, d.service.service_id, d.deployed_at, d.version, d.tool, d.outcome, d.duration)
            for d in business.deployments
        ),
        "ops.incidents": iter(business.incidents),
        "ops.support_tickets": iter(business.tickets),
    }


def euro(cents: int) -> str:
    """An amount of cents as text in EUR with two decimals."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def _products() -> Iterator[Row]:
    for p in PRODUCTS:
        recurring = p.family == "Subscriptions"
        yield (
            p.product_id,
            p.name,
            p.family,
            euro(p.price),
            euro(p.unit_cost),
            recurring,
            p.launched_on,
            None,
        )


def _customers(customers: list[Customer]) -> Iterator[Row]:
    for c in customers:
        yield (
            c.customer_id,
            c.name,
            c.segment,
            c.country_code,
            c.signed_on,
            c.renews_on,
            c.manager,
            c.churned_on,
        )


def _orders(orders: list[Order]) -> Iterator[Row]:
    for o in orders:
        yield (o.order_id, o.order_date, o.customer.customer_id, o.channel, euro(o.total))


def _lines(orders: list[Order]) -> Iterator[Row]:
    for o in orders:
        for number, line in enumerate(o.lines, start=1):
            discount = None if line.discount is None else f"0.{line.discount:03d}"
            yield (
                o.order_id,
                number,
                o.order_date,
                line.product_id,
                line.quantity,
                euro(line.unit_price),
                discount,
                euro(line.total),
            )


def _margins(margins: list[Margin]) -> Iterator[Row]:
    for m in margins:
        amounts = (m.revenue, m.cost_of_goods, m.freight, m.operating, m.net)
        yield (m.month, m.region_code, m.family, *map(euro, amounts))


def _churn(business: Business) -> Iterator[Row]:
    """Customers that left, by day; what they ordered in the twelve months before is the revenue lost."""
    left = {c.customer_id: c.churned_on for c in business.customers if c.churned_on is not None}
    lost: dict[int, int] = {}
    for order in business.orders:
        day = left.get(order.customer.customer_id)
        if day is not None and day - timedelta(days=365) <= order.order_date < day:
            lost[order.customer.customer_id] = lost.get(order.customer.customer_id, 0) + order.total
    gone = [(c.churned_on, c) for c in business.customers if c.churned_on is not None]
    for day, c in sorted(gone, key=lambda pair: (pair[0], pair[1].customer_id)):
        yield (c.customer_id, day, c.reason, c.competitor, euro(lost.get(c.customer_id, 0)))
