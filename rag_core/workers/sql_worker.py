"""Gets figures out of the warehouse: compile or write SQL, guard it, let the database judge it, run it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple, Protocol

import sqlglot
from pydantic import BaseModel, Field

from rag_core.connectors.base import PLAIN, ChatModel, Decoding, Warehouse
from rag_core.datamodel.answer import Usage, add_usage
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.evidence import ColumnMeaning, SqlEvidence
from rag_core.datamodel.plan import SqlStep
from rag_core.datamodel.query import GuardedSql, GuardVerdict
from rag_core.errors import BudgetExhausted, ModelFault, QueryFault
from rag_core.prompts.loader import fence, load_prompt
from rag_core.schema.knowledge import Known
from rag_core.schema.mend import Mended
from rag_core.semantics.compile import compile_query
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.paths import SemanticError
from rag_core.workers.coverage import cover, spoken_names
from rag_core.workers.outcome import Fault, StepOutcome
from rag_core.workers.reflection import classify, fault_of, wrong_name
from rag_core.workers.sql_candidates import TEMPERATURE, choose, doubtful, settled
from rag_core.workers.sql_card import describe_schema
from rag_core.workers.sql_grammar import build_grammar
from rag_core.workers.sql_repair.mender import is_mendable
from rag_core.workers.sql_repair.shape import Shape
from rag_core.workers.sql_settle import describe, settle

# Mended statements often run and are wrong; whoever reads the evidence must see that it was mended.
REPAIRED_CONFIDENCE = 0.6
# Several names of one statement may be gone, for different reasons.
MAX_MENDS = 3


class Guard(Protocol):
    """What the worker needs of the SQL guard."""

    def check(self, sql: str) -> GuardVerdict:
        """The decision on one statement of anybody."""
        ...


class _Statement(NamedTuple):
    """What is to be run, what its columns mean, how sure it is, and the strategy it came by."""

    sql: str
    meanings: tuple[ColumnMeaning, ...]
    confidence: float
    strategy: str


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
    `known` tells values and joins for the schema card. `repairs` has code mend what a model wrote. `grammar` has it
    written under one, where the endpoint takes one. `candidates` is how many statements are drawn at most where the
    first one is doubtful, that one counted.
    A task ends before a model is asked where schema, values and semantic model speak of hardly a word of it.
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
    repairs: bool = True
    grammar: bool = True
    candidates: int = 1

    def run(
        self,
        step: SqlStep,
        *,
        run_date: date,
        attempt: int = 1,
        repaired: str = "",
        feedback: str = "",
        late: Callable[[], bool] = lambda: False,
    ) -> tuple[StepOutcome, Usage]:
        """One attempt at a step. Faults that reflection may act on come back as values.

        Once `late` says that the time of the question is up, no statement is drawn besides the first.

        Raises ServiceUnavailable where the warehouse or the chat model does not answer.
        """
        written, usage = self._written(step, run_date, attempt, feedback)
        if isinstance(written, StepOutcome):
            return written, usage
        outcome = self._tried(step, written, attempt, repaired)
        drawn_by_model = written.strategy == "model" and step.sql is None
        if drawn_by_model and attempt == 1 and self.candidates > 1 and doubtful(outcome):
            outcome, spent = self._agreed(step, outcome, run_date, late)
            usage = add_usage(usage, spent)
        return outcome, usage

    def _agreed(
        self, step: SqlStep, first: StepOutcome, run_date: date, late: Callable[[], bool]
    ) -> tuple[StepOutcome, Usage]:
        """What most of several statements bring, each guarded, mended and run like the first one."""
        drawn, usage = [first], Usage()
        for draw in range(1, self.candidates):
            if settled(drawn, self.candidates) or late():
                break
            try:
                written, spent = self._written(step, run_date, 1, "", Decoding(draw=draw, temperature=TEMPERATURE))
            except BudgetExhausted:
                break  # the first one has been paid for; it is judged by those that there are
            usage = add_usage(usage, spent)
            drawn.append(written if isinstance(written, StepOutcome) else self._tried(step, written, 1, ""))
        return choose(drawn) if len(drawn) > 1 else first, usage

    def _tried(self, step: SqlStep, written: _Statement, attempt: int, repaired: str) -> StepOutcome:
        """What a statement brings, after what the schema's history and code have mended."""
        sql, meanings, confidence, strategy = written
        if repaired:
            confidence = min(confidence, REPAIRED_CONFIDENCE)
        outcome = self._act(step, sql, meanings, attempt, confidence, strategy)
        notes: list[str] = []
        worker, drifted = self, False
        for _ in range(MAX_MENDS if self.mend is not None else 0):
            mended = self._mended(outcome)
            if mended is None:
                break
            if mended[0].sql is None:
                outcome, drifted = _told(outcome, mended[0]), mended[0].drift
                break
            worker = replace(self, guard=mended[1])
            sql = mended[0].sql
            outcome = worker._act(step, sql, meanings, attempt, confidence, strategy)
            notes += [mended[0].message] if mended[0].message else []
        if strategy == "model" and self.repairs and not drifted:
            # What the schema's history explains is for a person; what a model got wrong, code may put right.
            outcome, told = worker._settled(step, sql, outcome, attempt, confidence)
            repaired = "; ".join(filter(None, (repaired, told)))
        return outcome.model_copy(update={"repaired": repaired, "followed": (*notes, *outcome.followed)})

    def _written(
        self, step: SqlStep, run_date: date, attempt: int, feedback: str, decoding: Decoding = PLAIN
    ) -> tuple[_Statement | StepOutcome, Usage]:
        """The statement of a step: its metric's, its own, or a model's; an outcome with a fault where there is none."""
        if step.metric_query is not None:
            try:
                compiled = compile_query(step.metric_query, self.semantic_model, self.warehouse.dialect)
            except SemanticError as error:
                fault = Fault(fault_class="needs_model", code="semantics", message=str(error))
                return self._failed(step, attempt, fault), Usage()
            return _Statement(compiled.sql, compiled.meanings, 1.0, "metric"), Usage()
        if step.sql is not None:
            if step.verified:
                return _Statement(self._translated(step.sql), step.meanings, 1.0, "verified"), Usage()
            return _Statement(step.sql, (), 1.0, "model"), Usage()
        if self.chat_model is None:
            message = "no metric answers it and no chat model is configured"
            fault = Fault(fault_class="needs_model", code="no_model", message=message)
            return self._failed(step, attempt, fault), Usage()
        foreign = self._foreign(step.task)
        if foreign is not None:
            return self._failed(step, attempt, foreign), Usage()
        try:
            thought, usage = self._think(self.chat_model, step, run_date, feedback, decoding)
        except ModelFault as error:
            return self._failed(step, attempt, fault_of(error)), getattr(error, "usage", Usage(model_calls=1))
        return _Statement(thought.sql_query.strip().rstrip(";"), (), _share(thought.confidence), "model"), usage

    def _foreign(self, task: str) -> Fault | None:
        """The fault of a task that the warehouse does not speak of at all."""
        covered = cover(task, self.catalog, self._known().values, spoken_names(self.semantic_model))
        if not covered.foreign:
            return None
        words = ", ".join(covered.unknown[:5])
        message = (
            f"the warehouse holds nothing that speaks of {words} (a synonym or a column's comment can say it does)"
        )
        return Fault(fault_class="impossible", code="foreign", message=message)

    def _settled(
        self, step: SqlStep, sql: str, outcome: StepOutcome, attempt: int, confidence: float
    ) -> tuple[StepOutcome, str]:
        """A model's statement after its mends by code, and what they were."""
        if outcome.fault is not None and not is_mendable(outcome.fault):
            return outcome, ""
        if outcome.sql is not None and not outcome.sql.tables:
            # What was made up without reading anything is no evidence, however well it is put.
            message = "the statement that was written reads no table"
            fault = Fault(fault_class="impossible", code="no_table", message=message, sql=sql)
            return self._failed(step, attempt, fault), ""

        def act(text: str) -> StepOutcome:
            return self._act(step, text, (), attempt, min(confidence, REPAIRED_CONFIDENCE), "model")

        known = self._known()
        settled = settle(sql, outcome, act, Shape(self.catalog, known.joins, known.values))
        found = settled.outcome.sql
        if found is None or not settled.mended.mends:
            return settled.outcome, ""
        sure = min(found.confidence, settled.mended.confidence)
        evidence = found.model_copy(update={"confidence": sure})
        return settled.outcome.model_copy(update={"sql": evidence}), describe(settled.mended)

    def _known(self) -> Known:
        return self.known() if self.known is not None else Known()

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

    def _think(
        self, model: ChatModel, step: SqlStep, run_date: date, feedback: str, decoding: Decoding
    ) -> tuple[SqlThought, Usage]:
        prompt, known = load_prompt("write_sql"), self._known()
        card, named = describe_schema(step.task, self.catalog, known)
        if self.grammar:
            decoding = decoding._replace(grammar=lambda: build_grammar(step.task, self.catalog, known.values))
        user = prompt.render(
            {
                "dialect": self.warehouse.dialect,
                "run_date": run_date.isoformat(),
                "card": card,
                "question": fence("question", step.task),
                "hints": fence("values", f"The warehouse holds: {named}") if named else "",
                "feedback": feedback,
            }
        )
        return model.complete(prompt.system, user, SqlThought, decoding)

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
