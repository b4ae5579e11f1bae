"""Documents through the stages: convert, enrich, chunk, embed; what comes of them is staged, each fault recorded."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

import psycopg

from ingestion import chunk as chunking
from ingestion import runs
from ingestion.chunk import CHUNKER_VERSION, chunk_document
from ingestion.config import IngestionRules
from ingestion.convert import CONVERTER_VERSION
from ingestion.describe import Describer, model_version
from ingestion.documents import Chunk, ConvertedDocument, SourceFile
from ingestion.embed import embed_texts, text_hash
from ingestion.enrich import enrich
from ingestion.export import enriched_markdown
from ingestion.index import PreparedChunk, prepare_chunk, record_failure
from ingestion.staging import REFUSED, StagedWork, one_line, stage_documents
from ingestion.versions import IndexVersion
from rag_core.connectors.base import ChatModel, Embedder
from rag_core.connectors.store import Store
from rag_core.errors import NightshiftError
from rag_core.retrieval.tokens import TOKENS_VERSION

# Documents that are embedded and staged together: enough for full batches, few enough to hold in memory and to do
# again after a crash.
DOCUMENTS_TOGETHER = 32
BYTES_TOGETHER = 4 * 1024 * 1024

logger = logging.getLogger(__name__)


class Converter(Protocol):
    """Turns a file into blocks; `ingestion.isolate` does it in a process that can be killed."""

    def convert(self, file: SourceFile) -> ConvertedDocument:
        """The document; what is wrong with the file is a state of it."""
        ...


def pipeline_version(rules: IngestionRules, chat_model: ChatModel | None = None) -> str:
    """Names everything that the chunks of a document depend on besides its bytes; a change means converting anew."""
    dumped = rules.model_dump(mode="json", exclude={"sources": True, "conversion": {"seconds", "memory_megabytes"}})
    digest = hashlib.sha256(json.dumps(dumped, sort_keys=True).encode()).hexdigest()[:12]
    version = f"convert {CONVERTER_VERSION}, chunk {CHUNKER_VERSION}, tokens {TOKENS_VERSION}, rules {digest}"
    asked = model_version(rules.enrichment, chat_model)
    return f"{version}, model {asked}" if asked else version


def window_cutter(embedder: Embedder) -> Callable[[Chunk], list[str]]:
    """A function that cuts a chunk into texts that the embedding model takes whole."""

    def cut(chunk: Chunk) -> list[str]:
        return chunking.windows(chunk, embedder.token_spans, embedder.max_tokens)

    return cut


@dataclass(slots=True)
class _Prepared:
    """A document between conversion and staging; `fault` is set where a stage gave up."""

    file: SourceFile
    document: ConvertedDocument | None
    chunks: tuple[Chunk, ...] = ()
    windows: tuple[tuple[str, ...], ...] = ()
    seconds: float = 0.0
    fault: tuple[str, str] | None = None
    embeddings: int = 0
    described: bool = True

    @property
    def usable(self) -> bool:
        """Whether there is a document that may replace what is published of this one."""
        return self.fault is None and self.document is not None and self.document.state != "quarantined"


class DocumentWorker:
    """Takes groups of documents through the stages; whatever goes wrong with one becomes its state."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        rules: IngestionRules,
        version: IndexVersion,
        run_id: str,
        *,
        chat_model: ChatModel | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._rules = rules
        self._version = version
        self._run_id = run_id
        self._pipeline_version = pipeline_version(rules, chat_model)
        asked = chat_model is not None and model_version(rules.enrichment, chat_model)
        self._describer = Describer(rules.enrichment, chat_model) if asked and chat_model is not None else None

    def work_off(self, files: Sequence[SourceFile], converter: Converter) -> Iterator[tuple[SourceFile, int]]:
        """Takes files through all stages; yields each when it is done, with the vectors computed for it.

        While one group is embedded and staged, the next one is converted: the converter is a process of its own.
        """
        groups = list(grouped(files))
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="convert") as ahead:
            waiting = ahead.submit(self._prepare_all, groups[0], converter) if groups else None
            for following in [*groups[1:], None]:
                if waiting is None:
                    return
                prepared = waiting.result()
                waiting = ahead.submit(self._prepare_all, following, converter) if following is not None else None
                embedded, computed = self._embed_all(prepared)
                self._stage_all(prepared, embedded, computed)
                for each in prepared:
                    # Vectors are computed for the group; they are counted with its first document.
                    yield each.file, computed
                    computed = 0

    def _prepare_all(self, files: Sequence[SourceFile], converter: Converter) -> list[_Prepared]:
        return [self._prepare(file, converter) for file in files]

    def _embed_all(self, prepared: Sequence[_Prepared]) -> tuple[frozenset[bytes], int]:
        try:
            texts = [text for each in prepared for parts in each.windows for text in parts]
            embedded = embed_texts(self._store, self._embedder, texts)
        except (NightshiftError, psycopg.Error):
            raise
        except Exception as error:  # noqa: BLE001 - one text that the model cannot take must not lose the others
            logger.warning("embedding failed for a group of documents, each is tried alone: %s", one_line(error))
            return self._embed_each(prepared)
        return embedded.hashes, embedded.computed

    def _embed_each(self, prepared: Sequence[_Prepared]) -> tuple[frozenset[bytes], int]:
        hashes: frozenset[bytes] = frozenset()
        computed = 0
        for each in prepared:
            try:
                texts = [text for parts in each.windows for text in parts]
                embedded = embed_texts(self._store, self._embedder, texts)
            except (NightshiftError, psycopg.Error):
                raise
            except Exception as error:  # noqa: BLE001 - it becomes the document's state
                each.fault = ("embed", one_line(error))
            else:
                hashes |= embedded.hashes
                computed += embedded.computed
        return hashes, computed

    def _prepare(self, file: SourceFile, converter: Converter) -> _Prepared:
        started = time.monotonic()
        # Where the converter cannot even be asked the document is not to blame.
        stage = "machine"
        document: ConvertedDocument | None = None
        try:
            document = converter.convert(file)
            file, document = _as_read(file, document)
            stage = "enrich"
            document = enrich(document, file, self._rules.enrichment)
            described = True
            if self._describer is not None:
                document, described = self._describer.describe(document, file)
            stage = "chunk"
            # Blocks, chunks and windows are counted several times over; a text is tokenised once.
            spans = cache(self._embedder.token_spans)
            chunks = chunk_document(
                document,
                token_spans=spans,
                max_tokens=self._rules.chunks.max_tokens,
                overlap=self._rules.chunks.overlap,
            )
            windows = tuple(tuple(chunking.windows(chunk, spans, self._embedder.max_tokens)) for chunk in chunks)
        except Exception as error:  # noqa: BLE001 - whatever one document does must not lose the others
            logger.warning("%s: %s failed: %s", file.relative_path, stage, one_line(error))
            return _Prepared(file, document, fault=(stage, one_line(error)))
        seconds = time.monotonic() - started
        return _Prepared(file, document, chunks, windows, seconds, described=described)

    def _stage_all(self, prepared: Sequence[_Prepared], embedded: frozenset[bytes], computed: int) -> None:
        """Stages a group in one transaction; where the database refuses it, each document in its own."""
        started = time.monotonic()
        good = [each for each in prepared if each.usable]
        for each in prepared:
            each.embeddings, computed = computed, 0
            if not each.usable:
                stage, reason = each.fault or (
                    (each.document.stage, each.document.reason) if each.document else ("machine", "no document")
                )
                self._fail(each, stage, reason)
        ready = [self._ready(each, embedded) for each in good]
        share = (time.monotonic() - started) / max(len(good), 1)
        ready = [replace(work, seconds=work.seconds + share) for work in ready]
        try:
            self._stage(ready)
        except REFUSED as error:
            if len(good) > 1:
                logger.warning("a group of documents was refused, each is tried alone: %s", one_line(error))
            for each, work in zip(good, ready, strict=True):
                try:
                    self._stage([work])
                except REFUSED as cause:
                    self._fail(each, "index", one_line(cause))

    def _ready(self, each: _Prepared, embedded: frozenset[bytes]) -> StagedWork:
        document = each.document
        if document is None:
            raise RuntimeError("only a document that was converted can be staged")
        chunks, broken = _with_vectors(each, embedded)
        stage = "" if document.state == "ok" else "convert"
        if broken:
            stage = "embed"
            reason = f"{broken} of {len(each.chunks)} chunks got no usable vector and are left out"
            document = replace(document, state="partial", reason=reason)
        enriched = enriched_markdown(document) if document.blocks else ""
        # A document that the chat model could not be asked about counts as one of the rules alone: it is asked again.
        version = self._pipeline_version if each.described else pipeline_version(self._rules)
        return StagedWork(each.file, document, chunks, version, stage, enriched, each.embeddings, each.seconds)

    def _stage(self, works: Sequence[StagedWork]) -> None:
        stage_documents(self._store, works, version_no=self._version.version_no, run_id=self._run_id)

    def _fail(self, each: _Prepared, stage: str, reason: str) -> None:
        item = runs.FinishedItem(each.file, "quarantined", stage, reason, 0, each.embeddings, each.seconds)
        record_failure(
            self._store,
            each.file,
            state=item.state,
            stage=stage,
            reason=reason,
            pipeline_version=self._pipeline_version,
            run_id=self._run_id,
            also=lambda connection: runs.finish_items(connection, self._run_id, [item]),
        )


def grouped(files: Sequence[SourceFile]) -> Iterator[list[SourceFile]]:
    """Files in groups of a bounded number and size; a file above the size is alone."""
    group: list[SourceFile] = []
    size = 0
    for file in files:
        if group and (len(group) == DOCUMENTS_TOGETHER or size + file.size > BYTES_TOGETHER):
            yield group
            group, size = [], 0
        group.append(file)
        size += file.size
    if group:
        yield group


def _as_read(file: SourceFile, document: ConvertedDocument) -> tuple[SourceFile, ConvertedDocument]:
    """The file as the converter read it, which is what the document is kept under: it may have changed since listed."""
    if document.content_hash in ("", file.content_hash):
        return file, document
    logger.info("%s changed while it was read; what was read is stored", file.relative_path)
    warnings = (*document.warnings, "the file changed between its listing and its reading; this is what was read")
    return (
        replace(file, content_hash=document.content_hash, size=document.size),
        replace(document, warnings=warnings),
    )


def _with_vectors(each: _Prepared, embedded: frozenset[bytes]) -> tuple[list[PreparedChunk], int]:
    chunks: list[PreparedChunk] = []
    broken = 0
    for chunk, texts in zip(each.chunks, each.windows, strict=True):
        windows = [text_hash(text) for text in texts]
        if embedded.issuperset(windows):
            chunks.append(prepare_chunk(chunk, windows))
        else:
            broken += 1
    return chunks, broken
