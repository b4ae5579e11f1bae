"""Runs of ingestion in the store: what was planned, what is done, what is left after a crash."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Sequence
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from psycopg.rows import class_row

from ingestion.comparison import KnownDocument
from ingestion.documents import SourceFile
from ingestion.index import clean_text, document_id
from ingestion.scope import Root
from ingestion.spelling import spell, unspell
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class FailedDocument:
    """A document that is not, or not wholly, in the index, and why. `kept`: its text of before still answers."""

    path: str
    state: str
    stage: str
    error: str
    kept: bool = False


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as planned. `gone` are numbers of documents to prune, `failing` those that failed before and still do.

    `roots` were listed, `hidden` says in a line each below which places documents cannot be told gone from there, and
    `notes` which source a path was taken to belong to.
    """

    run_id: str
    complete: bool
    discovered: int
    unchanged: int
    moved: int
    known: int
    seconds: float
    gone: tuple[int, ...] = ()
    failing: tuple[FailedDocument, ...] = ()
    skipped: tuple[dict[str, str], ...] = ()
    computed: int = 0
    roots: tuple[Root, ...] = ()
    hidden: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunCounts:
    """What a run did so far. `staged` are documents that wait to be judged and published."""

    indexed: int
    moved: int
    partial: int
    failed: int
    staged: int
    unfinished: int
    chunks: int
    embeddings: int
    failures: tuple[FailedDocument, ...] = field(default=())


def new_run_id() -> str:
    """A name for a run that sorts by time."""
    return f"ingest-{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid4().hex[:6]}"


def known_documents(store: Store, sources: Sequence[str]) -> list[KnownDocument]:
    """All documents of these sources."""
    with store.connection() as connection, connection.cursor(row_factory=class_row(KnownDocument)) as cursor:
        cursor.execute(statement("documents/select_known_documents"), {"sources": sorted(set(sources))})
        return cursor.fetchall()


def save_run(
    connection: psycopg.Connection,
    record: RunRecord,
    batches: Sequence[Sequence[SourceFile]],
    staged: Sequence[SourceFile] = (),
    moved: Collection[str] = (),
) -> None:
    """Stores a planned run with its work; the work on `staged` is done already, `moved` are ids of moved documents."""
    items = [
        {
            "document_id": document_id(file.source, file.relative_path),
            "batch": number,
            "staged": number < 0,
            "moved": document_id(file.source, file.relative_path) in moved,
            "source": clean_text(file.source),
            "root": os.fsencode(file.root).hex(),
            "location": os.fsencode(file.path).hex(),
            "path": clean_text(file.relative_path),
            "size_bytes": file.size,
            "content_hash": file.content_hash,
        }
        for number, batch in [(-1, staged), *enumerate(batches)]
        for file in batch
    ]
    plan = {
        "known": record.known,
        "gone": record.gone,
        "failing": [astuple(each) for each in record.failing],
        "skipped": record.skipped,
        "computed": record.computed,
        "listed": [[spell(root.path), root.source, spell(root.prefix)] for root in record.roots],
        "hidden": record.hidden,
        "notes": record.notes,
    }
    connection.execute(
        statement("documents/insert_ingest_run"),
        {
            "run_id": record.run_id,
            "roots": json.dumps([spell(root.path) for root in record.roots]),
            "source": None,
            "complete": record.complete,
            "discovered": record.discovered,
            "unchanged": record.unchanged,
            "moved": record.moved,
            "outcome": json.dumps(plan),
        },
    )
    connection.execute(
        statement("documents/insert_ingest_items"), {"run_id": record.run_id, "items": json.dumps(items)}
    )


def load_run(store: Store, run_id: str) -> RunRecord:
    """A planned run. Raises ConfigurationError where there is none of this name."""
    with store.connection() as connection:
        row = connection.execute(statement("documents/select_ingest_run"), {"run_id": run_id}).fetchone()
    if row is None:
        raise ConfigurationError(f"there is no ingest run {run_id!r}")
    _, complete, discovered, unchanged, moved, plan, seconds = row
    return RunRecord(
        run_id=run_id,
        complete=complete,
        discovered=discovered,
        unchanged=unchanged,
        moved=moved,
        known=plan["known"],
        seconds=seconds,
        gone=tuple(plan["gone"]),
        failing=tuple(FailedDocument(*each) for each in plan["failing"]),
        skipped=tuple(plan["skipped"]),
        computed=plan["computed"],
        # A run that an earlier version planned has none of these, and so prunes nothing.
        roots=tuple(
            Root(unspell(path), source, os.fspath(unspell(prefix)) if prefix else "")
            for path, source, prefix in plan.get("listed", ())
        ),
        hidden=tuple(plan.get("hidden", ())),
        notes=tuple(plan.get("notes", ())),
    )


def open_items(store: Store, run_id: str, batch: int) -> list[SourceFile]:
    """The files of a batch that are not done yet."""
    with store.connection() as connection:
        rows = connection.execute(
            statement("documents/select_ingest_items"), {"run_id": run_id, "batch": batch}
        ).fetchall()
    return [
        SourceFile(
            source=source,
            root=Path(os.fsdecode(bytes(root))),
            path=Path(os.fsdecode(bytes(location))),
            relative_path=path,
            size=size,
            content_hash=content_hash,
        )
        for source, root, location, path, size, content_hash in rows
    ]


@dataclass(frozen=True, slots=True)
class FinishedItem:
    """How a document of a run ended. `seconds` is the time of its own stages."""

    file: SourceFile
    state: str
    stage: str = ""
    reason: str = ""
    chunks: int = 0
    embeddings: int = 0
    seconds: float = 0.0


def finish_items(connection: psycopg.Connection, run_id: str, items: Sequence[FinishedItem]) -> None:
    """Notes how documents of a run ended, in the transaction of the connection."""
    values: list[dict[str, Any]] = [
        {
            "document_id": document_id(item.file.source, item.file.relative_path),
            "state": item.state,
            "stage": item.stage,
            "reason": clean_text(item.reason)[:1000],
            "chunks": item.chunks,
            "embeddings": item.embeddings,
            "seconds": item.seconds,
        }
        for item in items
    ]
    connection.execute(
        statement("documents/update_ingest_items"),
        {"run_id": run_id, "items": json.dumps(values, ensure_ascii=False)},
    )


def count_run(store: Store, run_id: str) -> RunCounts:
    """Counts of a run's items and its failures by name."""
    with store.connection() as connection:
        row = connection.execute(statement("documents/select_run_counts"), {"run_id": run_id}).fetchone()
        failures = connection.execute(statement("documents/select_run_failures"), {"run_id": run_id}).fetchall()
    indexed, moved, partial, failed, staged, unfinished, chunks, embeddings = row if row is not None else (0,) * 8
    return RunCounts(
        indexed=indexed,
        moved=moved,
        partial=partial,
        failed=failed,
        staged=staged,
        unfinished=unfinished,
        chunks=int(chunks),
        embeddings=int(embeddings),
        failures=tuple(FailedDocument(*each) for each in failures),
    )


def save_outcome(store: Store, run_id: str, removed: int, outcome: dict[str, Any]) -> None:
    """Closes a run."""
    with store.connection() as connection:
        connection.execute(
            statement("documents/finish_ingest_run"),
            {"run_id": run_id, "removed": removed, "outcome": json.dumps(outcome, ensure_ascii=False)},
        )
