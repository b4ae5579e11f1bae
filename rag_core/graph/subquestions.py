"""Has a chat model cut a question into ordered parts, and makes steps of them that pass typed values on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from rag_core.connectors.base import ChatModel
from rag_core.datamodel.answer import Usage
from rag_core.datamodel.plan import Binding, SearchStep, SqlStep, Step
from rag_core.errors import ModelFault
from rag_core.graph.decompose import SEARCH_TOP
from rag_core.graph.parameters import placeholder
from rag_core.graph.state import Request
from rag_core.prompts.loader import fence, load_prompt
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.describe import describe_query
from rag_core.semantics.match import Matcher
from rag_core.workers.handover import first_of

MAX_PARTS = 4


class Part(BaseModel):
    """One part of the question."""

    question: str
    source: Literal["warehouse", "documents"]
    needs: int = Field(description="Number of the earlier part that it needs a result of, from 1; else 0")
    takes: Literal["nothing", "name", "names", "ids", "date"]


class Parts(BaseModel):
    """The parts in order."""

    parts: list[Part]


def cut_question(
    model: ChatModel, request: Request, tables: Sequence[str], matcher: Matcher, semantic_model: SemanticModel
) -> tuple[tuple[Step, ...] | None, Usage]:
    """The steps and what the cut cost; no steps where the model's parts are not ordered or are just one.

    A part that depends on nothing and that the semantic model explains becomes a metric step: a model writes SQL only
    for the rest.
    """
    prompt = load_prompt("decompose_question")
    user = prompt.render(
        {
            "tables": ", ".join(tables) or "unknown",
            "run_date": request.run_date.isoformat(),
            "question": fence("question", request.question),
        }
    )
    try:
        cut, usage = model.complete(prompt.system, user, Parts)
    except ModelFault as fault:
        return None, getattr(fault, "usage", Usage(model_calls=1))
    parts = cut.parts[:MAX_PARTS]
    steps: list[Step] = []
    for number, part in enumerate(parts, start=1):
        if not 0 <= part.needs < number or not part.question.strip():
            return None, usage
        earlier = steps[part.needs - 1] if part.needs else None
        if earlier is not None and (earlier.kind != "sql" or part.takes == "nothing"):
            earlier = None  # nothing can be taken from a passage, or nothing is
        steps.append(_step(number, part, earlier, request, matcher, semantic_model))
    return (tuple(steps) if len(steps) > 1 else None), usage


def _step(
    number: int, part: Part, earlier: Step | None, request: Request, matcher: Matcher, semantic_model: SemanticModel
) -> Step:
    needs = (earlier.step_id,) if earlier is not None else ()
    if part.source == "documents":
        query = f"{part.question} {first_of(earlier.step_id)}" if earlier is not None else part.question
        return SearchStep(step_id=f"d{number}", task=part.question, query=query, top=SEARCH_TOP, depends_on=needs)
    if earlier is None or part.takes == "nothing":
        match = matcher.match(part.question, request.run_date)
        if match.complete and match.query is not None:
            task = describe_query(match.query, semantic_model)
            return SqlStep(step_id=f"s{number}", task=task, metric_query=match.query)
        return SqlStep(step_id=f"s{number}", task=part.question)
    literal = placeholder(earlier.step_id)
    told = {
        "name": f"compare with the literal '{literal}', it is replaced by the name that was found",
        "names": f"use IN ('{literal}'), it is replaced by the names that were found",
        "ids": f"use IN ('{literal}'), it is replaced by the ids that were found",
        "date": f"compare with the literal '{literal}', it is replaced by the day that was found",
    }
    return SqlStep(
        step_id=f"s{number}",
        task=f"{part.question} (for what was found before: {told[part.takes]})",
        depends_on=needs,
        bindings=(Binding(step_id=earlier.step_id, kind=part.takes),),
    )
