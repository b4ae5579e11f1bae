"""Structure of a PDF from its lines: headings, paragraphs, lists, tables and code in reading order. Pure.

Only what stands on the page decides: text, font name, size, position and drawn lines. Sizes are compared with the size
that most characters of the document have.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from ingestion.documents import Block
from ingestion.pdf_blocks import (
    BULLET_ITEM,
    LIST_ITEM,
    NUMBERED_HEADING,
    Part,
    gap_of,
    heading_levels,
    key_of,
    left,
    main_of,
    render,
    right,
    row_text,
    vocabulary,
)
from ingestion.pdf_furniture import split_furniture
from ingestion.pdf_lines import (
    Box,
    Page,
    Segment,
    TextLine,
    body_size,
    columns_of,
    is_rtl,
    rows_of,
    segments_of,
)
from ingestion.pdf_tables import Table, aligned_table, ruled_tables

__all__ = ["Box", "Page", "TextLine", "layout_blocks"]

_CAPTION = re.compile(r"(?:figure|fig\.|table|listing|abbildung|tabelle)\s*\d", re.IGNORECASE)
_TERMINAL = re.compile(r"[.!?:;\u061f\u3002][\"'\u201d)\]]*$")
_Around = tuple[Sequence[Segment] | None, Sequence[Segment] | None]


@dataclass(frozen=True, slots=True)
class _Style:
    """What is ordinary in the document: size, weight and font kind of its text, and the gap between its lines."""

    size: float
    bold: bool
    mono: bool
    gap: float


def layout_blocks(pages: Sequence[Page], outline: Mapping[str, int] | None = None) -> list[Block]:
    """Blocks of a document in reading order, each with the page it begins on.

    Args:
        pages: the pages as parsed.
        outline: level of each bookmark by its title; a line that reads like a bookmark is a heading of its level.
    """
    trimmed = split_furniture(pages)
    style = _style([line for kept, _ in trimmed for line in kept])
    marks = {key_of(title): level for title, level in (outline or {}).items()}
    parts: list[Part] = []
    aside: list[Part] = []
    for page, (lines, edge) in zip(pages, trimmed, strict=True):
        upright = [line for line in lines if not line.turned]
        parts.extend(_page_parts(page, upright, style, marks))
        turned = [line for line in lines if line.turned]
        if turned or edge:
            aside.append(Part("paragraph", page.number, [[Segment((line,))] for line in (*turned, *edge)]))
    parts = _joined(parts)
    words = vocabulary(parts)
    levels = heading_levels(parts, marks)
    # What stands aside comes after the text that begins on its page.
    ordered = sorted((*parts, *aside), key=lambda part: part.page)
    blocks = [render(part, levels.get(id(part), 0), words) for part in ordered]
    return [block for block in blocks if block is not None]


def _style(lines: Sequence[TextLine]) -> _Style:
    size = body_size(lines)
    weights: Counter[tuple[bool, bool]] = Counter()
    gaps: list[float] = []
    previous: TextLine | None = None
    for line in lines:
        if abs(line.size - size) < 0.2:
            segment = Segment((line,))
            weights[segment.bold, segment.mono] += len(line.text)
            if previous is not None and previous.page == line.page and abs(previous.box.left - line.box.left) < 30:
                gap = line.box.top - previous.box.bottom
                if -0.3 * size < gap < 0.8 * size:
                    gaps.append(gap)
            previous = line
    bold, mono = max(weights, key=lambda key: (weights[key], key)) if weights else (False, False)
    return _Style(size, bold, mono, median(gaps) if gaps else 0.4 * size)


def _page_parts(page: Page, lines: Sequence[TextLine], style: _Style, marks: Mapping[str, int]) -> list[Part]:
    tables, rest = ruled_tables(lines, page.rules)
    # A table takes its place in the reading order as one large segment.
    stands = {f"\x00{at}": table for at, table in enumerate(tables)}
    segments = segments_of(rest, page.gutters)
    segments += [Segment((TextLine(key, "", t.box, page.number),)) for key, t in stands.items()]
    parts: list[Part] = []
    for stream in columns_of(segments):
        found = list(_stream_parts(page.number, _with_full_stops(rows_of(stream)), stands, style, marks))
        if found:
            found[0].opens = True
        right = sorted(s.box.right for s in stream)[-max(len(stream) // 20, 1)]
        for part in found:
            part.right = right
        parts.extend(found)
    return parts


def _stream_parts(
    number: int, rows: Sequence[list[Segment]], stands: Mapping[str, Table], style: _Style, marks: Mapping[str, int]
) -> Iterator[Part]:
    part: Part | None = None
    at = 0
    while at < len(rows):
        row = rows[at]
        # The joined text would have lost the mark; the run has it.
        table = stands.get(row[0].runs[0].text)
        taken = 1
        if table is None and len(row) > 1 and (aligned := aligned_table(rows[at:])) is not None:
            table, taken = aligned
        if table is not None:
            if part is not None:
                yield part
            part = None
            yield Part("table", number, table=table)
            at += taken
            continue
        around = (rows[at - 1] if at else None, rows[at + 1] if at + 1 < len(rows) else None)
        kind = _kind(row, around, style, marks)
        if part is not None and _belongs(part, kind, row, style):
            part.rows.append(row)
        else:
            if part is not None:
                yield part
            part = Part(kind, number, [row])
        at += 1
    if part is not None:
        yield part


def _kind(row: Sequence[Segment], around: _Around, style: _Style, marks: Mapping[str, int]) -> str:
    text = row_text(row)
    if key_of(text) and key_of(text) in marks:
        return "heading"
    if not style.mono and all(segment.mono for segment in row):
        return "code"
    if not _is_listed(row, around) and _is_heading(row, around, text, style):
        return "heading"
    return "list" if _is_item(row) else "paragraph"


def _is_listed(row: Sequence[Segment], around: _Around) -> bool:
    """Whether a line is an item of a list for certain, though its mark may make it higher than the text: it begins with
    a bullet, or is numbered like the line next to it, and not bold.
    """
    text = row_text(row)
    if BULLET_ITEM.match(text):
        return True
    if not LIST_ITEM.match(text) or all(segment.bold for segment in row):
        return False
    size = main_of(row).size
    return any(
        beside is not None
        and LIST_ITEM.match(row_text(beside))
        and abs(main_of(beside).size - size) < 0.06 * size
        and -size < (gap_of(beside, row) if beside is around[0] else gap_of(row, beside)) < 1.5 * size
        for beside in around
    )


def _is_item(row: Sequence[Segment]) -> bool:
    return bool(LIST_ITEM.match(row_text(row)))


def _with_full_stops(rows: list[list[Segment]]) -> list[list[Segment]]:
    """Rows where the items of a list that is numbered 1, 2, 3 without full stops have got them.

    A number alone proves nothing; two or more rows that count from 1 at one left edge do.
    """
    counted: dict[int, list[Segment]] = {}
    for start, row in enumerate(rows):
        if start in counted or not row_text(row).startswith("1 "):
            continue
        chain = [start]
        for at in range(start + 1, len(rows)):
            if at - chain[-1] > 8:
                break
            same_edge = abs(left(rows[at]) - left(row)) < 2
            if same_edge and row_text(rows[at]).startswith(f"{len(chain) + 1} "):
                chain.append(at)
        if len(chain) > 1:
            counted.update({at: _numbered(rows[at], number) for number, at in enumerate(chain, start=1)})
    return [counted.get(at, row) for at, row in enumerate(rows)]


def _numbered(row: Sequence[Segment], number: int) -> list[Segment]:
    first, *others = row
    run = first.runs[0]
    named = replace(run, text=re.sub(rf"^{number}\b", f"{number}.", run.text, count=1))
    return [Segment((named, *first.runs[1:])), *others]


def _is_heading(row: Sequence[Segment], around: _Around, text: str, style: _Style) -> bool:
    if len(row) > 1 and _gap_between(row) > 6 * style.size:
        return False
    letters = sum(character.isalpha() for character in text)
    if letters < 0.45 * len(text.replace(" ", "")) or len(text) > 200 or _CAPTION.match(text):
        return False
    size = main_of(row).size
    bold = all(segment.bold for segment in row)
    below = around[1]
    if size > 1.12 * style.size and not _is_stretched(row, around, style):
        return bold or size > 1.25 * style.size or not text.endswith((".", ","))
    if not bold or style.bold or size < 0.93 * style.size or text.endswith((",", ";")):
        return False
    return below is None or not all(segment.bold for segment in below) or gap_of(row, below) > -size


def _is_stretched(row: Sequence[Segment], around: _Around, style: _Style) -> bool:
    """Whether a line of body text only has a tall box, for a raised number or a sign of another font in it.

    Such a box comes closer to its neighbours than lines are otherwise; a heading keeps its distance.
    """
    above, below = around
    gaps = [gap_of(above, row)] if above is not None else []
    gaps += [gap_of(row, below)] if below is not None else []
    return any(-1.5 * style.size < gap < style.gap - 0.1 * style.size for gap in gaps)


def _gap_between(row: Sequence[Segment]) -> float:
    ordered = sorted(row, key=lambda segment: segment.box.left)
    return max(b.box.left - a.box.right for a, b in pairwise(ordered))


def _belongs(part: Part, kind: str, row: Sequence[Segment], style: _Style) -> bool:
    """Whether a row goes on with the part above it."""
    last = part.rows[-1]
    size = main_of(row).size
    gap = gap_of(last, row)
    wide = gap > style.gap + 0.4 * max(size, 0.8 * style.size)
    if kind == "heading" and part.kind == "paragraph" and _CAPTION.match(row_text(part.rows[0])):
        return not wide and main_of(last).bold and abs(main_of(last).size - size) < 0.06 * size
    if part.kind == "heading" or kind == "heading":
        # The second line of a heading may lack what makes a line a heading by itself, such as letters.
        large = part.kind == "heading" and size > 1.12 * style.size and all(s.bold for s in row)
        same = (part.kind == kind or large) and abs(main_of(last).size - size) < 0.06 * size
        return same and not wide and len(part.rows) < 4 and not NUMBERED_HEADING.match(row_text(row))
    if part.kind == "code" or kind == "code":
        return part.kind == kind and gap < 2.2 * style.size
    if kind == "list":
        return part.kind == "list" and gap < 2.5 * style.size
    if part.kind == "list":
        return not wide and _hangs(part, row, size)
    return not wide and not _starts_paragraph(part, row, size, gap < style.gap - 0.1 * style.size)


def _hangs(part: Part, row: Sequence[Segment], size: float) -> bool:
    """Whether a row below a list item is set in from the item's mark, or goes on in the middle of a sentence."""
    starts = [r for r in part.rows if _is_item(r)]
    item = starts[-1] if starts else part.rows[0]
    text = row_text(row)
    if is_rtl(text):
        return right(row) < right(item) - 0.4 * size
    return left(row) > left(item) + 0.4 * size or (not _TERMINAL.search(row_text(part.rows[-1])) and text[:1].islower())


def _starts_paragraph(part: Part, row: Sequence[Segment], size: float, tight: bool) -> bool:
    """A first line set in, or a line after one that ended early with the end of a sentence."""
    last, text = part.rows[-1], row_text(row)
    before = row_text(last)
    if not tight and abs(main_of(last).size - size) > 0.3 * size and len(text) > 3 and len(before) > 3:
        return True
    if is_rtl(text):
        shift, room = right(last) - right(row), left(last) - min(left(r) for r in (*part.rows, row))
    else:
        shift = left(row) - left(last)
        room = max(right(r) for r in (*part.rows, row)) - right(last)
    if 0.8 * size < shift < 6 * size and len(part.rows) > 1 and _TERMINAL.search(before):
        return True
    if 0.8 * size < shift < 6 * size and len(part.rows) == 1 and room > 2 * size:
        return True
    width = max(right(r) for r in part.rows) - min(left(r) for r in part.rows)
    return bool(_TERMINAL.search(before)) and room > 0.25 * max(width, 1.0) and not text[:1].islower()


def _joined(parts: Sequence[Part]) -> list[Part]:
    """Joins what a column or a page break cut in two: paragraphs, list items and tables."""
    joined: list[Part] = []
    for part in parts:
        above = joined[-1] if joined else None
        if above is not None and part.opens and _goes_on(above, part):
            if above.table is not None and part.table is not None:
                rows = part.table.rows[1:] if part.table.rows[0] == above.table.rows[0] else part.table.rows
                above.table = replace(above.table, rows=above.table.rows + rows)
            else:
                above.rows.extend(part.rows)
        else:
            joined.append(part)
    return joined


def _goes_on(above: Part, part: Part) -> bool:
    if above.table is not None and part.table is not None:
        a, b = above.table, part.table
        return len(a.columns) == len(b.columns) and 0 <= b.page - a.page <= 1
    if part.kind != "paragraph" or above.kind not in ("paragraph", "list") or not above.rows:
        return part.kind == above.kind == "code" and part.page != above.page
    before, text = row_text(above.rows[-1]), row_text(part.rows[0])
    if _TERMINAL.search(before) or _CAPTION.match(text):
        return False
    if abs(main_of(above.rows[-1]).size - main_of(part.rows[0]).size) > 0.12 * main_of(part.rows[0]).size:
        return False
    full = right(above.rows[-1]) > above.right - 3 * main_of(part.rows[0]).size
    return text[:1].islower() or (before.endswith("-") and full) or (full and above.kind == "paragraph")
