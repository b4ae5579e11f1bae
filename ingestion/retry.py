"""One document processed again, whatever its state."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ingestion.spelling import unspell
from ingestion.staging import discard
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class RetryTarget:
    """What `pipeline.ingest` takes to process one document: the folder, the source's name, and the path below it."""

    root: Path
    source: str
    path: str


def find_retry_target(store: Store, document_id: str) -> RetryTarget:
    """Where a document lies. Raises ConfigurationError where it is unknown or its file is gone."""
    with store.connection() as connection:
        row = connection.execute(statement("documents/select_by_id"), {"document_id": document_id}).fetchone()
    if row is None:
        raise ConfigurationError(f"there is no document {document_id!r}: see `nightshift documents list --json`")
    location, source, path = row
    root = unspell(location)
    if not root.is_file():
        raise ConfigurationError(f"{location} does not exist any more: run `nightshift ingest --prune`")
    for _ in Path(path).parts:
        root = root.parent
    return RetryTarget(root=root, source=source, path=path)


def forget_version(store: Store, document_id: str) -> None:
    """Lets the next run convert the document again although its file has not changed."""
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        connection.execute(statement("documents/forget_version"), {"document_id": document_id})
        discard(connection, [document_id])
