"""From the parts of a PDF page to blocks: levels of headings, words put together again, lists and code. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from ingestion.documents import Block
from ingestion.formats.tables import table_block
from ingestion.pdf_lines import BULLET, Segment, is_rtl, join_runs
from ingestion.pdf_tables import Table

LIST_ITEM = re.compile(rf"(?:{BULLET.pattern}|\(?(?:\d{{1,3}}|[a-zA-Z])[.)])\s+\S")
NUMBERED_HEADING = re.compile(r"(\d{1,2}(?:\.\d{1,2})*)\.?\s+\S")
BULLET_ITEM = re.compile(rf"{BULLET.pattern}\s+")
# First parts of compounds: a hyphen after them at the end of a line most likely belongs to the word.
_KEEPS_HYPHEN = frozenset(
    ("self", "non", "co", "re", "pre", "multi", "real", "high", "low", "well", "semi", "anti", "cross", "long", "short",
     "on", "off", "up", "user", "end", "open", "full", "half", "ever", "all", "ex", "in", "built", "third", "first",
     "second", "two", "three", "single", "double", "large", "small", "time", "text", "data", "cloud")
)  # fmt: skip


@dataclass(slots=True)
class Part:
    """A block in the making: its rows of segments, or a table. `opens` says that it begins a column or a page."""

    kind: str
    page: int
    rows: list[list[Segment]] = field(default_factory=list)
    table: Table | None = None
    opens: bool = False
    right: float = 0.0


def key_of(text: str) -> str:
    """Letters and digits of a text without case, to compare headings by."""
    return re.sub(r"[\W_]+", "", text).casefold()


def row_text(row: Sequence[Segment]) -> str:
    """Text of a row in logical order; a row that reads from the right is put in order as a whole."""
    text = " ".join(segment.text for segment in row)
    return join_runs([run for segment in row for run in segment.runs]) if len(row) > 1 and is_rtl(text) else text


def left(row: Sequence[Segment]) -> float:
    """Left edge of a row, in points."""
    return min(segment.box.left for segment in row)


def right(row: Sequence[Segment]) -> float:
    """Right edge of a row, in points."""
    return max(segment.box.right for segment in row)


def main_of(row: Sequence[Segment]) -> Segment:
    """The segment with the most text; font and size of the row are its."""
    return max(row, key=lambda segment: len(segment.text))


def gap_of(above: Sequence[Segment], below: Sequence[Segment]) -> float:
    """Distance between two rows, in points."""
    return main_of(below).box.top - main_of(above).box.bottom


def vocabulary(parts: Sequence[Part]) -> Counter[str]:
    """How often each word stands in the document, to tell a hyphenated word from a broken one."""
    words: Counter[str] = Counter()
    for part in parts:
        for row in part.rows:
            # The word that a line's end cuts is no word yet.
            words.update(re.findall(r"\w+(?:-\w+)*(?!-$|\w)", row_text(row).lower()))
    return words


def _flow(rows: Sequence[Sequence[Segment]], words: Counter[str]) -> str:
    """Rows as running text; a word cut at the end of a row is put together again."""
    text = ""
    for row in rows:
        piece = row_text(row)
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


def heading_levels(parts: Sequence[Part], marks: Mapping[str, int]) -> dict[int, int]:
    """Level of each heading: by bookmark, else by rank of its size and weight, deeper where its number is longer."""
    headings = [part for part in parts if part.kind == "heading"]
    looks = {id(part): (main_of(part.rows[0]).size, all(s.bold for s in part.rows[0])) for part in headings}
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
        text = row_text(part.rows[0])
        size, bold = looks[id(part)]
        near = [at for at, (s, b) in enumerate(ranks) if bold == b and size <= s + 1e-6]
        rank = ranks.index(looks[id(part)]) if looks[id(part)] in ranks else max(near)
        number = NUMBERED_HEADING.match(text)
        depth = number.group(1).count(".") if number else 0
        levels[id(part)] = min(marks.get(key_of(text), rank + 1 + depth), 6)
    return levels


def render(part: Part, level: int, words: Counter[str]) -> Block | None:
    """The part as a block; None where it holds no text."""
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
    first = min(left(row) for row in rows)
    widths = [(s.box.right - s.box.left) / len(s.text) for row in rows for s in row if len(s.text) > 2]
    width = median(widths) if widths else 5.0
    return "\n".join(" " * round((left(row) - first) / width) + row_text(row) for row in rows)


def _list_text(rows: Sequence[list[Segment]], words: Counter[str]) -> str:
    items: list[list[list[Segment]]] = []
    for row in rows:
        if LIST_ITEM.match(row_text(row)) or not items:
            items.append([row])
        else:
            items[-1].append(row)
    rtl = is_rtl("".join(row_text(row) for row in rows))
    starts = [(-right(item[0]) if rtl else left(item[0])) for item in items]
    steps: list[float] = []
    for start in sorted(set(starts)):
        if not steps or start - steps[-1] > 6:
            steps.append(start)
    lines = []
    for item, start in zip(items, starts, strict=True):
        depth = max(at for at, step in enumerate(steps) if start >= step - 0.1)
        lines.append("  " * depth + BULLET_ITEM.sub("- ", _flow(item, words), count=1))
    return "\n".join(lines)
