"""Documents through the stages: convert, enrich, chunk, embed, index, each outcome recorded."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol

import psycopg

from ingestion import chunk as chunking
from ingestion import runs
from ingestion.chunk import CHUNKER_VERSION, chunk_document
from ingestion.config import IngestionRules
from ingestion.convert import CONVERTER_VERSION
from ingestion.documents import Chunk, ConvertedDocument, SourceFile
from ingestion.embed import embed_texts, text_hash
from ingestion.enrich import enrich
from ingestion.export import enriched_markdown
from ingestion.index import PreparedChunk, prepare_chunk, record_failure, write_document
from ingestion.versions import IndexVersion
from rag_core.connectors.base import Embedder
from rag_core.connectors.store import Store
from rag_core.errors import NightshiftError
from rag_core.retrieval.tokens import TOKENS_VERSION

# Documents whose windows are embedded together: enough for full batches, few enough to hold in memory.
EMBEDDED_TOGETHER = 24

logger = logging.getLogger(__name__)


class Converter(Protocol):
    """Turns a file into blocks; `ingestion.isolate` does it in a process that can be killed."""

    def convert(self, file: SourceFile) -> ConvertedDocument:
        """The document; what is wrong with the file is a state of it."""
        ...


def pipeline_version(rules: IngestionRules) -> str:
    """Names everything that the chunks of a document depend on besides its bytes; a change means converting anew."""
    dumped = rules.model_dump(mode="json", exclude={"sources": True, "conversion": {"seconds", "memory_megabytes"}})
    digest = hashlib.sha256(json.dumps(dumped, sort_keys=True).encode()).hexdigest()[:12]
    return f"convert {CONVERTER_VERSION}, chunk {CHUNKER_VERSION}, tokens {TOKENS_VERSION}, rules {digest}"


def window_cutter(embedder: Embedder) -> Callable[[Chunk], list[str]]:
    """A function that cuts a chunk into texts that the embedding model takes whole."""

    def cut(chunk: Chunk) -> list[str]:
        return chunking.windows(chunk, embedder.token_spans, embedder.max_tokens)

    return cut


@dataclass(slots=True)
class _Prepared:
    """A document between conversion and index; `fault` is set where a stage gave up."""

    file: SourceFile
    document: ConvertedDocument | None
    chunks: tuple[Chunk, ...] = ()
    windows: tuple[tuple[str, ...], ...] = ()
    seconds: float = 0.0
    fault: tuple[str, str] | None = None


class DocumentWorker:
    """Takes groups of documents through the stages; whatever goes wrong with one becomes its state."""

    def __init__(
        self, store: Store, embedder: Embedder, rules: IngestionRules, version: IndexVersion, run_id: str
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._rules = rules
        self._version = version
        self._run_id = run_id
        self._pipeline_version = pipeline_version(rules)
        self._cut = window_cutter(embedder)

    def work_off(self, files: Sequence[SourceFile], converter: Converter) -> Iterator[tuple[SourceFile, int]]:
        """Takes files through all stages; yields each when it is done, with the vectors computed for it.

        While one group is embedded and written, the next one is converted: the converter is a process of its own.
        """
        groups = [files[at : at + EMBEDDED_TOGETHER] for at in range(0, len(files), EMBEDDED_TOGETHER)]
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="convert") as ahead:
            waiting = ahead.submit(self._prepare_all, groups[0], converter) if groups else None
            for following in [*groups[1:], None]:
                if waiting is None:
                    return
                prepared = waiting.result()
                waiting = ahead.submit(self._prepare_all, following, converter) if following is not None else None
                vectors, left = self._embed_all(prepared)
                for each in prepared:
                    # Vectors are computed for the group; they are counted with the first document that is written.
                    computed, left = left, 0
                    yield each.file, self._write(each, vectors, computed)

    def _prepare_all(self, files: Sequence[SourceFile], converter: Converter) -> list[_Prepared]:
        return [self._prepare(file, converter) for file in files]

    def _embed_all(self, prepared: Sequence[_Prepared]) -> tuple[dict[bytes, str], int]:
        try:
            texts = [text for each in prepared for parts in each.windows for text in parts]
            embedded = embed_texts(self._store, self._embedder, texts)
        except (NightshiftError, psycopg.Error):
            raise
        except Exception as error:  # noqa: BLE001 - one text that the model cannot take must not lose the others
            logger.warning("embedding failed for a group of documents, each is tried alone: %s", _one_line(error))
            return self._embed_each(prepared)
        return embedded.vectors, embedded.computed

    def _embed_each(self, prepared: Sequence[_Prepared]) -> tuple[dict[bytes, str], int]:
        vectors: dict[bytes, str] = {}
        computed = 0
        for each in prepared:
            try:
                texts = [text for parts in each.windows for text in parts]
                embedded = embed_texts(self._store, self._embedder, texts)
            except (NightshiftError, psycopg.Error):
                raise
            except Exception as error:  # noqa: BLE001 - it becomes the document's state
                each.fault = ("embed", _one_line(error))
            else:
                vectors |= embedded.vectors
                computed += embedded.computed
        return vectors, computed

    def _prepare(self, file: SourceFile, converter: Converter) -> _Prepared:
        started = time.monotonic()
        stage = "convert"
        document: ConvertedDocument | None = None
        try:
            document = converter.convert(file)
            stage = "enrich"
            document = enrich(document, file, self._rules.enrichment)
            stage = "chunk"
            chunks = chunk_document(
                document,
                token_spans=self._embedder.token_spans,
                max_tokens=self._rules.chunks.max_tokens,
                overlap=self._rules.chunks.overlap,
            )
            windows = tuple(tuple(self._cut(chunk)) for chunk in chunks)
        except Exception as error:  # noqa: BLE001 - whatever one document does must not lose the others
            logger.warning("%s: %s failed: %s", file.relative_path, stage, _one_line(error))
            return _Prepared(file, document, fault=(stage, _one_line(error)))
        return _Prepared(file, document, chunks, windows, time.monotonic() - started)

    def _write(self, each: _Prepared, vectors: dict[bytes, str], computed: int) -> int:
        started = time.monotonic()
        document = each.document
        if each.fault is not None or document is None:
            stage, reason = each.fault or ("convert", "no document came back")
            self._fail(each.file, "quarantined", stage, reason, computed)
            return computed
        if document.state == "quarantined":
            self._fail(each.file, document.state, "convert", document.reason, computed)
            return computed
        chunks, broken = _with_vectors(each, vectors)
        state, stage, reason = document.state, "" if document.state == "ok" else "convert", document.reason
        if broken:
            state, stage = "partial", "embed"
            reason = f"{broken} of {len(each.chunks)} chunks got no usable vector and are left out"
            document = replace(document, state="partial", reason=reason)
        try:
            result = write_document(
                self._store,
                each.file,
                document,
                chunks,
                version_no=self._version.version_no,
                pipeline_version=self._pipeline_version,
                run_id=self._run_id,
                stage=stage,
                enriched=enriched_markdown(document) if document.blocks else "",
            )
        except (psycopg.DataError, psycopg.IntegrityError, psycopg.errors.ProgramLimitExceeded) as error:
            self._fail(each.file, "quarantined", "index", _one_line(error), computed)
            return computed
        runs.finish_item(
            self._store,
            self._run_id,
            each.file,
            state=state,
            stage=stage,
            reason=reason,
            chunks=result.chunks,
            embeddings=computed,
            seconds=each.seconds + time.monotonic() - started,
        )
        return computed

    def _fail(self, file: SourceFile, state: str, stage: str, reason: str, computed: int) -> None:
        record_failure(
            self._store,
            file,
            state=state,
            stage=stage,
            reason=reason,
            pipeline_version=self._pipeline_version,
            run_id=self._run_id,
        )
        runs.finish_item(self._store, self._run_id, file, state=state, stage=stage, reason=reason, embeddings=computed)


def _with_vectors(each: _Prepared, vectors: dict[bytes, str]) -> tuple[list[PreparedChunk], int]:
    chunks: list[PreparedChunk] = []
    broken = 0
    for chunk, texts in zip(each.chunks, each.windows, strict=True):
        found = [vectors.get(text_hash(text)) for text in texts]
        usable = [vector for vector in found if vector is not None]
        if len(usable) < len(found):
            broken += 1
        else:
            chunks.append(prepare_chunk(chunk, usable))
    return chunks, broken


def _one_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    message = text[0].strip() if text else ""
    if isinstance(error, NightshiftError):
        return message
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
