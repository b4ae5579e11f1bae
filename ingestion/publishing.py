"""Staged documents that passed their checks into the index, and documents out of it.

A group of documents is one transaction: each is replaced whole or not at all, and the index's generation, which caches
are keyed by, changes with it and not before. Nothing is computed here: rows move from the staged tables to the searched
ones. Chunks whose text did not change keep their postings and vectors. What the checks refuse, and a file that has no
text now (empty, damaged, locked), replaces nothing: its record says so, and what was published before goes on serving.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import psycopg
from psycopg.rows import dict_row

from ingestion.staging import REFUSED, one_line
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.errors import ConfigurationError

# One transaction: few enough that nobody waits long for the index's lock, enough to pay for the commit.
PUBLISHED_TOGETHER = 32

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Change:
    """A document to change: `staged_no` is 0 where it loses all it has. `reuse`: its chunks may be kept."""

    document_no: int
    staged_no: int
    reuse: bool


def publish_documents(
    store: Store, run_id: str, *, version_no: int, on_progress: Callable[[int, int], None] | None = None
) -> int:
    """Publishes what a run has staged and the checks have passed; what they refused is recorded with its reason.

    Args:
        version_no: the index version that serves; staged work is of the same.
        on_progress: told the documents done and their number after each group.

    Returns how many documents were published. Raises ConfigurationError where another index version serves by now:
    then the rest stays staged.
    """
    with store.connection() as connection:
        rows = connection.execute(statement("staging/select_judged"), {"run_id": run_id}).fetchall()
    numbers = [int(row[0]) for row in rows]
    published = done = 0
    for at in range(0, len(numbers), PUBLISHED_TOGETHER):
        part = numbers[at : at + PUBLISHED_TOGETHER]
        published += _publish_or_refuse(store, run_id, part, version_no)
        done += len(part)
        if on_progress is not None:
            on_progress(done, len(numbers))
    return published


def _publish_or_refuse(store: Store, run_id: str, numbers: Sequence[int], version_no: int) -> int:
    try:
        return _publish(store, run_id, numbers, version_no)
    except REFUSED as error:
        if len(numbers) > 1:
            logger.warning("a group of documents was refused, each is tried alone: %s", one_line(error))
            return sum(_publish_or_refuse(store, run_id, [number], version_no) for number in numbers)
        fault = {"stage": "index", "staged": list(numbers), "faults": [one_line(error)[:1000]]}
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        connection.execute(statement("staging/update_verdicts"), fault)
    return _publish(store, run_id, numbers, version_no)


def _publish(store: Store, run_id: str, numbers: Sequence[int], version_no: int) -> int:
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        # A statement of its own: the one that waited for the lock sees what was so before.
        serving = connection.execute(statement("index/select_serving_version")).fetchone()
        if serving is None or serving[0] != version_no:
            raise ConfigurationError("the index of another embedding model serves by now: plan a new ingest run")
        # Another run may have published some of them, or staged them anew, since they were listed.
        rows = connection.execute(statement("staging/select_documents"), {"staged": list(numbers)}).fetchall()
        good = {
            document_id: (staged_no, reuse)
            for staged_no, document_id, fault, of, reuse, loses in rows
            if not fault and not loses and of == version_no
        }
        faulty = [staged_no for staged_no, _, fault, _, _, loses in rows if fault or loses]
        staged = [staged_no for staged_no, _ in good.values()]
        if staged:
            upserted = connection.execute(
                statement("staging/upsert_documents"), {"staged": staged, "run_id": run_id}
            ).fetchall()
            changes = [_Change(number, *good[document_id]) for document_id, number in upserted]
            _replace_attributes(connection, changes)
            _replace_chunks(connection, changes, version_no)
        if faulty:
            _record_faults(connection, run_id, faulty)
        connection.execute(statement("staging/finish_items"), {"staged": [*staged, *faulty]})
        connection.execute(statement("staging/delete_documents"), {"staged": [*staged, *faulty]})
        return len(staged)


def remove_document(store: Store, document_no: int) -> int:
    """Takes a document out of the index; returns how many chunks went with it."""
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        removed = _replace_chunks(connection, [_Change(document_no, 0, reuse=False)], version_no=0)
        connection.execute(statement("documents/delete_document"), {"document_no": document_no})
        return removed


def _record_faults(connection: psycopg.Connection, run_id: str, staged: list[int]) -> None:
    """What was published of these documents before stays searchable; their record says why the rest is not."""
    with connection.cursor(row_factory=dict_row) as cursor:
        found = cursor.execute(statement("staging/select_faulty"), {"staged": staged}).fetchall()
        cursor.executemany(statement("documents/record_failure"), [{**each, "run_id": run_id} for each in found])
    connection.execute(statement("staging/delete_wrong_vectors"), {"staged": staged})


def _replace_attributes(connection: psycopg.Connection, changes: Sequence[_Change]) -> None:
    documents = [change.document_no for change in changes]
    connection.execute(statement("documents/delete_attributes"), {"documents": documents})
    connection.execute(
        statement("staging/insert_attributes"),
        {"documents": documents, "staged": [change.staged_no for change in changes]},
    )


def _replace_chunks(connection: psycopg.Connection, changes: Sequence[_Change], version_no: int) -> int:
    """Keeps chunks of equal text, adds and removes the others, corrects shared counts; returns how many went."""
    rows = connection.execute(
        statement("staging/pair_chunks"),
        {
            "documents": [change.document_no for change in changes],
            "staged": [change.staged_no for change in changes],
            "reuse": [change.reuse for change in changes],
        },
    ).fetchall()
    gone = [chunk_no for chunk_no, _, staged_no, _, _ in rows if staged_no is None]
    kept = [row for row in rows if row[0] is not None and row[2] is not None]
    new = [row for row in rows if row[0] is None]
    counts: Counter[int] = Counter()
    if gone:
        counts.subtract(dict(connection.execute(statement("index/delete_postings"), {"chunks": gone}).fetchall()))
        connection.execute(statement("documents/delete_chunks"), {"chunks": gone})
    if kept:
        connection.execute(
            statement("staging/update_chunks"),
            {
                "chunks": [row[0] for row in kept],
                "staged": [row[2] for row in kept],
                "ordinals": [row[3] for row in kept],
            },
        )
    if new:
        counts.update(_add_chunks(connection, [(row[1], row[2], row[3]) for row in new], version_no))
    changed = sorted(term_no for term_no, change in counts.items() if change)
    if changed:
        connection.execute(
            statement("index/update_terms"), {"terms": changed, "changes": [counts[term_no] for term_no in changed]}
        )
    connection.execute(
        statement("index/update_index_state"), {"chunks": len(new) - len(gone), "terms": sum(row[4] for row in rows)}
    )
    return len(gone)


def _add_chunks(connection: psycopg.Connection, new: Sequence[tuple[int, int, int]], version_no: int) -> dict[int, int]:
    """Adds chunks given as (document, staged document, ordinal); returns how many of them hold each term."""
    staged_of = {document_no: staged_no for document_no, staged_no, _ in new}
    added = connection.execute(
        statement("staging/insert_chunks"),
        {
            "documents": [document_no for document_no, _, _ in new],
            "staged": [staged_no for _, staged_no, _ in new],
            "ordinals": [ordinal for _, _, ordinal in new],
        },
    ).fetchall()
    places = {
        "documents": [document_no for document_no, _, _ in added],
        "staged": [staged_of[document_no] for document_no, _, _ in added],
        "ordinals": [ordinal for _, ordinal, _ in added],
        "chunks": [chunk_no for _, _, chunk_no in added],
    }
    connection.execute(statement("staging/insert_terms"), places)
    counts: dict[int, int] = dict(connection.execute(statement("staging/insert_postings"), places).fetchall())
    connection.execute(statement("staging/insert_windows"), {**places, "version_no": version_no})
    return counts
