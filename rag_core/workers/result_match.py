"""Whether two results hold the same, as execution match means it. Pure.

Columns may come in any order and under any name, rows too unless the order is asked; repeated rows count once, as in
the rule that comes with the questions. A number is the same whatever its type, a day is its midnight.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from rag_core.datamodel.query import QueryResult

DIGITS = 4
MAX_ORDERS = 5_000


def same_result(gold: QueryResult, given: QueryResult, *, ordered: bool = False) -> bool:
    """Whether the given result is the gold one: as many columns, and the same rows."""
    return len(gold.columns) == len(given.columns) and holds_result(gold, given, ordered=ordered)


def holds_result(gold: QueryResult, given: QueryResult, *, ordered: bool = False) -> bool:
    """Whether some columns of the given result are the gold one."""
    if len(gold.columns) > len(given.columns):
        return False
    wanted, rows = _plain(gold.rows), _plain(given.rows)
    if not wanted or not rows:
        return not wanted and not rows
    columns = [[row[place] for row in wanted] for place in range(len(gold.columns))]
    offered = [[row[place] for row in rows] for place in range(len(given.columns))]
    places = [[at for at, values in enumerate(offered) if set(values) == set(column)] for column in columns]
    for order in itertools.islice(itertools.product(*places), MAX_ORDERS):
        if len(set(order)) < len(order):
            continue
        taken = [tuple(row[at] for at in order) for row in rows]
        if taken == wanted if ordered else set(taken) == set(wanted):
            return True
    return False


def _plain(rows: Sequence[Sequence[Any]]) -> list[tuple[str, ...]]:
    return [tuple(_cell(cell) for cell in row) for row in rows]


def _cell(value: Any) -> str:
    if value is None:
        return "\0"
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float | Decimal):
        number = round(float(value), DIGITS)
        return f"{number + 0.0:.{DIGITS}f}"
    if isinstance(value, datetime):
        bare = value.replace(tzinfo=None)
        return bare.date().isoformat() if bare.time().isoformat() == "00:00:00" else bare.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return str(value).strip()
