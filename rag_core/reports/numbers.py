"""How values are written for people."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any


def format_value(value: Any, *, decimals: int | None = None, unit: str = "") -> str:
    """A value with thousands separators and its unit; NULL becomes a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float | Decimal):
        text = _format_number(value, decimals)
        return f"{text} {unit}" if unit else text
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="minutes")
    return value.isoformat() if isinstance(value, date) else str(value)


def _format_number(value: float | Decimal, decimals: int | None) -> str:
    number = value if isinstance(value, Decimal) else Decimal(str(value))
    if not number.is_finite():
        return str(number)
    if decimals is None:
        exponent = number.normalize().as_tuple().exponent
        decimals = min(2, -exponent) if isinstance(exponent, int) and exponent < 0 else 0
    return f"{number:,.{decimals}f}"


def describe_change(current: Any, previous: Any) -> str | None:
    """The relative change of two numbers in words, or None where there is none to tell."""
    numbers = (int, float, Decimal)
    if isinstance(current, bool) or not isinstance(current, numbers) or not isinstance(previous, numbers):
        return None
    now, before = Decimal(str(current)), Decimal(str(previous))
    if not now.is_finite() or not before.is_finite() or before == 0:
        return None
    change = (now - before) / abs(before) * 100
    if change == 0:
        return "unchanged"
    return f"{'+' if change > 0 else '−'}{abs(change):,.1f} %"
