"""Contact persons, the personal data that the policy excludes. Pure; every name and number is invented."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from sample.warehouse.customers import Customer
from sample.warehouse.names import NAMES
from sample.warehouse.timeline import LAST_DAY, stream


class Person(NamedTuple):
    """A contact person of a customer, as collected (time in UTC)."""

    customer_id: int
    full_name: str
    email: str
    phone: str | None
    collected_at: datetime


def build_people(seed: int, customers: list[Customer]) -> list[Person]:
    """One or two persons a customer: about 7,000. Addresses end in the reserved domain ``.example``."""
    rng = stream(seed, "people")
    found: list[Person] = []
    for customer in customers:
        for _ in range(2 if rng.random() < 0.4 else 1):
            first, last = rng.choice(NAMES["first"]), rng.choice(NAMES["last"])
            address = f"{first}.{last}{customer.customer_id}@larkspur-customers.example".lower().replace("ê", "e")
            phone = f"+00 555 {rng.randrange(10**6):06d}" if rng.random() < 0.7 else None
            day = min(customer.signed_on + timedelta(days=rng.randrange(30)), LAST_DAY)
            at = datetime(day.year, day.month, day.day, 7, tzinfo=UTC) + timedelta(seconds=rng.randrange(36000))
            found.append(Person(customer.customer_id, f"{first} {last}", address, phone, at))
    return found
