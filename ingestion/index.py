"""Values of the index: keys, clean text and JSON, attributes to filter by, and the changes of a document alone."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import psycopg

from ingestion.documents import STATED_TYPE, Chunk, ConvertedDocument, SourceFile
from ingestion.spelling import spell
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
    """A chunk ready to be staged: its words counted and its windows embedded (keys of their cached vectors)."""

    chunk: Chunk
    digest: bytes
    counts: Counter[str]
    windows: tuple[bytes, ...]

    @property
    def terms(self) -> int:
        """Length of the chunk as BM25 counts it."""
        return sum(self.counts.values())


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


def prepare_chunk(chunk: Chunk, windows: Iterable[bytes]) -> PreparedChunk:
    """Counts the chunk's words. `chunk` holds clean text, `windows` the hashes of its windows' texts in order."""
    digest = hashlib.sha256(f"{chunk.context}\x00{chunk.text}".encode()).digest()
    return PreparedChunk(chunk, digest, term_counts(chunk.text, chunk.context), tuple(windows))


def attributes(source: str, path: str, state: str, metadata: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(name, value) pairs that filters compare with: every scalar of the metadata, lists value by value.

    A document is found by the type that it has and by its author's own word for it.
    """
    pairs: dict[tuple[str, str], None] = {}
    for key, value in [("source", source), ("path", path), ("state", state), *metadata.items()]:
        name = "document_type" if key == STATED_TYPE else key
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


def record_failure(
    store: Store,
    file: SourceFile,
    *,
    state: str,
    stage: str,
    reason: str,
    pipeline_version: str,
    run_id: str,
    also: Callable[[psycopg.Connection], None] | None = None,
) -> None:
    """Notes that a document could not be processed; what was indexed of it before stays searchable.

    `also` is done in the same transaction.
    """
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        connection.execute(
            statement("documents/record_failure"),
            {
                **file_values(file, pipeline_version, run_id),
                "state": state,
                "stage": stage,
                "reason": clean_text(reason)[:1000],
                "title": clean_text(file.path.stem),
            },
        )
        if also is not None:
            also(connection)


def move_document(store: Store, old_document_id: str, file: SourceFile, run_id: str) -> None:
    """Gives a document its new path; chunks, vectors and postings stay until the run has made it anew."""
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        row = connection.execute(
            statement("documents/move_document"),
            {
                "document_id": document_id(file.source, file.relative_path),
                "old_document_id": old_document_id,
                "path": clean_text(file.relative_path),
                "location": spell(file.path),
                "run_id": run_id,
            },
        ).fetchone()
        if row is not None:
            connection.execute(
                statement("documents/move_path_attribute"),
                {"document_no": row[0], "path": clean_text(file.relative_path).casefold()[:MAX_ATTRIBUTE_LENGTH]},
            )
        connection.execute(statement("index/update_index_state"), {"chunks": 0, "terms": 0})


def file_values(file: SourceFile, pipeline_version: str, run_id: str) -> dict[str, Any]:
    """Values of the document table that the file gives."""
    return {
        "document_id": document_id(file.source, file.relative_path),
        "source": clean_text(file.source),
        "path": clean_text(file.relative_path),
        "location": spell(file.path),
        "content_hash": file.content_hash,
        "size_bytes": file.size,
        "pipeline_version": pipeline_version,
        "lexical_version": TOKENS_VERSION,
        "run_id": run_id,
    }


def document_values(document: ConvertedDocument) -> dict[str, Any]:
    """Values of the document table that the converted document gives."""
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
