"""The months of the sample and the windows in which its stories (S1-S10 of STORY.md) happen. Pure values."""

from datetime import date, timedelta
from random import Random
from typing import NamedTuple

FIRST_DAY = date(2023, 7, 1)
LAST_DAY = date(2026, 6, 30)
PRICE_RISE = date(2025, 4, 1)
BUNDLE_START = date(2024, 9, 1)
QUAY_START = date(2025, 9, 15)
WEEKLY_BILLING = (date(2026, 3, 2), date(2026, 5, 31))
FIRMWARE_TROUBLE = (date(2025, 11, 4), date(2026, 1, 20))
FLEET_RENEWAL = date(2026, 5, 12)


class Month(NamedTuple):
    """A calendar month; ``number`` counts from 0 for 2023-07, ``last`` is its last day."""

    number: int
    first: date
    last: date

    def between(self, first: tuple[int, int], last: tuple[int, int]) -> bool:
        """Whether the month lies in the closed range of (year, month) pairs."""
        return first <= (self.first.year, self.first.month) <= last

    @property
    def days(self) -> int:
        """Number of days of the month."""
        return (self.last - self.first).days + 1


def _months() -> tuple[Month, ...]:
    found: list[Month] = []
    first = FIRST_DAY
    while first < LAST_DAY:
        following = (first + timedelta(days=32)).replace(day=1)
        found.append(Month(len(found), first, following - timedelta(days=1)))
        first = following
    return tuple(found)


MONTHS = _months()


def working_days(month: Month) -> list[date]:
    """Days to draw an order date from: each working day seven times, each day of a weekend once."""
    days: list[date] = []
    for offset in range(month.days):
        day = month.first + timedelta(days=offset)
        days.extend([day] * (7 if day.weekday() < 5 else 1))
    return days


def stream(seed: int, part: str) -> Random:
    """A random source of its own for one part, so that a change to one part leaves the others' rows alone.

    Seeding from text goes through SHA-512 and is the same in every process and on every Python.
    """
    return Random(f"{seed}:{part}")


def churn_factor(month: Month, region: str, segment: str) -> float:
    """How many times its usual value the monthly churn rate has (S3, S5)."""
    if region == "DAC" and segment == "mid_market" and month.between((2026, 1), (2026, 3)):
        return 3.0
    if region == "UKI" and segment == "smb" and month.between((2026, 2), (2026, 6)):
        return 2.1
    return 1.0


def order_factor(month: Month, region: str) -> float:
    """How many times its usual value the number of orders has: Iberia's postponed orders (S4)."""
    if region == "IBE" and month.between((2025, 4), (2025, 6)):
        return 0.77
    if region == "IBE" and month.between((2025, 9), (2025, 11)):
        return 1.08
    return 1.0


def calibration_factor(month: Month) -> float:
    """How many times its usual weight Calibration has among the lines (S9)."""
    if month.between((2025, 10), (2025, 12)):
        return 1.56
    return 1.12 if month.between((2026, 1), (2026, 6)) else 1.0


def extra_freight(month: Month, region: str) -> float:
    """Extra freight on gateways and meters as a fraction of their revenue: the port strike (S1)."""
    if region != "NOR":
        return 0.0
    return {(2025, 7): 0.090, (2025, 8): 0.135, (2025, 9): 0.110}.get((month.first.year, month.first.month), 0.0)


def gateway_ticket_factor(day: date) -> float:
    """How many times their usual number the tickets on Halo Gateway have (S2)."""
    return 3.3 if FIRMWARE_TROUBLE[0] <= day <= FIRMWARE_TROUBLE[1] else 1.0


def response_factor(month: Month) -> float:
    """How many times its usual value the time to the first response has (S7)."""
    return 1.0 + 0.09 * (month.number - 29) if month.between((2026, 1), (2026, 6)) else 1.0
