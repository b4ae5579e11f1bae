"""What goes to a warehouse and what comes back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BeforeValidator, PlainSerializer

from rag_core.datamodel.base import Record

_TAG = "$type"


def encode_cell(value: Any) -> Any:
    """A JSON value that `decode_cell` turns back into the same value of the same type."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if -(2**53) < value < 2**53 else {_TAG: "int", "value": str(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else {_TAG: "float", "value": str(value)}
    if isinstance(value, Decimal | UUID):
        return {_TAG: "Decimal" if isinstance(value, Decimal) else "UUID", "value": str(value)}
    if isinstance(value, datetime | date | time):
        # A datetime is a date too: the more exact kind is asked first.
        name = "datetime" if isinstance(value, datetime) else "date" if isinstance(value, date) else "time"
        return {_TAG: name, "value": value.isoformat()}
    if isinstance(value, timedelta):
        return {_TAG: "timedelta", "value": [value.days, value.seconds, value.microseconds]}
    if isinstance(value, bytes | bytearray | memoryview):
        return {_TAG: "bytes", "value": bytes(value).hex()}
    if isinstance(value, Mapping):
        return {_TAG: "mapping", "value": {str(key): encode_cell(item) for key, item in value.items()}}
    if isinstance(value, Sequence):
        return [encode_cell(item) for item in value]
    return {_TAG: "text", "value": str(value)}


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "int": int,
    "float": float,
    "Decimal": Decimal,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "UUID": UUID,
    "timedelta": lambda parts: timedelta(days=parts[0], seconds=parts[1], microseconds=parts[2]),
    "bytes": bytes.fromhex,
    "text": str,
}


def decode_cell(value: Any) -> Any:
    """The value that `encode_cell` was given; other values pass unchanged."""
    if isinstance(value, list):
        return [decode_cell(item) for item in value]
    if isinstance(value, dict) and isinstance(value.get(_TAG), str):
        if value[_TAG] == "mapping" and len(value) == 2:
            return {key: decode_cell(item) for key, item in value["value"].items()}
        # A mapping from a database may hold this key itself: only what encode_cell writes is decoded.
        if len(value) == 2 and "value" in value and value[_TAG] in _DECODERS:
            return _DECODERS[value[_TAG]](value["value"])
    return value


# What a database cursor hands out; the types are the cursor's own, never those of pandas, and survive JSON.
Cell = Annotated[Any, BeforeValidator(decode_cell), PlainSerializer(encode_cell, when_used="json")]
TruncatedBy = Literal["rows", "bytes"]


class Limits(Record):
    """Bounds of one query. `timeout_seconds` is enforced by the server and by a client-side deadline."""

    max_rows: int = 10_000
    max_bytes: int = 16 * 1024 * 1024
    timeout_seconds: float = 30.0


class ExpressionJoin(Record):
    """Two columns of different tables that a statement compares by an expression of each, as in `lower(a) = lower(b)`.

    `left` and `right` are `schema.table.column`; `left_form` and `right_form` the expressions in the warehouse's
    dialect, in which the column is called `joined_value`; just that where a side is the column itself.
    """

    left: str
    left_form: str
    right: str
    right_form: str


class GuardedSql(Record):
    """One read-only statement that the SQL guard has let through. Only `rag_core.policy.sql_guard` makes one.

    `text` is in the dialect of the warehouse and contains no parameter placeholders. `own_limit` is the statement's own
    outermost LIMIT, so that a result of just that many rows is not mistaken for a complete count. `joins` are the pairs
    of `schema.table.column` of different tables that it compares, `expression_joins` those that it compares by
    expressions, `derived_joins` those that it may compare through derived tables and queries. `row_limited` are the
    tables of which not all rows can be seen, by the database's row policies or by the policy's filters.
    """

    text: str
    dialect: str
    tables: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    limits: Limits = Limits()
    own_limit: int | None = None
    joins: tuple[tuple[str, str], ...] = ()
    expression_joins: tuple[ExpressionJoin, ...] = ()
    derived_joins: tuple[tuple[str, str], ...] = ()
    row_limited: tuple[str, ...] = ()


class GuardVerdict(Record):
    """The guard's decision on one statement.

    `code` is `ok` or a stable word for the reason; `tables` are `schema.table`, `columns` `schema.table.column`, as
    the catalog spells them. `query` is set just when `allowed`. `scores` are the likenesses (0 to 1) of
    `suggestions`, empty where those are no near misses.
    """

    allowed: bool
    code: str
    message: str
    dialect: str
    suggestions: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    tables: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    query: GuardedSql | None = None


class ResultColumn(Record):
    """One column of a result. `type` is the canonical type name, as in the catalog (e.g. `numeric(12,2)`)."""

    name: str
    type: str


class QueryResult(Record):
    """Rows in the order of the database; columns are positional, duplicate names survive.

    Cells keep the cursor's own Python types (int, Decimal, float, str, bool, date, aware datetime, ...).
    `truncated_by` says which cap cut the result, None when it is whole. `row_limited` are the tables of which not all
    rows could be seen: what is not in the result may be there all the same.
    """

    columns: tuple[ResultColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    truncated_by: TruncatedBy | None = None
    own_limit: int | None = None
    row_limited: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def row_count(self) -> int:
        """Number of rows fetched (after caps)."""
        return len(self.rows)

    def column_index(self, name: str) -> int:
        """Position of the first column called `name`; raises KeyError."""
        for index, column in enumerate(self.columns):
            if column.name == name:
                return index
        raise KeyError(name)


def cell_to_json(value: Cell) -> Any:
    """A JSON value that loses nothing: Decimals and big integers become text, NaN and infinities their names.

    Dates and times become ISO 8601 text, bytes hexadecimal text.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if -(2**53) < value < 2**53 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        return format(value, "f") if value.is_finite() else str(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, Mapping):
        return {str(key): cell_to_json(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [cell_to_json(item) for item in value]
    return str(value)
