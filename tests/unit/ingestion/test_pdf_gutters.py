"""Columns that only an empty strip tells apart; each test draws the words of a page and what a parser joins of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ingestion.pdf_gutters import find_gutters, may_join_cells
from ingestion.pdf_layout import layout_blocks
from ingestion.pdf_lines import Box, Page, TextLine
from ingestion.pdf_tables import split_at_borders

SIZE = 10.0
LETTER = 5.0
SPACE = 2.8
JOINED = 12.0
"""Up to this gap the parser takes two pieces of text on a line for one."""
ROWS = [
    ("Service", "Owner", "Tier", "Limit"),
    ("billing", "Billing team", "1", "2,500 req/s"),
    ("portal gateway", "Platform", "2", "900 req/s"),
    ("depot", "Devices", "2", "40 req/s"),
    ("ledger", "Accounts payable", "3", "12 req/s"),
]


def width(text: str) -> float:
    return sum(map(len, text.split())) * LETTER + SPACE * text.count(" ")


def words_of(text: str, left: float, top: float) -> list[TextLine]:
    words = []
    for word in text.split():
        words.append(TextLine(word, "Helvetica", Box(left, top, left + LETTER * len(word), top + SIZE), 1))
        left += LETTER * len(word) + SPACE
    return words


def joined(words: Sequence[TextLine]) -> list[TextLine]:
    """Lines as the parser gives them."""
    lines: list[list[TextLine]] = []
    for word in sorted(words, key=lambda each: (each.box.top, each.box.left)):
        last = lines[-1][-1] if lines else None
        if last and last.box.top == word.box.top and word.box.left - last.box.right <= JOINED:
            lines[-1].append(word)
        else:
            lines.append([word])
    return [
        TextLine(
            " ".join(word.text for word in line), "Helvetica",
            Box(line[0].box.left, line[0].box.top, line[-1].box.right, line[0].box.bottom), 1,
        )
        for line in lines
    ]  # fmt: skip


def draw(rows: Sequence[Sequence[str]], gap: float, *, top: float = 100.0, right: bool = False) -> list[TextLine]:
    """Words of a table whose columns are as wide as their widest cell, `gap` apart; the last ones flush right."""
    words = []
    left = 50.0
    for column in range(len(rows[0])):
        wide = max(width(row[column]) for row in rows)
        for at, row in enumerate(rows):
            shift = wide - width(row[column]) if right and column else 0.0
            words += words_of(row[column], left + shift, top + 14 * at)
        left += wide + gap
    return words


def table_of(words: Sequence[TextLine]) -> list[str]:
    """Rows of the one table of a page with these words."""
    lines = joined(words)
    gutters = find_gutters(lines, words)
    page = Page(1, 600, 800, tuple(split_at_borders(lines, words, gutters)), gutters=tuple(gutters))
    (table,) = [block for block in layout_blocks([page]) if block.kind == "table"]
    return [line.strip("| ") for line in table.text.split("\n")]


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("gap", [4.5, 6.0, 8.0, 12.0, 20.0])
def test_narrow_columns_are_columns(gap: float, right: bool) -> None:
    words = draw(ROWS, gap, right=right)
    assert table_of(words)[2:] == [" | ".join(row) for row in ROWS[1:]]
    assert table_of(words)[0] == " | ".join(ROWS[0])


def test_text_above_and_below_a_table_is_none_of_it() -> None:
    text = "The limits of our services are these as agreed with every team in the spring of this year"
    words = [*words_of(text, 50, 86), *draw(ROWS, 6.0), *words_of(text, 50, 170)]
    assert table_of(words)[2:] == [" | ".join(row) for row in ROWS[1:]]


def test_an_empty_cell_stays_empty() -> None:
    rows = [*ROWS, ("archive", "Storage", "4", "")]
    assert table_of(draw(rows, 6.0))[-1] == "archive | Storage | 4"


PARAGRAPH = [
    "A node that is full stops taking data after", "a minute or two and the queue then grows for",
    "as long as nobody deletes the logs that were", "written by the old agent of the meter fleet",
    "so look there first and then at the archive",
]  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        [word for at, text in enumerate(PARAGRAPH) for word in words_of(text, 50, 100 + 14 * at)],
        # Two columns of text: each row is in two pieces, and long ones.
        [
            word
            for at, text in enumerate(PARAGRAPH)
            for left in (50, 320)
            for word in words_of(text, left, 100 + 14 * at)
        ],
        [word for at in range(3) for word in words_of(f"- item {at}", 50, 100 + 14 * at)],
        [],
    ],
)
def test_text_has_no_gutters(words: list[TextLine]) -> None:
    lines = joined(words)
    assert find_gutters(lines, words) == []
    assert not may_join_cells(lines)


def test_words_of_one_column_are_not_parted() -> None:
    rows = [("x", "new york"), ("a longer cell", "new delhi"), ("y", "new orleans"), ("z", "new haven")]
    words = draw(rows, 30.0)
    assert table_of(words)[2:] == [" | ".join(row) for row in rows[1:]]
