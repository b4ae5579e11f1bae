"""Asks the document index and picks the sentences that answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.connectors.base import Embedder, PassageSearch
from rag_core.datamodel.evidence import Passage, SearchOutcome
from rag_core.datamodel.plan import SearchStep
from rag_core.workers.asks import asks_cause, new_names
from rag_core.workers.causes import tell_cause
from rag_core.workers.clauses import read_clauses
from rag_core.workers.confidence import doubt_quotes, names_missing
from rag_core.workers.evidence_validator import contradiction, is_successor
from rag_core.workers.outcome import StepOutcome
from rag_core.workers.quotes import best_quotes, quotable_units
from rag_core.workers.steps import tell_step
from rag_core.workers.subjects import about_others, unspoken
from rag_core.workers.units import Unit

MAX_QUOTES = 5
MAX_CAUSES = 7
# Least score of a sentence of the document in force, quoted beside the one that it replaced.
MIN_SUCCESSOR = 0.5

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
        if not found.null_signal and (unknown := self._unknown(step, found)):
            reason = f"no document speaks of {unknown}"
            found = found.model_copy(update={"null_signal": True, "reason": reason, "passages": ()})
        if not found.null_signal and asks_why(step):
            found = self._with_rest(step, found)
        passages, confidence, doubt = pick_quotes(step, found)
        detail = {**found.detail, "confidence": confidence, "doubt": doubt}
        return StepOutcome(
            step_id=step.step_id,
            attempt=attempt,
            search=found.model_copy(update={"passages": passages, "detail": detail}),
        )

    def _unknown(self, step: SearchStep, found: SearchOutcome) -> str:
        """The first name that the step asks about and that stands in no document, empty for none.

        What was found for the question may lack a name that stands elsewhere, so the name itself is searched for.
        """
        for name in unspoken(step.task, found.passages):
            named = self._search(step.model_copy(update={"query": name}), {})
            if name in unspoken(step.task, named.passages):
                return name
        return ""

    def _with_rest(self, step: SearchStep, found: SearchOutcome) -> SearchOutcome:
        """What was found, and the rest of the document that tells the cause.

        The chunk that says what moved is near to the question; the one that says what had happened need not be.
        """
        told = tell_cause(step.task, step.query, found.passages, quotable_units(found.passages), limit=MAX_CAUSES)
        if told is None:
            return found
        document = found.passages[told.units[0][0]]
        rest = self._search(step, {"path": document.path})
        known = {passage.chunk_id for passage in found.passages}
        more = [
            passage
            for passage in rest.passages
            if passage.document_id == document.document_id and passage.chunk_id not in known
        ]
        last = max(passage.rank for passage in found.passages)
        ranked = (passage.model_copy(update={"rank": last + at}) for at, passage in enumerate(more, start=1))
        return found.model_copy(update={"passages": (*found.passages, *ranked)})

    def _search(self, step: SearchStep, filters: dict[str, str]) -> SearchOutcome:
        return self.search.search(
            step.query, top=step.top, filters=filters or None, recency_half_life_days=step.recency_half_life_days
        )


def asks_why(step: SearchStep) -> bool:
    """Whether a step is after the cause of a figure asked for beside it."""
    return step.query != step.task and any(clause.asks_cause for clause in read_clauses(step.task))


def pick_quotes(
    step: SearchStep, found: SearchOutcome, embedder: Embedder | None = None
) -> tuple[tuple[Passage, ...], float, str]:
    """The passages with the units that answer put into `quotes`, in the order of the search.

    With them how sure it is that the quotes answer (0 to 1), and what speaks against it, empty for nothing.
    """
    passages = [passage.model_copy(update={"step_id": step.step_id}) for passage in tell_status(found.passages)]
    if found.null_signal:
        return tuple(passages), 0.0, ""
    # Behind the question itself: glued to its end, the first word of what it stands beside would look like a name.
    context = step.query.removeprefix(step.task).strip()
    chosen, confidence, doubt = _choose(step.task, context, passages, embedder)
    return (
        tuple(
            passage.model_copy(update={"quotes": tuple(unit.verbatim for at, unit in chosen if at == index)})
            for index, passage in enumerate(passages)
        ),
        confidence,
        doubt,
    )


def _choose(
    task: str, context: str, passages: Sequence[Passage], embedder: Embedder | None
) -> tuple[list[tuple[int, Unit]], float, str]:
    if context and any(clause.asks_cause for clause in read_clauses(task)):
        told = tell_cause(task, context, passages, quotable_units(passages), limit=MAX_CAUSES)
        if told is not None:
            return list(told.units), told.about, told.doubt
    if step := tell_step(task, passages):
        return step, *doubt_quotes(task, passages, step, context)
    quotes = best_quotes(task, passages, context=context, embedder=embedder, limit=MAX_QUOTES)
    if context and not asks_cause(task):
        quotes = [quote for quote in quotes if quote.asked]  # what is of the context alone answers nothing
    chosen = [(quote.passage, quote.unit) for quote in quotes]
    if names_missing(task, chosen, context):
        chosen = _with_name(task, context, passages, chosen)
    chosen += _successors(task, context, passages, chosen)
    # What is quoted to be contradicted needs no other one in force.
    confidence, doubt = doubt_quotes(task, passages, chosen, context)
    return [*chosen, *_disputing(task, context, passages, chosen)], confidence, doubt


def _with_name(
    task: str, context: str, passages: Sequence[Passage], chosen: Sequence[tuple[int, Unit]]
) -> list[tuple[int, Unit]]:
    """The quotes after the nearest sentence of their section that brings a name: `the order` has a customer."""
    if not chosen:
        return []
    index, best = chosen[0]
    before = [
        unit
        for at, unit in quotable_units(passages)
        if at == index and unit.heading == best.heading and unit.order < best.order and unit.kind == best.kind
    ]
    for unit in reversed(before):
        if new_names(unit.shown, f"{task} {context}"):
            return [(index, unit), *chosen]
    return list(chosen)


def _successors(
    task: str, context: str, passages: Sequence[Passage], chosen: Sequence[tuple[int, Unit]]
) -> list[tuple[int, Unit]]:
    """What the document in force says, where only the one that it replaced is quoted."""
    found: list[tuple[int, Unit]] = []
    quoted = {passages[index].document_id for index, _ in chosen}
    for index in dict.fromkeys(index for index, _ in chosen):
        places = [
            at
            for at, passage in enumerate(passages)
            if is_successor(passage, passages[index]) and passage.document_id not in quoted
        ]
        for quote in best_quotes(task, [passages[at] for at in places], context=context, limit=1, floor=MIN_SUCCESSOR):
            found.append((places[quote.passage], quote.unit))
    return found


def _disputing(
    task: str, context: str, passages: Sequence[Passage], chosen: Sequence[tuple[int, Unit]]
) -> list[tuple[int, Unit]]:
    """The best sentence of another document where it gives another value for what the first quote tells."""
    if not chosen:
        return []
    index, first = chosen[0]
    told = passages[index].model_copy(update={"quotes": (first.verbatim,)})
    quoted = {passages[at].document_id for at, _ in chosen}
    others = about_others(task, passages)
    found: list[tuple[int, Unit]] = []
    for document in dict.fromkeys(passage.document_id for passage in passages):
        if document in quoted or document in others:
            continue
        places = [at for at, passage in enumerate(passages) if passage.document_id == document]
        for quote in best_quotes(task, [passages[at] for at in places], context=context, limit=1, floor=MIN_SUCCESSOR):
            other = passages[places[quote.passage]].model_copy(update={"quotes": (quote.unit.verbatim,)})
            if contradiction(task, told, other) is not None:
                found.append((places[quote.passage], quote.unit))
    return found


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
