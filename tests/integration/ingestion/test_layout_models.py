"""The path of a PDF through Docling's layout models, as far as it goes without the models themselves.

No package ships the models, so what they see in a page is not tested here. Tested are the options that Docling is
given, what becomes of its result (by Docling's own pipeline that needs no models), and what a record says of it.
"""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from reportlab.pdfgen import canvas

from ingestion.config import ConversionLimits
from ingestion.convert import convert
from ingestion.documents import ConvertedDocument, SourceFile
from ingestion.formats import pdf_models

pytestmark = pytest.mark.integration


@pytest.fixture(name="file")
def fixture_file(tmp_path: Path) -> SourceFile:
    """A PDF of two pages."""
    stream = io.BytesIO()
    sheet = canvas.Canvas(stream)
    for number in (1, 2):
        sheet.drawString(72, 700, f"Words of page {number}.")
        sheet.showPage()
    sheet.save()
    path = tmp_path / "a.pdf"
    path.write_bytes(stream.getvalue())
    return SourceFile("made", tmp_path, path, "a.pdf", path.stat().st_size, "0" * 64)


@pytest.fixture(name="models")
def fixture_models(tmp_path: Path) -> Path:
    """A folder that is not empty."""
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "weights").write_bytes(b"none")
    return folder


def read(file: SourceFile, models: Path) -> ConvertedDocument:
    return convert(file, limits=ConversionLimits(layout_models=models))


def test_docling_gets_its_standard_pipeline_the_folder_and_the_password_and_may_fetch_nothing(models: Path) -> None:
    from docling.datamodel.base_models import InputFormat
    from docling.pipeline.standard_pdf_pipeline import StandardPdfPipeline

    option = pdf_models._converter(models, "s3cret").format_to_options[InputFormat.PDF]
    assert option.pipeline_cls is StandardPdfPipeline
    assert option.pipeline_options.artifacts_path == models
    assert option.pipeline_options.do_ocr
    assert option.pipeline_options.do_table_structure
    assert not option.pipeline_options.enable_remote_services
    assert option.backend_options.password.get_secret_value() == "s3cret"
    assert pdf_models._converter(models, None).format_to_options[InputFormat.PDF].backend_options is None or (
        pdf_models._converter(models, None).format_to_options[InputFormat.PDF].backend_options.password is None
    )


def test_what_is_missing_is_named(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_models, "find_spec", lambda name: None)
    assert "`layout` extra is not installed" in pdf_models.missing_for_models(models)
    monkeypatch.setattr(pdf_models, "find_spec", lambda name: object())
    assert "holds no models" in pdf_models.missing_for_models(tmp_path / "nowhere")
    assert pdf_models.missing_for_models(models) == ""


def test_the_record_says_that_the_models_read_it(
    file: SourceFile, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.pipeline_options import NativePdfPipelineOptions
    from docling.document_converter import DocumentConverter, PdfFormatOption
    from docling.pipeline.native_pdf_pipeline import NativePdfPipeline

    def without_models(folder: Path, password: str | None) -> Any:
        assert (folder, password) == (models, None)
        options = NativePdfPipelineOptions(generate_page_images=False, generate_picture_images=False)
        option = PdfFormatOption(pipeline_cls=NativePdfPipeline, pipeline_options=options)
        return DocumentConverter(allowed_formats=[InputFormat.PDF], format_options={InputFormat.PDF: option})

    monkeypatch.setattr(pdf_models, "missing_for_models", lambda folder: "")
    monkeypatch.setattr(pdf_models, "_converter", without_models)
    document = read(file, models)
    assert document.state == "ok"
    assert document.converter.endswith(", layout models)")
    assert "docling " in document.converter
    assert document.warnings == ()
    assert document.pages == 2
    text = " ".join(block.text for block in document.blocks)
    assert text.index("Words of page 1.") < text.index("Words of page 2.")
    assert {block.page for block in document.blocks} == {1, 2}


class Result:
    """A converter whose result has a status of its own."""

    def __init__(self, status: str, *errors: str) -> None:
        self.status = SimpleNamespace(value=status)
        self.errors = [SimpleNamespace(error_message=error) for error in errors]
        self.document = SimpleNamespace(iterate_items=lambda with_groups: iter(()))

    def convert(self, path: Path, *, raises_on_error: bool) -> Result:
        assert not raises_on_error
        return self


@pytest.mark.parametrize(
    ("status", "state", "reason"),
    [
        ("failure", "corrupt", "cannot read it: page 2 failed"),
        ("partial_success", "partial", "read a part of it: page 2 failed"),
    ],
)
def test_a_result_that_is_no_success_is_none_here(
    file: SourceFile, models: Path, monkeypatch: pytest.MonkeyPatch, status: str, state: str, reason: str
) -> None:
    from ingestion.documents import Block

    monkeypatch.setattr(pdf_models, "missing_for_models", lambda folder: "")
    monkeypatch.setattr(pdf_models, "_converter", lambda folder, password: Result(status, "page 2 failed"))
    monkeypatch.setattr(pdf_models, "docling_blocks", lambda document: iter([Block("paragraph", "one", page=1)]))
    document = read(file, models)
    assert document.state == state
    assert reason in document.reason
