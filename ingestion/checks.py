"""Checks of what a run has staged, judged by Great Expectations: only what passes them is published."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass
from typing import Any

from psycopg.rows import dict_row

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.report import CheckResult
from rag_core.errors import NightshiftError
from rag_core.quality.observation import Observation
from rag_core.quality.validate import judge

# Names of the counts of `staging/measure_documents.sql`, each of which must be zero, with what it counts.
CHECKS = {
    "empty_chunks": "chunks without text",
    "oversized_chunks": "chunks above the token limit",
    "chunks_without_vectors": "chunks that no window embeds",
    "wrong_vectors": "vectors of the wrong size or length",
    "orphans": "chunks or vectors of the document that are not there",
    "lost_wholes": "whole documents that would become a part of one for want of vectors",
    "documents_without_chunks": "documents without a chunk that are to be searched",
    "documents_without_title": "documents without a title",
    "documents_without_type": "documents without a document type",
}
_WARNINGS = frozenset({"documents_without_type"})

logger = logging.getLogger(__name__)


class ChecksNotMade(NightshiftError):
    """The checks of staged documents could not be made, so nothing may be published."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """How many documents passed and how many were refused."""

    passed: int
    refused: int


def judge_documents(store: Store, run_id: str, *, max_tokens: int) -> Judgement:
    """Judges each document that a run has staged and that nobody has judged yet, and stores the verdicts.

    `max_tokens` is the limit of a chunk. Raises ChecksNotMade where an expectation could not be evaluated; the
    documents then stay staged.
    """
    with store.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute(statement("staging/measure_documents"), {"run_id": run_id, "max_tokens": max_tokens})
        measured: list[dict[str, Any]] = cursor.fetchall()
    if not measured:
        return Judgement(0, 0)
    faults = _faults(measured, judge([each for counts in measured for each in _observations(counts)]))
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        connection.execute(
            statement("staging/update_verdicts"),
            {
                "stage": "quality",
                "staged": [counts["staged_no"] for counts in measured],
                "faults": [faults.get(counts["document_id"], "") for counts in measured],
            },
        )
    return Judgement(len(measured) - len(faults), len(faults))


def _observations(counts: dict[str, Any]) -> list[Observation]:
    return [
        Observation(
            check_id=name,
            question_id=counts["document_id"],
            severity="warning" if name in _WARNINGS else "critical",
            observed=counts[name],
            upper=0,
            message=meaning,
        )
        for name, meaning in CHECKS.items()
    ]


def _faults(measured: list[dict[str, Any]], results: tuple[CheckResult, ...]) -> dict[str, str]:
    """What is wrong with each document that must not be published, by its id."""
    broken = sorted({result.message for result in results if result.verdict == "error"})
    if broken:
        raise ChecksNotMade(f"nothing was published: {'; '.join(broken)}")
    failed = [result for result in results if result.verdict == "fail"]
    faults: dict[str, str] = {}
    for result in failed:
        if result.severity == "critical":
            before = faults.get(result.question_id)
            told = f"{result.observed} {result.message}"
            faults[result.question_id] = f"{before}; {told}" if before else told
    counted = Counter(result.message for result in failed if result.severity != "critical")
    for message, documents in counted.items():
        logger.info("%d of %d staged: %s", documents, len(measured), message)
    return faults
