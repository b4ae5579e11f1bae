"""The baselines with a chat model: standard RAG and one flat agent, over the same ports, prompts and schema card.

They are what an engineer builds without a planner. Standard RAG hands the best passages for the whole question to the
model that writes for the orchestrator too. The flat agent has both tools and chooses its calls itself, sees results and
errors, and answers. No code matches metrics, repairs SQL, or judges and takes out what was written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Literal

from pydantic import BaseModel, Field

from rag_core.connectors.base import ChatModel, Output, PassageSearch, Warehouse
from rag_core.datamodel.answer import Answer, AnswerStatus, TraceEntry, Usage, Verdict, add_usage
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.evidence import Passage, SqlEvidence
from rag_core.errors import ModelFault, QueryFault
from rag_core.policy.sql_guard import SqlGuard
from rag_core.prompts.loader import fence, load_prompt
from rag_core.schema.knowledge import Known
from rag_core.workers.evaluator import evaluate
from rag_core.workers.execution import run_guarded
from rag_core.workers.sql_card import describe_schema
from rag_core.workers.synthesizer import Draft, cite, compose
from rag_core.workers.vector_worker import tell_status
from rag_core.workers.writer import WrittenAnswer, draft_written, render_passage, render_rows, write_draft

TOP = 8
MAX_CALLS = 6
# About half of the context of the smallest model that is asked; what a call brings beyond it is cut off.
MAX_CALL_CHARACTERS = 16_000
_NEXT = "What is the next call?"
_FINISH = "Make no more calls. Write the answer now."


class AgentCall(BaseModel):
    """The next call of a tool."""

    thought: str = Field(description="One short sentence")
    tool: Literal["run_sql", "search_documents", "answer"]
    input: str = Field(description="The SQL statement, or what to look for; empty for answer")


@dataclass(slots=True)
class _Work:
    """What one agent did for one question. `told` is the account of its calls that it reads."""

    question: str
    sql: list[SqlEvidence] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    made: set[tuple[str, str]] = field(default_factory=set)
    trace: list[TraceEntry] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    def tell(self, text: str) -> None:
        room = max(0, MAX_CALL_CHARACTERS - sum(len(one) for one in self.told))
        # What is cut off inside a fence is closed again: what follows is no data.
        self.told.append(text if len(text) <= room else f"{text[:room]}\n>>>\n(there is no room for the rest)")

    def visit(self, node: str, **detail: object) -> None:
        self.trace.append(TraceEntry(node=node, started_at=datetime.now(UTC), ms=0.0, detail=detail))


@dataclass(frozen=True, slots=True)
class ModelBaselines:
    """The baselines over one set of parts, as of one day; `catalog` is what questions may see of the warehouse.

    What the model writes that cannot be used ends in a `failed` answer. Raises ServiceUnavailable where a service does
    not answer and BudgetExhausted where the model's budget is spent: neither says anything of a system.
    """

    model: ChatModel
    search: PassageSearch
    warehouse: Warehouse
    guard: SqlGuard
    catalog: Catalog
    known: Known
    run_date: date

    def standard_rag(self, question: str) -> Answer:
        """One search with the question as it is; the model writes from the best passages."""
        work = _Work(question)
        work.passages = _marked(self._found(question))
        work.visit("vector_worker", passages=len(work.passages))
        if not work.passages:
            return self._answer(work, Draft())
        try:
            draft, usage = write_draft(self.model, question, (), work.passages, Draft())
        except ModelFault as fault:
            return self._failed(work, fault)
        work.usage = usage
        return self._answer(work, draft)

    def flat_agent(self, question: str) -> Answer:
        """At most MAX_CALLS calls that the model chooses, one after the other, then its answer."""
        work = _Work(question)
        try:
            for _ in range(MAX_CALLS):
                call = self._ask(work, _NEXT, AgentCall)
                if call.tool == "answer":
                    break
                self._act(work, call)
            written = self._ask(work, _FINISH, WrittenAnswer)
        except ModelFault as fault:
            return self._failed(work, fault)
        return self._answer(work, draft_written(written, work.sql, work.passages))

    def _ask(self, work: _Work, ask: str, output: type[Output]) -> Output:
        prompt = load_prompt("flat_agent")
        card, named = describe_schema(work.question, self.catalog, self.known)
        user = prompt.render(
            {
                "dialect": self.warehouse.dialect,
                "run_date": self.run_date.isoformat(),
                "card": card,
                "question": fence("question", work.question),
                "hints": fence("values", f"The warehouse holds: {named}") if named else "",
                "calls": "\n\n".join(work.told),
                "ask": ask,
            }
        )
        try:
            reply, usage = self.model.complete(prompt.system, user, output)
        except ModelFault as fault:
            work.usage = add_usage(work.usage, getattr(fault, "usage", Usage(model_calls=1)))
            raise
        work.usage = add_usage(work.usage, usage)
        return reply

    def _act(self, work: _Work, call: AgentCall) -> None:
        """Makes one call and tells what came of it."""
        text = call.input.strip()
        made = fence("call", f"{call.tool}: {text}")
        if not text or (call.tool, text) in work.made:
            work.tell(f"{made}\n{'It has no input.' if not text else 'You made this call before; see above.'}")
            return
        work.made.add((call.tool, text))
        work.tell(f"{made}\n{self._query(work, text) if call.tool == 'run_sql' else self._look_up(work, text)}")

    def _query(self, work: _Work, statement: str) -> str:
        try:
            done = run_guarded(self.guard, self.warehouse, statement.rstrip(";"))
        except QueryFault as fault:
            work.visit("sql_worker", fault=fault.code)
            return f"It failed:\n{fence('fault', f'{fault.code}: {fault.message}')}"
        verdict = done.verdict
        if done.result is None or verdict.query is None:
            work.visit("sql_worker", fault=verdict.code)
            names = f"\nNames that exist: {', '.join(verdict.suggestions)}" if verdict.suggestions else ""
            return f"It failed:\n{fence('fault', f'{verdict.code}: {verdict.message}')}{names}"
        number = len(work.sql) + 1
        evidence = SqlEvidence(
            marker=f"S{number}",
            step_id=f"s{number}",
            task=work.question,
            sql=verdict.query.text,
            result=done.result,
            tables=verdict.tables,
            columns=verdict.columns,
            strategy="model",
        )
        work.sql.append(evidence)
        work.visit("sql_worker", rows=done.result.row_count)
        return f"[{evidence.marker}] {done.result.row_count} rows\n{fence('rows', render_rows(evidence))}"

    def _look_up(self, work: _Work, query: str) -> str:
        found = self._found(query)
        known = {passage.chunk_id: passage for passage in work.passages}
        fresh = _marked([one for one in found if one.chunk_id not in known], first=len(known) + 1)
        work.passages += fresh
        work.visit("vector_worker", passages=len(found))
        again = [known[one.chunk_id].marker for one in found if one.chunk_id in known]
        lines = [render_passage(passage) for passage in fresh]
        lines += [f"Also found, see above: {', '.join(again)}"] if again else []
        return "\n".join(lines) or "No document is close to this."

    def _found(self, query: str) -> Sequence[Passage]:
        found = self.search.search(query, top=TOP)
        return () if found.null_signal else tell_status(found.passages)

    def _answer(self, work: _Work, draft: Draft) -> Answer:
        """The draft as the model wrote it. It is judged for its citations, and nothing is taken out of it."""
        _, verdict = evaluate(draft.claims, work.sql, work.passages, work.question)
        status: AnswerStatus = "partial" if draft.missing else "answered"
        status = status if draft.claims else "no_evidence"
        used = sorted({marker for claim in draft.claims for marker in claim.markers})
        text = compose(draft, draft.claims) or "Nothing was found that answers this."
        return self._made(work, status, text).model_copy(
            update={
                "claims": draft.claims,
                "citations": cite(work.sql, work.passages, used),
                "verdict": verdict,
            }
        )

    def _failed(self, work: _Work, fault: ModelFault) -> Answer:
        usage = work.usage if work.usage.model_calls else getattr(fault, "usage", Usage(model_calls=1))
        return self._made(work, "failed", f"The question could not be answered: {fault}.").model_copy(
            update={"usage": usage}
        )

    def _made(self, work: _Work, status: AnswerStatus, text: str) -> Answer:
        query_type: Literal["both", "sql", "documents"] = "both"
        if not (work.sql and work.passages):
            query_type = "sql" if work.sql else "documents"
        return Answer(
            question=work.question,
            run_date=self.run_date,
            status=status,
            text=text,
            strategy="model",
            query_type=query_type,
            sql=tuple(work.sql),
            documents=tuple(work.passages),
            verdict=Verdict(supported=False, relevance=0.0, citation_accuracy=0.0),
            usage=work.usage,
            trace=tuple(work.trace),
        )


def _marked(passages: Sequence[Passage], *, first: int = 1) -> list[Passage]:
    return [one.model_copy(update={"marker": f"D{number}"}) for number, one in enumerate(passages, start=first)]
