"""Documents that a run has finished with and nobody has judged yet: staged where no search sees them.

What is staged belongs to the document and not to the run: a run that finds the work of a killed one takes it over, and
two runs that stage the same bytes wait for one result. Whoever stages, discards or publishes holds the index's lock, so
that an item of a run waits for a staged document exactly as long as there is one.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import psycopg

from ingestion.documents import ConvertedDocument, SourceFile
from ingestion.index import (
    MAX_FREQUENCY,
    PreparedChunk,
    attributes,
    clean_text,
    clean_value,
    document_id,
    document_values,
    file_values,
)
from ingestion.scope import Scope
from ingestion.spelling import unspell
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.errors import NightshiftError

# What PostgreSQL says of a value that it does not take; anything else concerns every document.
REFUSED = (psycopg.DataError, psycopg.IntegrityError, psycopg.errors.ProgramLimitExceeded)


@dataclass(frozen=True, slots=True)
class StagedWork:
    """A document with its chunks, ready to replace what is published of it.

    `pipeline_version` is what `worker.pipeline_version()` says of how it was made, `enriched` its Markdown export.
    `embeddings` and `seconds` are what the run spent on it.
    """

    file: SourceFile
    document: ConvertedDocument
    chunks: Sequence[PreparedChunk]
    pipeline_version: str
    stage: str = ""
    enriched: str = ""
    embeddings: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class StagedVersion:
    """What is staged of a document: which bytes, made how, and for which index version."""

    document_id: str
    location: str
    content_hash: str
    pipeline_version: str
    version_no: int


def stage_documents(store: Store, works: Sequence[StagedWork], *, version_no: int, run_id: str) -> None:
    """Stages documents in one transaction and notes with the run that the work on them is done.

    Where the same bytes were staged in the same way before, that stands. Raises psycopg.Error, and then none of them
    is staged.
    """
    if not works:
        return
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        connection.execute(
            statement("staging/delete_replaced"),
            {
                "documents": [_key(work) for work in works],
                "contents": [work.file.content_hash for work in works],
                "makers": [work.pipeline_version for work in works],
                "version_no": version_no,
            },
        )
        numbers = _insert_documents(connection, works, version_no, run_id)
        with connection.cursor() as cursor, cursor.copy(statement("staging/copy_chunks")) as copy:
            for number, work in zip(numbers, works, strict=True):
                for chunk in work.chunks if number is not None else ():
                    copy.write_row((number, *_chunk_values(chunk)))
        items = [{"document_id": _key(work), "embeddings": work.embeddings, "seconds": work.seconds} for work in works]
        connection.execute(statement("staging/update_items"), {"run_id": run_id, "items": json.dumps(items)})


def _insert_documents(
    connection: psycopg.Connection, works: Sequence[StagedWork], version_no: int, run_id: str
) -> list[int | None]:
    """The number of each, None where it is staged already."""
    values = []
    for work in works:
        pairs = attributes(
            clean_text(work.file.source),
            clean_text(work.file.relative_path),
            work.document.state,
            clean_value(work.document.metadata),
        )
        values.append(
            {
                **file_values(work.file, work.pipeline_version, run_id),
                **document_values(work.document),
                "version_no": version_no,
                "stage": work.stage,
                "enriched": clean_text(work.enriched),
                "attribute_names": [name for name, _ in pairs],
                "attribute_values": [value for _, value in pairs],
                "chunks": len(work.chunks),
            }
        )
    numbers: list[int | None] = []
    with connection.cursor() as cursor:
        cursor.executemany(statement("staging/insert_document"), values, returning=True)
        for result in cursor.results():
            row = result.fetchone()
            numbers.append(None if row is None else int(row[0]))
    return numbers


def _chunk_values(prepared: PreparedChunk) -> tuple[object, ...]:
    chunk = prepared.chunk
    return (
        chunk.ordinal,
        chunk.text,
        chunk.context,
        list(chunk.heading_path),
        chunk.page,
        chunk.kind,
        chunk.tokens,
        prepared.terms,
        prepared.digest,
        list(prepared.counts),
        [min(count, MAX_FREQUENCY) for count in prepared.counts.values()],
        list(prepared.windows),
    )


def _key(work: StagedWork) -> str:
    return document_id(work.file.source, work.file.relative_path)


@dataclass(frozen=True, slots=True)
class Adoption:
    """What becomes of work that was staged before: documents whose work is done, and those to discard."""

    adopted: frozenset[str]
    discarded: tuple[str, ...]


def settle(
    staged: Sequence[StagedVersion],
    work: Sequence[SourceFile],
    found: Collection[str],
    *,
    pipeline_version: str,
    version_no: int,
    scope: Scope,
) -> Adoption:
    """Which staged documents a new run takes over, and which nobody wants any more.

    Args:
        staged: all of the sources of the listing.
        work: files whose published state is not theirs.
        found: ids of all documents that the listing found.
        pipeline_version: how documents are made now.
        version_no: the index version that serves.
        scope: what was listed; a document outside it does not count as gone.
    """
    wanted = {document_id(file.source, file.relative_path): file.content_hash for file in work}
    adopted: set[str] = set()
    discarded: list[str] = []
    for each in staged:
        if each.document_id in found:
            same = (each.pipeline_version, each.version_no) == (pipeline_version, version_no)
            if same and wanted.get(each.document_id) == each.content_hash:
                adopted.add(each.document_id)
            else:
                discarded.append(each.document_id)
        elif scope.covers(unspell(each.location)):
            discarded.append(each.document_id)
    return Adoption(frozenset(adopted), tuple(discarded))


def staged_versions(connection: psycopg.Connection, sources: Sequence[str]) -> list[StagedVersion]:
    """What is staged of these sources."""
    rows = connection.execute(statement("staging/select_staged"), {"sources": sorted(set(sources))})
    return [StagedVersion(*row) for row in rows]


def discard(connection: psycopg.Connection, documents: Sequence[str]) -> None:
    """Forgets what is staged of documents, by their ids; a run that waits for one has it to do again."""
    if documents:
        connection.execute(statement("staging/discard_documents"), {"documents": list(documents)})


def one_line(error: Exception) -> str:
    """What went wrong, in one line; the kind of error is named where it is none of ours."""
    text = str(error).strip().splitlines()
    message = text[0].strip() if text else ""
    if isinstance(error, NightshiftError):
        return message
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
