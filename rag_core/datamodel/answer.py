"""What is said, and how it came about."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal

from rag_core.datamodel.base import Record
from rag_core.datamodel.evidence import Finding, Passage, SqlEvidence
from rag_core.datamodel.plan import QueryType, Strategy
from rag_core.datamodel.query import Cell

AnswerStatus = Literal[
    "answered", "partial", "no_evidence", "needs_model", "refused", "needs_clarification", "paused", "failed"
]


class Citation(Record):
    """`marker` stands in the answer's text as `[S1]` or `[D2]`; `ref` is the statement or `path#heading`."""

    marker: str
    kind: Literal["sql", "document"]
    ref: str
    excerpt: str


class Claim(Record):
    """One sentence of the answer with the markers that carry it."""

    text: str
    markers: tuple[str, ...]
    supported: bool = True
    reason: str = ""


class Verdict(Record):
    """The evaluator's judgement; the last two are shares between 0 and 1."""

    supported: bool
    unsupported_claims: tuple[str, ...] = ()
    relevance: float = 1.0
    citation_accuracy: float = 1.0


class Usage(Record):
    """What the chat models cost. `cost_usd` is None where no price is configured."""

    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None


def add_usage(*parts: Usage) -> Usage:
    """The sum; its cost is unknown where the cost of a part that called a model is."""
    called = [part for part in parts if part.model_calls]
    costs = [part.cost_usd for part in called]
    known = [cost for cost in costs if cost is not None]
    return Usage(
        model_calls=sum(part.model_calls for part in parts),
        prompt_tokens=sum(part.prompt_tokens for part in parts),
        completion_tokens=sum(part.completion_tokens for part in parts),
        cost_usd=sum(known) if called and len(known) == len(costs) else None,
    )


class TraceEntry(Record):
    """One visited node, in order. `detail` holds counts, codes and decisions, never rows, text or secrets."""

    node: str
    started_at: datetime
    ms: float
    detail: dict[str, Any] = {}


class Answer(Record):
    """The answer to one question, whole: text, evidence, judgement and trace.

    `text` is Markdown with citation markers. `headline_value` is the single value that a report shows large, None
    where the answer has none; `headline_unit` its unit. `run_date` is the date that relative times refer to.
    """

    question: str
    question_id: str | None = None
    run_date: date
    status: AnswerStatus
    text: str
    strategy: Strategy
    query_type: QueryType
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    sql: tuple[SqlEvidence, ...] = ()
    documents: tuple[Passage, ...] = ()
    findings: tuple[Finding, ...] = ()
    verdict: Verdict
    explanation: str = ""
    headline_value: Cell = None
    headline_unit: str = ""
    usage: Usage = Usage()
    timings_ms: dict[str, float] = {}
    plan_id: str = ""
    run_id: str = ""
    trace: tuple[TraceEntry, ...] = ()
