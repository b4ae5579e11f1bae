"""Removes what only an unfinished question needs, checkpoints and replies paid for, and vectors that none asks for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.retrieval.query_vectors import KEPT_DAYS

# Whoever has not gone on with a run for a week will start it anew.
RETENTION = timedelta(days=7)


def forget_run(store: Store, run_id: str, *, retention: timedelta = RETENTION, now: datetime | None = None) -> int:
    """Removes what a run that has ended no longer needs, and what any other has left alone for `retention`.

    Vectors of questions that nobody has asked for months go too, and what searches found in an older index.

    Returns the number of questions whose checkpoints were left alone so long. Accounts of model calls stay.
    """
    before = (now or datetime.now(UTC)) - retention
    with store.connection() as connection:
        old = connection.execute(statement("checkpoints/list_old_threads"), {"before": before}).fetchall()
        for prefix in (f"{run_id}:", *(thread_id for (thread_id,) in old)):
            given = {"prefix": prefix}
            connection.execute(statement("checkpoints/delete_run_checkpoint_writes"), given)
            connection.execute(statement("checkpoints/delete_run_checkpoint_blobs"), given)
            connection.execute(statement("checkpoints/delete_run_checkpoints"), given)
        connection.execute(statement("model_calls/delete_replies"), {"run_id": run_id, "before": before})
        connection.execute(statement("query_vectors/delete_unused"), {"days": KEPT_DAYS})
        connection.execute(statement("kept_searches/delete_outdated"))
    return len(old)
