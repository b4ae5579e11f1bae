"""What a step hands to the steps that depend on it: a name out of its result, put into their query. Pure.

The value goes in as text of a search, which is never parsed as a query language, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.datamodel.evidence import SqlEvidence
from rag_core.datamodel.plan import SearchStep, SqlStep
from rag_core.workers.outcome import StepOutcome, latest

_SLOT = re.compile(r"\{(?P<step>\w+)\.first\}")
MAX_CHARACTERS = 120


def first_of(step_id: str) -> str:
    """The slot for the name in the first row of a step's result."""
    return f"{{{step_id}.first}}"


def ranks(step: SqlStep) -> bool:
    """Whether the first row of a step's result is one that a question can mean by "the first one"."""
    query = step.metric_query
    return query is not None and query.order is not None and bool(query.dimensions)


def fill_step(step: SearchStep, outcomes: Sequence[StepOutcome]) -> SearchStep:
    """The step with its slots filled from the results before it; a slot without a value is left out."""
    results = {item.step_id: item.sql for item in latest(tuple(outcomes)) if item.sql is not None}
    filled = _SLOT.sub(lambda match: leading_name(results.get(match["step"])), step.query)
    return step.model_copy(update={"query": " ".join(filled.split())})


def leading_name(evidence: SqlEvidence | None) -> str:
    """The dimension in the first row, as text; empty where there is no row or no dimension."""
    if evidence is None or not evidence.result.rows:
        return ""
    names = {meaning.name for meaning in evidence.meanings if meaning.role == "dimension"}
    for column, cell in zip(evidence.result.columns, evidence.result.rows[0], strict=True):
        if column.name in names and cell is not None:
            return str(cell)[:MAX_CHARACTERS]
    return ""
