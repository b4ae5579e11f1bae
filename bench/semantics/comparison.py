"""Compares a result with the known answer: every expected column must be found among the result's columns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from itertools import permutations
from typing import Any

Cell = Any


def same_rows(expected: Sequence[Sequence[Cell]], got: Sequence[Sequence[Cell]], *, ordered: bool) -> bool:
    """Whether the expected rows are the result's rows, column by column.

    The result may have more columns than expected (a comparison shows four), never more or fewer rows. Numbers are
    equal after rounding to the decimals of the expected value; a year equals the first day of that year.
    """
    if len(expected) != len(got):
        return False
    if not expected:
        return True
    width, have = len(expected[0]), len(got[0])
    if have < width:
        return False
    columns = [[row[index] for row in got] for index in range(have)]
    candidates = [
        [
            index
            for index in range(have)
            if _column_fits([row[want] for row in expected], columns[index], ordered=ordered)
        ]
        for want in range(width)
    ]
    if not all(candidates):
        return False
    for choice in permutations(range(have), width):
        if all(choice[want] in candidates[want] for want in range(width)):
            picked = [tuple(row[index] for index in choice) for row in got]
            if _rows_fit(expected, picked, ordered=ordered):
                return True
    return False


def _rows_fit(expected: Sequence[Sequence[Cell]], got: Sequence[Sequence[Cell]], *, ordered: bool) -> bool:
    if ordered:
        return all(_row_fits(want, have) for want, have in zip(expected, got, strict=True))
    rest = list(got)
    for want in expected:
        at = next((index for index, have in enumerate(rest) if _row_fits(want, have)), None)
        if at is None:
            return False
        del rest[at]
    return True


def _row_fits(want: Sequence[Cell], have: Sequence[Cell]) -> bool:
    return all(cell_fits(left, right) for left, right in zip(want, have, strict=True))


def _column_fits(want: list[Cell], have: list[Cell], *, ordered: bool) -> bool:
    if ordered:
        return all(cell_fits(left, right) for left, right in zip(want, have, strict=True))
    return all(any(cell_fits(left, right) for right in have) for left in want)


def cell_fits(want: Cell, have: Cell) -> bool:
    """Whether one cell is the expected value."""
    if want is None or have is None:
        return want is None and have is None
    if isinstance(have, datetime):
        have = have.date()
    if isinstance(have, date):
        if str(want).isdigit():
            return len(str(want)) == 4 and have == date(int(want), 1, 1)
        return str(want)[:10] == have.isoformat()
    left, right = _number(want), _number(have)
    if left is None or right is None:
        return str(want) == str(have)
    exponent = left.as_tuple().exponent
    step = Decimal(1).scaleb(int(exponent)) if isinstance(exponent, int) and exponent < 0 else Decimal(1)
    if exponent == 0 and right != right.to_integral_value():
        return left == right
    return left == right.quantize(step, rounding=ROUND_HALF_UP)


def _number(value: Cell) -> Decimal | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | Decimal):
        return Decimal(value)
    if isinstance(value, float):
        return Decimal(repr(value))
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return None
