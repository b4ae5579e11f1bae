"""Files that nobody here wrote, and files of every format made on the spot, through the real parsers."""

from __future__ import annotations

import html
import importlib.util
import io
import json
import re
import unicodedata
from collections import Counter
from pathlib import Path

import docx
import pytest
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen import canvas
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, Table, TableStyle

from ingestion.config import ConversionLimits, SourceRules, load_rules
from ingestion.convert import convert
from ingestion.documents import ConvertedDocument, SourceFile
from ingestion.enrich import enrich
from ingestion.roots import find_roots
from ingestion.sources import discover

pytestmark = pytest.mark.integration
LIMITS = ConversionLimits()
STATES = {"2206.01062_pg3.pdf": "encrypted"}
# Docling tells a merged cell once for each place it spans; here it is told once, which is what was wanted. The
# expected page of the encyclopaedia holds its links' addresses, and the workbook the values that its charts repeat.
LEAST_WORDS = {"powerpoint_sample.pptx": 0.89, "wiki_duck.html": 0.55, "xlsx_01.xlsx": 0.63}
TYPE_NAMES = {
    "architecture-decision": "architecture_decision",
    "operations-guide": "operations_guide",
    "service-doc": "service_documentation",
}


def words(text: str) -> Counter[str]:
    text = html.unescape(re.sub(r"<!--.*?-->", "", text))
    text = "".join(c for c in unicodedata.normalize("NFKC", text) if not unicodedata.combining(c))
    return Counter(re.findall(r"\w+", text.lower()))


def heading_keys(texts: list[str]) -> list[str]:
    return [re.sub(r"\W+", " ", html.unescape(text)).strip().lower() for text in texts]


def convert_bytes(folder: Path, name: str, data: bytes, password: str | None = None) -> ConvertedDocument:
    path = folder / name
    path.write_bytes(data)
    file = SourceFile("made", folder, path, name, len(data), "0" * 64)
    return convert(file, limits=LIMITS, password=password)


def test_real_files_keep_their_words_headings_and_states(shared_data: Path) -> None:
    expected = shared_data / "files_expected"
    found = discover(find_roots([shared_data / "files"])[0], rules=SourceRules())
    assert len(found.files) == 18
    for file in found.files:
        document = convert(file, limits=LIMITS)
        assert document.state == STATES.get(file.relative_path, "ok"), file.relative_path
        answer = expected / f"{file.relative_path}.md"
        if not answer.exists():
            continue
        text = answer.read_text(encoding="utf-8")
        got, wanted = words("\n".join(block.text for block in document.blocks)), words(text)
        share = sum(min(got[word], count) for word, count in wanted.items()) / sum(wanted.values())
        assert share >= LEAST_WORDS.get(file.relative_path, 0.98), (file.relative_path, share)
        headings = heading_keys([block.text for block in document.blocks if block.kind == "heading"])
        sought = heading_keys(re.findall(r"^#+ (.*)$", text, re.MULTILINE))
        assert sum(heading in headings for heading in sought) >= 0.8 * len(sought), file.relative_path


def test_the_locked_pdf_opens_with_its_password_and_reads_in_columns(shared_data: Path) -> None:
    (file,) = discover(find_roots([shared_data / "files" / "2206.01062_pg3.pdf"])[0], rules=SourceRules()).files
    assert convert(file, limits=LIMITS, password="wrong").state == "encrypted"
    document = convert(file, limits=LIMITS, password="1234")
    assert (document.state, document.title) == ("ok", "4 ANNOTATION CAMPAIGN")
    text = " ".join(block.text for block in document.blocks)
    order = [
        "to a minimum, since they introduce",
        "which exploit textual features",
        "Table 1 shows the overall",
        "The annotation",
    ]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert "limit" not in document.metadata


def test_real_operations_documents_are_all_read_and_classified(shared_data: Path, repo_root: Path) -> None:
    rules = load_rules(repo_root / "config" / "ingestion.yaml")
    lines = (shared_data / "devops" / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    manifest = {entry["path"].removeprefix("files/"): entry for entry in map(json.loads, lines)}
    found = discover(find_roots([shared_data / "devops" / "files"])[0], rules=rules.sources)
    assert {file.relative_path for file in found.files} == set(manifest)
    agree = titles = 0
    for file in found.files:
        document = enrich(convert(file, limits=rules.conversion), file, rules.enrichment)
        assert document.state == "ok", file.relative_path
        entry = manifest[file.relative_path]
        wanted = TYPE_NAMES.get(entry["doc_type"], entry["doc_type"])
        agree += document.metadata.get("document_type") == wanted
        titles += heading_keys([document.title]) == heading_keys([entry["title"]])
    assert agree >= 0.93 * len(manifest)
    assert titles >= 0.98 * len(manifest)


# PDFs made on the spot


def drawn(*pages: list[tuple[float, float, str]], password: str | None = None, title: str = "") -> bytes:
    stream = io.BytesIO()
    locked = StandardEncryption(password, ownerPassword="owner") if password else None
    sheet = canvas.Canvas(stream, pagesize=A4, encrypt=locked)
    if title:
        sheet.setTitle(title)
    for texts in pages:
        for x, y, text in texts:
            sheet.drawString(x, y, text)
        sheet.showPage()
    sheet.save()
    return stream.getvalue()


def test_a_scanned_pdf_has_no_text(tmp_path: Path) -> None:
    stream = io.BytesIO()
    sheet = canvas.Canvas(stream, pagesize=A4)
    sheet.drawImage(ImageReader(Image.new("L", (400, 500), 200)), 50, 100, 400, 500)
    sheet.showPage()
    sheet.save()
    document = convert_bytes(tmp_path, "scan.pdf", stream.getvalue())
    assert (document.state, document.blocks, document.pages) == ("no_text", (), 1)
    assert "text recognition" in document.reason


def test_a_scan_with_a_stamp_on_each_page_is_no_success(tmp_path: Path) -> None:
    stream = io.BytesIO()
    sheet = canvas.Canvas(stream, pagesize=A4)
    for number in (1, 2, 3):
        if number < 3:
            sheet.drawImage(ImageReader(Image.new("L", (400, 500), 200)), 50, 100, 400, 500)
        sheet.drawString(72, 700, "Scan 17" if number < 3 else "A page of real text that says something at last.")
        sheet.showPage()
    sheet.save()
    document = convert_bytes(tmp_path, "scan.pdf", stream.getvalue())
    assert document.state == "partial"
    assert document.reason == "2 of 3 pages are images; text recognition is needed: 1, 2"


def test_a_pdf_with_an_empty_page_is_read(tmp_path: Path) -> None:
    document = convert_bytes(tmp_path, "a.pdf", drawn([(72, 700, "First page.")], [], [(72, 700, "Third page.")]))
    assert document.state == "ok"
    assert document.warnings == ("pages that show nothing: 2",)
    assert [(block.text, block.page) for block in document.blocks] == [("First page.", 1), ("Third page.", 3)]


def test_a_pdf_with_a_damaged_page_is_partial_and_names_it(tmp_path: Path) -> None:
    data = bytearray(drawn(*([(72.0, 700.0, f"Text of page {number}.")] for number in (1, 2, 3))))
    second = list(re.finditer(rb"stream\r?\n(.*?)endstream", data, re.DOTALL))[1]
    data[second.start(1) + 8 : second.end(1) - 8] = b"A" * (second.end(1) - second.start(1) - 16)
    document = convert_bytes(tmp_path, "damaged.pdf", bytes(data))
    assert document.state == "partial"
    assert document.reason == "1 of 3 pages cannot be read: 2"
    assert [block.page for block in document.blocks] == [1, 3]


def test_without_the_layout_extra_a_pdf_is_read_from_its_lines_and_says_so(tmp_path: Path) -> None:
    if importlib.util.find_spec("docling_ibm_models") is not None:
        pytest.skip("the layout extra is installed")
    path = tmp_path / "a.pdf"
    path.write_bytes(drawn([(72, 700, "Words.")]))
    file = SourceFile("made", tmp_path, path, "a.pdf", path.stat().st_size, "0" * 64)
    document = convert(file, limits=ConversionLimits(layout_models=tmp_path))
    assert document.state == "ok"
    assert "docling-parse" in document.converter
    assert "`layout` extra is not installed" in document.warnings[0]


def test_bookmarks_make_headings(tmp_path: Path) -> None:
    stream = io.BytesIO()
    sheet = canvas.Canvas(stream, pagesize=A4)
    for level, name in enumerate(("Part", "Detail")):
        sheet.bookmarkPage(name)
        sheet.addOutlineEntry(name, name, level)
        sheet.drawString(72, 700 - 50 * level, name)
    sheet.drawString(72, 600, "Words below the headings.")
    sheet.save()
    document = convert_bytes(tmp_path, "a.pdf", stream.getvalue())
    assert [(block.kind, block.text, block.level) for block in document.blocks] == [
        ("heading", "Part", 1),
        ("heading", "Detail", 2),
        ("paragraph", "Words below the headings.", 0),
    ]


def test_a_locked_pdf_is_told_apart_from_a_broken_one(tmp_path: Path) -> None:
    locked = drawn([(72, 700, "Secret words.")], password="s3cret", title="Secret title")
    assert convert_bytes(tmp_path, "locked.pdf", locked).state == "encrypted"
    opened = convert_bytes(tmp_path, "locked.pdf", locked, password="s3cret")
    assert opened.state == "ok"
    assert opened.blocks[0].text == "Secret words."
    whole = drawn([(72, 700, "Words.")])
    assert convert_bytes(tmp_path, "broken.pdf", whole[: len(whole) // 4]).state == "corrupt"


def test_document_information_becomes_metadata(tmp_path: Path) -> None:
    document = convert_bytes(tmp_path, "a.pdf", drawn([(72, 700, "Words.")], title="M\u00e4rkte (2026)"))
    assert document.metadata["title"] == "M\u00e4rkte (2026)"
    assert document.title == "M\u00e4rkte (2026)"


def test_two_columns_tables_and_running_heads_of_a_typeset_document(tmp_path: Path) -> None:
    stream = io.BytesIO()
    frames = [Frame(50, 80, 230, 680), Frame(310, 80, 230, 680)]

    def head(sheet: canvas.Canvas, _: object) -> None:
        sheet.setFont("Helvetica", 8)
        sheet.drawString(50, 800, "The quarterly report")
        sheet.drawRightString(540, 40, f"Page {sheet.getPageNumber()}")

    template = BaseDocTemplate(stream, pagesize=A4)
    template.addPageTemplates(PageTemplate("page", frames, onPage=head))
    body = ParagraphStyle("body", fontName="Helvetica", fontSize=10, leading=13, spaceAfter=6)
    heading = ParagraphStyle("heading", body, fontName="Helvetica-Bold", fontSize=14, leading=18, spaceBefore=8)
    story: list[object] = []
    for number in range(1, 9):
        story.append(Paragraph(f"Part {number}", heading))
        sentences = " ".join(f"Sentence {number}.{n} says that the order of the columns is kept." for n in range(16))
        story.append(Paragraph(sentences, body))
    ruled = TableStyle([("GRID", (0, 0), (-1, -1), 0.5, "black")])
    story.append(Table([["Region", "Days"], ["Nordics", "5"], ["DACH", "4"]], style=ruled))
    template.build(story)
    document = convert_bytes(tmp_path, "report.pdf", stream.getvalue())
    text = " ".join(block.text for block in document.blocks)
    marks = re.findall(r"Sentence (\d+\.\d+)", text)
    assert marks == [f"{number}.{n}" for number in range(1, 9) for n in range(16)]
    assert [block.text for block in document.blocks if block.kind == "heading"] == [f"Part {n}" for n in range(1, 9)]
    assert text.count("quarterly report") == 1
    assert "Page 1" not in text
    table = next(block for block in document.blocks if block.kind == "table")
    assert table.text == "| Region | Days |\n| --- | --- |\n| Nordics | 5 |\n| DACH | 4 |"
    assert document.pages is not None
    assert document.pages > 1


# Office and HTML through Docling


def test_a_merged_cell_of_a_word_table_is_told_once(tmp_path: Path) -> None:
    word = docx.Document()
    word.add_heading("Terms", 1)
    table = word.add_table(rows=3, cols=3)
    for row in range(3):
        for column in range(3):
            table.cell(row, column).text = f"cell {row}{column}"
    for row in range(2):
        for column in range(3):
            table.cell(row, column).text = ""
    merged = table.cell(0, 0).merge(table.cell(1, 2))
    merged.text = "spanning"
    stream = io.BytesIO()
    word.save(stream)
    document = convert_bytes(tmp_path, "a.docx", stream.getvalue())
    text = "\n".join(block.text for block in document.blocks)
    assert text.count("spanning") == 1
    assert "| cell 20 | cell 21 | cell 22 |" in text
    assert "docling" in document.converter


def test_html_keeps_its_head_its_inline_text_and_its_tables(tmp_path: Path) -> None:
    page = """<!DOCTYPE html><html lang="en"><head><title>Restart | Intranet</title>
    <meta name="author" content="Data"><meta name="date" content="2026-02-03"></head><body>
    <h1>Restart</h1><p>Run <code>quay restart</code> and <b>wait</b>.</p>
    <ul><li>one</li><li>two<ul><li>below</li></ul></li></ul>
    <table><tr><th>A</th><th>B</th></tr><tr><td rowspan="2">x</td><td>1</td></tr><tr><td>2</td></tr></table>
    <pre><code>a | b\n  c</code></pre></body></html>"""
    document = convert_bytes(tmp_path, "page.txt", page.encode())
    assert document.title == "Restart"
    assert document.metadata == {
        "title": "Restart | Intranet",
        "language": "en",
        "author": "Data",
        "date": "2026-02-03",
    }
    assert [(block.kind, block.text) for block in document.blocks] == [
        ("heading", "Restart"),
        ("paragraph", "Run `quay restart` and wait."),
        ("list", "- one\n- two\n  - below"),
        ("table", "| A | B |\n| --- | --- |\n| x | 1 |\n|  | 2 |"),
        ("code", "a | b\n  c"),
    ]


@pytest.mark.parametrize("name", ["a.docx", "a.pptx"])
def test_office_files_cut_short_are_corrupt(tmp_path: Path, shared_data: Path, name: str) -> None:
    whole = (
        shared_data / "files" / ("word_sample.docx" if name == "a.docx" else "powerpoint_sample.pptx")
    ).read_bytes()
    document = convert_bytes(tmp_path, name, whole[: len(whole) // 2])
    assert document.state == "corrupt"
    assert document.reason
