"""Gets figures out of the warehouse: compile or write SQL, guard it, let the database judge it, run it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

import sqlglot
from pydantic import BaseModel, Field

from rag_core.connectors.base import ChatModel, Warehouse
from rag_core.datamodel.answer import Usage
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.evidence import ColumnMeaning, SqlEvidence
from rag_core.datamodel.plan import SqlStep
from rag_core.datamodel.query import GuardedSql, GuardVerdict
from rag_core.errors import ModelFault, QueryFault
from rag_core.prompts.loader import fence, load_prompt
from rag_core.schema.card import build_card
from rag_core.schema.knowledge import Known
from rag_core.schema.mend import Mended
from rag_core.semantics.compile import compile_query
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.paths import SemanticError
from rag_core.workers.outcome import Fault, StepOutcome
from rag_core.workers.reflection import classify, fault_of, wrong_name

# Mended statements often run and are wrong; whoever reads the evidence must see that it was mended.
REPAIRED_CONFIDENCE = 0.6
# Several names of one statement may be gone, for different reasons.
MAX_MENDS = 3


class Guard(Protocol):
    """What the worker needs of the SQL guard."""

    def check(self, sql: str) -> GuardVerdict:
        """The decision on one statement of anybody."""
        ...


class SqlThought(BaseModel):
    """One SQL query for the task."""

    sql_query: str = Field(description="One SELECT statement")
    explanation: str = Field(description="What it computes, in one short sentence")
    confidence: float = Field(description="Between 0 and 1")


@dataclass(frozen=True, slots=True)
class SqlWorker:
    """Runs SQL steps. `chat_model` None: only metric queries and given SQL.

    `mend` is asked where a statement names something that is not there: given the statement and the name, it says what
    became of it, and gives the guard over the schema as it is now. `check_joins` raises QueryFault where a statement
    that nobody approved joins what does not belong together; `check_names` where a name means something else now, and
    gives what an answer has to say of changes that nobody has decided on.
    `known` tells values and joins for the schema card.
    """

    warehouse: Warehouse
    guard: Guard
    catalog: Catalog
    semantic_model: SemanticModel
    chat_model: ChatModel | None = None
    mend: Callable[[str, str], tuple[Mended, Guard]] | None = None
    check_joins: Callable[[GuardedSql], None] | None = None
    check_names: Callable[[Sequence[str]], tuple[str, ...]] | None = None
    known: Callable[[], Known] | None = None

    def run(
        self, step: SqlStep, *, run_date: date, attempt: int = 1, repaired: str = "", feedback: str = ""
    ) -> tuple[StepOutcome, Usage]:
        """One attempt at a step. Faults that reflection may act on come back as values.

        Raises ServiceUnavailable where the warehouse or the chat model does not answer.
        """
        usage = Usage()
        confidence, strategy = 1.0, "metric"
        meanings: tuple[ColumnMeaning, ...] = ()
        sql = step.sql
        if step.verified and sql is not None:
            sql, meanings, strategy = self._translated(sql), step.meanings, "verified"
        if step.metric_query is not None:
            try:
                compiled = compile_query(step.metric_query, self.semantic_model, self.warehouse.dialect)
            except SemanticError as error:
                return self._failed(
                    step, attempt, Fault(fault_class="needs_model", code="semantics", message=str(error))
                ), usage
            sql, meanings = compiled.sql, compiled.meanings
        elif sql is None:
            if self.chat_model is None:
                message = "no metric answers it and no chat model is configured"
                return self._failed(
                    step, attempt, Fault(fault_class="needs_model", code="no_model", message=message)
                ), usage
            try:
                thought, usage = self._think(self.chat_model, step, run_date, feedback)
            except ModelFault as error:
                return self._failed(step, attempt, fault_of(error)), getattr(error, "usage", Usage(model_calls=1))
            sql, confidence, strategy = thought.sql_query.strip().rstrip(";"), _share(thought.confidence), "model"
        elif not step.verified:
            strategy = "model"
        if repaired:
            confidence = min(confidence, REPAIRED_CONFIDENCE)
        outcome = self._act(step, sql, meanings, attempt, confidence, strategy)
        notes: list[str] = []
        for _ in range(MAX_MENDS if self.mend is not None else 0):
            mended = self._mended(outcome)
            if mended is None:
                break
            if mended[0].sql is None:
                outcome = _told(outcome, mended[0])
                break
            worker = replace(self, guard=mended[1])
            outcome = worker._act(step, mended[0].sql, meanings, attempt, confidence, strategy)
            notes += [mended[0].message] if mended[0].message else []
        return outcome.model_copy(update={"repaired": repaired, "followed": (*notes, *outcome.followed)}), usage

    def _mended(self, outcome: StepOutcome) -> tuple[Mended, Guard] | None:
        """What the schema's history says of an unknown name; None where nothing unknown was named."""
        fault = outcome.fault
        if self.mend is None or fault is None or fault.sql is None:
            return None
        name = wrong_name(fault.message) if fault.fault_class in ("unknown_table", "unknown_column") else None
        return self.mend(fault.sql, name) if name is not None else None

    def _act(
        self,
        step: SqlStep,
        sql: str,
        meanings: tuple[ColumnMeaning, ...],
        attempt: int,
        confidence: float,
        strategy: str,
    ) -> StepOutcome:
        verdict = self.guard.check(sql)
        if not verdict.allowed or verdict.query is None:
            fault = Fault(
                fault_class=classify(verdict.code),
                code=verdict.code,
                message=verdict.message,
                sql=sql,
                suggestions=verdict.suggestions,
            )
            return self._failed(step, attempt, fault)
        cautions: tuple[str, ...] = ()
        try:
            if self.check_names is not None:
                cautions = self.check_names((*verdict.tables, *verdict.columns))
            self.warehouse.explain(verdict.query)
            if strategy == "model" and self.check_joins is not None:
                self.check_joins(verdict.query)
            result = self.warehouse.execute(verdict.query)
        except QueryFault as error:
            return self._failed(step, attempt, _with_cautions(fault_of(error, sql), cautions))
        evidence = SqlEvidence(
            marker="",
            step_id=step.step_id,
            task=step.task,
            sql=verdict.query.text,
            result=result,
            meanings=meanings,
            tables=verdict.tables,
            columns=verdict.columns,
            confidence=confidence,
            strategy=strategy,
        )
        return StepOutcome(step_id=step.step_id, attempt=attempt, sql=evidence, followed=cautions)

    def _think(self, model: ChatModel, step: SqlStep, run_date: date, feedback: str) -> tuple[SqlThought, Usage]:
        prompt = load_prompt("write_sql")
        known = self.known() if self.known is not None else Known()
        user = prompt.render(
            {
                "dialect": self.warehouse.dialect,
                "run_date": run_date.isoformat(),
                "card": build_card(step.task, self.catalog, values=known.values, joins=known.joins),
                "question": fence("question", step.task),
                "feedback": feedback,
            }
        )
        return model.complete(prompt.system, user, SqlThought)

    def _translated(self, sql: str) -> str:
        """A statement of the semantic model in the warehouse's dialect."""
        source, target = self.semantic_model.dialect, self.warehouse.dialect
        return sql if source == target else str(sqlglot.transpile(sql, read=source, write=target)[0])

    def _failed(self, step: SqlStep, attempt: int, fault: Fault) -> StepOutcome:
        return StepOutcome(step_id=step.step_id, attempt=attempt, fault=fault)


def _told(outcome: StepOutcome, mended: Mended) -> StepOutcome:
    """The fault with what is known of the name: how it is spelt, or that the schema changed and how."""
    assert outcome.fault is not None
    update: dict[str, object] = {"suggestions": (*mended.suggestions, *outcome.fault.suggestions)}
    if mended.drift:
        # A name that is gone is not one that was misspelt: nothing similar is put in its place without a person.
        update = {"message": mended.message, "suggestions": ()}
    return outcome.model_copy(update={"fault": outcome.fault.model_copy(update=update)})


def _with_cautions(fault: Fault, cautions: tuple[str, ...]) -> Fault:
    """The fault with the undecided changes of what the statement reads; a name that is gone is explained elsewhere."""
    if not cautions or fault.fault_class in ("unknown_table", "unknown_column"):
        return fault
    return fault.model_copy(update={"message": f"{fault.message.rstrip('.')}; {'; '.join(cautions)}"})


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))


def feedback_on(fault: Fault) -> str:
    """What a model is told of its last attempt; the statement and the message are data."""
    hints = f"\nNames that exist: {', '.join(fault.suggestions)}" if fault.suggestions else ""
    narrow = "\nMake it read less: aggregate, filter or limit." if fault.fault_class in ("timeout", "too_large") else ""
    return (
        "\nYour last statement failed. Correct only what is at fault.\n"
        f"{fence('statement', fault.sql or '')}\n{fence('fault', f'{fault.code}: {fault.message}')}{hints}{narrow}"
    )
