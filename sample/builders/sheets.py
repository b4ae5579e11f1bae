"""Tables as files: XLSX with a sheet a heading, CSV with the only table."""

from __future__ import annotations

import csv
import io
import re

from openpyxl import Workbook
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter

from sample.builders.archive import freeze_archive, midnight
from sample.builders.blocks import Table, group_sections, plain
from sample.builders.source import Source

_INTEGER = re.compile(r"-?(0|[1-9]\d*)")
_DECIMAL = re.compile(r"-?(0|[1-9]\d*)\.\d+")


def read_tables(source: Source) -> list[tuple[str, list[list[str]]]]:
    """Name and cells (header first) of every table; the name is the heading above it."""
    found: list[tuple[str, list[list[str]]]] = []
    for section in group_sections(source.blocks):
        name = plain(section.heading.runs) if section.heading else source.title
        for block in section.blocks:
            if isinstance(block, Table):
                found.append((name, [[plain(cell) for cell in row] for row in (block.header, *block.rows)]))
    if not found:
        raise ValueError(f"{source.path}: a {source.format} source needs a table")
    return found


def write_csv(source: Source) -> bytes:
    tables = read_tables(source)
    if len(tables) != 1:
        raise ValueError(f"{source.path}: a csv source holds one table, this one {len(tables)}")
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(tables[0][1])
    return stream.getvalue().encode()


def write_xlsx(source: Source) -> bytes:
    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rows in read_tables(source):
        sheet = book.create_sheet(re.sub(r"[\\/*?:\[\]]", " ", name)[:31])
        first = 1
        if source.layout == "merged_title" and sheet is book.worksheets[0]:
            sheet.cell(1, 1, source.title).font = Font(bold=True, size=14)
            sheet.cell(1, 1).alignment = Alignment(horizontal="center")
            sheet.merge_cells(start_row=1, start_column=1, end_row=1, end_column=len(rows[0]))
            first = 2
        for y, row in enumerate(rows, start=first):
            for x, text in enumerate(row, start=1):
                cell = sheet.cell(y, x, _value(text))
                cell.font = Font(bold=y == first)
                if isinstance(cell.value, float):
                    cell.number_format = "0.00"
        for x, column in enumerate(zip(*rows, strict=True), start=1):
            sheet.column_dimensions[get_column_letter(x)].width = min(60, max(map(len, column)) + 2)
        sheet.freeze_panes = sheet.cell(first + 1, 1)
    properties = book.properties
    properties.title, properties.creator = source.title, source.owner
    properties.subject = str(source.meta.get("subject", ""))
    properties.category = source.kind
    properties.created = properties.modified = midnight(source.date).replace(tzinfo=None)
    stream = io.BytesIO()
    book.save(stream)
    return freeze_archive(stream.getvalue(), source.date)


def _value(text: str) -> int | float | str:
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text
