"""PPTX: a title slide, then a slide a heading with its text as bullets and its tables as tables."""

from __future__ import annotations

import io
from typing import Any

import pptx
from pptx.util import Emu, Inches, Pt

from sample.builders.archive import freeze_archive, midnight
from sample.builders.blocks import (
    Code,
    Heading,
    Listing,
    Paragraph,
    Runs,
    Section,
    Table,
    group_sections,
    plain,
)
from sample.builders.source import Source

TITLE, TITLE_AND_CONTENT, TITLE_ONLY = 0, 1, 5


def write_pptx(source: Source) -> bytes:
    deck = pptx.Presentation()
    cover = deck.slides.add_slide(deck.slide_layouts[TITLE])
    cover.shapes.title.text = source.title
    cover.placeholders[1].text = source.byline
    for section in group_sections(source.blocks):
        _add_slide(deck, section, source.title)
    properties = deck.core_properties
    properties.title = source.title
    properties.author = properties.last_modified_by = source.owner
    properties.subject = str(source.meta.get("subject", ""))
    properties.category = source.kind
    properties.content_status = str(source.meta.get("status", ""))
    properties.created = properties.modified = midnight(source.date)
    stream = io.BytesIO()
    deck.save(stream)
    return freeze_archive(stream.getvalue(), source.date)


def _add_slide(deck: Any, section: Section, title: str) -> None:
    lines = [line for block in section.blocks for line in _lines(block)]
    tables = [block for block in section.blocks if isinstance(block, Table)]
    slide = deck.slides.add_slide(deck.slide_layouts[TITLE_AND_CONTENT if lines else TITLE_ONLY])
    slide.shapes.title.text = plain(section.heading.runs) if section.heading else title
    top = Inches(1.6)
    if lines:
        body = slide.placeholders[1]
        if tables:
            left, width = body.left, body.width
            body.left, body.top, body.width, body.height = left, top, width, Inches(2.4)
            top = Inches(4.1)
        _fill(body.text_frame, lines)
    for table in tables:
        height = Inches(0.35) * (len(table.rows) + 1)
        _add_table(slide, table, top, deck.slide_width - Inches(1), height)
        top += height + Inches(0.2)


def _lines(block: object) -> list[tuple[int, str]]:
    match block:
        case Paragraph(runs) | Heading(_, runs):
            return [(0, plain(runs))]
        case Listing(_, items):
            return [(depth, plain(runs)) for depth, runs in items]
        case Code(_, text):
            return [(0, line) for line in text.splitlines()]
    return []


def _fill(frame: Any, lines: list[tuple[int, str]]) -> None:
    for number, (depth, text) in enumerate(lines):
        paragraph = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
        paragraph.text = text
        paragraph.level = depth
        paragraph.font.size = Pt(18 if len(lines) < 6 else 15)


def _add_table(slide: Any, table: Table, top: Emu | int, width: int, height: int) -> None:
    shape = slide.shapes.add_table(len(table.rows) + 1, len(table.header), Inches(0.5), top, width, height)
    rows: list[tuple[Runs, ...]] = [table.header, *table.rows]
    for y, row in enumerate(rows):
        for x, runs in enumerate(row):
            cell = shape.table.cell(y, x)
            cell.text = plain(runs)
            cell.text_frame.paragraphs[0].font.size = Pt(13)
