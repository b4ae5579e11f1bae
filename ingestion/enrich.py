"""Metadata of a document: stated by itself, else found by rules. Where each value came from is recorded."""

from __future__ import annotations

from dataclasses import replace

from ingestion.config import EnrichmentRules
from ingestion.documents import ConvertedDocument, SourceFile


def enrich(document: ConvertedDocument, file: SourceFile, rules: EnrichmentRules) -> ConvertedDocument:
    """A document with its metadata completed; nothing that it states itself is overwritten."""
    metadata = dict(document.metadata)
    origins = dict(document.origins)
    metadata.setdefault("title", document.title)
    origins.setdefault("title", "rule")
    metadata["source"] = file.source
    origins["source"] = "path"
    return replace(document, metadata=metadata, origins=origins)
