"""What Finance derives from the orders: monthly margins (S1) and sales targets. Pure; amounts in cents."""

from datetime import date
from typing import NamedTuple

from sample.warehouse.catalog import FAMILIES, PRODUCTS, REGIONS
from sample.warehouse.orders import Order
from sample.warehouse.timeline import MONTHS, Month, extra_freight, stream

_FREIGHT = {"Gateways": 0.042, "Meters": 0.045, "Sensors": 0.030, "Subscriptions": 0.0, "Services": 0.0}
_OPERATING = {"Gateways": 0.145, "Meters": 0.140, "Sensors": 0.155, "Subscriptions": 0.340, "Services": 0.180}
_APPROVERS = ("Henrike Vos", "Daniel Amaral")


class Margin(NamedTuple):
    """Month, region and family with amounts in cents."""

    month: date
    region_code: str
    family: str
    revenue: int
    cost_of_goods: int
    freight: int
    operating: int

    @property
    def net(self) -> int:
        """Revenue less all costs, in cents."""
        return self.revenue - self.cost_of_goods - self.freight - self.operating


class Target(NamedTuple):
    """A sales target: first day of the quarter, amount in cents."""

    target_id: int
    region_code: str
    quarter: date
    amount: int
    approved_by: str | None


def build_margins(seed: int, orders: list[Order]) -> list[Margin]:
    """One row a month, region and family (36 x 5 x 5), revenue equal to the order lines' sum."""
    revenue: dict[tuple[date, str, str], int] = {}
    cost: dict[tuple[date, str, str], int] = {}
    for order in orders:
        booked = order.order_date.replace(day=1)
        for line in order.lines:
            product = PRODUCTS[line.product_id - 1]
            key = (booked, order.customer.region_code, product.family)
            revenue[key] = revenue.get(key, 0) + line.total
            cost[key] = cost.get(key, 0) + line.quantity * product.unit_cost
    rng = stream(seed, "margins")
    found: list[Margin] = []
    for month in MONTHS:
        for region in REGIONS:
            for family in FAMILIES:
                key = (month.first, region.code, family)
                sold = revenue.get(key, 0)
                freight = round(sold * freight_rate(month, region.code, family) * rng.uniform(0.96, 1.04))
                operating = round(sold * _OPERATING[family] * rng.uniform(0.98, 1.02))
                found.append(Margin(*key, sold, cost.get(key, 0), freight, operating))
    return found


def freight_rate(month: Month, region_code: str, family: str) -> float:
    """Freight as a fraction of revenue; the strike of 2025 fell on gateways and meters of the Nordics."""
    extra = extra_freight(month, region_code) if family in ("Gateways", "Meters") else 0.0
    return _FREIGHT[family] + extra


def build_targets(seed: int, margins: list[Margin]) -> list[Target]:
    """A target a region and quarter: a little over the mean of the last four quarters, in steps of EUR 5,000.

    The first year has no such past; its targets are set around what was sold.
    """
    sold: dict[tuple[str, date], int] = {}
    for row in margins:
        quarter = row.month.replace(month=(row.month.month - 1) // 3 * 3 + 1)
        key = (row.region_code, quarter)
        sold[key] = sold.get(key, 0) + row.revenue
    quarters = [month.first for month in MONTHS if month.first.month in (1, 4, 7, 10)]
    rng = stream(seed, "targets")
    found: list[Target] = []
    for number, quarter in enumerate(quarters):
        for region in REGIONS:
            past = [sold[region.code, q] for q in quarters[max(0, number - 4) : number]]
            if len(past) == 4:
                aim = sum(past) / 4 * rng.uniform(1.02, 1.06)
            else:
                aim = sold[region.code, quarter] * rng.uniform(0.96, 1.05)
            amount = round(aim / 500_000) * 500_000
            approver = _APPROVERS[number // 6] if rng.random() < 0.9 else None
            found.append(Target(len(found) + 1, region.code, quarter, amount, approver))
    return found
