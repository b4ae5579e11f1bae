"""Sheets of cells to blocks: finding the tables on a sheet. Pure.

Docling cuts a table apart where a column's first value stands under an empty cell and repeats a fragment, and repeats
merged cells. Here a sheet is cut only along wholly empty rows and columns, rows after a gap are joined to the table
above where they continue it, and a merged cell is read at its first corner alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ingestion.documents import Block
from ingestion.formats.tables import table_block

_NUMBER = re.compile(r"[-+(]?[\s$€£]*\d[\d.,\s%]*\)?\s*(?:%|EUR|USD|GBP|€|\$)?\Z")
_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?(?:[T ].*)?\Z")

Rows = Mapping[int, Mapping[int, str]]
"""Non-empty cells: row number to column number to text."""


@dataclass(frozen=True, slots=True)
class _Region:
    """A rectangle without an empty row or column in it: its row numbers and column numbers."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]


def sheet_blocks(rows: Rows) -> list[Block]:
    """Blocks of one sheet in reading order. A region of one column becomes text, a larger one a table."""
    regions = list(_cut(rows, tuple(sorted(rows)), None))
    blocks: list[Block] = []
    for region in _joined(rows, regions):
        blocks.extend(_region_blocks(rows, region))
    return blocks


def _cut(rows: Rows, numbers: Sequence[int], columns: frozenset[int] | None) -> Iterator[_Region]:
    """Recursive cuts along empty rows, then along empty columns, until nothing changes."""
    for band in _runs(numbers):
        used = sorted({c for n in band for c in rows[n] if columns is None or c in columns})
        groups = list(_runs(used))
        if len(groups) == 1 and columns is not None:
            yield _Region(tuple(band), tuple(groups[0]))
            continue
        for group in groups:
            inside = frozenset(group)
            held = [n for n in band if any(c in inside for c in rows[n])]
            if len(groups) == 1 and len(held) == len(band):
                yield _Region(tuple(band), tuple(group))
            else:
                yield from _cut(rows, held, inside)


def _runs(numbers: Sequence[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for number in numbers:
        if run and number != run[-1] + 1:
            yield run
            run = []
        run.append(number)
    if run:
        yield run


def _joined(rows: Rows, regions: Sequence[_Region]) -> list[_Region]:
    """Joins a region to one above with the same columns where its first row is data like that one's, not a header."""
    joined: list[_Region] = []
    for region in regions:
        above = next((r for r in reversed(joined) if r.rows[-1] < region.rows[0] and _overlap(r, region)), None)
        if above is not None and len(above.rows) > 1 and _continues(rows, above, region):
            columns = tuple(range(min(above.columns), max(above.columns) + 1))
            joined[joined.index(above)] = _Region(above.rows + region.rows, columns)
        else:
            joined.append(region)
    return joined


def _overlap(above: _Region, below: _Region) -> bool:
    return bool(set(above.columns) & set(below.columns))


def _continues(rows: Rows, above: _Region, below: _Region) -> bool:
    if not set(below.columns) <= set(above.columns) or len(below.columns) < 2:
        return False
    last, first = rows[above.rows[-1]], rows[below.rows[0]]
    typed = [c for c in below.columns if _is_value(last.get(c, "")) and c in first]
    return bool(typed) and all(_is_value(first[c]) for c in typed)


def _is_value(text: str) -> bool:
    return bool(_NUMBER.match(text) or _DATE.match(text))


def _region_blocks(rows: Rows, region: _Region) -> Iterator[Block]:
    grid = [[rows[n].get(c, "") for c in region.columns] for n in region.rows]
    if len(region.columns) == 1:
        yield Block("paragraph", "\n".join(row[0] for row in grid))
        return
    # A single cell above or below a wider table is its caption or its note.
    top = 0
    while top < len(grid) - 1 and _single(grid[top]):
        yield Block("paragraph", _only(grid[top]))
        top += 1
    bottom = len(grid)
    while bottom > top + 2 and _single(grid[bottom - 1]) and _only(grid[bottom - 1]).count(" ") >= 2:
        bottom -= 1
    table = table_block(grid[top:bottom], header_rows=header_rows(grid[top:bottom]))
    if table is not None:
        yield table
    for row in grid[bottom:]:
        yield Block("paragraph", _only(row))


def _single(row: Sequence[str]) -> bool:
    return sum(bool(cell) for cell in row) == 1


def _only(row: Sequence[str]) -> str:
    return next(cell for cell in row if cell)


def header_rows(grid: Sequence[Sequence[str]]) -> int:
    """How many first rows are the header: none where the first row already is data, two where the first has gaps
    (merged group names) above a second row of names that is full and without values.
    """
    first = grid[0]
    filled = [cell for cell in first if cell]
    if len(grid) < 2 or sum(_is_value(cell) for cell in filled) * 2 > len(filled):
        # A header of years or quarters above a column of names is still a header.
        if len(grid) >= 2 and first[0] and not _is_value(first[0]) and _names_periods(filled[1:]):
            return 1
        return 0 if len(grid) >= 2 or all(_is_value(cell) for cell in filled) else 1
    second = grid[1]
    gaps = sum(not cell for cell in first)
    full = sum(bool(cell) for cell in second) >= len(first) - 1
    if len(grid) > 2 and gaps and gaps < len(first) - 1 and full and not any(_is_value(cell) for cell in second):
        thirds = [cell for cell in grid[2] if cell]
        if any(_is_value(cell) for cell in thirds):
            return 2
    return 1


def _names_periods(cells: Sequence[str]) -> bool:
    return bool(cells) and all(re.match(r"(?:19|20)\d{2}(?:-\d{2})?\Z", cell) for cell in cells)
