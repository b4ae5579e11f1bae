"""Office, HTML and PDF files made here: what stands beside the body, what is hidden, and what only looks like text."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import docx
import pytest
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen import canvas
from reportlab.platypus import ListFlowable, Paragraph, SimpleDocTemplate, Table, TableStyle

from ingestion.config import ConversionLimits
from ingestion.convert import convert
from ingestion.documents import ConvertedDocument, SourceFile

pytestmark = pytest.mark.integration

_FOOTNOTES = """<?xml version="1.0" encoding="UTF-8"?>
<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
<w:footnote w:id="2"><w:p><w:r><w:t>Only in the reserve region.</w:t></w:r></w:p></w:footnote></w:footnotes>"""
_TYPE = (
    b'<Override PartName="/word/footnotes.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    b'wordprocessingml.footnotes+xml"/></Types>'
)
_RELATION = (
    b'<Relationship Id="rId99" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes" '
    b'Target="footnotes.xml"/></Relationships>'
)


def read(tmp_path: Path, name: str, data: bytes) -> ConvertedDocument:
    path = tmp_path / name
    path.write_bytes(data)
    return convert(SourceFile("docs", tmp_path, path, name, len(data), "0" * 64), limits=ConversionLimits())


def texts(document: ConvertedDocument, kind: str = "") -> list[str]:
    return [block.text for block in document.blocks if kind in ("", block.kind)]


def test_slides_tell_their_notes_and_the_values_of_charts_and_hide_what_is_hidden(tmp_path: Path) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Capacity"
    slide.notes_slide.notes_text_frame.text = "Say that the reserve region is empty."
    values = CategoryChartData()
    values.categories = ["East", "West"]
    values.add_series("Load", (19.5, 21.25))
    where = (Inches(2), Inches(2), Inches(4), Inches(3))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *where, values)
    hidden = deck.slides.add_slide(deck.slide_layouts[5])
    hidden.shapes.title.text = "Old numbers"
    hidden._element.set("show", "0")
    stream = io.BytesIO()
    deck.save(stream)
    document = read(tmp_path, "deck.pptx", stream.getvalue())
    assert "Say that the reserve region is empty." in texts(document, "paragraph")
    assert texts(document, "table") == ["|  | Load |\n| --- | --- |\n| East | 19.5 |\n| West | 21.25 |"]
    assert not any("Old numbers" in text for text in texts(document))
    assert document.warnings == ("hidden slides left out: 2",)


def test_footnotes_are_text_and_comments_heads_and_feet_are_not(tmp_path: Path) -> None:
    written = docx.Document()
    paragraph = written.add_paragraph("Failover takes two minutes")
    written.add_comment(paragraph.runs, text="Is that true?", author="reviewer")
    written.sections[0].header.paragraphs[0].text = "Confidential head"
    written.sections[0].footer.paragraphs[0].text = "Page foot"
    stream = io.BytesIO()
    written.save(stream)
    with zipfile.ZipFile(stream) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["word/footnotes.xml"] = _FOOTNOTES.encode()
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(b"</Types>", _TYPE)
    relations = "word/_rels/document.xml.rels"
    parts[relations] = parts[relations].replace(b"</Relationships>", _RELATION)
    parts["word/document.xml"] = parts["word/document.xml"].replace(
        b"two minutes</w:t></w:r>", b'two minutes</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
    )
    with zipfile.ZipFile(whole := io.BytesIO(), "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    told = " ".join(texts(read(tmp_path, "failover.docx", whole.getvalue())))
    assert "Failover takes two minutes" in told
    assert "Only in the reserve region." in told
    assert not any(word in told for word in ("Is that true?", "Confidential head", "Page foot"))


def test_a_table_in_a_cell_gives_its_words_without_rules(tmp_path: Path) -> None:
    page = b"<html><body><table><tr><td>out<table><tr><td>in1</td><td>in2</td></tr></table></td><td>b</td></tr></table>"
    (table,) = texts(read(tmp_path, "nested.html", page), "table")
    assert table == "| out in1 in2 | b |\n| --- | --- |"


@pytest.mark.parametrize("padding", [2.5, 3, 4, 6, 12])
def test_a_table_without_lines_keeps_its_columns_however_close_they_stand(tmp_path: Path, padding: float) -> None:
    rows = [
        ("Service", "Owner", "Tier", "Limit"), ("billing", "Billing team", "1", "2,500 req/s"),
        ("portal gateway", "Platform", "2", "900 req/s"), ("depot", "Devices", "2", "40 req/s"),
        ("ledger", "Accounts payable", "3", "12 req/s"),
    ]  # fmt: skip
    table = Table(rows, hAlign="LEFT")
    sides = [(f"{side}PADDING", (0, 0), (-1, -1), padding) for side in ("LEFT", "RIGHT")]
    table.setStyle(TableStyle([*sides, ("TOPPADDING", (0, 0), (-1, -1), 1), ("BOTTOMPADDING", (0, 0), (-1, -1), 1)]))
    body = getSampleStyleSheet()["BodyText"]
    text = "What is agreed with every team in the spring of this year stands in a table, and so did last year's limits."
    stream = io.BytesIO()
    SimpleDocTemplate(stream).build([Paragraph(text, body), table, Paragraph(text, body)])
    document = read(tmp_path, "limits.pdf", stream.getvalue())
    assert [block.kind for block in document.blocks] == ["paragraph", "table", "paragraph"]
    told = [[cell.strip() for cell in line.strip("|").split("|")] for line in document.blocks[1].text.split("\n")]
    assert [tuple(row) for row in (told[0], *told[2:])] == rows


@pytest.mark.parametrize("name", ["div", "span", "blockquote"])
def test_tags_five_thousand_deep_are_read(tmp_path: Path, name: str) -> None:
    inner = (
        "<h2>Steps</h2><p>Wake the kraken.</p><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    )
    page = f"<html><body><h1>Deep</h1>{f'<{name}>' * 5_000}{inner}{f'</{name}>' * 5_000}<p>After</p></body></html>"
    document = read(tmp_path, "deep.html", page.encode())
    assert (document.state, document.title, document.warnings) == ("ok", "Deep", ())
    assert [(block.kind, block.text) for block in document.blocks] == [
        ("heading", "Deep"),
        ("heading", "Steps"),
        ("paragraph", "Wake the kraken."),
        ("table", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("paragraph", "After"),
    ]


@pytest.mark.parametrize(("encoding", "text"), [("windows-1251", "Привет, мир"), ("iso-8859-1", "Zoë in Köln")])
@pytest.mark.parametrize("saved", ["declared", "utf-8"])
def test_what_a_page_declares_of_its_encoding_makes_no_nonsense(
    tmp_path: Path, encoding: str, text: str, saved: str
) -> None:
    page = f'<html><head><meta charset="{encoding}"></head><body><h1>{text}</h1><p>{text}.</p></body></html>'
    document = read(tmp_path, "page.html", page.encode(encoding if saved == "declared" else "utf-8"))
    assert texts(document) == [text, f"{text}."]


def _pdf(tmp_path: Path, draw: list[str]) -> bytes:
    """A PDF of pages that hold the texts, or an image where a text is empty."""
    picture = tmp_path / "scan.png"
    Image.new("RGB", (200, 300), "grey").save(picture)
    sheet = canvas.Canvas(stream := io.BytesIO(), invariant=True)
    for text in draw:
        if text:
            for at in range(6):
                sheet.drawString(72, 700 - 14 * at, f"{text}, line {at} of the page.")
        else:
            sheet.drawImage(str(picture), 0, 0, 595, 842)
        sheet.showPage()
    sheet.save()
    return stream.getvalue()


@pytest.mark.parametrize(
    ("pages", "state"),
    [
        (["", "One", "Two", "Three"], "ok"),  # a cover
        (["One", "Two", "Three", ""], "ok"),
        (["One", "", "Two", "Three", "Four"], "partial"),  # a scan between pages of text
        (["", "One"], "partial"),
        (["", ""], "no_text"),
    ],
)
def test_pages_that_are_scans_are_missing_but_for_covers(tmp_path: Path, pages: list[str], state: str) -> None:
    document = read(tmp_path, "report.pdf", _pdf(tmp_path, pages))
    assert document.state == state
    assert (state == "ok") == (document.reason == "")
    assert document.reason or "pages that are images" in document.warnings[0]


def test_letters_set_wide_are_words(tmp_path: Path) -> None:
    sheet = canvas.Canvas(stream := io.BytesIO(), invariant=True)
    text = sheet.beginText(72, 700)
    text.setFont("Helvetica-Bold", 16)
    text.setCharSpace(4)
    text.textLine("INCIDENT REVIEW")
    text.setFont("Helvetica", 11)
    text.setCharSpace(1.5)
    text.textLine("Slightly spaced line of text")
    text.setCharSpace(0)
    text.textLine("A B C D E F are the options of this text")
    sheet.drawText(text)
    sheet.save()
    told = texts(read(tmp_path, "wide.pdf", stream.getvalue()))
    assert told[0] == "INCIDENT REVIEW"
    assert "Slightly spaced line of text" in told[1]
    assert "A B C D E F are the options" in told[1]


def test_list_items_with_large_marks_are_no_headings(tmp_path: Path) -> None:
    style = getSampleStyleSheet()["BodyText"]
    body = [Paragraph("The gateway accepts readings and writes them to the queue of the store. " * 12, style)]
    bullets = ListFlowable([Paragraph(f"entry {word}", style) for word in ("a", "b")], bulletType="bullet")
    numbers = ListFlowable([Paragraph(f"step {word}", style) for word in ("c", "d")], bulletType="1")
    SimpleDocTemplate(stream := io.BytesIO(), invariant=True).build([*body, bullets, *body, numbers, *body])
    document = read(tmp_path, "lists.pdf", stream.getvalue())
    assert texts(document, "heading") == []
    assert texts(document, "list") == ["- entry a\n- entry b", "1. step c\n2. step d"]


def test_text_that_runs_up_a_page_stays_with_its_page(tmp_path: Path) -> None:
    sheet = canvas.Canvas(stream := io.BytesIO(), invariant=True)
    for page in ("first", "second"):
        for at in range(6):
            sheet.drawString(120, 700 - 14 * at, f"The {page} page ends every line here {at}.")
        sheet.saveState()
        sheet.translate(30, 300)
        sheet.rotate(90)
        sheet.drawString(0, 0, f"Margin of the {page} page")
        sheet.restoreState()
        sheet.showPage()
    sheet.save()
    document = read(tmp_path, "turned.pdf", stream.getvalue())
    assert [block.page for block in document.blocks] == sorted(block.page or 0 for block in document.blocks)
    assert [text for text in texts(document) if text.startswith("Margin")] == [
        "Margin of the first page",
        "Margin of the second page",
    ]


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ('<title>Pump station</title><meta name="description" content="Moves water">', True),
        ('<meta name="author" content="Ann">', False),
    ],
)
def test_a_page_without_a_body_is_found_by_its_title(tmp_path: Path, head: str, told: bool) -> None:
    document = read(tmp_path, "a.html", f'<html lang="en"><head>{head}</head><body></body></html>'.encode())
    assert document.state == ("ok" if told else "empty")
    assert texts(document) == (["- title: Pump station\n- language: en\n- description: Moves water"] if told else [])


def test_a_page_is_not_too_large_for_its_pictures(tmp_path: Path) -> None:
    page = f'<h1>Big</h1><p>needle</p><img src="data:image/png;base64,{"iVBORw0K" * 2_625_000}"><p>after</p>'
    document = read(tmp_path, "a.html", page.encode())
    assert (document.state, texts(document)) == ("ok", ["Big", "needle", "after"])
    assert document.warnings == ("1 embedded files left out, 15750000 bytes in all",)


_WORD = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_SLIDES = b"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"


def rewritten(data: bytes, *changes: tuple[bytes, bytes]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(whole := io.BytesIO(), "w") as other:
        for name in archive.namelist():
            part = archive.read(name)
            for old, new in changes:
                part = part.replace(old, new)
            other.writestr(name, part)
    return whole.getvalue()


def saved(document: object) -> bytes:
    stream = io.BytesIO()
    document.save(stream)  # type: ignore[attr-defined]
    return stream.getvalue()


@pytest.mark.parametrize(
    "changes",
    [
        [(_WORD, b"application/vnd.ms-word.document.macroEnabled.main+xml")],
        [(_WORD, _WORD.replace(b"document.main", b"template.main"))],
        [(_WORD, b"application/vnd.ms-word.template.macroEnabledTemplate.main+xml")],
        [
            (f"http://schemas.openxmlformats.org/{kind}/2006/".encode(), f"http://purl.oclc.org/ooxml/{kind}/".encode())
            for kind in ("wordprocessingml", "officeDocument", "drawingml")
        ],
    ],
    ids=["macros", "template", "template with macros", "strict"],
)
def test_sister_kinds_of_a_text_document_are_read(tmp_path: Path, changes: list[tuple[bytes, bytes]]) -> None:
    written = docx.Document()
    written.add_heading("Pump", 1)
    written.add_paragraph("It moves water.")
    document = read(tmp_path, "a.docx", rewritten(saved(written), *changes))
    assert (document.state, texts(document)) == ("ok", ["Pump", "It moves water."])


@pytest.mark.parametrize(
    "content_type",
    [
        _SLIDES.replace(b"presentation.main", b"slideshow.main"),
        _SLIDES.replace(b"presentation.main", b"template.main"),
        b"application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml",
    ],
)
def test_sister_kinds_of_a_presentation_are_read(tmp_path: Path, content_type: bytes) -> None:
    deck = Presentation()
    deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = "Capacity"
    document = read(tmp_path, "a.pptx", rewritten(saved(deck), (_SLIDES, content_type)))
    assert (document.state, texts(document)) == ("ok", ["Capacity"])


def test_a_presentation_without_slides_is_empty(tmp_path: Path) -> None:
    assert read(tmp_path, "a.pptx", saved(Presentation())).state == "empty"


def test_nothing_of_a_hidden_slide_is_told_and_a_hidden_shape_hides_no_slide(tmp_path: Path) -> None:
    deck = Presentation()
    for number in (1, 2):
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = f"Title {number}"
        slide.notes_slide.notes_text_frame.text = f"Note {number}"
    slide._element.set("show", "0")
    box = deck.slides[0].shapes.add_textbox(Inches(1), Inches(1), Inches(1), Inches(1))
    box.text_frame.text = "Draft"
    box._element.nvSpPr.cNvPr.set("hidden", "1")
    document = read(tmp_path, "a.pptx", saved(deck))
    assert texts(document) == ["Title 1", "Note 1"]
    assert document.warnings == ("hidden slides left out: 2",)


def test_text_that_was_moved_with_changes_tracked_is_told_where_it_now_stands(tmp_path: Path) -> None:
    written = docx.Document()
    written.add_paragraph("Before STAYS.")
    written.add_paragraph("Then GOES.")
    run = b"<w:r><w:t>%s</w:t></w:r>"
    mark = b'</w:t></w:r><w:%s w:id="4" w:author="a">' + run + b"</w:%s><w:r><w:t>"
    data = rewritten(
        saved(written),
        (b"STAYS", mark % (b"moveTo", b"the moved words", b"moveTo")),
        (b"GOES", mark % (b"moveFrom", b"the moved words", b"moveFrom")),
    )
    told = " ".join(texts(read(tmp_path, "a.docx", data)))
    assert told.count("the moved words") == 1
    assert told.index("the moved words") < told.index("Then")
