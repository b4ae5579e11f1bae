"""Support tickets over 36 months: the firmware trouble (S2) and the slower first response (S7). Pure."""

from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import NamedTuple

from sample.warehouse.catalog import PRODUCTS, REGIONS, SEGMENTS
from sample.warehouse.customers import Customer
from sample.warehouse.timeline import LAST_DAY, MONTHS, Month, gateway_ticket_factor, response_factor, stream

_END = datetime(LAST_DAY.year, LAST_DAY.month, LAST_DAY.day, 23, 59, tzinfo=UTC)
_SEVERITIES = ("low", "medium", "high", "critical")
_SEVERITY_WEIGHTS = {False: (34, 42, 19, 5), True: (12, 40, 36, 12)}
# Usual minutes to the first response, usual hours to the resolution.
_RESPONSE = {"low": 95.0, "medium": 58.0, "high": 31.0, "critical": 14.0}
_RESOLUTION = {"low": 40.0, "medium": 26.0, "high": 14.0, "critical": 7.0}
_CATEGORIES = {
    "Gateways": (("battery", 12), ("connectivity", 46), ("installation", 26), ("other", 16)),
    "Meters": (("reading", 52), ("installation", 24), ("battery", 8), ("other", 16)),
    "Sensors": (("reading", 44), ("connectivity", 28), ("battery", 14), ("other", 14)),
    "Subscriptions": (("account", 38), ("billing", 30), ("reading", 16), ("other", 16)),
    "Services": (("installation", 58), ("billing", 22), ("other", 20)),
    "": (("billing", 48), ("account", 40), ("other", 12)),
}
_NO_PRODUCT = 0.10


class Ticket(NamedTuple):
    """A support ticket; times in UTC, ``first_response`` in minutes."""

    ticket_id: int
    customer_id: int
    product_id: int | None
    opened_at: datetime
    severity: str
    category: str
    first_response: int | None
    resolved_at: datetime | None
    satisfaction: int | None


def build_tickets(seed: int, customers: list[Customer]) -> list[Ticket]:
    """All tickets by the time they were opened, numbered from 500001: about 45,000."""
    rng = stream(seed, "tickets")
    groups: dict[tuple[str, str], list[Customer]] = {}
    for customer in customers:
        groups.setdefault((customer.region_code, customer.segment), []).append(customer)
    found: list[Ticket] = []
    for month in MONTHS:
        opened: list[Ticket] = []
        for region in REGIONS:
            for segment in SEGMENTS:
                present = [
                    c
                    for c in groups[region.code, segment.code]
                    if c.signed_on <= month.first and (c.churned_on is None or c.churned_on > month.last)
                ]
                opened.extend(_group_tickets(rng, month, present, segment.tickets))
        found.extend(sorted(opened, key=lambda t: (t.opened_at, t.customer_id)))
    return [ticket._replace(ticket_id=number) for number, ticket in enumerate(found, start=500001)]


def _group_tickets(rng: Random, month: Month, present: list[Customer], rate: float) -> list[Ticket]:
    total = len(present) * rate * rng.uniform(0.97, 1.03)
    found: list[Ticket] = []
    for product in PRODUCTS:
        weight = product.tickets * (1 - _NO_PRODUCT)
        per_day = total * weight / 0.9 / month.days
        for offset in range(month.days):
            day = month.first + timedelta(days=offset)
            trouble = product.name == "Halo Gateway" and gateway_ticket_factor(day) > 1
            factor = gateway_ticket_factor(day) if product.name == "Halo Gateway" else 1.0
            weekday = 1.25 if day.weekday() < 5 else 0.375
            for _ in range(int(per_day * factor * weekday + rng.random())):
                found.append(_ticket(rng, month, day, present, product.product_id, trouble))
    for _ in range(int(total * _NO_PRODUCT + rng.random())):
        day = month.first + timedelta(days=int(rng.random() * month.days))
        found.append(_ticket(rng, month, day, present, None, False))
    return found


def _ticket(
    rng: Random, month: Month, day: date, present: list[Customer], product_id: int | None, trouble: bool
) -> Ticket:
    customer = present[int(rng.random() * len(present))]
    minute = int(420 + 720 * (rng.random() + rng.random()) / 2)
    opened = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(minutes=minute, seconds=rng.randrange(60))
    severity = rng.choices(_SEVERITIES, _SEVERITY_WEIGHTS[trouble])[0]
    family = PRODUCTS[product_id - 1].family if product_id else ""
    categories, weights = zip(*_CATEGORIES[family], strict=True)
    # Firmware 4.2 drained the battery: most tickets beyond the usual number say so.
    category = "battery" if trouble and rng.random() < 0.55 else rng.choices(categories, weights)[0]
    queue = response_factor(month) * (1.3 if trouble else 1.0)
    minutes = max(1, round(_RESPONSE[severity] * queue * _spread(rng, 0.55)))
    answered = opened + timedelta(minutes=minutes)
    hours = _RESOLUTION[severity] * (1.5 if trouble else 1.0) * _spread(rng, 0.8)
    over = answered + timedelta(seconds=round(hours * 3600))
    # A few are withdrawn before anybody answers; a few of the last months drag on.
    response = None if rng.random() < 0.015 or answered > _END else minutes
    lingers = (LAST_DAY - day).days < 120 and rng.random() < 0.03
    resolved = None if lingers or over > _END else over
    rating = None
    if response is not None and resolved is not None and rng.random() < 0.38:
        slow = trouble or response_factor(month) > 1.25
        rating = rng.choices((1, 2, 3, 4, 5), (12, 16, 24, 30, 18) if slow else (4, 7, 17, 40, 32))[0]
    return Ticket(0, customer.customer_id, product_id, opened, severity, category, response, resolved, rating)


def _spread(rng: Random, sigma: float) -> float:
    """A factor around 1 (its median) with a long right tail, log-normal."""
    return float(rng.lognormvariate(0.0, sigma))
