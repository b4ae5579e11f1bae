"""Documents whose files are gone: how many of them a run may remove, and their removal."""

from __future__ import annotations

from ingestion.publishing import remove_document
from ingestion.runs import RunCounts, RunRecord
from ingestion.spelling import unspell
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store

MAX_DELETE_SHARE = 0.2
ALWAYS_DELETABLE = 5


def prune_refusal(record: RunRecord, counts: RunCounts, max_delete_share: float) -> str:
    """Why a run must not remove anything; empty where it may."""
    if not record.complete:
        return "the listing was not complete, so nothing was removed"
    unfinished = counts.unfinished + counts.staged
    if unfinished:
        return f"{unfinished} documents are not finished, so nothing was removed"
    allowed = max(ALWAYS_DELETABLE, int(record.known * max_delete_share))
    if len(record.gone) > allowed:
        return (
            f"{len(record.gone)} of {record.known} documents are gone from the source, more than the {allowed} that "
            "one run may remove: check the source, or raise --max-delete"
        )
    return ""


def prune_document(store: Store, document_no: int) -> bool:
    """Removes a document from the index; returns whether it did: its file may be back since the plan was made."""
    with store.connection() as connection:
        row = connection.execute(statement("documents/select_location"), {"document_no": document_no}).fetchone()
    if row is None or unspell(row[0]).exists():  # removed or back again since the plan was made
        return False
    remove_document(store, document_no)
    return True
