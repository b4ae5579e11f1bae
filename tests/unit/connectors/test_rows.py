"""Caps on rows and bytes."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pytest

from rag_core.connectors.rows import cell_bytes, fetch_capped
from rag_core.datamodel.query import Limits


def source(rows: list[tuple[object, ...]]) -> tuple[list[int], object]:
    asked: list[int] = []
    left = list(rows)

    def fetch(size: int) -> Sequence[Sequence[object]]:
        asked.append(size)
        batch, left[:] = left[:size], left[size:]
        return batch

    return asked, fetch


@pytest.mark.parametrize(("count", "cap", "kept", "cut"), [(0, 5, 0, None), (5, 5, 5, None), (6, 5, 5, "rows")])
def test_row_cap(count: int, cap: int, kept: int, cut: str | None) -> None:
    _, fetch = source([(number,) for number in range(count)])
    rows, truncated = fetch_capped(fetch, Limits(max_rows=cap))  # type: ignore[arg-type]
    assert (len(rows), truncated) == (kept, cut)


def test_many_rows_come_in_large_fetches_and_all_of_them() -> None:
    asked, fetch = source([(number, "text") for number in range(12_345)])
    rows, truncated = fetch_capped(fetch, Limits(max_rows=20_000))  # type: ignore[arg-type]
    assert [row[0] for row in rows] == list(range(12_345))
    assert truncated is None
    assert max(asked) == 1_000


def test_wide_rows_come_in_small_fetches() -> None:
    asked, fetch = source([("x" * 100_000,) for _ in range(100)])
    rows, truncated = fetch_capped(fetch, Limits(max_bytes=2_000_000))  # type: ignore[arg-type]
    assert (len(rows), truncated) == (20, "bytes")
    assert asked == [16, 5]


def test_sizes_of_cells() -> None:
    cells = [None, "abc", "größe", b"abcd", Decimal("1.5"), [1, "ab"], {"a": "bcd"}, True]
    assert [cell_bytes(cell) for cell in cells] == [1, 3, 7, 4, 8, 10, 4, 8]
