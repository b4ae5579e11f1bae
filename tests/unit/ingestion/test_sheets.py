"""CSV: separators, lines before the table, open quotes. Workbooks: numbers, stray cells, and what is beside cells."""

from __future__ import annotations

import io
import zipfile
from decimal import Decimal
from pathlib import Path

import openpyxl
import pytest
from openpyxl.comments import Comment

from ingestion.config import ConversionLimits
from ingestion.convert import convert
from ingestion.documents import Block, ConvertedDocument, SourceFile
from ingestion.formats.sheets import format_cell, read_csv


def read(text: str) -> list[Block]:
    return read_csv(text, ConversionLimits())[0]


@pytest.mark.parametrize("first", ["sep=;\n", "\ufeffsep=;\n", '"sep=;"\n', "SEP=;\n"])
def test_a_first_line_that_names_the_separator_is_obeyed(first: str) -> None:
    (table,) = read(f"{first}a,x;b\n1,5;2\n")
    assert table.text == "| a,x | b |\n| --- | --- |\n| 1,5 | 2 |"


def test_lines_before_the_table_become_text() -> None:
    text, table = read("# exported on 2024-01-02\n# by the billing team\n\nid,name\n1,a\n2,b\n")
    assert (text.kind, text.text) == ("paragraph", "# exported on 2024-01-02\n# by the billing team")
    assert table.header == "| id | name |\n| --- | --- |"


def test_rows_of_one_value_among_others_stay_in_the_table() -> None:
    (table,) = read("name\nalpha\nbeta\ngamma,delta\n")
    assert table.text.count("\n") == 4
    (table,) = read("id,name\n1,\n2,b\n")
    assert table.text.endswith("| 1 |  |\n| 2 | b |")


def test_a_quote_that_is_never_closed_swallows_no_rows() -> None:
    blocks, warnings = read_csv('a,b\n1,"never closed\n2,x\n3,y\n', ConversionLimits())
    assert blocks[0].text.split("\n")[2:] == ['| 1 | "never closed |', "| 2 | x |", "| 3 | y |"]
    assert warnings == ("a quote is opened and not closed",)


def test_closed_quotes_hold_separators_and_line_ends() -> None:
    blocks, warnings = read_csv('a,b\n1,"x, y\nz"\n2,"say ""hi"""\n', ConversionLimits())
    assert blocks[0].text.split("\n")[2:] == ["| 1 | x, y z |", '| 2 | say "hi" |']
    assert warnings == ()


def workbook_of(tmp_path: Path, workbook: openpyxl.Workbook) -> ConvertedDocument:
    path = tmp_path / "a.xlsx"
    workbook.save(path)
    file = SourceFile("docs", tmp_path, path, path.name, path.stat().st_size, "0" * 64)
    return convert(file, limits=ConversionLimits())


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (1234567.891, "General", "1234567.891"),
        (123456789.123, "#,##0.00", "123456789.123"),
        (1e-12, "General", "0.000000000001"),
        (0.1 + 0.2, "General", "0.3"),
        (-0.0, "General", "0"),
        (5.0, "General", "5"),
        (1e20, "General", "100000000000000000000"),
        (1e300, "General", "1E+300"),
        (12345678901234567890, "General", "12345678901234567890"),
        (0.285, "0.0%", "28.5%"),
        (2, "0%", "200%"),
        (0.00001234, "0.00%", "0.001234%"),
        (0.5, '"%"0.0', "0.5"),
        (0.5, r"0.0\%", "0.5"),
        (Decimal("19.90"), "General", "19.9"),
    ],
)
def test_numbers_are_told_as_the_sheet_holds_them(value: float, number_format: str, shown: str) -> None:
    assert format_cell(value, number_format) == shown


@pytest.mark.parametrize("value", [0.07, 1 / 3, 2.675, 99999.99, 1e15 + 0.5, 4.35, 8.41e-7])
def test_a_number_is_told_in_the_fifteen_digits_of_a_spreadsheet(value: float) -> None:
    told = format_cell(value)
    assert "e" not in told.lower()
    assert float(told) == float(f"{value:.15g}")


def test_a_stray_cell_far_to_the_right_costs_one_column(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["Item", "Price"])
    workbook.active.append(["Pump", 12])
    workbook.active["XFD1"] = "stray"
    document = workbook_of(tmp_path, workbook)
    assert document.state == "ok"
    told = "\n".join(block.text for block in document.blocks)
    assert "| Pump | 12 |" in told
    assert "stray" in told


def test_more_columns_with_values_than_the_limit_are_too_large(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append([None, *range(1_001)])
    document = workbook_of(tmp_path, workbook)
    assert (document.state, document.reason) == ("too_large", "more than 1000 columns with values")


def test_a_chart_sheet_without_a_chart_loses_no_sheet(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["Item", "Price"])
    workbook.active.append(["Pump", 12])
    workbook.create_chartsheet("Chart", 0)
    document = workbook_of(tmp_path, workbook)
    assert document.state == "ok"
    assert any("| Pump | 12 |" in block.text for block in document.blocks)


def test_notes_on_cells_are_told_with_their_cells(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["Item", "Price"])
    workbook.active.append(["Pump", 12])
    workbook.active["B2"].comment = Comment("Without freight,\nas agreed in May", "Ann")
    threaded = "[Threaded comment]\n\nYour version of Excel cannot show it.\n\nComment:\n    Is that the price of 2024?"
    workbook.active["D9"].comment = Comment(threaded, "tc={1}")
    document = workbook_of(tmp_path, workbook)
    assert [block.text for block in document.blocks if block.kind == "list"] == [
        "- B2 (12): Without freight, as agreed in May\n- D9: Is that the price of 2024?"
    ]


_DRAWING = """<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><xdr:twoCellAnchor><xdr:sp><xdr:txBody>
<a:p><a:r><a:t>Prices hold </a:t></a:r><a:r><a:t>until June.</a:t></a:r></a:p><a:p><a:r><a:t>Ask Ann.</a:t></a:r></a:p>
</xdr:txBody></xdr:sp></xdr:twoCellAnchor></xdr:wsDr>"""
_RELATIONS = """<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/drawing"
Target="../drawings/drawing1.xml"/>
</Relationships>"""


@pytest.mark.parametrize("whole", [True, False])
def test_text_boxes_are_told_and_damaged_ones_cost_no_table(tmp_path: Path, whole: bool) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["Item", "Price"])
    workbook.active.append(["Pump", 12])
    path = tmp_path / "a.xlsx"
    workbook.save(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/worksheets/_rels/sheet1.xml.rels", _RELATIONS)
        archive.writestr("xl/drawings/drawing1.xml", _DRAWING if whole else _DRAWING[:-20])
    file = SourceFile("docs", tmp_path, path, path.name, path.stat().st_size, "0" * 64)
    document = convert(file, limits=ConversionLimits())
    assert document.state == "ok"
    assert any("| Pump | 12 |" in block.text for block in document.blocks)
    told = [block.text for block in document.blocks if block.kind == "paragraph"]
    assert told == (["Prices hold until June.\nAsk Ann."] if whole else [])
    assert [warning[:45] for warning in document.warnings] == (
        [] if whole else ["notes or text boxes of sheet 'Sheet' cannot b"]
    )


@pytest.mark.parametrize("strict", [True, False])
def test_strict_workbooks_and_templates_are_read(tmp_path: Path, strict: bool) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["Item", "Price"])
    workbook.active.append(["Pump", 12])
    workbook.active["B2"].comment = Comment("Without freight", "Ann")
    workbook.template = not strict
    workbook.save(plain := io.BytesIO())
    with zipfile.ZipFile(plain) as archive, zipfile.ZipFile(whole := io.BytesIO(), "w") as other:
        for name in archive.namelist():
            part = archive.read(name)
            for kind in (b"spreadsheetml", b"officeDocument") if strict else ():
                old, new = b"http://schemas.openxmlformats.org/%s/2006/", b"http://purl.oclc.org/ooxml/%s/"
                part = part.replace(old % kind, new % kind)
            other.writestr(name, part)
    path = tmp_path / "a.xltx"
    path.write_bytes(whole.getvalue())
    document = convert(SourceFile("docs", tmp_path, path, path.name, 1, "0" * 64), limits=ConversionLimits())
    assert document.state == "ok"
    told = "\n".join(block.text for block in document.blocks)
    assert "| Pump | 12 |" in told
    assert "- B2 (12): Without freight" in told
