"""Tables on a PDF page, from their ruling lines or from the alignment of their text. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from ingestion.pdf_lines import Box, Segment, TextLine, is_rtl, join_runs

_NEAR = 4.0
"""Points within which two edges count as one."""
_MOST_RULES = 2_000


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cell texts where they stand on a page. `columns` are the x of the column borders."""

    box: Box
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[float, ...]
    page: int


def ruled_tables(lines: Sequence[TextLine], rules: Sequence[Box]) -> tuple[list[Table], list[TextLine]]:
    """Tables drawn with horizontal and vertical lines, and the lines of text outside of them."""
    tables: list[Table] = []
    rest = list(lines)
    for group in _touching([rule for rule in rules if _is_edge(rule)][:_MOST_RULES]):
        table, rest = _read_grid(group, rest)
        if table is not None:
            tables.append(table)
    return tables, rest


def crossed_borders(line: TextLine, rules: Sequence[Box]) -> list[float]:
    """The x of vertical rules that a line of text runs across; where there are some, a parser joined two cells."""
    middle = (line.box.top + line.box.bottom) / 2
    return sorted(
        {
            rule.left
            for rule in rules
            if rule.right - rule.left < 3 and rule.bottom - rule.top > 6 and rule.top - 1 <= middle <= rule.bottom + 1
            and line.box.left + 2 < rule.left < line.box.right - 2
        }
    )  # fmt: skip


def split_at_borders(lines: Sequence[TextLine], words: Sequence[TextLine], rules: Sequence[Box]) -> list[TextLine]:
    """Lines that run across a cell's border cut there, by the words that they are made of; other lines as they are."""
    result: list[TextLine] = []
    for line in lines:
        borders = crossed_borders(line, rules)
        own = [word for word in words if borders and _within(word.box, line.box)]
        groups: dict[int, list[TextLine]] = {}
        for word in sorted(own, key=lambda item: item.box.left):
            middle = (word.box.left + word.box.right) / 2
            groups.setdefault(sum(border < middle for border in borders), []).append(word)
        if len(groups) < 2:
            result.append(line)
            continue
        for group in groups.values():
            left, right = group[0].box.left, max(word.box.right for word in group)
            box = Box(left, line.box.top, right, line.box.bottom)
            result.append(TextLine(join_runs(group), line.font, box, line.page))
    return result


def _is_edge(rule: Box) -> bool:
    """A straight line, or a box large enough to be a cell; the strokes of letters and drawings are neither."""
    width, height = rule.right - rule.left, rule.bottom - rule.top
    return (width < 3 and height > 6) or (height < 3 and width > 12) or (width > 20 and height > 8)


def _touching(rules: Sequence[Box]) -> list[list[Box]]:
    """Groups of rules that touch one another."""
    groups: list[tuple[Box, list[Box]]] = []
    for rule in sorted(rules, key=lambda r: (r.top, r.left, r.bottom, r.right)):
        hull, members = rule, [rule]
        apart: list[tuple[Box, list[Box]]] = []
        for other, others in groups:
            if _meet(hull, other):
                hull = _hull(hull, other)
                members = others + members
            else:
                apart.append((other, others))
        groups = [*apart, (hull, members)]
    return [members for _, members in sorted(groups, key=lambda g: (g[0].top, g[0].left))]


def _meet(a: Box, b: Box) -> bool:
    return (
        a.left <= b.right + _NEAR and b.left <= a.right + _NEAR
        and a.top <= b.bottom + _NEAR and b.top <= a.bottom + _NEAR
    )  # fmt: skip


def _hull(a: Box, b: Box) -> Box:
    return Box(min(a.left, b.left), min(a.top, b.top), max(a.right, b.right), max(a.bottom, b.bottom))


def _edges(values: Sequence[float], least: float) -> list[float]:
    """Distinct positions, those nearer than `least` taken for one."""
    edges: list[float] = []
    for value in sorted(values):
        if not edges or value - edges[-1] > least:
            edges.append(value)
    return edges


def _read_grid(rules: Sequence[Box], lines: list[TextLine]) -> tuple[Table | None, list[TextLine]]:
    vertical = [r for r in rules if r.right - r.left < 3]
    horizontal = [r for r in rules if r.bottom - r.top < 3]
    boxes = [r for r in rules if r.right - r.left >= 3 and r.bottom - r.top >= 3]
    xs = _edges([r.left for r in vertical] + [x for b in boxes for x in (b.left, b.right)], 6.0)
    ys = _edges([r.top for r in horizontal] + [y for b in boxes for y in (b.top, b.bottom)], 4.0)
    if len(xs) < 3 or len(ys) < 3 or len(xs) > 60:
        return None, lines
    hull = Box(xs[0], ys[0], xs[-1], ys[-1])
    inside = [line for line in lines if _within(line.box, hull)]
    cells: dict[tuple[int, int], list[TextLine]] = {}
    for line in inside:
        middle = (line.box.top + line.box.bottom) / 2
        row = sum(y <= middle for y in ys) - 1
        start = line.box.left + min(2.0, (line.box.right - line.box.left) / 2)
        column = sum(x <= start for x in xs) - 1
        cells.setdefault((max(row, 0), min(max(column, 0), len(xs) - 2)), []).append(line)
    filled_rows = sorted({row for row, _ in cells})
    filled_columns = sorted({column for _, column in cells})
    # A frame around a drawing or a single column of text is no table.
    if len(filled_rows) < 2 or len(filled_columns) < 2 or len(cells) < 0.34 * len(filled_rows) * len(filled_columns):
        return None, lines
    rtl = is_rtl("".join(line.text for line in inside))
    order = list(reversed(filled_columns)) if rtl else filled_columns
    grid = tuple(tuple(cell_of(cells.get((row, column), ())) for column in order) for row in filled_rows)
    borders = tuple(xs[column] for column in filled_columns)
    page = inside[0].page
    kept = set(map(id, inside))
    return Table(hull, grid, borders, page), [line for line in lines if id(line) not in kept]


def _within(box: Box, hull: Box) -> bool:
    x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    return hull.left - 1 <= x <= hull.right + 1 and hull.top - 1 <= y <= hull.bottom + 1


def cell_of(lines: Sequence[TextLine]) -> str:
    """Text of a cell: its lines from top to bottom, runs on one line joined."""
    rows: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda item: (item.box.top, item.box.left)):
        if rows and line.box.top < rows[-1][0].box.bottom - 0.45 * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return " ".join(join_runs(row) for row in rows)


def aligned_table(rows: Sequence[Sequence[Segment]]) -> tuple[Table, int] | None:
    """A table without lines at the start of the rows: the table and the number of rows it takes, None without one.

    At least three rows of two or more segments must begin (or end, as numbers do) at the same places. A row that
    starts in a later column continues the cells above it.
    """
    taken = _table_rows(rows)
    if sum(len(row) >= 2 for row in taken) < 3:
        return None
    segments = [segment for row in taken for segment in row]
    borders = _borders(segments)
    if len(borders) < 2:
        return None
    grid: list[list[list[TextLine]]] = []
    misfits = 0
    for at, row in enumerate(taken):
        cells: list[list[TextLine]] = [[] for _ in borders]
        for segment in row:
            column = _column(segment, borders)
            misfits += bool(cells[column])
            cells[column].extend(segment.runs)
        if grid and not cells[0] and len(row) < len(borders) and _is_close(taken[at - 1], row):
            for number, runs in enumerate(cells):
                grid[-1][number].extend(runs)
        else:
            grid.append(cells)
    if misfits > len(segments) // 5 or len(grid) < 2:
        return None
    box = Box(
        min(s.box.left for s in segments), min(s.box.top for s in segments),
        max(s.box.right for s in segments), max(s.box.bottom for s in segments),
    )  # fmt: skip
    texts = tuple(tuple(cell_of(cell) for cell in row) for row in grid)
    return Table(box, texts, tuple(border for border, _ in borders), segments[0].page), len(taken)


def _table_rows(rows: Sequence[Sequence[Segment]]) -> list[Sequence[Segment]]:
    """The first rows that may be a table's: of several segments, or going on with a later cell, and close together."""
    taken: list[Sequence[Segment]] = []
    for row in rows:
        if len(row) < 2 and not (taken and _continues(row[0], taken)):
            break
        if taken and row[0].box.top - max(s.box.bottom for s in taken[-1]) > 2.2 * row[0].size:
            break
        taken.append(row)
    return taken


def _is_close(above: Sequence[Segment], row: Sequence[Segment]) -> bool:
    return row[0].box.top - max(s.box.bottom for s in above) < 0.7 * row[0].size


def _continues(segment: Segment, taken: Sequence[Sequence[Segment]]) -> bool:
    """Whether a lone segment starts where a later cell of the table above starts, right below it."""
    starts = [s.box.left for row in taken for s in row[1:]]
    gap = segment.box.top - max(s.box.bottom for s in taken[-1])
    return gap < 0.9 * segment.size and any(abs(segment.box.left - x) < _NEAR for x in starts)


def _borders(segments: Sequence[Segment]) -> list[tuple[float, float]]:
    """Left and right of each column: segments that overlap in x form one."""
    columns: list[tuple[float, float]] = []
    widths = median(s.box.right - s.box.left for s in segments)
    for segment in sorted(segments, key=lambda s: (s.box.left, s.box.right)):
        left, right = segment.box.left, segment.box.right
        if right - left > 4 * widths + 40:
            continue
        if columns and left < columns[-1][1] - 1:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    return columns


def _column(segment: Segment, borders: Sequence[tuple[float, float]]) -> int:
    def shared(column: tuple[float, float]) -> float:
        return min(segment.box.right, column[1]) - max(segment.box.left, column[0])

    best = max(range(len(borders)), key=lambda at: shared(borders[at]))
    first = next((at for at, column in enumerate(borders) if shared(column) > 0), best)
    return first
