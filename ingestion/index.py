"""Writing documents into the index: one transaction changes one document, whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import psycopg

from ingestion.documents import Chunk, ConvertedDocument, SourceFile
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.retrieval.tokens import TOKENS_VERSION, term_counts

MAX_ATTRIBUTE_LENGTH = 300
MAX_ATTRIBUTES = 200
MAX_FREQUENCY = 32_767
# Columns of their own in the document table, from the metadata of the same name.
_COLUMNS = ("document_type", "service", "owner", "language", "status")


@dataclass(frozen=True, slots=True)
class PreparedChunk:
    """A chunk ready to be stored: its words counted and its windows embedded (as pgvector reads vectors)."""

    chunk: Chunk
    digest: bytes
    counts: Counter[str]
    vectors: tuple[str, ...]

    @property
    def terms(self) -> int:
        """Length of the chunk as BM25 counts it."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What changed: chunks of the document now, and how many of them are new."""

    chunks: int
    added: int
    removed: int


def document_id(source: str, relative_path: str) -> str:
    """The document's key: a hash, because a path may be longer than a database key can be."""
    return hashlib.sha256(f"{source}\x00{relative_path}".encode()).hexdigest()[:32]


def clean_text(text: str) -> str:
    """The text without what PostgreSQL or UTF-8 cannot hold: NUL is dropped, a lone surrogate becomes U+FFFD."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def clean_value(value: Any) -> Any:
    """The same for every text inside a JSON value, keys included; NaN and infinities become None."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, Mapping):
        return {clean_text(str(key)): clean_value(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [clean_value(item) for item in value]
    return value


def prepare_chunk(chunk: Chunk, vectors: Iterable[str]) -> PreparedChunk:
    """Counts the chunk's words. `chunk` holds clean text."""
    digest = hashlib.sha256(f"{chunk.context}\x00{chunk.text}".encode()).digest()
    return PreparedChunk(chunk, digest, term_counts(chunk.text, chunk.context), tuple(vectors))


def attributes(source: str, path: str, state: str, metadata: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(name, value) pairs that filters compare with: every scalar of the metadata, lists value by value."""
    pairs: dict[tuple[str, str], None] = {}
    for name, value in [("source", source), ("path", path), ("state", state), *metadata.items()]:
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str | int | float | bool):
                text = str(item).strip().casefold()
                if text and len(text) <= MAX_ATTRIBUTE_LENGTH and len(name) <= MAX_ATTRIBUTE_LENGTH:
                    pairs[(name, text)] = None
    return list(pairs)[:MAX_ATTRIBUTES]


def as_date(value: Any) -> date | None:
    """A date out of metadata text (`2026-04-15`, with or without a time), None where it is none."""
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None


def write_document(
    store: Store,
    file: SourceFile,
    document: ConvertedDocument,
    chunks: Sequence[PreparedChunk],
    *,
    version_no: int,
    pipeline_version: str,
    run_id: str,
    stage: str = "",
    enriched: str = "",
) -> WriteResult:
    """Replaces what the index knows of a document. Chunks whose text did not change keep their vectors."""
    key = document_id(file.source, file.relative_path)
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        known = connection.execute(statement("documents/select_lexical_version"), {"document_id": key}).fetchone()
        row = connection.execute(
            statement("documents/upsert_document"),
            {
                **_file_values(file, pipeline_version, run_id),
                **_document_values(document),
                "stage": stage,
                "enriched": clean_text(enriched),
            },
        ).fetchone()
        if row is None:
            raise RuntimeError("an upsert returned no row")
        document_no = int(row[0])
        _replace_attributes(connection, document_no, file, document)
        writer = _ChunkWriter(connection, document_no, version_no)
        return writer.replace(chunks, reuse=known is not None and known[1] == TOKENS_VERSION)


def record_failure(
    store: Store, file: SourceFile, *, state: str, stage: str, reason: str, pipeline_version: str, run_id: str
) -> None:
    """Notes that a document could not be processed; what was indexed of it before stays searchable."""
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        connection.execute(
            statement("documents/record_failure"),
            {
                **_file_values(file, pipeline_version, run_id),
                "state": state,
                "stage": stage,
                "reason": clean_text(reason)[:1000],
                "title": clean_text(file.path.stem),
            },
        )


def move_document(store: Store, old_document_id: str, file: SourceFile, run_id: str) -> None:
    """Gives a document its new path; chunks, vectors and postings stay."""
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        row = connection.execute(
            statement("documents/move_document"),
            {
                "document_id": document_id(file.source, file.relative_path),
                "old_document_id": old_document_id,
                "path": clean_text(file.relative_path),
                "location": clean_text(str(file.path)),
                "run_id": run_id,
            },
        ).fetchone()
        if row is not None:
            connection.execute(
                statement("documents/move_path_attribute"),
                {"document_no": row[0], "path": clean_text(file.relative_path).casefold()[:MAX_ATTRIBUTE_LENGTH]},
            )
        connection.execute(statement("index/update_index_state"), {"chunks": 0, "terms": 0})


def remove_document(store: Store, document_no: int) -> int:
    """Takes a document out of the index; returns how many chunks went with it."""
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        writer = _ChunkWriter(connection, document_no, version_no=0)
        result = writer.replace([], reuse=False)
        connection.execute(statement("documents/delete_document"), {"document_no": document_no})
        return result.removed


def _file_values(file: SourceFile, pipeline_version: str, run_id: str) -> dict[str, Any]:
    return {
        "document_id": document_id(file.source, file.relative_path),
        "source": clean_text(file.source),
        "path": clean_text(file.relative_path),
        "location": clean_text(str(file.path)),
        "content_hash": file.content_hash,
        "size_bytes": file.size,
        "pipeline_version": pipeline_version,
        "lexical_version": TOKENS_VERSION,
        "run_id": run_id,
    }


def _document_values(document: ConvertedDocument) -> dict[str, Any]:
    metadata = clean_value(document.metadata)
    values: dict[str, Any] = {name: _short(metadata.get(name)) for name in _COLUMNS}
    return {
        **values,
        "state": document.state,
        "reason": clean_text(document.reason)[:1000],
        "title": clean_text(document.title),
        "document_date": as_date(metadata.get("date")),
        "pages": document.pages,
        "converter": document.converter,
        "metadata": json.dumps(metadata, ensure_ascii=False, sort_keys=True),
        "origins": json.dumps(clean_value(document.origins), ensure_ascii=False, sort_keys=True),
        "warnings": json.dumps(clean_value(document.warnings), ensure_ascii=False),
    }


def _short(value: Any) -> str | None:
    return value.strip()[:MAX_ATTRIBUTE_LENGTH] if isinstance(value, str) and value.strip() else None


def _replace_attributes(
    connection: psycopg.Connection, document_no: int, file: SourceFile, document: ConvertedDocument
) -> None:
    pairs = attributes(
        clean_text(file.source), clean_text(file.relative_path), document.state, clean_value(document.metadata)
    )
    connection.execute(statement("documents/delete_attributes"), {"document_no": document_no})
    connection.execute(
        statement("documents/insert_attributes"),
        {"document_no": document_no, "names": [name for name, _ in pairs], "values": [value for _, value in pairs]},
    )


class _ChunkWriter:
    """Replaces the chunks of one document inside a transaction that holds the index's lock."""

    def __init__(self, connection: psycopg.Connection, document_no: int, version_no: int) -> None:
        self._connection = connection
        self._document_no = document_no
        self._version_no = version_no

    def replace(self, chunks: Sequence[PreparedChunk], *, reuse: bool) -> WriteResult:
        """Keeps chunks of equal text where `reuse`, adds and removes the others, and corrects the shared counts."""
        old = self._connection.execute(
            statement("documents/select_chunks"), {"document_no": self._document_no}
        ).fetchall()
        free: dict[bytes, list[int]] = {}
        for chunk_no, _, digest, _ in old:
            free.setdefault(bytes(digest), []).append(chunk_no)
        kept: list[tuple[int, PreparedChunk]] = []
        new: list[PreparedChunk] = []
        for chunk in chunks:
            numbers = free.get(chunk.digest) if reuse else None
            if numbers:
                kept.append((numbers.pop(0), chunk))
            else:
                new.append(chunk)
        kept_numbers = {chunk_no for chunk_no, _ in kept}
        gone = [row[0] for row in old if row[0] not in kept_numbers]
        changes: Counter[int] = Counter()
        self._remove(gone, changes)
        self._update(kept)
        self._add(new, changes)
        self._count_terms(changes)
        gone_terms = sum(row[3] for row in old if row[0] not in kept_numbers)
        self._connection.execute(
            statement("index/update_index_state"),
            {"chunks": len(new) - len(gone), "terms": sum(chunk.terms for chunk in new) - gone_terms},
        )
        return WriteResult(len(chunks), len(new), len(gone))

    def _remove(self, numbers: list[int], changes: Counter[int]) -> None:
        if not numbers:
            return
        rows = self._connection.execute(statement("index/delete_postings"), {"chunks": numbers}).fetchall()
        for term_no, count in rows:
            changes[term_no] -= count
        self._connection.execute(statement("documents/delete_chunks"), {"chunks": numbers})

    def _update(self, kept: list[tuple[int, PreparedChunk]]) -> None:
        if not kept:
            return
        values = [
            {
                "chunk_no": chunk_no,
                "ordinal": each.chunk.ordinal,
                "heading_path": list(each.chunk.heading_path),
                "page": each.chunk.page,
                "kind": each.chunk.kind,
                "tokens": each.chunk.tokens,
            }
            for chunk_no, each in kept
        ]
        self._connection.execute(statement("documents/update_chunks"), {"chunks": json.dumps(values)})

    def _add(self, chunks: list[PreparedChunk], changes: Counter[int]) -> None:
        if not chunks:
            return
        values = [
            {
                "ordinal": each.chunk.ordinal,
                "body": each.chunk.text,
                "context": each.chunk.context,
                "heading_path": list(each.chunk.heading_path),
                "page": each.chunk.page,
                "kind": each.chunk.kind,
                "tokens": each.chunk.tokens,
                "terms": each.terms,
                "text_hash": each.digest.hex(),
            }
            for each in chunks
        ]
        rows = self._connection.execute(
            statement("documents/insert_chunks"),
            {"document_no": self._document_no, "chunks": json.dumps(values, ensure_ascii=False)},
        ).fetchall()
        numbers: dict[int, int] = dict(rows)
        terms = self._term_numbers({term for each in chunks for term in each.counts})
        with (
            self._connection.cursor() as cursor,
            cursor.copy(statement("index/copy_postings")) as copy,
        ):
            for each in chunks:
                chunk_no = numbers[each.chunk.ordinal]
                for term in sorted(each.counts):
                    frequency = min(each.counts[term], MAX_FREQUENCY)
                    copy.write_row((terms[term], chunk_no, self._document_no, frequency, each.terms))
                    changes[terms[term]] += 1
        with (
            self._connection.cursor() as cursor,
            cursor.copy(statement("index/copy_windows")) as copy,
        ):
            for each in chunks:
                for ordinal, vector in enumerate(each.vectors):
                    copy.write_row((self._version_no, numbers[each.chunk.ordinal], ordinal, self._document_no, vector))

    def _term_numbers(self, terms: set[str]) -> dict[str, int]:
        wanted = sorted(terms)
        rows = self._connection.execute(statement("search/select_terms"), {"terms": wanted}).fetchall()
        numbers: dict[str, int] = {term: term_no for term, term_no, _ in rows}
        missing = [term for term in wanted if term not in numbers]
        if missing:
            added = self._connection.execute(statement("index/insert_terms"), {"terms": missing}).fetchall()
            numbers.update(added)
        return numbers

    def _count_terms(self, changes: Counter[int]) -> None:
        changed = sorted(term_no for term_no, change in changes.items() if change)
        if changed:
            self._connection.execute(
                statement("index/update_terms"),
                {"terms": changed, "changes": [changes[term_no] for term_no in changed]},
            )
