"""What a search step found, kept while nothing that it rests on has changed.

A search and the choice of its sentences follow from the step, the index and our own code alone. While the index is the
one that it was, a replay needs neither; a change of the index or of a line of code makes everything be searched anew.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

import rag_core
from rag_core.connectors.base import Embedder, PassageSearch
from rag_core.connectors.sql_files import files_root, statement
from rag_core.connectors.store import Store
from rag_core.datamodel.evidence import SearchOutcome
from rag_core.datamodel.plan import SearchStep
from rag_core.retrieval.recency import asks_about_now
from rag_core.workers.outcome import StepOutcome
from rag_core.workers.vector_worker import VectorWorker


class SearchRunner:
    """Runs search steps.

    Args:
        search: over the documents.
        embedder: the model of the document index.
        store: where outcomes are kept; None keeps none. `search` must then be over the index of this very store.
    """

    def __init__(self, search: PassageSearch, embedder: Embedder | None, store: Store | None) -> None:
        self.search = search
        self._worker = VectorWorker(search, embedder)
        self._store = store

    def run(self, step: SearchStep, *, attempt: int) -> StepOutcome:
        """What the step finds. Raises ServiceUnavailable where the store does not answer."""
        if self._store is None or not _is_timeless(step):
            return self._worker.run(step, attempt=attempt)
        given = {"step_hash": _step_hash(step)}
        with self._store.connection() as connection:
            row = connection.execute(statement("kept_searches/find_outcome"), given).fetchone()
        if row is not None and row[2] is not None:
            return _outcome(step, attempt, row[2])
        outcome = self._worker.run(step, attempt=attempt)
        # An index that changed between the look at it and the search: what was found is of neither state for sure.
        if row is not None and outcome.search is not None and outcome.search.detail.get("generation") == row[0]:
            text = outcome.search.model_dump_json()
            found = {"generation": row[0], "version_no": row[1], "outcome": text}
            with self._store.connection() as connection:
                connection.execute(statement("kept_searches/save_outcome"), {**given, **found})
            # Read back at once: the first night gives to the letter what every later one will.
            return _outcome(step, attempt, text)
        return outcome


def _outcome(step: SearchStep, attempt: int, text: str) -> StepOutcome:
    return StepOutcome(step_id=step.step_id, attempt=attempt, search=SearchOutcome.model_validate_json(text))


def _is_timeless(step: SearchStep) -> bool:
    """Whether the same step finds the same on any day."""
    return step.recency_half_life_days is None and not asks_about_now(step.query)


def _step_hash(step: SearchStep) -> bytes:
    text = json.dumps(step.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(f"{_code_digest()}\n{text}".encode()).digest()


@cache
def _code_digest() -> str:
    """Of all that searches and chooses sentences: every module of ours, and the statements that read the index."""
    digest = hashlib.sha256()
    for folder, pattern in ((Path(rag_core.__file__).parent, "*.py"), (files_root() / "sql/queries/search", "*.sql")):
        for path in sorted(folder.rglob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()
