"""Gaps between the columns of a table without lines, where the parser joined cells that stand close together. Pure.

A gap of a word space's width parts nothing in a paragraph, as words of other lines stand above and below it. Where all
rows of what is known for a table leave the same strip of the page empty, it parts columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from ingestion.pdf_lines import Box, Segment, TextLine, rows_of, segments_of

_NARROWEST = 0.4
"""What a strip must have, as a share of the line's height: more than a word space, about 0.28."""
_FEW_ROWS = 5
_OF_FEW_ROWS = 0.6
"""The same where so few rows may leave a strip empty by chance."""
_BOTH_SIDES = 0.6
"""Share of the rows that must have words on both sides of a strip."""
_CELL = 25
"""Characters that the usual cell has at most; lines of text in two columns have more."""


def may_join_cells(lines: Sequence[TextLine]) -> bool:
    """Whether there are rows that look like a table's, with words in them that may be of several cells."""
    return any(any(" " in segment.text.strip() for row in run for segment in row) for run in _runs(lines))


def find_gutters(lines: Sequence[TextLine], words: Sequence[TextLine]) -> list[Box]:
    """Strips between columns as upright lines without width, each as high as the table that it runs through."""
    gutters: list[Box] = []
    for run in _runs(lines):
        boxes = [segment.box for row in run for segment in row]
        left, right = min(box.left for box in boxes), max(box.right for box in boxes)
        top, bottom = min(box.top for box in boxes), max(box.bottom for box in boxes)
        rows = [_words_of(row, words) for row in run]
        size = median(segment.size for row in run for segment in row)
        least = (_NARROWEST if len(run) >= _FEW_ROWS else _OF_FEW_ROWS) * size
        for start, end in _empty_strips([word.box for row in rows for word in row], left, right):
            sides = sum(
                any(word.box.right <= start + 0.1 for word in row) and any(word.box.left >= end - 0.1 for word in row)
                for row in rows
            )
            if end - start >= least and sides >= _BOTH_SIDES * len(rows):
                middle = (start + end) / 2
                gutters.append(Box(middle, top, middle, bottom))
    return gutters


def _runs(lines: Sequence[TextLine]) -> Iterator[list[list[Segment]]]:
    """Rows that follow closely upon one another, three or more, half of them of several short segments."""
    run: list[list[Segment]] = []
    for row in [*rows_of(segments_of(lines)), None]:
        if row is not None and run and _follows(run[-1], row):
            run.append(row)
            continue
        # What stands above a table, or below, in one piece is a text beside it.
        while run and len(run[0]) < 2:
            run.pop(0)
        while run and len(run[-1]) < 2:
            run.pop()
        several = sum(len(each) > 1 for each in run)
        lengths = [len(segment.text) for each in run for segment in each]
        if len(run) >= 3 and several * 2 >= len(run) and median(lengths) <= _CELL:
            yield run
        run = [] if row is None else [row]


def _follows(above: Sequence[Segment], row: Sequence[Segment]) -> bool:
    size = max(segment.size for segment in row)
    gap = min(segment.box.top for segment in row) - max(segment.box.bottom for segment in above)
    return gap < 1.2 * size and abs(size - max(segment.size for segment in above)) < 0.15 * size


def _words_of(row: Sequence[Segment], words: Sequence[TextLine]) -> list[TextLine]:
    top, bottom = min(segment.box.top for segment in row), max(segment.box.bottom for segment in row)
    return [word for word in words if top <= (word.box.top + word.box.bottom) / 2 <= bottom]


def _empty_strips(boxes: Sequence[Box], left: float, right: float) -> Iterator[tuple[float, float]]:
    reached = left
    for box in sorted(boxes, key=lambda each: each.left):
        if box.left > reached and reached > left:
            yield reached, min(box.left, right)
        reached = max(reached, box.right)
