"""PDF by reportlab: larger bold headings, ruled tables, a running header and footer, one or two columns."""

from __future__ import annotations

import io
from html import escape
from typing import Any

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4, A5
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    FrameBreak,
    KeepTogether,
    ListFlowable,
    ListItem,
    PageTemplate,
    Preformatted,
    Spacer,
)
from reportlab.platypus import Paragraph as PdfParagraph
from reportlab.platypus import Table as PdfTable

from sample.builders.blocks import Block, Code, Heading, Listing, Paragraph, Runs, Table, plain
from sample.builders.source import Source

_GAP = 8 * mm
_BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=10, leading=13.5, spaceAfter=6)
_STYLES = {
    "title": ParagraphStyle("title", _BODY, fontName="Helvetica-Bold", fontSize=18, leading=22, spaceAfter=4),
    "byline": ParagraphStyle("byline", _BODY, fontName="Helvetica-Oblique", fontSize=8.5, spaceAfter=10),
    "1": ParagraphStyle("h1", _BODY, fontName="Helvetica-Bold", fontSize=15, leading=18, spaceBefore=9),
    "2": ParagraphStyle("h2", _BODY, fontName="Helvetica-Bold", fontSize=13, leading=16, spaceBefore=9),
    "3": ParagraphStyle("h3", _BODY, fontName="Helvetica-Bold", fontSize=11, leading=14, spaceBefore=7),
    "cell": ParagraphStyle("cell", _BODY, fontSize=9, leading=11, spaceAfter=0),
    "head": ParagraphStyle("head", _BODY, fontName="Helvetica-Bold", fontSize=9, leading=11, spaceAfter=0),
    "code": ParagraphStyle("code", _BODY, fontName="Courier", fontSize=8, leading=10),
}
_GRID = [
    ("GRID", (0, 0), (-1, -1), 0.5, colors.grey),
    ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke),
    ("VALIGN", (0, 0), (-1, -1), "TOP"),
]
# The standard fonts of PDF have no glyphs for these.
_REPLACED = str.maketrans({"→": "->", "←": "<-", "≥": ">=", "≤": "<=", "≈": "~", "\N{MINUS SIGN}": "-", "✓": "yes"})


def write_pdf(source: Source) -> bytes:
    stream = io.BytesIO()
    size = A5 if source.layout == "booklet" else A4
    margin, top = (14 * mm, 20 * mm) if size == A5 else (20 * mm, 24 * mm)
    width, height = size[0] - 2 * margin, size[1] - 2 * top
    columns = 2 if source.layout == "two_columns" else 1
    column = (width - _GAP * (columns - 1)) / columns
    head = [PdfParagraph(_safe(source.title), _STYLES["title"]), PdfParagraph(_safe(source.byline), _STYLES["byline"])]
    body = [(block, _flowable(block, column)) for block in source.blocks]
    frames = [Frame(margin, top, width, height, 0, 0, 0, 0)]
    if columns == 2:
        # The title over the whole width, then two columns just high enough to share the text.
        title = sum(_height(flowable, width, height) for flowable in head)
        half = min(height - title, sum(_height(flowable, column, height) for _, flowable in body) * 0.56)
        below = top + height - title - half
        frames = [Frame(margin, top + height - title, width, title, 0, 0, 0, 0)]
        frames += [Frame(margin + x * (column + _GAP), below, column, half, 0, 0, 0, 0) for x in range(columns)]
    document = BaseDocTemplate(
        stream,
        pagesize=size,
        title=source.title,
        author=source.owner,
        subject=str(source.meta.get("subject", "")),
        creator="Larkspur Instruments",
        invariant=1,
    )

    def draw_edges(canvas: Any, _: object) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.drawString(margin, size[1] - 14 * mm, f"Larkspur Instruments | {source.kind}")
        canvas.line(margin, size[1] - 16 * mm, size[0] - margin, size[1] - 16 * mm)
        canvas.drawString(margin, 12 * mm, f"{source.owner}, {source.date.isoformat()}")
        canvas.drawRightString(size[0] - margin, 12 * mm, f"Page {canvas.getPageNumber()}")

    document.addPageTemplates(PageTemplate("page", frames, onPage=draw_edges))
    document.build([*head, *([FrameBreak()] if columns == 2 else []), *_compose(body)])
    return stream.getvalue()


def _height(flowable: Flowable, width: float, height: float) -> float:
    used: float = (
        flowable.wrapOn(Canvas(io.BytesIO()), width, height)[1] + flowable.getSpaceBefore() + flowable.getSpaceAfter()
    )
    return used


def _compose(pairs: list[tuple[Block, Flowable]]) -> list[Flowable]:
    """The flowables in order; a heading stays on the page of the paragraph or table below it."""
    story: list[Flowable] = []
    while pairs:
        block, first = pairs.pop(0)
        if isinstance(block, Heading) and pairs and not isinstance(pairs[0][0], Heading | Listing):
            block, following = pairs.pop(0)
            story.append(KeepTogether([first, following]))
        else:
            story.append(first)
        if isinstance(block, Table | Listing | Code):
            story.append(Spacer(1, 6))
    return story


def _flowable(block: Block, width: float) -> Flowable:
    match block:
        case Heading(level, runs):
            return PdfParagraph(_markup(runs), _STYLES[str(min(level, 3))])
        case Paragraph(runs):
            return PdfParagraph(_markup(runs), _BODY)
        case Listing(ordered, items):
            entries = [
                ListItem(PdfParagraph(_markup(runs), _BODY), leftIndent=14 * (depth + 1)) for depth, runs in items
            ]
            kind = {"bulletType": "1"} if ordered else {"bulletType": "bullet", "start": "•"}
            return ListFlowable(entries, leftIndent=14, bulletFontSize=9, **kind)
        case Code(_, text):
            return Preformatted(text.translate(_REPLACED), _STYLES["code"])
        case Table(header, rows):
            cells = [[PdfParagraph(_markup(runs), _STYLES["head"]) for runs in header]]
            cells += [[PdfParagraph(_markup(runs), _STYLES["cell"]) for runs in row] for row in rows]
            return PdfTable(cells, colWidths=_widths(block, width), style=_GRID, repeatRows=1, spaceBefore=4)


def _widths(table: Table, width: float) -> list[float]:
    """Column widths: each longest word fits on a line, and the rest goes to the columns with the most text."""
    texts = [[plain(row[x]) for row in (table.header, *table.rows)] for x in range(len(table.header))]
    least = [
        max(stringWidth(word, "Helvetica-Bold", _STYLES["cell"].fontSize) for cell in cells for word in cell.split())
        + 13
        for cells in texts
    ]
    weights = [min(max(len(cell) for cell in cells), 45) for cells in texts]
    rest = max(0.0, width - sum(least))
    return [needed + rest * weight / sum(weights) for needed, weight in zip(least, weights, strict=True)]


def _markup(runs: Runs) -> str:
    parts = []
    for run in runs:
        text = _safe(run.text)
        text = f'<font face="Courier">{text}</font>' if run.code else text
        text = f"<b>{text}</b>" if run.bold else text
        parts.append(f"<i>{text}</i>" if run.italic else text)
    return "".join(parts)


def _safe(text: str) -> str:
    return escape(text.translate(_REPLACED), quote=False)
