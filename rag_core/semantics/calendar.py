"""Calendar arithmetic on half-open ranges of days. Pure; weeks begin on Monday."""

from __future__ import annotations

from datetime import date, timedelta

from rag_core.datamodel.plan import Grain, TimeRange

MONTHS_OF = {"month": 1, "quarter": 3, "year": 12}


def add_months(day: date, months: int) -> date:
    """The same day so many months later, or the last day of that month where it is shorter."""
    index = day.year * 12 + day.month - 1 + months
    first = date(index // 12, index % 12 + 1, 1)
    following = date((index + 1) // 12, (index + 1) % 12 + 1, 1)
    return min(
        first.replace(day=min(day.day, 28)) + timedelta(days=max(0, day.day - 28)), following - timedelta(days=1)
    )


def floor(day: date, grain: Grain) -> date:
    """First day of the day's week, month, quarter or year."""
    if grain == "day":
        return day
    if grain == "week":
        return day - timedelta(days=day.weekday())
    if grain == "month":
        return day.replace(day=1)
    if grain == "quarter":
        return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
    return day.replace(month=1, day=1)


def step(day: date, grain: Grain, count: int) -> date:
    """The day so many grains later."""
    if grain in MONTHS_OF:
        return add_months(day, MONTHS_OF[grain] * count)
    return day + timedelta(days=count * (7 if grain == "week" else 1))


def period(day: date, grain: Grain) -> tuple[date, date]:
    """The whole period [start, end) that the day lies in."""
    start = floor(day, grain)
    return start, step(start, grain, 1)


def buckets(start: date, end: date, grain: Grain) -> list[tuple[date, date]]:
    """First day and half-open end of each grain that [start, end) touches; the last end is not past `end`."""
    found: list[tuple[date, date]] = []
    first = floor(start, grain)
    while first < end:
        following = step(first, grain, 1)
        found.append((first, min(following, end)))
        first = following
    return found


def whole_months(start: date, end: date) -> int | None:
    """Number of calendar months where [start, end) consists of whole ones, else None."""
    if start.day != 1 or end.day != 1 or end <= start:
        return None
    return (end.year - start.year) * 12 + end.month - start.month


def shift_range(start: date, end: date, *, year: bool) -> tuple[date, date]:
    """The range a year before, or the one of the same length just before.

    Whole months are shifted by months, so that a quarter precedes a quarter; anything else by days.
    """
    if year:
        return add_months(start, -12), add_months(end, -12)
    months = whole_months(start, end)
    if months is not None:
        return add_months(start, -months), start
    return start - (end - start), start


def grain_of(start: date, end: date) -> Grain | None:
    """The grain of which the range is exactly one period, else None."""
    candidates: tuple[Grain, ...] = ("day", "week", "month", "quarter", "year")
    return next((grain for grain in candidates if period(start, grain) == (start, end)), None)


def describe_range(found: TimeRange) -> str:
    """A range in plain words: `June 2026`, `Q2 2026`, `2026-04-03 to 2026-05-09` (last day included)."""
    if found.start is None:
        return "all days" if found.end is None else f"up to {found.end - timedelta(days=1)}"
    if found.end is None:
        return f"since {found.start}"
    grain = grain_of(found.start, found.end)
    if grain == "year":
        return str(found.start.year)
    if grain == "quarter":
        return f"Q{(found.start.month + 2) // 3} {found.start.year}"
    if grain == "month":
        return f"{found.start:%B %Y}"
    if grain == "day":
        return str(found.start)
    if whole_months(found.start, found.end) is not None:
        last = add_months(found.end, -1)
        return f"{found.start:%B %Y} to {last:%B %Y}"
    return f"{found.start} to {found.end - timedelta(days=1)}"
