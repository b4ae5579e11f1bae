"""The systems that write SQL for a question: one call with the whole schema, bare and repaired, and the worker."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from pydantic import BaseModel, Field

from rag_core.connectors.base import PLAIN, ChatModel, Decoding, Output
from rag_core.datamodel.answer import Usage
from rag_core.datamodel.base import Record
from rag_core.datamodel.plan import SqlStep
from rag_core.datamodel.query import QueryResult
from rag_core.errors import ModelFault, QueryFault
from rag_core.evaluation.sql_databases import EvalDatabase
from rag_core.evaluation.sql_questions import SqlQuestion
from rag_core.prompts.loader import load_prompt
from rag_core.semantics.definitions import SemanticModel
from rag_core.workers.coverage import cover
from rag_core.workers.execution import run_guarded
from rag_core.workers.outcome import Fault, StepOutcome
from rag_core.workers.reflection import classify, fault_of
from rag_core.workers.sql_settle import MENDED_EMPTY, UNMENDED
from rag_core.workers.sql_worker import SqlWorker

# Faults that say "this is not answered" and not "this statement failed".
WITHHELD = frozenset({"impossible", "policy"})


class OneStatement(BaseModel):
    """One SQL query for the question."""

    sql_query: str = Field(description="One SELECT statement")


class SqlReply(Record):
    """What a system made of a question. `first` is the first statement that a model wrote for it.

    `result` is None where the last statement failed (`fault`), or where the system withheld an answer (`withheld`).
    """

    first: str = ""
    sql: str = ""
    repaired: str = ""
    result: QueryResult | None = None
    fault: str = ""
    withheld: bool = False
    usage: Usage = Usage()


SqlSystem = Callable[[SqlQuestion], SqlReply]


@dataclass
class KeptReplies:
    """A chat model whose replies are kept in a file, so that no system and no later run pays for the same one twice.

    `statements` are those of the last questions asked, in order.
    """

    model: ChatModel
    path: Path
    statements: list[str] = field(default_factory=list)
    _kept: dict[str, dict[str, object]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for line in self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else ():
            try:
                entry = json.loads(line)
                self._kept[entry["key"]] = entry
            except (ValueError, KeyError):
                continue  # a line that was cut off

    @property
    def model_id(self) -> str:
        """Name of the model."""
        return self.model.model_id

    def complete(
        self, system: str, user: str, output: type[Output], decoding: Decoding = PLAIN
    ) -> tuple[Output, Usage]:
        """The kept reply to just this prompt, drawn in just this way, else the model's."""
        asked = [self.model_id, system, user, output.__name__]
        if decoding != PLAIN:
            asked += [str(decoding.draw), str(decoding.temperature), decoding.grammar() if decoding.grammar else ""]
        key = hashlib.sha256(json.dumps(asked).encode()).hexdigest()
        entry = self._kept.get(key)
        if entry is None:
            reply, usage = self.model.complete(system, user, output, decoding)
            entry = {"key": key, "reply": reply.model_dump(mode="json"), "usage": usage.model_dump(mode="json")}
            self._kept[key] = entry
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"\n{json.dumps(entry)}\n")  # the line before it may have been cut off
        reply = output.model_validate(entry["reply"])
        self.statements.append(str(getattr(reply, "sql_query", "")).strip().rstrip(";"))
        return reply, Usage.model_validate(entry["usage"])


def run_statement(database: EvalDatabase, sql: str) -> tuple[QueryResult | None, Fault | None]:
    """The result of a statement, or why there is none."""
    try:
        done = run_guarded(database.guard, database.warehouse, sql)
    except QueryFault as error:
        return None, fault_of(error, sql)
    if done.result is None:
        code, message = done.verdict.code, done.verdict.message
        return None, Fault(fault_class=classify(code), code=code, message=message, sql=sql)
    return done.result, None


def single_shot(database: EvalDatabase, model: KeptReplies) -> SqlSystem:
    """One call with the whole schema; what it writes is run as it stands."""

    def ask(question: SqlQuestion) -> SqlReply:
        try:
            sql, usage = _write_once(database, model, question)
        except ModelFault as error:
            return _unwritten(error)
        result, fault = run_statement(database, sql)
        return SqlReply(first=sql, sql=sql, result=result, fault=fault.message if fault else "", usage=usage)

    return ask


def repaired_shot(database: EvalDatabase, model: KeptReplies, run_date: date) -> SqlSystem:
    """The same one call, its statement put through the SQL worker: the gap is what code alone adds."""
    worker = _worker(database, None)

    def ask(question: SqlQuestion) -> SqlReply:
        covered = cover(question.asked, database.catalog, database.known.values)
        if covered.foreign:
            return SqlReply(fault=f"nothing speaks of {', '.join(covered.unknown[:5])}", withheld=True)
        try:
            sql, usage = _write_once(database, model, question)
        except ModelFault as error:
            return _unwritten(error)
        outcome, _ = worker.run(SqlStep(step_id="s1", task=question.asked, sql=sql), run_date=run_date)
        return _reply(outcome, sql, usage)

    return ask


def sql_worker(
    database: EvalDatabase, model: KeptReplies, run_date: date, *, grammar: bool, candidates: int = 1
) -> SqlSystem:
    """The SQL worker with its own prompt and its repair: under a grammar or not, by one statement or by several."""
    worker = replace(_worker(database, model), grammar=grammar, candidates=candidates)

    def ask(question: SqlQuestion) -> SqlReply:
        model.statements.clear()
        outcome, usage = worker.run(SqlStep(step_id="s1", task=question.asked), run_date=run_date)
        return _reply(outcome, model.statements[0] if model.statements else "", usage)

    return ask


def _write_once(database: EvalDatabase, model: KeptReplies, question: SqlQuestion) -> tuple[str, Usage]:
    prompt = load_prompt("write_sql_once")
    user = prompt.render({"schema": database.definition(), "question": question.asked})
    reply, usage = model.complete(prompt.system, user, OneStatement)
    return reply.sql_query.strip().rstrip(";"), usage


def _unwritten(error: ModelFault) -> SqlReply:
    return SqlReply(fault=str(error), usage=getattr(error, "usage", Usage(model_calls=1)))


def _worker(database: EvalDatabase, model: ChatModel | None) -> SqlWorker:
    return SqlWorker(
        warehouse=database.warehouse,
        guard=database.guard,
        catalog=database.catalog,
        semantic_model=SemanticModel(entities={}, time_dimensions={}, dimensions={}, metrics={}),
        chat_model=model,
        known=lambda: database.known,
    )


def _reply(outcome: StepOutcome, first: str, usage: Usage) -> SqlReply:
    found, fault = outcome.sql, outcome.fault
    return SqlReply(
        first=first,
        sql=found.sql if found is not None else (fault.sql or "") if fault is not None else "",
        repaired=outcome.repaired,
        result=found.result if found is not None else None,
        fault=fault.message if fault is not None else "",
        withheld=fault is not None and (fault.fault_class in WITHHELD or fault.code in (MENDED_EMPTY, UNMENDED)),
        usage=usage,
    )
