"""Checks of what a run put into the index, judged by Great Expectations before the run counts as done."""

from __future__ import annotations

from typing import Any

from psycopg.rows import dict_row

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.report import CheckResult
from rag_core.errors import NightshiftError
from rag_core.quality.observation import Observation
from rag_core.quality.validate import judge

# Names of the counts of `index/check_run.sql`, each of which must be zero, with what it means.
CHECKS = {
    "empty_chunks": "chunks without text",
    "oversized_chunks": "chunks above the token limit",
    "chunks_without_vectors": "chunks that no window embeds",
    "wrong_vectors": "vectors of the wrong size or without length",
    "documents_without_title": "indexed documents without a title",
    "documents_without_type": "indexed documents without a document type",
    "orphans": "chunks, windows or postings whose document is gone",
}
_WARNINGS = frozenset({"documents_without_type"})


class IndexCheckFailed(NightshiftError):
    """The index holds something that must not be there; the run does not count as done."""


def check_run(store: Store, run_id: str, *, max_tokens: int) -> tuple[CheckResult, ...]:
    """One verdict a check over the documents of a run. `max_tokens` is the limit of a chunk."""
    with store.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute(statement("index/check_run"), {"run_id": run_id, "max_tokens": max_tokens})
        counts: dict[str, Any] = cursor.fetchone() or {}
    return judge(
        [
            Observation(
                check_id=name,
                question_id=run_id,
                severity="warning" if name in _WARNINGS else "critical",
                observed=counts[name],
                upper=0,
                message=meaning,
            )
            for name, meaning in CHECKS.items()
        ]
    )


def require_passed(results: tuple[CheckResult, ...]) -> None:
    """Raises IndexCheckFailed that names each critical check which failed or could not be made."""
    bad = [result for result in results if result.severity == "critical" and result.verdict in ("fail", "error")]
    if bad:
        raise IndexCheckFailed("; ".join(f"{result.observed} {result.message}" for result in bad))
