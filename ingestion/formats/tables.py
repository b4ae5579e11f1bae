"""Markdown tables from rows of cells."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ingestion.documents import Block

_BARE_PIPE = re.compile(r"(?<!\\)\|")
_SPACE = re.compile(r"\s*\n\s*|[ \t]{2,}")


def cell_text(value: str) -> str:
    """A cell as it stands in a Markdown table: one line, pipes escaped with a backslash, never as an entity."""
    return _BARE_PIPE.sub(r"\\|", _SPACE.sub(" ", value.strip()))


def table_block(rows: Sequence[Sequence[str]], *, page: int | None = None, header_rows: int = 1) -> Block | None:
    """A table of the rows, padded to one width; None without any text.

    The first `header_rows` rows are the header: Markdown has one header row, further ones follow the rule, and all of
    them are repeated on each part of a split table. `header_rows` 0 leaves the header row empty.
    """
    width = max((len(row) for row in rows), default=0)
    if not any(cell.strip() for row in rows for cell in row):
        return None
    padded = [[cell_text(cell) for cell in row] + [""] * (width - len(row)) for row in rows]
    if header_rows == 0:
        padded.insert(0, [""] * width)
    lines = [f"| {' | '.join(row)} |" for row in padded]
    lines.insert(1, "|" + " --- |" * width)
    header = "\n".join(lines[: max(header_rows, 1) + 1])
    return Block("table", "\n".join(lines), page=page, header=header)


def split_row(row: str) -> list[str]:
    """Cells of a Markdown table row; escaped pipes stay within their cell."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip().removeprefix("|").removesuffix("|"))]
