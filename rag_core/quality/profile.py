"""Profiles of results: what can be said of each column without knowing the question. Pure, exact, without pandas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, Literal

from rag_core.datamodel.base import Record
from rag_core.datamodel.query import QueryResult

ValueKind = Literal["number", "date", "text", "boolean", "other"]

_NUMBER_TYPES = ("int", "numeric", "decimal", "float", "double", "real", "number", "bigint", "smallint", "money")
_DATE_TYPES = ("date", "timestamp", "time", "datetime")


class ColumnProfile(Record):
    """One column of one result. Counts are of rows; `minimum` and `maximum` keep the cursor's exact values.

    `declared` is the kind that the database's type promises, `actual` the kind of the values; NaN and infinities are
    counted apart from NULL, because the database keeps them apart.
    """

    column: str
    declared: ValueKind
    actual: ValueKind | None
    rows: int
    nulls: int
    not_finite: int
    blanks: int
    distinct: int
    minimum: Any = None
    maximum: Any = None

    @property
    def null_share(self) -> float:
        """Share of NULL between 0 and 1; 0 where there is no row."""
        return self.nulls / self.rows if self.rows else 0.0


def declared_kind(type_name: str) -> ValueKind:
    """The kind of value that a database type holds."""
    lowered = type_name.lower()
    if lowered.startswith("bool"):
        return "boolean"
    if lowered.endswith("[]") or lowered.startswith(
        ("json", "bytea", "uuid", "struct", "array", "interval", "variant")
    ):
        return "other"
    if lowered.startswith(_NUMBER_TYPES):
        return "number"
    if lowered.startswith(_DATE_TYPES):
        return "date"
    if lowered.startswith(("text", "char", "varchar", "string", "bpchar", "name", "character")):
        return "text"
    return "other"


def value_kind(value: Any) -> ValueKind:
    """The kind of one value that is not NULL."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float | Decimal):
        return "number"
    if isinstance(value, date | datetime | time):
        return "date"
    return "text" if isinstance(value, str) else "other"


def is_finite(value: Any) -> bool:
    """False for NaN and the infinities of floats and Decimals."""
    if isinstance(value, float):
        return math.isfinite(value)
    return value.is_finite() if isinstance(value, Decimal) else True


def _identity(value: Any) -> Any:
    """What makes two cells the same value: 1.0 and 1.00 are, 1 and true are not; containers by their spelling."""
    if value is None or isinstance(value, str):
        return value is None, value
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        moment = value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo is not None else value
        return type(value).__name__, repr(moment)
    number = Decimal(str(value))
    return "number", number if number.is_finite() else str(number)


def _extremes(values: Sequence[Any]) -> tuple[Any, Any]:
    comparable = [value for value in values if value_kind(value) in ("number", "date") and is_finite(value)]
    if not comparable:
        return None, None
    try:
        return min(comparable), max(comparable)
    except TypeError:  # dates beside datetimes, or aware beside naive ones: no order is defined
        return None, None


def profile_result(result: QueryResult) -> tuple[ColumnProfile, ...]:
    """One profile a column, by position, so that duplicate names stay apart."""
    profiles = []
    for index, column in enumerate(result.columns):
        cells = [row[index] for row in result.rows]
        present = [cell for cell in cells if cell is not None]
        kinds = {value_kind(cell) for cell in present}
        minimum, maximum = _extremes(present)
        profiles.append(
            ColumnProfile(
                column=column.name,
                declared=declared_kind(column.type),
                actual=kinds.pop() if len(kinds) == 1 else ("other" if kinds else None),
                rows=len(cells),
                nulls=len(cells) - len(present),
                not_finite=sum(not is_finite(cell) for cell in present),
                blanks=sum(isinstance(cell, str) and not cell.strip() for cell in present),
                distinct=len({_identity(cell) for cell in cells}),
                minimum=minimum,
                maximum=maximum,
            )
        )
    return tuple(profiles)
