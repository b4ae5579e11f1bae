"""The passages that an answer may cite, out of what several searches brought. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.datamodel.evidence import Passage
from rag_core.datamodel.plan import Plan
from rag_core.workers.outcome import StepOutcome, latest

MAX_CITED_PASSAGES = 4


def cited_passages(plan: Plan, outcomes: Sequence[StepOutcome]) -> list[Passage]:
    """Quoted passages in the order of the plan's steps, at most `MAX_CITED_PASSAGES` a step.

    Two searches may bring the same chunk with different sentences: each keeps its own, and what both quote is told
    with the first.
    """
    done = {outcome.step_id: outcome for outcome in latest(tuple(outcomes))}
    found: list[Passage] = []
    for step in plan.steps:
        outcome = done.get(step.step_id)
        if outcome is None or outcome.search is None or outcome.search.null_signal:
            continue
        quoted = [passage for passage in outcome.search.passages if passage.quotes]
        for passage in quoted[:MAX_CITED_PASSAGES]:
            told = {quote for known in found if known.chunk_id == passage.chunk_id for quote in known.quotes}
            fresh = tuple(quote for quote in passage.quotes if quote not in told)
            if fresh or not any(known.step_id == step.step_id for known in found):
                found.append(passage.model_copy(update={"quotes": fresh or passage.quotes}))
    return found
