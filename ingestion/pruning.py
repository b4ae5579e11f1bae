"""Documents whose files are gone: how many of them a run may remove, and their removal."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.config import SourceRules
from ingestion.index import document_id
from ingestion.publishing import remove_document
from ingestion.runs import RunCounts, RunRecord
from ingestion.sources import discover
from ingestion.spelling import unspell
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store

MAX_DELETE_SHARE = 0.2
ALWAYS_DELETABLE = 5


def prune_refusal(record: RunRecord, counts: RunCounts, max_delete_share: float) -> str:
    """Why a run must not remove anything; empty where it may."""
    unfinished = counts.unfinished + counts.staged
    if unfinished:
        return f"{unfinished} documents are not finished, so nothing was removed"
    allowed = max(ALWAYS_DELETABLE, int(record.known * max_delete_share)) if max_delete_share else 0
    if len(record.gone) > allowed:
        return (
            f"{len(record.gone)} of {record.known} documents are gone from the source, more than the {allowed} that "
            "one run may remove: check the source, or raise --max-delete"
        )
    return ""


def prune_documents(store: Store, record: RunRecord, rules: SourceRules) -> int:
    """Removes the documents that a run found gone from the index; returns how many.

    Their files may be back since the plan was made, or a folder may not be there any more: the roots are listed again,
    and only what this listing does not find either is removed. Whether something exists at the path says nothing: it
    may be a folder by now, excluded, or a link that leads elsewhere.
    """
    if not record.gone:
        return 0
    listing = discover(record.roots, rules=rules, hashed=False)
    found = {document_id(file.source, file.relative_path) for file in listing.files}
    gone = [
        number
        for number, key, location in _places(store, record.gone)
        if key not in found and listing.scope.covers(unspell(location))
    ]
    for number in gone:
        remove_document(store, number)
    return len(gone)


def _places(store: Store, numbers: Sequence[int]) -> list[tuple[int, str, str]]:
    with store.connection() as connection:
        return connection.execute(statement("documents/select_locations"), {"documents": list(numbers)}).fetchall()
