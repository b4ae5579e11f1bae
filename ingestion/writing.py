"""Documents into the index, a group in one transaction: each is replaced whole or not at all.

What a group shares (one lock, one statement a table, one commit) is paid once; a document written alone takes as many
round trips as thirty together.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

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
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.retrieval.tokens import TOKENS_VERSION


@dataclass(frozen=True, slots=True)
class DocumentWrite:
    """A document with its chunks, ready to replace what the index knows of it.

    `pipeline_version` is what `worker.pipeline_version()` says of how it was made, `enriched` its Markdown export.
    """

    file: SourceFile
    document: ConvertedDocument
    chunks: Sequence[PreparedChunk]
    pipeline_version: str
    stage: str = ""
    enriched: str = ""


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What changed: chunks of the document now, and how many of them are new."""

    chunks: int
    added: int
    removed: int


def write_documents(
    store: Store,
    writes: Sequence[DocumentWrite],
    *,
    version_no: int,
    run_id: str,
    also: Callable[[psycopg.Connection, list[WriteResult]], None] | None = None,
) -> list[WriteResult]:
    """Replaces what the index knows of these documents. Chunks whose text did not change keep their vectors.

    Args:
        writes: different documents; the order of the results is theirs.
        version_no: the index version that the chunks' vectors belong to.
        run_id: the run that does it.
        also: more to do in the same transaction, such as noting that the documents are done.

    Raises psycopg.Error, and then none of the documents has changed.
    """
    if not writes:
        return []
    keys = [document_id(write.file.source, write.file.relative_path) for write in writes]
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        known: dict[str, int] = dict(
            connection.execute(statement("documents/select_lexical_versions"), {"document_ids": keys}).fetchall()
        )
        numbers = _upsert(connection, writes, run_id)
        _replace_attributes(connection, numbers, writes)
        changes = ChunkChanges(connection, version_no)
        results = changes.replace(
            [
                DocumentChunks(number, write.chunks, reuse=known.get(key) == TOKENS_VERSION)
                for number, write, key in zip(numbers, writes, keys, strict=True)
            ]
        )
        if also is not None:
            also(connection, results)
        return results


def remove_document(store: Store, document_no: int) -> int:
    """Takes a document out of the index; returns how many chunks went with it."""
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        (result,) = ChunkChanges(connection, version_no=0).replace([DocumentChunks(document_no, [], reuse=False)])
        connection.execute(statement("documents/delete_document"), {"document_no": document_no})
        return result.removed


def _upsert(connection: psycopg.Connection, writes: Sequence[DocumentWrite], run_id: str) -> list[int]:
    values = [
        {
            **file_values(write.file, write.pipeline_version, run_id),
            **document_values(write.document),
            "stage": write.stage,
            "enriched": clean_text(write.enriched),
        }
        for write in writes
    ]
    numbers: list[int] = []
    with connection.cursor() as cursor:
        cursor.executemany(statement("documents/upsert_document"), values, returning=True)
        for result in cursor.results():
            numbers.extend(int(row[0]) for row in result)
    return numbers


def _replace_attributes(connection: psycopg.Connection, numbers: list[int], writes: Sequence[DocumentWrite]) -> None:
    rows = [
        (number, name, value)
        for number, write in zip(numbers, writes, strict=True)
        for name, value in attributes(
            clean_text(write.file.source),
            clean_text(write.file.relative_path),
            write.document.state,
            clean_value(write.document.metadata),
        )
    ]
    connection.execute(statement("documents/delete_attributes"), {"documents": numbers})
    connection.execute(
        statement("documents/insert_attributes"),
        {
            "documents": [number for number, _, _ in rows],
            "names": [name for _, name, _ in rows],
            "values": [value for _, _, value in rows],
        },
    )


@dataclass(frozen=True, slots=True)
class DocumentChunks:
    """The chunks that a document shall have. `reuse`: those stored now were counted by the same tokeniser."""

    document_no: int
    chunks: Sequence[PreparedChunk]
    reuse: bool


class ChunkChanges:
    """Replaces chunks of documents inside a transaction that holds the index's lock."""

    def __init__(self, connection: psycopg.Connection, version_no: int) -> None:
        self._connection = connection
        self._version_no = version_no
        self._term_changes: Counter[int] = Counter()

    def replace(self, documents: Sequence[DocumentChunks]) -> list[WriteResult]:
        """Keeps chunks of equal text where they may be reused, adds and removes the others, corrects shared counts."""
        stored = self._connection.execute(
            statement("documents/select_chunks"), {"documents": [each.document_no for each in documents]}
        ).fetchall()
        free: dict[tuple[int, bytes], list[int]] = {}
        for document_no, chunk_no, digest, _ in stored:
            free.setdefault((document_no, bytes(digest)), []).append(chunk_no)
        kept: list[tuple[int, PreparedChunk]] = []
        new: list[tuple[int, PreparedChunk]] = []
        for each in documents:
            for chunk in each.chunks:
                numbers = free.get((each.document_no, chunk.digest)) if each.reuse else None
                if numbers:
                    kept.append((numbers.pop(0), chunk))
                else:
                    new.append((each.document_no, chunk))
        kept_numbers = {chunk_no for chunk_no, _ in kept}
        gone = [(document_no, chunk_no, terms) for document_no, chunk_no, _, terms in stored]
        gone = [row for row in gone if row[1] not in kept_numbers]
        self._remove([chunk_no for _, chunk_no, _ in gone])
        self._update(kept)
        self._add(new)
        self._count_terms()
        terms = sum(chunk.terms for _, chunk in new) - sum(row[2] for row in gone)
        self._connection.execute(
            statement("index/update_index_state"), {"chunks": len(new) - len(gone), "terms": terms}
        )
        added = Counter(document_no for document_no, _ in new)
        removed = Counter(document_no for document_no, _, _ in gone)
        return [WriteResult(len(each.chunks), added[each.document_no], removed[each.document_no]) for each in documents]

    def _remove(self, numbers: list[int]) -> None:
        if not numbers:
            return
        rows = self._connection.execute(statement("index/delete_postings"), {"chunks": numbers}).fetchall()
        for term_no, count in rows:
            self._term_changes[term_no] -= count
        self._connection.execute(statement("documents/delete_chunks"), {"chunks": numbers})

    def _update(self, kept: list[tuple[int, PreparedChunk]]) -> None:
        if kept:
            values = [{"chunk_no": chunk_no, **_place(each)} for chunk_no, each in kept]
            self._connection.execute(statement("documents/update_chunks"), {"chunks": json.dumps(values)})

    def _add(self, chunks: list[tuple[int, PreparedChunk]]) -> None:
        if not chunks:
            return
        values = [
            {
                "document_no": document_no,
                **_place(each),
                "body": each.chunk.text,
                "context": each.chunk.context,
                "terms": each.terms,
                "text_hash": each.digest.hex(),
            }
            for document_no, each in chunks
        ]
        rows = self._connection.execute(
            statement("documents/insert_chunks"), {"chunks": json.dumps(values, ensure_ascii=False)}
        ).fetchall()
        numbers = {(document_no, ordinal): chunk_no for document_no, ordinal, chunk_no in rows}
        terms = self._term_numbers({term for _, each in chunks for term in each.counts})
        # Numbers and vectors need no escaping, so the lines of COPY are put together here.
        postings: list[str] = []
        windows: list[str] = []
        for document_no, each in chunks:
            chunk_no = numbers[document_no, each.chunk.ordinal]
            length = each.terms
            for term, count in each.counts.items():
                term_no = terms[term]
                postings.append(f"{term_no}\t{chunk_no}\t{document_no}\t{min(count, MAX_FREQUENCY)}\t{length}\n")
                self._term_changes[term_no] += 1
            for ordinal, vector in enumerate(each.vectors):
                windows.append(f"{self._version_no}\t{chunk_no}\t{ordinal}\t{document_no}\t{vector}\n")
        self._copy("index/copy_postings", postings)
        self._copy("index/copy_windows", windows)

    def _copy(self, name: str, lines: list[str]) -> None:
        with self._connection.cursor() as cursor, cursor.copy(statement(name)) as copy:
            copy.write("".join(lines))

    def _term_numbers(self, terms: set[str]) -> dict[str, int]:
        wanted = sorted(terms)
        rows = self._connection.execute(statement("search/select_terms"), {"terms": wanted}).fetchall()
        numbers: dict[str, int] = {term: term_no for term, term_no, _ in rows}
        missing = [term for term in wanted if term not in numbers]
        if missing:
            added = self._connection.execute(statement("index/insert_terms"), {"terms": missing}).fetchall()
            numbers.update(added)
        return numbers

    def _count_terms(self) -> None:
        changed = sorted(term_no for term_no, change in self._term_changes.items() if change)
        if changed:
            self._connection.execute(
                statement("index/update_terms"),
                {"terms": changed, "changes": [self._term_changes[term_no] for term_no in changed]},
            )


def _place(each: PreparedChunk) -> dict[str, Any]:
    chunk = each.chunk
    return {
        "ordinal": chunk.ordinal,
        "heading_path": list(chunk.heading_path),
        "page": chunk.page,
        "kind": chunk.kind,
        "tokens": chunk.tokens,
    }
