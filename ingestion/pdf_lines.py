"""Lines of a PDF page and how they are put together: runs of text into segments, segments into reading order. Pure.

Coordinates are points from the top left corner of the page.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

_BOLD = re.compile(r"bold|black|heavy|demi|cmbx|cmssbx|[a-z]tb(?:i|$)|[-,_]b(?:i|$)|ptsb|[a-z]-?medium", re.IGNORECASE)
_MONO = re.compile(r"courier|mono|consol|cmtt|menlo|typewriter|sourcecode|inconsolata|lettergothic", re.IGNORECASE)
_SYMBOL = re.compile(r"symbol|wingding|dingbat", re.IGNORECASE)
BULLET = re.compile(
    r"[\u2022\u2023\u25e6\u25aa\u25ab\u25cf\u25cb\u25a0\u25a1\u2043\u2219\u00b7\u2013\u2014\-*\u27a2\uf0b7\uf0a7]"
)
_NUMBERED = re.compile(r"\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]$")


@dataclass(frozen=True, slots=True)
class Box:
    """Left, top, right and bottom in points, y growing downwards."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class TextLine:
    """A run of text in one font on one line of a page."""

    text: str
    font: str
    box: Box
    page: int

    @property
    def size(self) -> float:
        """Height of the line's box in points, which follows the font size."""
        return self.box.bottom - self.box.top

    @property
    def turned(self) -> bool:
        """Whether the text runs up or down the page."""
        return len(self.text) > 3 and self.size > 2.5 * (self.box.right - self.box.left)


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its size, its lines in the order of the content stream, its drawn shapes and its number of images.

    `gutters` are upright strips that part the columns of tables without lines.
    """

    number: int
    width: float
    height: float
    lines: tuple[TextLine, ...]
    rules: tuple[Box, ...] = ()
    images: int = 0
    gutters: tuple[Box, ...] = ()


@dataclass(frozen=True)
class Segment:
    """Runs that stand next to one another on a line, with nothing but word spaces between them."""

    runs: tuple[TextLine, ...]

    @cached_property
    def box(self) -> Box:
        """The box around all runs, in points."""
        boxes = [run.box for run in self.runs]
        return Box(
            min(b.left for b in boxes), min(b.top for b in boxes),
            max(b.right for b in boxes), max(b.bottom for b in boxes),
        )  # fmt: skip

    @cached_property
    def main(self) -> TextLine:
        """The longest run; font and size of the segment are its."""
        return max(self.runs, key=lambda run: len(run.text))

    @property
    def size(self) -> float:
        """Font size of the longest run, in points."""
        return self.main.size

    @property
    def page(self) -> int:
        """The page, from 1."""
        return self.runs[0].page

    @cached_property
    def bold(self) -> bool:
        """Whether every run with letters is bold."""
        return all(is_bold(run.font) for run in self.runs if any(c.isalnum() for c in run.text))

    @cached_property
    def mono(self) -> bool:
        """Whether every run is in a font of fixed width."""
        return all(bool(_MONO.search(run.font)) for run in self.runs)

    @cached_property
    def text(self) -> str:
        """The text in logical order."""
        return join_runs(self.runs)


def is_bold(font: str) -> bool:
    """Whether a font's name says that it is bold."""
    return bool(_BOLD.search(font))


def is_rtl(text: str) -> bool:
    """Whether a text reads from right to left: two fifths of its letters are enough, for names and terms of other
    scripts fill more of such a line than the other way round.
    """
    kinds = [unicodedata.bidirectional(character) for character in text]
    leftward = sum(kind in ("R", "AL") for kind in kinds)
    return leftward > 0 and leftward * 5 >= 2 * (leftward + sum(kind == "L" for kind in kinds))


def join_runs(runs: Sequence[TextLine]) -> str:
    """Text of runs on one line in logical order: from the right where most of it is written from the right."""
    rtl = is_rtl("".join(run.text for run in runs))
    ordered = sorted(runs, key=lambda run: -run.box.right if rtl else run.box.left)
    text = ""
    previous: TextLine | None = None
    for run in ordered:
        piece = " ".join(run.text.split())
        if previous is not None and text and piece:
            gap = previous.box.left - run.box.right if rtl else run.box.left - previous.box.right
            text += "" if gap < 0.12 * run.size and not _scripts_differ(text[-1], piece[0], rtl) else " "
        if previous is None and _SYMBOL.search(run.font) and piece:
            # Bullets of symbol fonts come out as whatever letter stands at their place.
            piece = "\u2022" + piece[1:]
        text += piece
        previous = run
    return text


def _scripts_differ(before: str, after: str, rtl: bool) -> bool:
    return rtl and before.isalpha() and after.isalpha() and is_rtl(before) != is_rtl(after)


def is_marker(text: str) -> bool:
    """Whether a text is just the marker of a list item."""
    return bool(BULLET.fullmatch(text) or _NUMBERED.match(text))


def segments_of(lines: Iterable[TextLine], gutters: Sequence[Box] = ()) -> list[Segment]:
    """Runs on one line joined where only a word space parts them; a list's marker is joined to its item.

    Nothing is joined over a gutter.
    """
    segments: list[Segment] = []
    for row in _rows(sorted(lines, key=lambda line: (line.box.top, line.box.left))):
        row.sort(key=lambda line: line.box.left)
        current = [row[0]]
        for run in row[1:]:
            gap = run.box.left - max(r.box.right for r in current)
            marker = len(current) == 1 and is_marker(current[0].text.strip())
            near = gap < (3.0 if marker else 0.7) * max(run.size, 1.0)
            if near and not _is_parted(current[-1].box, run.box, gutters):
                current.append(run)
            else:
                segments.append(Segment(tuple(current)))
                current = [run]
        segments.append(Segment(tuple(current)))
    return segments


def _is_parted(before: Box, after: Box, gutters: Sequence[Box]) -> bool:
    middle = (after.top + after.bottom) / 2
    return any(
        before.right - 1 <= gutter.left <= after.left + 1 and gutter.top <= middle <= gutter.bottom
        for gutter in gutters
    )


def _rows(lines: Iterable[TextLine]) -> list[list[TextLine]]:
    """Lines of one height on the page: each overlaps the row's first by more than half of the lower of the two."""
    rows: list[list[TextLine]] = []
    for line in lines:
        for row in reversed(rows[-6:]):
            shared = min(line.box.bottom, row[0].box.bottom) - max(line.box.top, row[0].box.top)
            if shared > 0.55 * min(line.size, row[0].size):
                row.append(line)
                break
        else:
            rows.append([line])
    return rows


def rows_of(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Segments that stand on one line, in reading order; rows from top to bottom."""
    rows: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda s: (s.box.top, s.box.left)):
        for row in reversed(rows[-4:]):
            shared = min(segment.box.bottom, row[0].box.bottom) - max(segment.box.top, row[0].box.top)
            if shared > 0.55 * min(segment.size, row[0].size):
                row.append(segment)
                break
        else:
            rows.append([segment])
    for row in rows:
        rtl = is_rtl("".join(s.text for s in row))
        row.sort(key=lambda s: -s.box.right if rtl else s.box.left)
    return rows


def columns_of(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Segments cut into streams in reading order: across the page, then column by column between what spans them."""
    if not segments:
        return []
    if len(segments) < 8:
        return [list(segments)]
    gutter = _gutter(segments)
    if gutter is None:
        return [list(segments)]
    rtl = is_rtl("".join(s.text for s in segments))
    streams: list[list[Segment]] = []
    left: list[Segment] = []
    right: list[Segment] = []

    def flush() -> None:
        for side in (right, left) if rtl else (left, right):
            if side:
                streams.extend(columns_of(list(side)))
            side.clear()

    spanning: list[Segment] = []
    for segment in sorted(segments, key=lambda s: (s.box.top, s.box.left)):
        crosses = segment.box.left < gutter - 1 and segment.box.right > gutter + 1
        if crosses:
            flush()
            spanning.append(segment)
            continue
        if spanning:
            streams.append(list(spanning))
            spanning.clear()
        (left if segment.box.right <= gutter + 1 else right).append(segment)
    flush()
    if spanning:
        streams.append(spanning)
    return streams


def _gutter(segments: Sequence[Segment]) -> float | None:
    """The x between two columns of text, None where there is none.

    Both sides must hold lines that fill their column, as text does and the cells of a table do not, and few lines may
    cross.
    """
    best: tuple[int, float] | None = None
    size = median(s.size for s in segments)
    # A column begins where many lines begin.
    starts = Counter(round(s.box.left, 1) for s in segments)
    for x in sorted(x for x, count in starts.items() if count >= max(2, len(segments) // 40)):
        left = [s for s in segments if s.box.right < x - 0.3 * size]
        right = [s for s in segments if s.box.left >= x - 0.5]
        crossing = len(segments) - len(left) - len(right)
        enough = max(4, len(segments) // 8)
        if len(left) < enough or len(right) < enough or crossing > 0.35 * len(segments):
            continue
        if max(s.box.right for s in left) > x - 0.6 * size or not (_fills(left) and _fills(right)):
            continue
        if best is None or crossing < best[0]:
            best = (crossing, (max(s.box.right for s in left) + x) / 2)
    return None if best is None else best[1]


def _fills(side: Sequence[Segment]) -> bool:
    left = min(s.box.left for s in side)
    right = sorted(s.box.right for s in side)[-max(len(side) // 20, 1)]
    width = right - left
    full = sum(s.box.right - s.box.left > 0.75 * width for s in side)
    return width > 0 and full >= max(3, 0.3 * len(side)) and median(len(s.text) for s in side) > 12


def body_size(lines: Iterable[TextLine]) -> float:
    """The size that most characters are set in, 0 without lines."""
    counts: Counter[float] = Counter()
    for line in lines:
        counts[round(line.size, 1)] += len(line.text)
    return max(counts, key=lambda size: (counts[size], -size)) if counts else 0.0
