"""Customers over 36 months: who is there at the start, who signs, who leaves (S3, S5). Pure."""

from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from sample.warehouse.catalog import COUNTRIES, REGIONS, SEGMENTS, Country, Region, Segment
from sample.warehouse.names import NAMES
from sample.warehouse.timeline import FIRST_DAY, MONTHS, Month, churn_factor, stream

INITIAL_CUSTOMERS = 3500
MONTHLY_GROWTH = 0.004
FLEET_CUSTOMER = "Waalhaven Logistics"

_MANAGERS = {
    "NOR": ("Astrid Hjelm", "Olav Brekke", "Saana Koskela"),
    "DAC": ("Jana Reinholt", "Tobias Kranz", "Urs Bachmann", "Helene Wolff"),
    "UKI": ("Owen Pritchard", "Maeve Donnelly", "Grace Holloway"),
    "IBE": ("Lucia Ferrer", "Duarte Pinho"),
    "BNL": ("Femke de Wit", "Bram Claes"),
}


@dataclass
class Customer:
    """A customer; ``customer_id`` is 0 until all are known and numbered by the day they signed."""

    customer_id: int
    name: str
    segment: str
    country_code: str
    region_code: str
    signed_on: date
    manager: str | None
    churned_on: date | None = None
    reason: str | None = None
    competitor: str | None = None

    @property
    def renews_on(self) -> date | None:
        """Next renewal after the sample's end; small businesses and those who left have none."""
        if self.segment == "smb" or self.churned_on is not None:
            return None
        day = self.signed_on.replace(day=min(self.signed_on.day, 28), year=2026)
        return day if day > date(2026, 6, 30) else day.replace(year=2027)


def build_customers(seed: int) -> list[Customer]:
    """All customers of the three years, about 5,000, ordered by ``customer_id`` from 1001."""
    names: set[str] = {FLEET_CUSTOMER}
    found: list[Customer] = []
    for region in REGIONS:
        for segment in SEGMENTS:
            rng = stream(seed, f"customers:{region.code}:{segment.code}")
            found.extend(_build_group(rng, region, segment, names))
    found.sort(key=lambda c: (c.signed_on, c.name))
    for number, customer in enumerate(found, start=1001):
        customer.customer_id = number
    return found


def _build_group(rng: Random, region: Region, segment: Segment, names: set[str]) -> list[Customer]:
    countries = [c for c in COUNTRIES if c.region_code == region.code]
    group: list[Customer] = []
    for _ in range(round(INITIAL_CUSTOMERS * region.share * segment.share)):
        signed = FIRST_DAY - timedelta(days=1 + int(1900 * rng.random() ** 1.4))
        group.append(_sign(rng, region, segment, countries, signed, names))
    if region.code == "BNL" and segment.code == "enterprise":
        fleet = min((c for c in group if c.country_code == "NL"), key=lambda c: c.signed_on)
        fleet.name = FLEET_CUSTOMER
    leaving, signing = rng.random(), rng.random()
    active = list(group)
    for month in MONTHS:
        size = len(active)
        leaving += size * segment.churn * churn_factor(month, region.code, segment.code) * rng.uniform(0.92, 1.08)
        signing += size * (segment.churn + MONTHLY_GROWTH) * rng.uniform(0.9, 1.1)
        while leaving >= 1:
            leaving -= 1
            _leave(rng, active, month)
        while signing >= 1:
            signing -= 1
            signed = month.first + timedelta(days=int(rng.random() * month.days))
            joined = _sign(rng, region, segment, countries, signed, names)
            group.append(joined)
            active.append(joined)
    return group


def _sign(
    rng: Random, region: Region, segment: Segment, countries: list[Country], signed: date, names: set[str]
) -> Customer:
    country = rng.choices(countries, [c.share for c in countries])[0]
    name = ""
    while not name or name in names:
        name = f"{rng.choice(NAMES['stems'])} {rng.choice(NAMES['trades'])} {country.legal_form}"
    names.add(name)
    managed = rng.random() < {"smb": 0.05, "mid_market": 0.7, "enterprise": 0.97}[segment.code]
    manager = rng.choice(_MANAGERS[region.code]) if managed else None
    return Customer(0, name, segment.code, country.code, region.code, signed, manager)


def _leave(rng: Random, active: list[Customer], month: Month) -> None:
    """Take one customer out of ``active``: nobody in the first two months, and never the fleet customer."""
    while True:
        position = int(rng.random() * len(active))
        customer = active[position]
        if customer.name != FLEET_CUSTOMER and (month.first - customer.signed_on).days >= 60:
            break
    del active[position]
    customer.churned_on = month.first + timedelta(days=int(rng.random() * month.days))
    customer.reason, customer.competitor = _reason(rng, customer, month)


def _reason(rng: Random, customer: Customer, month: Month) -> tuple[str | None, str | None]:
    """Why a customer left and to whom; the stories S3 and S5 shift the weights."""
    reasons = ("price", "product_quality", "service", "closed_business", "consolidation", None)
    weights = [22, 14, 16, 18, 12, 18]
    factor = churn_factor(month, customer.region_code, customer.segment)
    if factor > 1 and customer.region_code == "DAC":
        weights = [8, 58, 16, 6, 4, 8]
    elif factor > 1:
        weights = [60, 6, 8, 10, 6, 10]
    reason = rng.choices(reasons, weights)[0]
    if reason != "price" or rng.random() >= (0.85 if factor > 1 else 0.3):
        return reason, None
    after_launch = month.between((2026, 2), (2026, 6))
    return reason, "Brightmesh" if after_launch or rng.random() < 0.5 else "Ostrava Metrics"
