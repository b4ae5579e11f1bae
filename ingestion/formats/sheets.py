"""XLSX and CSV to blocks, within bounds on rows and cells."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import repeat, zip_longest
from typing import Any, Literal

from ingestion.config import ConversionLimits
from ingestion.documents import Block
from ingestion.errors import ConversionFault
from ingestion.formats.grids import Rows, header_rows, sheet_blocks
from ingestion.formats.tables import table_block
from ingestion.formats.workbooks import cell_notes, open_workbook, text_boxes

_DELIMITERS = ",;\t|"
# What a spreadsheet stores and tells of a number; a 64-bit float's further digits are noise.
_DIGITS = 15
# Quoted, escaped, filling and bracketed parts of a number format, in which a percent sign is a mere sign.
_WORDS_OF_FORMAT = re.compile(r"\"[^\"]*\"|\\.|[_*].|\[[^\]]*\]")
# Excel writes and reads it.
_SEPARATOR = re.compile(r"\ufeff?\"?sep=([,;\t|])\"?[ \t]*\n", re.IGNORECASE)


def read_csv(text: str, limits: ConversionLimits) -> tuple[list[Block], tuple[str, ...]]:
    """The tables of a CSV text, and warnings.

    The delimiter is the one that a first line `sep=` names, else the one that cuts the first lines into most, equally
    long rows.

    Lines before the table, such as where it was exported from, become text. Where a quote is opened and never closed,
    which would make one cell of all that follows, quotes are read as plain characters.
    """
    named = _SEPARATOR.match(text)
    if named is not None:
        text = text[named.end() :]
    delimiter = named.group(1) if named is not None else _delimiter(text)
    csv.field_size_limit(max(limits.max_characters, 131_072))
    if _opens_a_quote(text, delimiter):
        return _read_rows(text, delimiter, limits, csv.QUOTE_NONE), ("a quote is opened and not closed",)
    return _read_rows(text, delimiter, limits, csv.QUOTE_MINIMAL), ()


def _opens_a_quote(text: str, delimiter: str) -> bool:
    """Whether a quoted cell is still open where the text ends."""
    try:
        for _ in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True):
            pass
    except csv.Error as error:
        return "unexpected end of data" in str(error)
    return False


def _read_rows(text: str, delimiter: str, limits: ConversionLimits, quoting: Literal[0, 3]) -> list[Block]:
    rows: dict[int, Mapping[int, str]] = {}
    cells = 0
    try:
        for number, row in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting)):
            filled = {column: cell.strip() for column, cell in enumerate(row) if cell.strip()}
            if not filled:
                continue
            rows[number] = filled
            cells += len(filled)
            _check(len(rows), cells, max(filled) + 1, limits)
    except csv.Error as error:
        raise ConversionFault("corrupt", f"not readable as CSV: {error}") from None
    # A gap in a file of values is a missing value, never the border between two tables: keep all columns together.
    width = max((max(row) for row in rows.values()), default=0) + 1
    return _table_of_csv(rows, width)


def _table_of_csv(rows: Mapping[int, Mapping[int, str]], width: int) -> list[Block]:
    grid = [[row.get(column, "") for column in range(width)] for row in rows.values()]
    if not grid:
        return []
    if width == 1:
        return [Block("paragraph", "\n".join(row[0] for row in grid))]
    before = next((at for at, row in enumerate(grid) if any(row[1:])), 0)
    rest = grid[before:]
    if len(rest) < 2 or sum(any(row[1:]) for row in rest) * 2 <= len(rest):
        before, rest = 0, grid  # rows of one value among others
    blocks = [Block("paragraph", "\n".join(row[0] for row in grid[:before]))] if before else []
    block = table_block(rest, header_rows=header_rows(rest))
    return blocks if block is None else [*blocks, block]


def _delimiter(text: str) -> str:
    sample = text[:20_000]
    lines = sample.splitlines()[:-1] or sample.splitlines()
    best, best_score = ",", (0.0, 0.0)
    for delimiter in _DELIMITERS:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        except csv.Error:
            continue
        common = max(set(widths), key=lambda w: (widths.count(w), w)) if widths else 1
        if common > 1:
            score = (widths.count(common) / len(widths), float(common))
            if score > best_score:
                best, best_score = delimiter, score
    return best


def _check(rows: int, cells: int, columns: int, limits: ConversionLimits) -> None:
    if rows > limits.max_rows:
        raise ConversionFault("too_large", f"more than {limits.max_rows} rows with values")
    if cells > limits.max_cells:
        raise ConversionFault("too_large", f"more than {limits.max_cells} cells with values")
    if columns > limits.max_columns:
        raise ConversionFault("too_large", f"more than {limits.max_columns} columns with values")


def read_xlsx(data: bytes, limits: ConversionLimits) -> tuple[list[Block], dict[str, Any], tuple[str, ...]]:
    """The tables of each visible sheet below the sheet's name, the workbook's properties, and warnings.

    Sheets are streamed, so that memory follows the cells with values and not the addresses they stand at. A formula
    that was saved without its value is shown as the formula. Text boxes and the notes on cells follow the tables.
    """
    count = _Count(limits)
    blocks: list[Block] = []
    warnings: list[str] = []
    with ExitStack() as opened:
        try:
            archive = opened.enter_context(zipfile.ZipFile(io.BytesIO(data)))
            values = open_workbook(data, values=True)
            opened.callback(values.close)
            formulas = None
            if _has_formulas(data):
                formulas = open_workbook(data, values=False)
                opened.callback(formulas.close)
            for sheet in values.worksheets:
                if sheet.sheet_state != "visible":
                    warnings.append(f"hidden sheet {sheet.title!r} left out")
                    continue
                rows = dict(_rows(sheet, formulas[sheet.title] if formulas else None, count))
                found = sheet_blocks(rows)
                try:
                    found.extend(_beside(archive, sheet._worksheet_path, rows))
                except (KeyError, ValueError, TypeError, SyntaxError) as error:
                    warnings.append(f"notes or text boxes of sheet {sheet.title!r} cannot be read ({error})")
                if found:
                    blocks.append(Block("heading", sheet.title, level=1 if len(values.worksheets) == 1 else 2))
                    blocks.extend(found)
            return blocks, _properties(values), tuple(warnings)
        except (KeyError, ValueError, TypeError, SyntaxError, EOFError, OSError, zipfile.BadZipFile) as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise ConversionFault("corrupt", f"the workbook cannot be read ({reason})") from None


def _beside(archive: zipfile.ZipFile, sheet_path: str, rows: Rows) -> Iterator[Block]:
    """Text boxes, then the notes on cells as a list, each with its cell's address and value."""
    from openpyxl.utils.cell import coordinate_to_tuple  # noqa: PLC0415 - heavy

    for text in text_boxes(archive, sheet_path):
        yield Block("paragraph", text)
    lines = []
    for address, text in cell_notes(archive, sheet_path):
        row, column = coordinate_to_tuple(address)
        value = rows.get(row, {}).get(column, "")
        lines.append(f"- {address} ({value}): {text}" if value else f"- {address}: {text}")
    if lines:
        yield Block("list", "\n".join(lines))


def _has_formulas(data: bytes) -> bool:
    """Whether a sheet holds a formula, so that a second look for formulas without values is worth its time."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            if name.startswith("xl/worksheets/"):
                with archive.open(name) as part:
                    before = b""
                    while block := part.read(1024 * 1024):
                        if b"<f>" in before + block or b"<f " in before + block:
                            return True
                        before = block[-2:]
    return False


class _Count:
    """Rows and cells with values so far; refuses what is past the limits before it is held."""

    def __init__(self, limits: ConversionLimits) -> None:
        self._limits = limits
        self._cells = 0

    def add(self, rows: int, columns: int, cells: int) -> None:
        self._cells += cells
        _check(rows, self._cells, columns, self._limits)


def _rows(sheet: Any, formulas: Any, count: _Count) -> Iterator[tuple[int, Mapping[int, str]]]:
    held = 0
    columns: set[int] = set()
    # Declared dimensions may be wrong, either way.
    sheet.reset_dimensions()
    if formulas is not None:
        formulas.reset_dimensions()
    others: Iterable[Any] = formulas.rows if formulas is not None else repeat(())
    for row, other in zip(sheet.rows, others, strict=False):
        filled: dict[int, str] = {}
        number = 0
        for cell, formula in zip_longest(row, other):
            value = getattr(cell, "value", None)
            if value is None:
                value = getattr(formula, "value", None)
            if value is None:
                continue
            text = format_cell(getattr(value, "text", value), str(getattr(cell, "number_format", "") or ""))
            if text:
                filled[cell.column] = text
                number = cell.row
        if filled:
            held += 1
            # One stray cell far to the right is one column more, as one far below is one row more.
            columns.update(filled)
            count.add(held, len(columns), len(filled))
            yield number, filled


def format_cell(value: Any, number_format: str = "General") -> str:
    """A cell's value as a reader sees it, without the sheet's rounding: percents as percents, dates in ISO 8601,
    numbers in the 15 significant digits that a spreadsheet tells of them, without an exponent.
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        at_midnight = (value.hour, value.minute, value.second) == (0, 0, 0)
        return value.date().isoformat() if at_midnight else value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    if isinstance(value, int | float | Decimal):
        percent = "%" in _WORDS_OF_FORMAT.sub("", number_format)
        if isinstance(value, int) and not percent:
            return str(value)
        shown = Decimal(format(value, f".{_DIGITS}g"))
        text = _plain(shown.scaleb(2) if percent else shown)
        return f"{text}%" if percent else text
    return str(value).strip()


def _plain(number: Decimal) -> str:
    """A number with all its digits and no others; past 10^21 and below 10^-20 with an exponent."""
    if not number.is_finite() or not number:
        return "0" if number.is_finite() else str(number)
    if not -20 <= number.adjusted() <= 21:
        return str(number.normalize())
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _properties(workbook: Any) -> dict[str, Any]:
    stated = workbook.properties
    found: dict[str, Any] = {
        "title": stated.title,
        "author": stated.creator,
        "subject": stated.subject,
        "keywords": stated.keywords,
        "language": stated.language,
        "date": (stated.modified or stated.created).date().isoformat() if stated.modified or stated.created else None,
    }
    return {key: value for key, value in found.items() if value}
