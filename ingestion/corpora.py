"""Texts that are no files, such as the collections that retrieval is measured on, through the same stages as files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingestion import runs
from ingestion.checks import judge_documents
from ingestion.config import IngestionRules
from ingestion.documents import Block, ConvertedDocument, SourceFile
from ingestion.index import document_id
from ingestion.packing import pack_postings
from ingestion.publishing import publish_documents
from ingestion.scope import Root
from ingestion.versions import ensure_version, maintain_index
from ingestion.worker import DocumentWorker, pipeline_version
from rag_core.connectors.base import Embedder
from rag_core.connectors.store import Store


@dataclass(frozen=True, slots=True)
class CorpusText:
    """One document of a collection: its key in there, title and text (paragraphs apart by an empty line)."""

    key: str
    title: str
    text: str


class _TextConverter:
    """Hands out texts as documents of one paragraph each paragraph."""

    def __init__(self, texts: Sequence[CorpusText]) -> None:
        self._texts = {text.key: text for text in texts}

    def convert(self, file: SourceFile) -> ConvertedDocument:
        """The text of this key as blocks."""
        text = self._texts[file.relative_path]
        blocks = tuple(Block("paragraph", part.strip()) for part in text.text.split("\n\n") if part.strip())
        return ConvertedDocument("ok" if blocks else "empty", text.title, blocks, converter="corpus 1")


def load_corpus(
    store: Store,
    embedder: Embedder,
    source: str,
    texts: Sequence[CorpusText],
    *,
    rules: IngestionRules,
    on_progress: Callable[[int, int], None] | None = None,
) -> int:
    """Indexes the texts under a source of their own; those that are indexed already cost nothing.

    Returns the number of texts that had to be indexed.
    """
    version = ensure_version(store, embedder)
    known = {
        document.document_id: (document.content_hash, document.pipeline_version)
        for document in runs.known_documents(store, [source])
    }
    wanted = pipeline_version(rules)
    files = []
    for text in texts:
        digest = hashlib.sha256(f"{text.title}\x00{text.text}".encode()).hexdigest()
        if known.get(document_id(source, text.key)) != (digest, wanted):
            files.append(SourceFile(source, Path(source), Path(source) / text.key, text.key, len(text.text), digest))
    run_id = runs.new_run_id()
    record = runs.RunRecord(
        run_id=run_id,
        complete=True,
        discovered=len(texts),
        unchanged=len(texts) - len(files),
        moved=0,
        known=len(known),
        seconds=0.0,
        roots=(Root(Path(source), source),),
    )
    with store.connection() as connection:
        runs.save_run(connection, record, [files])
    worker = DocumentWorker(store, embedder, rules, version, run_id)
    for done, _ in enumerate(worker.work_off(files, _TextConverter(texts)), start=1):
        if on_progress is not None:
            on_progress(done, len(files))
    judge_documents(store, run_id, max_tokens=rules.chunks.max_tokens)
    publish_documents(store, run_id, version_no=version.version_no)
    if files:
        maintain_index(store, version)
    else:
        pack_postings(store)  # an index that an older version of this software filled has none packed yet
    return len(files)
