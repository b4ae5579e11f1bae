"""Fetching under caps, the same for every warehouse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rag_core.datamodel.query import Limits, TruncatedBy

Row = tuple[Any, ...]

FIRST_FETCH = 16
LARGEST_FETCH = 1_000


class RowTooLarge(Exception):
    """The warehouse itself found the next row beyond the byte cap, and did not send it."""


def cell_bytes(value: Any) -> int:
    """Size of a cell in bytes as text would carry it; numbers, dates and the like count eight."""
    if value is None:
        return 1
    if isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes | bytearray | memoryview):
        return len(value)
    if isinstance(value, Mapping):
        return sum(cell_bytes(key) + cell_bytes(item) for key, item in value.items())
    if isinstance(value, Sequence):
        return sum(cell_bytes(item) for item in value)
    return 8


def fetch_capped(
    fetch: Callable[[int], Iterable[Sequence[Any]]], limits: Limits, *, before_fetch: Callable[[], None] | None = None
) -> tuple[tuple[Row, ...], TruncatedBy | None]:
    """Rows up to the caps, and which cap cut them.

    Asks for one row more than the cap, so that "just as many as the cap" is told apart from "more". The size of a
    fetch follows the size of the rows so far, so that wide rows do not fill the memory.

    Args:
        fetch: gives at most so many next rows, fewer only at the end; one that gives them one by one is left as soon
            as a cap is reached, and may raise RowTooLarge.
        limits: the caps; a first row that is larger than the byte cap is left out too.
        before_fetch: called before each fetch, to raise where the deadline has passed.
    """
    rows: list[Row] = []
    size = 0
    while True:
        wanted = _next_fetch(len(rows), size, limits)
        if before_fetch is not None:
            before_fetch()
        given = 0
        try:
            for row in fetch(wanted):
                given += 1
                if len(rows) >= limits.max_rows:
                    return tuple(rows), "rows"
                size += sum(cell_bytes(cell) for cell in row)
                if size > limits.max_bytes:
                    return tuple(rows), "bytes"
                rows.append(tuple(row))
        except RowTooLarge:
            return tuple(rows), "bytes"
        if given < wanted:
            return tuple(rows), None


def _next_fetch(rows: int, size: int, limits: Limits) -> int:
    remaining = limits.max_rows + 1 - rows
    if rows == 0:
        return max(1, min(FIRST_FETCH, remaining))
    average = max(1, size // rows)
    by_bytes = (limits.max_bytes - size) // average + 1
    return max(1, min(LARGEST_FETCH, remaining, by_bytes))
