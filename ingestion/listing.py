"""The documents of the index as people look through them."""

from __future__ import annotations

from typing import Any

from psycopg.rows import dict_row

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.errors import ConfigurationError


def list_documents(store: Store, state: str | None = None) -> list[dict[str, Any]]:
    """All documents, or those in one state, in the order of source and path."""
    return _read(store, "documents/list_documents", {"state": state})


def list_document_page(
    store: Store, *, state: str | None = None, words: str = "", limit: int = 50, offset: int = 0
) -> list[dict[str, Any]]:
    """A page of the documents in the order of source and path: those in one state and with `words` in title or path."""
    values = {"state": state, "words": words.strip() or None, "page_size": limit, "skipped": offset}
    return _read(store, "documents/list_document_page", values)


def count_states(store: Store, words: str = "") -> dict[str, int]:
    """How many documents are in each state, of those with `words` in title or path."""
    rows = _read(store, "documents/count_states", {"words": words.strip() or None})
    return {row["state"]: row["documents"] for row in rows}


def read_document(store: Store, document_id: str) -> dict[str, Any]:
    """One document with its metadata, where each value came from, and its text as Markdown.

    Raises ConfigurationError where there is none.
    """
    found = _read(store, "documents/select_document", {"document_id": document_id})
    if not found:
        raise ConfigurationError(f"there is no document {document_id!r}: see `nightshift documents list --json`")
    return found[0]


def _read(store: Store, name: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    with store.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute(statement(name), values)
        return cursor.fetchall()
