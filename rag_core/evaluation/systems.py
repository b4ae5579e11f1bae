"""The extractive baselines, for a run without a chat model: where a model would write, they quote.

Standard RAG searches the whole question and quotes; the flat agent has both tools, the matcher of the core among them,
and calls each once with the whole question. Neither plans, checks its evidence or doubts a quote. With a chat model
`model_baselines` are compared instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from rag_core.connectors.base import PassageSearch, Warehouse
from rag_core.datamodel.answer import Answer, Claim, TraceEntry, Verdict
from rag_core.datamodel.evidence import Passage, SqlEvidence
from rag_core.datamodel.plan import MetricQuery, SqlStep
from rag_core.policy.sql_guard import SqlGuard
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.match import Matcher
from rag_core.semantics.values import ValueIndex
from rag_core.workers.quotes import best_quotes
from rag_core.workers.sql_worker import SqlWorker
from rag_core.workers.synthesizer import cite, compose, draft_answer

TOP, QUOTED = 8, 5


@dataclass(frozen=True, slots=True)
class Baselines:
    """The extractive baselines over one set of parts, as of one day."""

    search: PassageSearch
    warehouse: Warehouse
    guard: SqlGuard
    semantic_model: SemanticModel
    values: ValueIndex
    worker: SqlWorker
    run_date: date

    def standard_rag(self, question: str) -> Answer:
        """Search with the question as it is, quote what fits best."""
        return self._answer(question, (), {}, self._quote(question))

    def flat_agent(self, question: str) -> Answer:
        """Both tools once with the whole question: the figure where it is understood whole, and a search."""
        sql, queries = self._figure(question)
        return self._answer(question, sql, queries, self._quote(question))

    def _figure(self, question: str) -> tuple[tuple[SqlEvidence, ...], dict[str, MetricQuery]]:
        match = Matcher(self.semantic_model, self.values).match(question, self.run_date)
        if not match.complete or match.query is None:
            return (), {}
        outcome, _ = self.worker.run(
            SqlStep(step_id="s1", task=question, metric_query=match.query), run_date=self.run_date
        )
        if outcome.sql is None:
            return (), {}
        return (outcome.sql.model_copy(update={"marker": "S1"}),), {"s1": match.query}

    def _quote(self, question: str) -> tuple[Passage, ...]:
        found = self.search.search(question, top=TOP)
        if found.null_signal:
            return ()
        quotes = best_quotes(question, found.passages, limit=QUOTED)
        kept = [
            passage.model_copy(
                update={"quotes": tuple(quote.unit.verbatim for quote in quotes if quote.passage == index)}
            )
            for index, passage in enumerate(found.passages)
        ]
        quoted = [passage for passage in kept if passage.quotes]
        return tuple(passage.model_copy(update={"marker": f"D{n}"}) for n, passage in enumerate(quoted, start=1))

    def _answer(
        self,
        question: str,
        sql: Sequence[SqlEvidence],
        queries: dict[str, MetricQuery],
        passages: Sequence[Passage],
    ) -> Answer:
        draft = draft_answer(sql, passages, (), queries)
        claims = tuple(Claim(text=claim.text, markers=claim.markers, supported=True) for claim in draft.claims)
        used = sorted({marker for claim in claims for marker in claim.markers})
        steps = [*(["sql_worker"] if sql else []), "vector_worker"]
        now = datetime.now(UTC)
        return Answer(
            question=question,
            run_date=self.run_date,
            status="answered" if claims else "no_evidence",
            text=compose(draft, claims),
            strategy="none",
            query_type="both" if sql else "documents",
            claims=claims,
            citations=cite(sql, passages, used),
            sql=tuple(sql),
            documents=tuple(passages),
            verdict=Verdict(supported=bool(claims), relevance=0.0, citation_accuracy=1.0 if claims else 0.0),
            trace=tuple(TraceEntry(node=node, started_at=now, ms=0.0, detail={}) for node in steps),
        )
