"""The built documents: one file a source, the same bytes each time, and the words of the source in it."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from datetime import date
from html import unescape
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from docling_parse.pdf_parser import DoclingPdfParser

from sample.build_documents import (
    SOURCES,
    WRITERS,
    build_documents,
    built_path,
    find_sources,
    main,
    manifest_path,
)
from sample.builders.blocks import parse_blocks
from sample.builders.source import Source, read_source

BUSINESS = SOURCES / "business"
KINDS = {
    "market-reports": "market_report",
    "regulatory-filings": "regulatory_filing",
    "competitor-notes": "competitor_note",
    "contract-terms": "contract_terms",
    "ticket-digests": "ticket_digest",
    "price-lists": "price_list",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("built") / "documents"
    build_documents(target)
    return target


def read_docx(path: Path) -> str:
    document = docx.Document(str(path))
    cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    return "\n".join([paragraph.text for paragraph in document.paragraphs] + cells)


def read_pptx(path: Path) -> str:
    texts = []
    for slide in pptx.Presentation(str(path)).slides:
        for shape in slide.shapes:
            if shape.has_text_frame:
                texts.append(shape.text_frame.text)
            if shape.has_table:
                texts += [cell.text for row in shape.table.rows for cell in row.cells]
    return "\n".join(texts)


def read_xlsx(path: Path) -> str:
    book = openpyxl.load_workbook(path)
    rows = [row for sheet in book for row in sheet.iter_rows(values_only=True)]
    return "\n".join(
        [
            *book.sheetnames,
            *(f"{value:.2f} {value}" if isinstance(value, float) else str(value) for row in rows for value in row),
        ]
    )


def read_pages(path: Path) -> list[str]:
    document = DoclingPdfParser().load(str(path))
    return ["\n".join(cell.text for cell in page.textline_cells) for _, page in document.iterate_pages()]


def read_pdf(path: Path) -> str:
    return "\n".join(read_pages(path))


def read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def read_html(path: Path) -> str:
    return unescape(re.sub(r"<[^>]+>", " ", read_text(path)))


READERS: dict[str, Callable[[Path], str]] = {
    "docx": read_docx,
    "pptx": read_pptx,
    "xlsx": read_xlsx,
    "pdf": read_pdf,
    "html": read_html,
}


def words_of(source: Source) -> set[str]:
    body = re.sub(r"^```\w*|[*`|]", " ", source.body, flags=re.MULTILINE)
    if source.format in {"csv", "xlsx"}:
        body = "\n".join(line for line in body.splitlines() if not line.startswith("#"))
    return set(re.findall(r"\w{4,}", body))


@pytest.mark.parametrize("path", find_sources(), ids=lambda path: path.relative_to(SOURCES).as_posix())
def test_words_of_the_source_are_in_the_built_file(path: Path, built: Path) -> None:
    source = read_source(path)
    text = READERS.get(source.format, read_text)(built / built_path(source))
    squeezed = re.sub(r"\s", "", text).casefold()
    missing = [word for word in words_of(source) if word.casefold() not in squeezed]
    assert missing == []


def test_every_source_gives_one_file(built: Path) -> None:
    sources = find_sources()
    files = {path.relative_to(built) for path in built.rglob("*") if path.is_file()}
    assert files == {built_path(read_source(path)) for path in sources}
    assert len(files) == len(sources)


def test_building_twice_gives_the_same_bytes(built: Path, tmp_path: Path) -> None:
    again = build_documents(tmp_path / "again")
    for path in again:
        assert path.read_bytes() == (built / path.relative_to(tmp_path / "again")).read_bytes(), path


def test_only_what_changed_is_written_again(tmp_path: Path) -> None:
    sources, target = tmp_path / "sources", tmp_path / "target"
    shutil.copytree(BUSINESS / "contract-terms", sources / "business" / "contract-terms")
    first = build_documents(target, sources)
    stamps = {path: path.stat().st_mtime_ns for path in first}
    manifest = manifest_path(target).stat().st_mtime_ns
    assert build_documents(target, sources) == first
    assert {path: path.stat().st_mtime_ns for path in first} == stamps
    assert manifest_path(target).stat().st_mtime_ns == manifest

    changed = sources / "business" / "contract-terms" / "cloud-plus-bundle-terms.md"
    changed.write_text(changed.read_text() + "\nOne more sentence.\n")
    damaged = target / "business" / "contract-terms" / "freight-and-delivery-terms.yaml"
    damaged.write_text("damaged")
    removed = sources / "business" / "contract-terms" / "calibration-service-terms.md"
    removed.unlink()
    second = build_documents(target, sources)
    rewritten = {path.name for path in second if path.stat().st_mtime_ns != stamps[path]}
    assert rewritten == {"cloud-plus-bundle-terms.md", "freight-and-delivery-terms.yaml"}
    assert not (target / "business" / "contract-terms" / "calibration-service-terms.html").exists()


def test_a_broken_manifest_means_a_full_build(tmp_path: Path) -> None:
    sources, target = tmp_path / "sources", tmp_path / "target"
    shutil.copytree(BUSINESS / "price-lists", sources / "business" / "price-lists")
    build_documents(target, sources)
    manifest_path(target).write_text("{")
    build_documents(target, sources)
    assert len(json.loads(manifest_path(target).read_text())) == 6


def test_business_documents_are_as_many_and_as_mixed_as_planned() -> None:
    sources = [read_source(path) for path in find_sources() if BUSINESS in path.parents]
    folders = Counter(source.path.parent.name for source in sources)
    assert len(sources) >= 42
    assert min(folders.values()) >= 6
    assert folders.keys() == KINDS.keys()
    formats = Counter(source.format for source in sources)
    assert formats["pdf"] >= 7
    assert formats["docx"] >= 7
    assert formats.keys() == WRITERS.keys()
    assert {source.layout for source in sources if source.format == "pdf"} >= {"two_columns", "booklet"}
    for source in sources:
        assert source.meta["document_type"] == KINDS[source.path.parent.name]
        assert source.meta["status"] in {"current", "superseded"}
        assert isinstance(source.meta["date"], date)
        assert source.meta["title"]
        assert source.meta["subject"]
        assert source.meta["owner"]
        if source.meta["status"] == "superseded":
            assert (BUSINESS / source.meta["superseded_by"]).is_file()
        words = len(source.body.split())
        assert words <= 420, source.path
        assert words >= 120 or source.format in {"csv", "xlsx"}, source.path


def test_office_files_carry_structure(built: Path) -> None:
    document = docx.Document(str(built / "business/contract-terms/service-credit-clause-2025.docx"))
    styles = {paragraph.style.name for paragraph in document.paragraphs if paragraph.style}
    assert {"Title", "Heading 1", "List Bullet"} <= styles
    assert document.core_properties.author == "Legal"
    assert document.core_properties.created.date() == date(2025, 3, 1)

    book = openpyxl.load_workbook(built / "business/price-lists/hardware-price-list-2026.xlsx")
    sheet = book["Hardware 2026"]
    assert [str(merged) for merged in sheet.merged_cells.ranges] == ["A1:G1"]
    assert sheet["A2"].font.bold
    assert isinstance(sheet["D3"].value, int | float)
    assert book.sheetnames == ["Hardware 2026", "Validity", "Quantity discount", "Spare parts"]

    deck = pptx.Presentation(str(built / "business/ticket-digests/2026-05-staffing-and-response.pptx"))
    assert "Themes of the month" in [slide.shapes.title.text for slide in deck.slides if slide.shapes.title]


def test_pages_of_the_pdfs(built: Path) -> None:
    texts = read_pages(built / "business/regulatory-filings/regulation-2025-118-summary.pdf")
    assert len(texts) >= 2
    for number, text in enumerate(texts, start=1):
        assert f"Page {number}" in text
        assert "Larkspur Instruments | regulatory filing" in text


def test_frontmatter_of_built_markdown(built: Path) -> None:
    text = read_text(built / "business/competitor-notes/brightmesh-profile.md")
    assert text.startswith("---\ntitle: Brightmesh, Company Profile\n")
    assert "format:" not in text.split("---")[1]
    assert read_text(built / "business/contract-terms/cloud-plus-bundle-terms.md").startswith("# Terms of the Cloud")
    assert "<title>Competitor Watch, Second Quarter 2026 |" in read_text(
        built / "business/competitor-notes/competitor-watch-2026-q2.html"
    )


def test_a_source_that_cannot_be_built_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "business"
    folder.mkdir()
    source = folder / "odd.md"
    source.write_text("---\nformat: odt\n---\n\nText.\n")
    with pytest.raises(ValueError, match=r"odd\.md: unknown format 'odt'"):
        build_documents(tmp_path / "target", tmp_path)
    source.write_text("---\nformat: csv\n---\n\nNo table.\n")
    with pytest.raises(ValueError, match=r"odd\.md: a csv source needs a table"):
        build_documents(tmp_path / "target", tmp_path)
    source.write_text("no frontmatter\n")
    with pytest.raises(ValueError, match=r"odd\.md: no frontmatter"):
        build_documents(tmp_path / "target", tmp_path)
    with pytest.raises(ValueError, match="no writer knows"):
        parse_blocks("![a picture](x.png)")


def test_command_line_needs_a_target(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err
