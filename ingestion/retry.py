"""One document processed again, whatever its state."""

from __future__ import annotations

import os

from ingestion.scope import Root
from ingestion.spelling import unspell
from ingestion.staging import discard
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.errors import ConfigurationError


def find_retry_target(store: Store, document_id: str) -> Root:
    """Where a document lies. Raises ConfigurationError where it is unknown or its file is gone."""
    with store.connection() as connection:
        row = connection.execute(statement("documents/select_by_id"), {"document_id": document_id}).fetchone()
    if row is None:
        raise ConfigurationError(f"there is no document {document_id!r}: see `nightshift documents list --json`")
    location, source, path = row
    file = unspell(location)
    if not file.is_file():
        raise ConfigurationError(f"{location} does not exist any more: run `nightshift ingest --prune`")
    return Root(file, source, os.fspath(unspell(path)))


def forget_version(store: Store, document_id: str) -> None:
    """Lets the next run convert the document again although its file has not changed."""
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        connection.execute(statement("documents/forget_version"), {"document_id": document_id})
        discard(connection, [document_id])
