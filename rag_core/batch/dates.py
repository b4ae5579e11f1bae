"""Dates that a question's text may name, as of the run date: `{last_month}` -> `June 2026`. Pure."""

from __future__ import annotations

import calendar
from datetime import date, timedelta

DATE_NAMES = (
    "run_date",
    "yesterday",
    "this_month",
    "last_month",
    "this_quarter",
    "last_quarter",
    "this_year",
    "last_year",
)


def date_values(run_date: date) -> dict[str, str]:
    """The value of each of DATE_NAMES, worded as people write periods."""
    last_month = run_date.replace(day=1) - timedelta(days=1)
    quarter_start = run_date.replace(month=3 * ((run_date.month - 1) // 3) + 1, day=1)
    last_quarter = quarter_start - timedelta(days=1)
    return {
        "run_date": run_date.isoformat(),
        "yesterday": (run_date - timedelta(days=1)).isoformat(),
        "this_month": _month(run_date),
        "last_month": _month(last_month),
        "this_quarter": _quarter(run_date),
        "last_quarter": _quarter(last_quarter),
        "this_year": str(run_date.year),
        "last_year": str(run_date.year - 1),
    }


def _month(day: date) -> str:
    return f"{calendar.month_name[day.month]} {day.year}"


def _quarter(day: date) -> str:
    return f"Q{(day.month + 2) // 3} {day.year}"
