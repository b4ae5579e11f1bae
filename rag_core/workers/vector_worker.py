"""Asks the document index and picks the sentences that answer."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.connectors.base import PassageSearch
from rag_core.datamodel.evidence import Passage, SearchOutcome
from rag_core.datamodel.plan import SearchStep
from rag_core.workers.outcome import StepOutcome
from rag_core.workers.quotes import best_quotes

MAX_QUOTES = 3


@dataclass(frozen=True, slots=True)
class VectorWorker:
    """Runs search steps."""

    search: PassageSearch

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


def pick_quotes(step: SearchStep, found: SearchOutcome) -> tuple[Passage, ...]:
    """The passages with the units that answer the step's task put into `quotes`, in the order of the search."""
    if found.null_signal:
        return tuple(passage.model_copy(update={"step_id": step.step_id}) for passage in found.passages)
    quotes = best_quotes(step.query, found.passages, limit=MAX_QUOTES)
    return tuple(
        passage.model_copy(
            update={
                "step_id": step.step_id,
                "quotes": tuple(quote.unit.verbatim for quote in quotes if quote.passage == index),
            }
        )
        for index, passage in enumerate(found.passages)
    )
