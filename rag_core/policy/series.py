"""How many rows a series of constants has: `generate_series(1, 1e12)`, and the same of dates and in other dialects."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import NamedTuple

from sqlglot import exp

# Powers of ten and of two beyond which a number is endless here, and is not computed with.
_MOST_DIGITS = 60
_SECONDS = {
    "microsecond": Fraction(1, 1_000_000), "us": Fraction(1, 1_000_000), "millisecond": Fraction(1, 1_000),
    "ms": Fraction(1, 1_000), "second": Fraction(1), "sec": Fraction(1), "s": Fraction(1), "minute": Fraction(60),
    "min": Fraction(60), "m": Fraction(60), "hour": Fraction(3_600), "hr": Fraction(3_600), "h": Fraction(3_600),
    "day": Fraction(86_400), "d": Fraction(86_400), "week": Fraction(604_800), "w": Fraction(604_800),
    # As PostgreSQL counts them where it has to; no series of months has too many rows.
    "month": Fraction(2_629_800), "mon": Fraction(2_629_800), "quarter": Fraction(7_889_400),
    "year": Fraction(31_557_600), "y": Fraction(31_557_600),
}  # fmt: skip
_AMOUNT = re.compile(r"([-+]?\d+(?:\.\d*)?|[-+]?\.\d+)\s*([a-z]+)")
_CLOCK = re.compile(r"([-+]?)(\d+):(\d+)(?::(\d+(?:\.\d+)?))?")
_NOW = frozenset({"now", "current_date", "current_timestamp", "localtimestamp", "transaction_timestamp", "today"})


class _Length(NamedTuple):
    """A time span, in seconds."""

    seconds: Fraction


_Value = Fraction | datetime | _Length


def series_rows(name: str, node: exp.Expr, arguments: Sequence[exp.Expr]) -> float:
    """Rows of a call that gives a row for each step; 0 where they depend on more than constants, `inf` for endless.

    Args:
        name: the function's name in lower case, one of `SERIES`.
        node: the call.
        arguments: its arguments, in order.
    """
    if name == "generator":
        return _whole(_value(node.args.get("rowcount")))
    if name == "repeat_row":
        return _whole(_value(_named(arguments, "num_rows")))
    values = [_value(item) for item in arguments[:3]]
    if len(arguments) == 1:
        values.insert(0, Fraction(0))  # DuckDB's range(n)
    if len(values) < 2:
        return 0
    start, stop = values[0], values[1]
    step = values[2] if len(values) > 2 else _Length(Fraction(86_400)) if isinstance(start, datetime) else Fraction(1)
    exclusive = bool(node.args.get("is_end_exclusive")) or name == "range"
    if isinstance(start, datetime) and isinstance(stop, datetime) and isinstance(step, _Length):
        apart = stop - start
        span = Fraction(apart // timedelta(microseconds=1), 1_000_000)
        return _steps(span, step.seconds, exclusive=exclusive)
    if isinstance(start, Fraction) and isinstance(stop, Fraction) and isinstance(step, Fraction):
        return _steps(stop - start, step, exclusive=exclusive)
    return 0


def _steps(span: Fraction, step: Fraction, *, exclusive: bool) -> float:
    """Rows from one end of a span to the other, the last one counted where it is reached."""
    if step == 0 or span / step < 0:
        return 0
    ratio = span / step
    rows = math.ceil(ratio) if exclusive else math.floor(ratio) + 1
    return float(rows) if rows.bit_length() < 1000 else math.inf


def _whole(value: _Value | None) -> float:
    return float(max(value, Fraction(0))) if isinstance(value, Fraction) else 0


def _named(arguments: Sequence[exp.Expr], wanted: str) -> exp.Expr | None:
    """The argument that is given by name."""
    for item in arguments:
        if isinstance(item, (exp.EQ, exp.Kwarg, exp.PropertyEQ)) and item.this.name.lower() == wanted:
            found: exp.Expr = item.expression
            return found
    return None


def unwrapped(node: exp.Expr | None) -> exp.Expr | None:
    """What stands within parentheses, and within a query that only gives one value: `(SELECT 5)`."""
    while node is not None:
        inner = node.unnest()
        if isinstance(inner, exp.Select) and len(inner.expressions) == 1:
            inner = inner.expressions[0].unalias()
        elif isinstance(inner, exp.Values) and len(inner.expressions) == 1:
            row = inner.expressions[0]
            inner = row.expressions[0] if len(row.expressions) == 1 else row
        if inner is node:
            break
        node = inner
    return node


def _value(node: exp.Expr | None) -> _Value | None:
    """The number, the moment or the span that an expression of constants is; None where it is something else."""
    node = unwrapped(node)
    if isinstance(node, exp.Literal):
        return _moment(node.this) or _span(node.this) if node.is_string else _number(node.this)
    if isinstance(node, exp.Cast):
        if isinstance(node.this, exp.Literal) and node.this.is_string and node.to.this is exp.DType.INTERVAL:
            return _span(node.this.this)
        inner = _value(node.this)
        return inner if inner is not None or not isinstance(node.this, exp.Literal) else _number(node.this.this)
    if isinstance(node, exp.Interval):
        return _interval(node)
    if isinstance(node, exp.Neg):
        inner = _value(node.this)
        return _times(inner, Fraction(-1)) if inner is not None else None
    if isinstance(node, (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Pow)):
        left, right = _value(node.this), _value(node.expression)
        return None if left is None or right is None else _combined(node, left, right)
    named = node.name if isinstance(node, exp.Anonymous) else node.sql_name() if isinstance(node, exp.Func) else ""
    if named.lower() in _NOW or isinstance(node, (exp.CurrentDate, exp.CurrentTimestamp)):
        return datetime.now(UTC).replace(tzinfo=None, microsecond=0)
    return None


def _combined(node: exp.Binary, left: _Value, right: _Value) -> _Value | None:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return _calculated(node, left, right)
    if isinstance(node, exp.Mul) and isinstance(left, Fraction):
        left, right = right, left
    if isinstance(left, _Length) and isinstance(right, Fraction):
        if isinstance(node, exp.Mul):
            return _times(left, right)
        return _times(left, 1 / right) if isinstance(node, exp.Div) and right else None
    if isinstance(node, exp.Add) and isinstance(left, (_Length, Fraction)):
        left, right = right, left
    sign = {exp.Add: 1, exp.Sub: -1}.get(type(node))
    if isinstance(left, datetime) and sign is not None and not isinstance(right, datetime):
        # A date and a number are days.
        seconds = right.seconds if isinstance(right, _Length) else right * 86_400
        try:
            return left + sign * timedelta(seconds=float(seconds))
        except OverflowError:
            return None
    if isinstance(left, _Length) and isinstance(right, _Length) and sign is not None:
        return _Length(left.seconds + sign * right.seconds)
    return None


def _calculated(node: exp.Binary, left: Fraction, right: Fraction) -> Fraction | None:
    if isinstance(node, exp.Add):
        return left + right
    if isinstance(node, exp.Sub):
        return left - right
    if isinstance(node, exp.Mul):
        return left * right
    if isinstance(node, exp.Pow):
        if right.denominator != 1 or abs(right) * max(abs(left.numerator).bit_length(), 1) > _MOST_DIGITS * 4:
            return None
        return left**right.numerator if left or right >= 0 else None
    if not right:
        return None
    if isinstance(node, exp.Mod):
        return Fraction(math.fmod(left, right)) if abs(left) < 2**53 and abs(right) < 2**53 else None
    # Between whole numbers PostgreSQL's division leaves none over.
    whole = node.args.get("typed") and left.denominator == right.denominator == 1
    return Fraction(math.trunc(left / right)) if whole else left / right


def _times(value: _Value, factor: Fraction) -> _Value | None:
    if isinstance(value, _Length):
        return _Length(value.seconds * factor)
    return value * factor if isinstance(value, Fraction) else None


def _number(text: str) -> Fraction | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite():
        return None
    if abs(number.adjusted()) > _MOST_DIGITS:
        return (
            Fraction(10**_MOST_DIGITS if number > 0 else -(10**_MOST_DIGITS)) if number.adjusted() > 0 else Fraction(0)
        )
    return Fraction(number)


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        try:
            day = date.fromisoformat(text.strip()[:10])
        except ValueError:
            return None
        return datetime(day.year, day.month, day.day)  # noqa: DTZ001 - only differences are taken
    return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo is not None else found


def _interval(node: exp.Interval) -> _Length | None:
    unit = node.args.get("unit")
    amount = node.this
    if not isinstance(amount, exp.Expr):
        return None
    if unit is None:
        return _span(amount.name) if isinstance(amount, exp.Literal) else None
    seconds = _SECONDS.get(unit.name.lower()) or _SECONDS.get(unit.name.lower().removesuffix("s"))
    number = _number(amount.name) if isinstance(amount, exp.Literal) else _value(amount)
    return _Length(number * seconds) if seconds is not None and isinstance(number, Fraction) else None


def _span(text: str) -> _Length | None:
    """The length of a span as PostgreSQL reads it: `1 day`, `2 hours 30 min`, `00:00:01`."""
    written = text.strip().lower()
    clock = _CLOCK.search(written)
    rest = written if clock is None else written.replace(clock[0], " ")
    total, found = Fraction(0), False
    if clock is not None:
        length = int(clock[2]) * 3_600 + int(clock[3]) * 60 + Fraction(clock[4] or 0)
        total, found = (-length if clock[1] == "-" else length), True
    for amount, unit in _AMOUNT.findall(rest):
        seconds = _SECONDS.get(unit) or _SECONDS.get(unit.removesuffix("s"))
        number = _number(amount)
        if seconds is None or number is None:
            return None
        total, found = total + number * seconds, True
    return _Length(total) if found else None


SERIES = frozenset(
    {
        "generate_series", "exploding_generate_series", "range", "generate_array", "generate_date_array",
        "generate_timestamp_array", "generator", "repeat_row",
    }
)  # fmt: skip
