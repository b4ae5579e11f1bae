"""DOCX: real heading and list styles, tables, core properties."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import docx

from sample.builders.archive import freeze_archive, midnight
from sample.builders.blocks import Block, Code, Heading, Listing, Paragraph, Runs, Table, plain
from sample.builders.source import Source

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph as DocxParagraph


def write_docx(source: Source) -> bytes:
    document = docx.Document()
    document.add_heading(source.title, level=0)
    document.add_paragraph(source.byline, style="Subtitle")
    for block in source.blocks:
        _add_block(document, block)
    properties = document.core_properties
    properties.title = source.title
    properties.author = properties.last_modified_by = source.owner
    properties.subject = str(source.meta.get("subject", ""))
    properties.category = source.kind
    properties.content_status = str(source.meta.get("status", ""))
    properties.comments = ""
    properties.created = properties.modified = midnight(source.date)
    stream = io.BytesIO()
    document.save(stream)
    return freeze_archive(stream.getvalue(), source.date)


def _add_block(document: Document, block: Block) -> None:
    match block:
        case Heading(level, runs):
            document.add_heading(plain(runs), level=max(1, level - 1))
        case Paragraph(runs):
            _add_runs(document.add_paragraph(), runs)
        case Listing(ordered, items):
            for depth, runs in items:
                style = "List Number" if ordered and depth == 0 else "List Bullet"
                _add_runs(document.add_paragraph(style=f"{style} 2" if depth else style), runs)
        case Code(_, text):
            document.add_paragraph(text, style="No Spacing").runs[0].font.name = "Courier New"
        case Table(header, rows):
            table = document.add_table(rows=0, cols=len(header), style="Table Grid")
            for number, row in enumerate((header, *rows)):
                for cell, runs in zip(table.add_row().cells, row, strict=True):
                    _add_runs(cell.paragraphs[0], runs, bold=number == 0)
            document.add_paragraph()


def _add_runs(paragraph: DocxParagraph, runs: Runs, bold: bool = False) -> None:
    for run in runs:
        added = paragraph.add_run(run.text)
        added.bold = bold or run.bold or None
        added.italic = run.italic or None
        if run.code:
            added.font.name = "Courier New"
