"""Asks the document index and picks the sentences that answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.connectors.base import Embedder, PassageSearch
from rag_core.datamodel.evidence import Passage, SearchOutcome
from rag_core.datamodel.plan import SearchStep
from rag_core.workers.asks import asks_cause
from rag_core.workers.outcome import StepOutcome
from rag_core.workers.quotes import best_quotes

MAX_QUOTES = 5

_STATUS = re.compile(r"\bStatus:\s*(?P<status>superseded|retired|obsolete|withdrawn)\b", re.IGNORECASE)
_DATE = re.compile(r"\bDate:\s*(?P<date>\d{4}-\d{2}-\d{2})")


@dataclass(frozen=True, slots=True)
class VectorWorker:
    """Runs search steps. With an embedder, quotes are chosen by meaning too."""

    search: PassageSearch
    embedder: Embedder | None = None

    def run(self, step: SearchStep, *, attempt: int = 1) -> StepOutcome:
        """Searches once. With filters that leave nothing, the same without them: a filter is a guess about metadata.

        Raises ServiceUnavailable where the store does not answer.
        """
        found = self._search(step, step.filters)
        if found.null_signal and step.filters:
            unfiltered = self._search(step, {})
            if not unfiltered.null_signal:
                found = unfiltered.model_copy(update={"detail": {**unfiltered.detail, "filters_dropped": True}})
        return StepOutcome(
            step_id=step.step_id,
            attempt=attempt,
            search=found.model_copy(update={"passages": pick_quotes(step, found)}),
        )

    def _search(self, step: SearchStep, filters: dict[str, str]) -> SearchOutcome:
        return self.search.search(
            step.query, top=step.top, filters=filters or None, recency_half_life_days=step.recency_half_life_days
        )


def pick_quotes(step: SearchStep, found: SearchOutcome, embedder: Embedder | None = None) -> tuple[Passage, ...]:
    """The passages with the units that answer put into `quotes`, in the order of the search."""
    passages = [passage.model_copy(update={"step_id": step.step_id}) for passage in tell_status(found.passages)]
    if found.null_signal:
        return tuple(passages)
    context = step.query if step.query != step.task else ""
    quotes = best_quotes(step.task, passages, context=context, embedder=embedder, limit=MAX_QUOTES)
    if context and not asks_cause(step.task) and not any(quote.asked for quote in quotes):
        quotes = []  # what was found is of the context alone, and answers nothing
    return tuple(
        passage.model_copy(update={"quotes": tuple(quote.unit.verbatim for quote in quotes if quote.passage == index)})
        for index, passage in enumerate(passages)
    )


def tell_status(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Passages with the status and date that a document states in a byline, where its metadata lack them.

    A PDF keeps no frontmatter: `Owner: Data | Date: 2024-05-14 | Status: superseded by …` stands in its text.
    """
    stated: dict[str, dict[str, str]] = {}
    for passage in passages:
        for line in passage.text.splitlines()[:6]:
            status, day = _STATUS.search(line), _DATE.search(line)
            if status is not None and not passage.metadata.get("status"):
                stated.setdefault(passage.document_id, {})["status"] = status["status"].lower()
            if day is not None and status is not None:
                stated.setdefault(passage.document_id, {})["date"] = day["date"]
    return tuple(
        passage.model_copy(update={"metadata": {**passage.metadata, **stated[passage.document_id]}})
        if passage.document_id in stated
        else passage
        for passage in passages
    )
