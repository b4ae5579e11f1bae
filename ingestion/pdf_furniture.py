"""Running heads, feet and page numbers of a PDF: told apart from its text and kept once. Pure.

A line is taken for furniture only on proof by other pages. What is taken for it is kept where it first stands, beside
the text, so that no word of a document is lost; only page numbers are dropped.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ingestion.pdf_lines import Box, Page, Segment, TextLine, body_size, is_bold, rows_of, segments_of

_MARGIN = 0.12
"""Share of the page's height, at the top and at the bottom, in which running heads and feet stand."""
_EDGE = 0.065
"""Share of the page's height in which small print is no part of the text."""
_SMALL = 0.92
"""Share of the body's size below which print is small."""
_LARGE = 1.12
_DISTANCE = 0.8
"""What heads and feet keep from the text, as a share of their size; lines of one text stand closer."""
_FAR = 1.5
"""The same outside of the margin."""
_TABLE_DISTANCE = 2.5
"""The same for what may be rows of one table, which are padded."""
_CELL = 40
"""Characters that a cell of a table without lines has at most; a line of a column of text has more."""
_SHARE = 0.4
"""Share of the pages that a running head stands on; there may be one for left and one for right pages."""
_MOST_NUMBERS = 8

_NUMBER = re.compile(r"(?<!\d)\d{1,9}(?!\d)")
_WORD = (
    r"(?:pages?|pp?\.|pg\.?|seite|s\.|p[a\u00e1]gina|p[a\u00e1]g\.|sid[ae]|blad|blatt|strona|str\.|sivu"
    r"|\u0441\u0442\u0440\.?)"
)
_OF = r"(?:/|of|von|de|di|av|af|van|sur|z|\u0438\u0437)"
_PLACE = rf"\#(?:\s*{_OF}\s*\d+)?"
_PAGE_NUMBER = re.compile(
    rf"[-\u2013\u2014]?\s*{_WORD}?\s*{_PLACE}\s*[-\u2013\u2014]?\Z|\u7b2c?\s*\#\s*[\u9875\u9801]\Z", re.IGNORECASE
)
_NAMED_NUMBER = re.compile(rf"(?<!\w){_WORD}\s*{_PLACE}(?!\w)", re.IGNORECASE)
_PARTED = re.compile(r"\s*[|\u00b7\u2022\u2013\u2014]\s*|\s+-\s+")
_SENTENCE = re.compile(r"(?=.{20}|(?:\S+\s+){3}).*[.!?\u061f\u3002\uff01\uff1f][\"'\u201d\u2019)\]]*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A line's text with those of its numbers masked that count the pages; `offset` is what they are ahead of them."""

    masked: str
    offset: int | None = None

    def is_page_number(self) -> bool:
        return self.offset is not None and bool(_PAGE_NUMBER.match(self.masked))

    def holds_page_number(self) -> bool:
        """Whether a number that counts the pages is named one, or parted from the other words."""
        if self.offset is None:
            return False
        pieces = [piece for piece in _PARTED.split(self.masked) if "#" in piece]
        return bool(_NAMED_NUMBER.search(self.masked)) or any(_PAGE_NUMBER.match(piece) for piece in pieces)


@dataclass(frozen=True, slots=True)
class _Document:
    """What the pages have in common: how their text is set, and what recurs at one height of how many of them."""

    pages: int
    size: float
    bold: bool
    seen: Counter[tuple[_Reading, int]] = field(default_factory=Counter)
    """Pages that have a reading near a height."""
    numbers: dict[tuple[str, int], list[tuple[int, int]]] = field(default_factory=dict)
    """Pages with what may be their number near a height, and what it is ahead of them; in order."""

    def reading(self, segment: Segment, page: Page, *, outermost: bool) -> _Reading | None:
        """How a line is to be read that is furniture, None for one that belongs to the text.

        Outside of the margin only page numbers are furniture, where nothing stands further out.
        """
        in_margin = _in_margin(segment.box, page)
        if not (in_margin or outermost):
            return None
        large, bold = segment.size > _LARGE * self.size, segment.bold and not self.bold
        least = max(2, round(_SHARE * self.pages))
        for reading in sorted(_readings(segment), key=lambda reading: not reading.is_page_number()):
            count = self.seen[reading, _height(segment)]
            if reading.is_page_number():
                furniture = not large and self._counts_on(reading, segment)
            elif reading.offset is None:
                # On two pages the same line may be a heading, or a warning that is given twice.
                twice = count == 2 and (large or bold or bool(_SENTENCE.match(reading.masked)))
                furniture = count >= least and not twice
            elif large or bold:
                furniture = False  # a heading, numbered with the pages by chance
            else:
                small = count >= 3 and segment.size < _SMALL * self.size
                furniture = count >= least and (small or reading.holds_page_number())
            if furniture and (in_margin or reading.is_page_number()):
                return reading
        return None

    def _counts_on(self, reading: _Reading, segment: Segment) -> bool:
        """Whether the page before or after with a number at this place has the one that it should have."""
        numbers = self.numbers[reading.masked, _height(segment)]
        at = bisect_left(numbers, (segment.page,))
        beside = (*numbers[max(at - 1, 0) : at], *numbers[at + 1 : at + 2])
        return any(offset == reading.offset for _, offset in beside)


def split_furniture(pages: Sequence[Page]) -> list[tuple[list[TextLine], list[TextLine]]]:
    """For each page its lines without running heads, feet and page numbers, and the lines that stand beside the text.

    A line is a running head or foot where it recurs near the same height in the margin of at least two pages and two
    fifths of them, at a distance from the text and with nothing but such lines further out. Its digits may differ only
    as page numbers do. It stands beside the text of the first page that has it. Small print at the very edge of a page
    and lone numbers that may be its number are no part of the text either, but recur nowhere, so that they are kept.
    """
    rows = [rows_of(segments_of((line for line in page.lines if not line.turned), page.gutters)) for page in pages]
    document = _survey(pages, rows)
    told: set[str] = set()
    result: list[tuple[list[TextLine], list[TextLine]]] = []
    for page, page_rows in zip(pages, rows, strict=True):
        dropped: set[int] = set()
        aside: set[int] = set()
        largest = max((segment.size for row in page_rows for segment in row), default=0.0)
        for segment, reading in _furniture(page, page_rows, document):
            runs = set(map(id, segment.runs))
            if reading is None:
                aside |= runs
            elif reading.is_page_number() or reading.masked in told:
                dropped |= runs
            else:
                told.add(reading.masked)
                # What heads each page in the largest letters is the title of the document, where it stands first.
                if segment.size <= _LARGE * document.size or segment.size < largest:
                    aside |= runs
        kept: list[TextLine] = []
        beside: list[TextLine] = []
        for line in page.lines:
            if id(line) in dropped:
                continue
            outside = line.box.bottom < _EDGE * page.height or line.box.top > (1 - _EDGE) * page.height
            small = outside and line.size < _SMALL * document.size
            (beside if small or id(line) in aside else kept).append(line)
        result.append((kept, beside) if kept else (beside, []))
    return result


def _survey(pages: Sequence[Page], rows: Sequence[Sequence[Sequence[Segment]]]) -> _Document:
    lines = [line for page in pages for line in page.lines]
    size = body_size(lines)
    bold = sum(len(line.text) for line in lines if abs(line.size - size) < 0.2 and is_bold(line.font))
    all_of_size = sum(len(line.text) for line in lines if abs(line.size - size) < 0.2)
    document = _Document(len(pages), size, bold * 2 > all_of_size)
    for page, page_rows in zip(pages, rows, strict=True):
        outer = (*page_rows[:1], *page_rows[-1:])
        within = [segment for row in page_rows[1:-1] for segment in row if _in_margin(segment.box, page)]
        places = {
            (reading, _height(segment) + shift)
            for segment in (*within, *(segment for row in outer for segment in row))
            for reading in _readings(segment)
            for shift in (-1, 0, 1)
        }
        document.seen.update(places)
        for reading, height in places:
            if reading.is_page_number() and reading.offset is not None:
                numbers = document.numbers.setdefault((reading.masked, height), [])
                if not numbers or numbers[-1][0] != page.number:
                    numbers.append((page.number, reading.offset))
    return document


def _readings(segment: Segment) -> Iterator[_Reading]:
    """A line's text as it is, and with each of its numbers (and all that are alike) as what counts the pages."""
    text = " ".join(segment.text.split())
    yield _Reading(text)
    numbers = list(_NUMBER.finditer(text))[:_MOST_NUMBERS]
    groups: dict[int, list[re.Match[str]]] = {}
    for number in numbers:
        groups.setdefault(int(number.group()) - segment.page, []).append(number)
    for offset, alike in groups.items():
        for masked in [*([each] for each in alike), alike] if len(alike) > 1 else [alike]:
            pieces, end = [], 0
            for number in masked:
                pieces += [text[end : number.start()], "#"]
                end = number.end()
            yield _Reading("".join(pieces) + text[end:], offset)


def _furniture(
    page: Page, rows: Sequence[Sequence[Segment]], document: _Document
) -> Iterator[tuple[Segment, _Reading | None]]:
    """Furniture of a page with its readings, taken from the outside inwards until a row holds anything else.

    Without a reading: a lone number that may be the page's, which no other page proves.
    """
    for ordered in (rows, rows[::-1]):
        found: list[list[tuple[Segment, _Reading | None]]] = []
        for at, row in enumerate(ordered):
            readings = [(segment, document.reading(segment, page, outermost=at == 0)) for segment in row]
            unproven = [segment for segment, reading in readings if reading is None]
            if len(unproven) > 1 or not all(_may_number(segment, page) for segment in unproven):
                break
            found.append(readings)
        within = ordered[len(found)] if len(found) < len(ordered) else None
        while found and within is not None and _is_tied([segment for segment, _ in found[-1]], within, page):
            within = [segment for segment, _ in found.pop()]
        for readings in found:
            yield from readings


def _may_number(segment: Segment, page: Page) -> bool:
    if not _in_margin(segment.box, page):
        return False
    return any(reading.is_page_number() for reading in _readings(segment))


def _is_tied(row: Sequence[Segment], within: Sequence[Segment], page: Page) -> bool:
    """Whether a row belongs to the text or to the table further in: it stands as close as lines of one text do, or its
    cells stand above or below those of the other row.
    """
    size = max(segment.size for segment in row)
    gap = max(_top(row) - _bottom(within), _top(within) - _bottom(row))
    in_margin = all(_in_margin(segment.box, page) for segment in row)
    if gap < (_DISTANCE if in_margin else _FAR) * size:
        return True
    cells = [segment.box for segment in within]
    aligned = {
        at
        for segment in row
        for at, cell in enumerate(cells)
        if min(segment.box.right, cell.right) > max(segment.box.left, cell.left)
    }
    short = all(len(segment.text) <= _CELL for segment in (*row, *within))
    return short and len(row) > 1 and len(aligned) > 1 and gap < _TABLE_DISTANCE * size


def _top(row: Sequence[Segment]) -> float:
    return min(segment.box.top for segment in row)


def _bottom(row: Sequence[Segment]) -> float:
    return max(segment.box.bottom for segment in row)


def _height(segment: Segment) -> int:
    return round(segment.box.top / 4)


def _in_margin(box: Box, page: Page) -> bool:
    return box.bottom < _MARGIN * page.height or box.top > (1 - _MARGIN) * page.height
