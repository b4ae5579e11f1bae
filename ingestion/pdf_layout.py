"""Structure of a PDF from its lines: headings, paragraphs, lists, tables and code in reading order. Pure.

Only what stands on the page decides: text, font name, size, position and drawn lines. Sizes are compared with the size
that most characters of the document have.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from ingestion.documents import Block
from ingestion.formats.tables import table_block
from ingestion.pdf_lines import (
    BULLET,
    Box,
    Page,
    Segment,
    TextLine,
    body_size,
    columns_of,
    is_rtl,
    rows_of,
    segments_of,
    split_furniture,
)
from ingestion.pdf_tables import Table, aligned_table, ruled_tables

__all__ = ["Box", "Page", "TextLine", "layout_blocks"]

_LIST_ITEM = re.compile(rf"(?:{BULLET.pattern}|\(?(?:\d{{1,3}}|[a-zA-Z])[.)])\s+\S")
_BULLET_ITEM = re.compile(rf"{BULLET.pattern}\s+")
_CAPTION = re.compile(r"(?:figure|fig\.|table|listing|abbildung|tabelle)\s*\d", re.IGNORECASE)
_NUMBER = re.compile(r"(\d{1,2}(?:\.\d{1,2})*)\.?\s+\S")
_TERMINAL = re.compile(r"[.!?:;\u061f\u3002][\"'\u201d)\]]*$")
_KEEPS_HYPHEN = frozenset(
    "self non co re pre multi real high low well semi anti cross long short on off up user end open full half "
    "ever all ex in built third first second two three single double large small time text data cloud".split()
)


@dataclass(slots=True)
class _Part:
    """A block in the making: its rows of segments, or a table. `opens` says that it begins a column or a page."""

    kind: str
    page: int
    rows: list[list[Segment]] = field(default_factory=list)
    table: Table | None = None
    opens: bool = False
    right: float = 0.0


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
    marks = {_key(title): level for title, level in (outline or {}).items()}
    parts: list[_Part] = []
    aside: list[_Part] = []
    for page, (lines, edge) in zip(pages, trimmed, strict=True):
        upright = [line for line in lines if not _is_turned(line)]
        parts.extend(_page_parts(page.number, upright, page.rules, style, marks))
        turned = [line for line in lines if _is_turned(line)]
        aside.extend(_Part("paragraph", page.number, [[Segment((line,))]]) for line in (*turned, *edge))
    parts = _joined(parts)
    words = _vocabulary(parts)
    levels = _heading_levels(parts, marks)
    blocks = [_block(part, levels.get(id(part), 0), words) for part in (*parts, *aside)]
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


def _is_turned(line: TextLine) -> bool:
    """Text that runs up or down the page."""
    return len(line.text) > 3 and line.box.bottom - line.box.top > 2.5 * (line.box.right - line.box.left)


def _key(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def _row_text(row: Sequence[Segment]) -> str:
    return " ".join(segment.text for segment in row)


def _left(row: Sequence[Segment]) -> float:
    return min(segment.box.left for segment in row)


def _right(row: Sequence[Segment]) -> float:
    return max(segment.box.right for segment in row)


def _main(row: Sequence[Segment]) -> Segment:
    return max(row, key=lambda segment: len(segment.text))


def _gap(above: Sequence[Segment], below: Sequence[Segment]) -> float:
    return _main(below).box.top - _main(above).box.bottom


def _page_parts(
    number: int, lines: Sequence[TextLine], rules: Sequence[Box], style: _Style, marks: Mapping[str, int]
) -> list[_Part]:
    tables, rest = ruled_tables(lines, rules)
    # A table takes its place in the reading order as one large segment.
    stands = {f"\x00{at}": table for at, table in enumerate(tables)}
    segments = segments_of(rest) + [Segment((TextLine(key, "", t.box, number),)) for key, t in stands.items()]
    parts: list[_Part] = []
    for stream in columns_of(segments):
        found = list(_stream_parts(number, rows_of(stream), stands, style, marks))
        if found:
            found[0].opens = True
        right = sorted(s.box.right for s in stream)[-max(len(stream) // 20, 1)]
        for part in found:
            part.right = right
        parts.extend(found)
    return parts


def _stream_parts(
    number: int, rows: Sequence[list[Segment]], stands: Mapping[str, Table], style: _Style, marks: Mapping[str, int]
) -> Iterator[_Part]:
    part: _Part | None = None
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
            yield _Part("table", number, table=table)
            at += taken
            continue
        around = (rows[at - 1] if at else None, rows[at + 1] if at + 1 < len(rows) else None)
        kind = _kind(row, around, style, marks)
        if part is not None and _belongs(part, kind, row, style):
            part.rows.append(row)
        else:
            if part is not None:
                yield part
            part = _Part(kind, number, [row])
        at += 1
    if part is not None:
        yield part


_Around = tuple[Sequence[Segment] | None, Sequence[Segment] | None]


def _kind(row: Sequence[Segment], around: _Around, style: _Style, marks: Mapping[str, int]) -> str:
    text = _row_text(row)
    if _key(text) and _key(text) in marks:
        return "heading"
    if not style.mono and all(segment.mono for segment in row):
        return "code"
    if _is_heading(row, around, text, style):
        return "heading"
    return "list" if _LIST_ITEM.match(text) else "paragraph"


def _is_heading(row: Sequence[Segment], around: _Around, text: str, style: _Style) -> bool:
    if len(row) > 1 and _gap_between(row) > 6 * style.size:
        return False
    letters = sum(character.isalpha() for character in text)
    if letters < 0.45 * len(text.replace(" ", "")) or len(text) > 200 or _CAPTION.match(text):
        return False
    size = _main(row).size
    bold = all(segment.bold for segment in row)
    below = around[1]
    if size > 1.12 * style.size and not _is_stretched(row, around, style):
        return bold or size > 1.25 * style.size or not text.endswith((".", ","))
    if not bold or style.bold or size < 0.93 * style.size or text.endswith((",", ";")):
        return False
    return below is None or not all(segment.bold for segment in below) or _gap(row, below) > -size


def _is_stretched(row: Sequence[Segment], around: _Around, style: _Style) -> bool:
    """Whether a line of body text only has a tall box, for a raised number or a sign of another font in it.

    Such a box comes closer to its neighbours than lines are otherwise; a heading keeps its distance.
    """
    above, below = around
    gaps = [_gap(above, row)] if above is not None else []
    gaps += [_gap(row, below)] if below is not None else []
    return any(-1.5 * style.size < gap < style.gap - 0.1 * style.size for gap in gaps)


def _gap_between(row: Sequence[Segment]) -> float:
    ordered = sorted(row, key=lambda segment: segment.box.left)
    return max(b.box.left - a.box.right for a, b in zip(ordered, ordered[1:], strict=False))


def _belongs(part: _Part, kind: str, row: Sequence[Segment], style: _Style) -> bool:
    """Whether a row goes on with the part above it."""
    last = part.rows[-1]
    size = _main(row).size
    gap = _gap(last, row)
    wide = gap > style.gap + 0.4 * max(size, 0.8 * style.size)
    if kind == "heading" and part.kind == "paragraph" and _CAPTION.match(_row_text(part.rows[0])):
        return not wide and _main(last).bold and abs(_main(last).size - size) < 0.06 * size
    if part.kind == "heading" or kind == "heading":
        same = part.kind == kind and abs(_main(last).size - size) < 0.06 * size
        return same and not wide and len(part.rows) < 4 and not _NUMBER.match(_row_text(row))
    if part.kind == "code" or kind == "code":
        return part.kind == kind and gap < 2.2 * style.size
    if kind == "list":
        return part.kind == "list" and gap < 2.5 * style.size
    if part.kind == "list":
        return not wide and _hangs(part, row, size)
    return not wide and not _starts_paragraph(part, row, size)


def _hangs(part: _Part, row: Sequence[Segment], size: float) -> bool:
    """Whether a row below a list item is set in from the item's mark, or goes on in the middle of a sentence."""
    starts = [r for r in part.rows if _LIST_ITEM.match(_row_text(r))]
    item = starts[-1] if starts else part.rows[0]
    text = _row_text(row)
    if is_rtl(text):
        return _right(row) < _right(item) - 0.4 * size
    return _left(row) > _left(item) + 0.4 * size or (
        not _TERMINAL.search(_row_text(part.rows[-1])) and text[:1].islower()
    )


def _starts_paragraph(part: _Part, row: Sequence[Segment], size: float) -> bool:
    """A first line set in, or a line after one that ended early with the end of a sentence."""
    last, text = part.rows[-1], _row_text(row)
    before = _row_text(last)
    if abs(_main(last).size - size) > 0.3 * size and len(text) > 3 and len(before) > 3:
        return True
    if is_rtl(text):
        shift, room = _right(last) - _right(row), _left(last) - min(_left(r) for r in (*part.rows, row))
    else:
        shift = _left(row) - _left(last)
        room = max(_right(r) for r in (*part.rows, row)) - _right(last)
    if 0.8 * size < shift < 6 * size and len(part.rows) > 1 and _TERMINAL.search(before):
        return True
    if 0.8 * size < shift < 6 * size and len(part.rows) == 1 and room > 2 * size:
        return True
    width = max(_right(r) for r in part.rows) - min(_left(r) for r in part.rows)
    return bool(_TERMINAL.search(before)) and room > 0.25 * max(width, 1.0) and not text[:1].islower()


def _joined(parts: Sequence[_Part]) -> list[_Part]:
    """Joins what a column or a page break cut in two: paragraphs, list items and tables."""
    joined: list[_Part] = []
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


def _goes_on(above: _Part, part: _Part) -> bool:
    if above.table is not None and part.table is not None:
        a, b = above.table, part.table
        return len(a.columns) == len(b.columns) and 0 <= b.page - a.page <= 1
    if part.kind != "paragraph" or above.kind not in ("paragraph", "list") or not above.rows:
        return part.kind == above.kind == "code" and part.page != above.page
    before, text = _row_text(above.rows[-1]), _row_text(part.rows[0])
    if _TERMINAL.search(before) or _CAPTION.match(text):
        return False
    if abs(_main(above.rows[-1]).size - _main(part.rows[0]).size) > 0.12 * _main(part.rows[0]).size:
        return False
    full = _right(above.rows[-1]) > above.right - 3 * _main(part.rows[0]).size
    return text[:1].islower() or (before.endswith("-") and full) or (full and above.kind == "paragraph")


def _vocabulary(parts: Sequence[_Part]) -> Counter[str]:
    words: Counter[str] = Counter()
    for part in parts:
        for row in part.rows:
            words.update(re.findall(r"\w+(?:-\w+)*", _row_text(row).lower()))
    return words


def _flow(rows: Sequence[Sequence[Segment]], words: Counter[str]) -> str:
    """Rows as running text; a word cut at the end of a row is put together again."""
    text = ""
    for row in rows:
        piece = _row_text(row)
        if text and text[-1] in "-\u2010\u00ad" and len(text) > 1 and text[-2].isalpha() and piece[:1].isalpha():
            head = re.findall(r"[\w]+$", text[:-1])[-1].lower()
            tail = re.match(r"\w+", piece)
            joined = text[:-1] if _is_cut(head, tail.group(0).lower() if tail else "", piece, words) else text
            text = (joined if text[-1] != "\u00ad" else text[:-1]) + piece
        else:
            text = f"{text} {piece}" if text else piece
    return text


def _is_cut(head: str, tail: str, piece: str, words: Counter[str]) -> bool:
    """Whether the hyphen between two parts of a word only marks the end of the line."""
    if words[head + tail]:
        return True
    if words[f"{head}-{tail}"] or not piece[0].islower():
        return False
    return head not in _KEEPS_HYPHEN and not (len(head) > 4 and words[head])


def _heading_levels(parts: Sequence[_Part], marks: Mapping[str, int]) -> dict[int, int]:
    """Level of each heading: by bookmark, else by rank of its size and weight, deeper where its number is longer."""
    headings = [part for part in parts if part.kind == "heading"]
    looks = {id(part): (_main(part.rows[0]).size, all(s.bold for s in part.rows[0])) for part in headings}
    ranks: list[tuple[float, bool]] = []
    for look in sorted(set(looks.values()), key=lambda item: (-item[0], not item[1])):
        if not ranks or look[0] < 0.95 * ranks[-1][0] or look[1] != ranks[-1][1]:
            ranks.append(look)
    levels: dict[int, int] = {}
    title = parts[0] if parts and parts[0].kind == "heading" else None
    if title is not None and len(headings) > 1 and ranks:
        # The first line of a document is its title where nothing else looks like it, whatever its size.
        look = looks[id(title)]
        if sum(other == look for other in looks.values()) == 1:
            ranks = [look, *(rank for rank in ranks if rank != look)]
    for part in headings:
        text = _row_text(part.rows[0])
        size, bold = looks[id(part)]
        near = [at for at, (s, b) in enumerate(ranks) if bold == b and size <= s + 1e-6]
        rank = looks[id(part)] in ranks and ranks.index(looks[id(part)]) or max(near)
        number = _NUMBER.match(text)
        depth = number.group(1).count(".") if number else 0
        levels[id(part)] = min(marks.get(_key(text), rank + 1 + depth), 6)
    return levels


def _block(part: _Part, level: int, words: Counter[str]) -> Block | None:
    if part.table is not None:
        return table_block(part.table.rows, page=part.page)
    if part.kind == "heading":
        return Block("heading", _flow(part.rows, words), level=max(level, 1), page=part.page)
    if part.kind == "code":
        return Block("code", _code_text(part.rows), page=part.page)
    if part.kind == "list":
        return Block("list", _list_text(part.rows, words), page=part.page)
    return Block("paragraph", _flow(part.rows, words), page=part.page)


def _code_text(rows: Sequence[Sequence[Segment]]) -> str:
    first = min(_left(row) for row in rows)
    widths = [(s.box.right - s.box.left) / len(s.text) for row in rows for s in row if len(s.text) > 2]
    width = median(widths) if widths else 5.0
    return "\n".join(" " * round((_left(row) - first) / width) + _row_text(row) for row in rows)


def _list_text(rows: Sequence[list[Segment]], words: Counter[str]) -> str:
    items: list[list[list[Segment]]] = []
    for row in rows:
        if _LIST_ITEM.match(_row_text(row)) or not items:
            items.append([row])
        else:
            items[-1].append(row)
    rtl = is_rtl("".join(_row_text(row) for row in rows))
    starts = [(-_right(item[0]) if rtl else _left(item[0])) for item in items]
    steps: list[float] = []
    for start in sorted(set(starts)):
        if not steps or start - steps[-1] > 6:
            steps.append(start)
    lines = []
    for item, start in zip(items, starts, strict=True):
        depth = max(at for at, step in enumerate(steps) if start >= step - 0.1)
        lines.append("  " * depth + _BULLET_ITEM.sub("- ", _flow(item, words), count=1))
    return "\n".join(lines)
