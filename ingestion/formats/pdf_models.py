"""PDF through Docling's standard pipeline, with its layout, table and text recognition models.

The models come with the `layout` extra and are looked for in one folder (`docling-tools models download`), never
fetched while a document is being read.
"""

from __future__ import annotations

import io
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from ingestion.documents import Block
from ingestion.errors import ConversionFault
from ingestion.formats.office import docling_blocks, docling_version


def missing_for_models(folder: Path) -> str:
    """What keeps the models from being used, empty where nothing does."""
    if find_spec("docling_ibm_models") is None:
        return "the `layout` extra is not installed"
    if not folder.is_dir() or not any(folder.iterdir()):
        return "the folder of conversion.layout_models holds no models"
    return ""


def models_converter() -> str:
    """Name and version, as recorded with each document."""
    return f"{docling_version()}, layout models"


def read_with_models(data: bytes, folder: Path, password: str | None) -> tuple[list[Block], str]:
    """Blocks of a PDF as the models see it, and what they could not read of it (empty: nothing).

    Raises ConversionFault (corrupt) where Docling cannot read it at all.
    """
    from docling.datamodel.base_models import DocumentStream  # noqa: PLC0415 - heavy

    result = _converter(folder, password).convert(
        DocumentStream(name="document.pdf", stream=io.BytesIO(data)), raises_on_error=False
    )
    status = str(result.status.value)
    problems = ("; ".join(error.error_message for error in result.errors) or status).splitlines()[0][:300]
    if status not in ("success", "partial_success"):
        raise ConversionFault("corrupt", f"Docling's models cannot read it: {problems}")
    partial = f"Docling's models read a part of it: {problems}" if status == "partial_success" else ""
    return list(docling_blocks(result.document)), partial


@cache
def _converter(folder: Path, password: str | None) -> Any:
    from docling.datamodel.backend_options import ThreadedDoclingParseBackendOptions  # noqa: PLC0415 - heavy
    from docling.datamodel.base_models import InputFormat  # noqa: PLC0415 - heavy
    from docling.datamodel.pipeline_options import PdfPipelineOptions  # noqa: PLC0415 - heavy
    from docling.document_converter import DocumentConverter, PdfFormatOption  # noqa: PLC0415 - heavy

    locked = ThreadedDoclingParseBackendOptions(password=SecretStr(password)) if password else None
    option = PdfFormatOption(pipeline_options=PdfPipelineOptions(artifacts_path=folder), backend_options=locked)
    return DocumentConverter(allowed_formats=[InputFormat.PDF], format_options={InputFormat.PDF: option})
