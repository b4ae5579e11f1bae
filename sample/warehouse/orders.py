"""Orders and their lines over 36 months (S4, S8, S9, S10). Pure; amounts in euro cents."""

from bisect import bisect
from collections.abc import Iterator
from datetime import date
from itertools import accumulate
from random import Random
from typing import NamedTuple

from sample.warehouse.catalog import CALIBRATION, CLOUD_PLUS, PRODUCTS, REGIONS, SEGMENTS, Region, Segment
from sample.warehouse.customers import FLEET_CUSTOMER, Customer
from sample.warehouse.timeline import (
    BUNDLE_START,
    FLEET_RENEWAL,
    MONTHS,
    PRICE_RISE,
    Month,
    calibration_factor,
    order_factor,
    stream,
    working_days,
)

FLEET_SHARE = 0.12
_SEASON = (0.985, 0.99, 1.01, 1.0, 1.0, 1.0, 0.985, 0.97, 1.01, 1.02, 1.03, 1.0)
# How many of a hundred orders draw one, two, three, four or five products.
_LINES = (34, 33, 20, 9, 4)
_DISCOUNTS = (None, 50, 100, 150, 200)


class Line(NamedTuple):
    """One order line: ``unit_price`` and ``total`` in cents, ``discount`` in thousandths or None."""

    product_id: int
    quantity: int
    unit_price: int
    discount: int | None
    total: int


class Order(NamedTuple):
    """One order with its lines; ``total`` in cents is the sum of theirs."""

    order_id: int
    order_date: date
    customer: Customer
    channel: str
    lines: tuple[Line, ...]

    @property
    def total(self) -> int:
        """Sum of the lines, in cents."""
        return sum(line.total for line in self.lines)


def build_orders(seed: int, customers: list[Customer]) -> list[Order]:
    """All orders by date, numbered from 100001: about 90,000 with some 220,000 lines."""
    rng = stream(seed, "orders")
    groups: dict[tuple[str, str], list[Customer]] = {}
    for customer in customers:
        groups.setdefault((customer.region_code, customer.segment), []).append(customer)
    drafts: list[Order] = []
    for month in MONTHS:
        weights = list(accumulate(_weights(month)))
        drafted: list[Order] = []
        for region in REGIONS:
            for segment in SEGMENTS:
                drafted.extend(_month_orders(rng, month, region, segment, groups[region.code, segment.code], weights))
        drafted.sort(key=lambda order: order.order_date)
        drafts.extend(drafted)
    drafts.append(_fleet_order(customers, drafts))
    drafts.sort(key=lambda order: order.order_date)
    return [order._replace(order_id=number) for number, order in enumerate(drafts, start=100001)]


def _weights(month: Month) -> Iterator[float]:
    """Weight of each product among the lines; subscriptions gain from the bundle on (S8)."""
    since_bundle = max(0, month.number - 13)
    for product in PRODUCTS:
        if product.product_id == CALIBRATION:
            yield product.weight * calibration_factor(month)
        elif product.family == "Subscriptions":
            yield product.weight * (1 + 0.022 * since_bundle)
        else:
            yield product.weight


def _month_orders(
    rng: Random, month: Month, region: Region, segment: Segment, group: list[Customer], weights: list[float]
) -> Iterator[Order]:
    """Orders of one region and segment in a month, from customers who are there throughout it."""
    eligible = [
        c
        for c in group
        if c.signed_on <= month.first
        and (c.churned_on is None or c.churned_on > month.last)
        and not (c.name == FLEET_CUSTOMER and month.between((2026, 4), (2026, 6)))
    ]
    growth = 1 + 0.0015 * month.number
    factor = order_factor(month, region.code)
    season = _SEASON[month.first.month - 1] * month.days / 30.4
    count = int(len(eligible) * segment.orders * growth * season * factor * rng.uniform(0.98, 1.02) + rng.random())
    # In Iberia only the distributors held orders back.
    distributor = 1 - (1 - region.distributor) / factor if factor < 1 else region.distributor
    days = working_days(month)
    for _ in range(count):
        customer = eligible[int(rng.random() * len(eligible))]
        drawn = rng.random()
        web = 0.5 if segment.code == "smb" else 0.2
        channel = "distributor" if drawn < distributor else "web" if rng.random() < web else "direct"
        day = days[int(rng.random() * len(days))]
        yield Order(0, day, customer, channel, tuple(_lines(rng, day, segment, weights)))


def _lines(rng: Random, day: date, segment: Segment, weights: list[float]) -> list[Line]:
    wanted = rng.choices((1, 2, 3, 4, 5), _LINES)[0]
    least, most = segment.units
    quantities: dict[int, int] = {}
    gateways = 0
    for _ in range(wanted):
        product = PRODUCTS[min(bisect(weights, rng.random() * weights[-1]), len(PRODUCTS) - 1)]
        if product.product_id in quantities:
            continue
        quantity = least + int(rng.random() * (most - least + 1))
        if product.family == "Services":
            quantity = max(1, quantity // 2)
        quantities[product.product_id] = quantity
        gateways += quantity if product.family == "Gateways" else 0
    if gateways and day >= BUNDLE_START:
        quantities[CLOUD_PLUS] = max(quantities.get(CLOUD_PLUS, 0), gateways)
    return [_line(rng, day, product_id, quantity, gateways) for product_id, quantity in quantities.items()]


def _line(rng: Random, day: date, product_id: int, quantity: int, gateways: int) -> Line:
    product = PRODUCTS[product_id - 1]
    price = product.price if day >= PRICE_RISE else product.price_before
    discount = rng.choices(_DISCOUNTS, (72, 12, 9, 4, 3))[0]
    if product_id == CLOUD_PLUS and gateways and day >= BUNDLE_START:
        discount = _bundle_discount(day)
    return price_line(product_id, quantity, price, discount)


def _bundle_discount(day: date) -> int | None:
    """Introductory discount of the bundle, in thousandths; it was phased out over two years (S8)."""
    months = (day.year - BUNDLE_START.year) * 12 + day.month - BUNDLE_START.month
    return max(0, 600 - 30 * months) or None


def price_line(product_id: int, quantity: int, price: int, discount: int | None) -> Line:
    """A line with its total in cents, rounded half up."""
    total = (quantity * price * (1000 - (discount or 0)) + 500) // 1000
    return Line(product_id, quantity, price, discount, total)


def _fleet_order(customers: list[Customer], orders: list[Order]) -> Order:
    """The one-off fleet renewal: 12 % of Benelux revenue of 2026 Q2, itself included (S10)."""
    fleet = next(c for c in customers if c.name == FLEET_CUSTOMER)
    quarter = sum(
        order.total for order in orders if order.customer.region_code == "BNL" and order.order_date >= date(2026, 4, 1)
    )
    wanted = quarter * FLEET_SHARE / (1 - FLEET_SHARE)
    lines: list[Line] = []
    for product_id, share in ((1, 0.40), (4, 0.22), (CLOUD_PLUS, 0.22), (11, 0.16)):
        price = PRODUCTS[product_id - 1].price
        lines.append(price_line(product_id, round(wanted * share / (price * 0.9)), price, 100))
    return Order(0, FLEET_RENEWAL, fleet, "direct", tuple(lines))
