"""What the store tells of batch runs: for people who look at them, and for a question that is asked by itself."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Literal

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from rag_core.batch.headline import with_headline
from rag_core.batch.manual import MANUAL_BATCH
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.answer import Answer
from rag_core.datamodel.base import Record
from rag_core.datamodel.query import Cell
from rag_core.datamodel.question import Batch, Question
from rag_core.datamodel.report import CheckResult, PastValue, PublishState
from rag_core.errors import ConfigurationError
from rag_core.reports.writer import read_history

RunState = Literal["running", "finished", "failed"]
# An answer that was kept back longer ago than this is not news.
HELD_FOR = timedelta(days=31)


class RunHead(Record):
    """A batch run in a line.

    `answered` counts the questions that have an answer so far; `stands` is whether this run is the one that is
    published for its batch and date. `outcome` holds the counts of a run that ended, `error` why one failed.
    """

    run_id: str
    batch: str
    title: str
    owner: str
    run_date: date
    publish: bool
    state: RunState
    started_at: datetime
    finished_at: datetime | None = None
    questions: int
    answered: int
    stands: bool = False
    outcome: dict[str, Any] = {}
    error: str = ""
    first_question: str = ""
    first_question_id: str = ""


class RunQuestion(Record):
    """A question of a run with its answer in a line. `status` is None where there is no answer yet."""

    question: Question
    status: str | None = None
    state: PublishState | None = None
    answer: str = ""
    reason: str = ""
    headline_value: Cell = None
    headline_unit: str = ""
    review: str | None = None
    reviewed_by: str | None = None
    failed_checks: int = 0


class RunRecord(Record):
    """A run with its questions, in the order of the batch."""

    head: RunHead
    questions: tuple[RunQuestion, ...]


class AnswerRecord(Record):
    """All that is known of one question of a run; `state` and what follows it only where the run was published."""

    head: RunHead
    question: Question
    answer: Answer | None = None
    state: PublishState | None = None
    reason: str = ""
    review: str | None = None
    reviewed_by: str | None = None
    reviewed_at: datetime | None = None
    review_note: str | None = None
    checks: tuple[CheckResult, ...] = ()
    history: tuple[PastValue, ...] = ()


class OpenWork(Record):
    """How many things wait for a person."""

    held_answers: int
    open_events: int
    broken_plans: int
    draft_plans: int
    failed_documents: int


def list_runs(
    store: Store, *, batch: str | None = None, run_date: date | None = None, limit: int = 50
) -> tuple[RunHead, ...]:
    """The runs that started last, newest first."""
    rows = _read(store, "batches/list_runs", {"batch": batch, "run_date": run_date, "run_count": limit})
    return tuple(map(_head, rows))


def read_run(store: Store, run_id: str) -> RunRecord:
    """One run with the state of each question. Raises ConfigurationError where there is none."""
    head, batch = _find(store, run_id)
    rows = {row["question_id"]: row for row in _read(store, "batches/list_run_answers", {"run_id": run_id})}
    return RunRecord(
        head=head, questions=tuple(_run_question(item, rows.get(item.question_id)) for item in batch.questions)
    )


def read_answer(store: Store, run_id: str, question_id: str) -> AnswerRecord:
    """One question of a run with its answer, checks and history. Raises ConfigurationError where there is none."""
    head, batch = _find(store, run_id)
    question = next((item for item in batch.questions if item.question_id == question_id), None)
    if question is None:
        raise ConfigurationError(f"the run {run_id} has no question {question_id}")
    key = {"run_id": run_id, "batch": head.batch, "run_date": head.run_date, "question_id": question_id}
    staged = next(iter(_read(store, "batches/find_staged_answer", key)), None)
    published = next(iter(_read(store, "batches/find_published_answer", key)), None)
    alone = batch.model_copy(update={"questions": (question,)})
    with store.connection() as connection:
        history = read_history(connection, alone, before=head.run_date)
    return AnswerRecord(
        head=head,
        question=question,
        answer=with_headline(question, Answer.model_validate(staged["answer"])) if staged is not None else None,
        checks=tuple(_check(row) for row in _read(store, "batches/list_checks", key)) if published else (),
        history=history.get(question_id, ()),
        **(published or {}),
    )


def count_open_work(store: Store, today: date, batches: Collection[str]) -> OpenWork:
    """What waits for a person in these batches; answers that were kept back count for a month."""
    values = {"since": today - HELD_FOR, "batches": sorted(batches), "manual": MANUAL_BATCH}
    return OpenWork(**_read(store, "batches/count_open_work", values)[0])


def list_question_batches(store: Store) -> dict[str, frozenset[str]]:
    """The batches that ask each standing question, by its id; questions that were asked by hand are not among them."""
    found: dict[str, set[str]] = {}
    for row in _read(store, "batches/list_question_batches", {"manual": MANUAL_BATCH}):
        found.setdefault(row["question_id"], set()).add(row["batch"])
    return {question_id: frozenset(batches) for question_id, batches in found.items()}


def close_run(store: Store, run_id: str, *, error: str = "") -> None:
    """Ends a run that is neither judged nor published, as that of a single question is; with an error it failed."""
    values = {
        "run_id": run_id,
        "state": "failed" if error else "finished",
        "outcome": Jsonb({"error": error} if error else {}),
    }
    with store.connection() as connection:
        connection.execute(statement("batches/finish_run"), values)


def _read(store: Store, name: str, values: dict[str, Any]) -> Sequence[dict[str, Any]]:
    with store.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute(statement(name), values)
        return cursor.fetchall()


def _find(store: Store, run_id: str) -> tuple[RunHead, Batch]:
    row = next(iter(_read(store, "batches/find_run_head", {"run_id": run_id})), None)
    if row is None:
        raise ConfigurationError(f"there is no batch run {run_id}")
    return _head(row), Batch.model_validate(row["definition"])


def _head(row: dict[str, Any]) -> RunHead:
    outcome = row["outcome"] or {}
    values = {name: row[name] for name in RunHead.model_fields if name in row and name not in ("run_id", "outcome")}
    return RunHead(run_id=str(row["run_id"]), outcome=outcome, error=str(outcome.get("error") or ""), **values)


def _run_question(question: Question, row: dict[str, Any] | None) -> RunQuestion:
    if row is None:
        return RunQuestion(question=question)
    number = row["headline_number"]
    return RunQuestion(
        question=question,
        headline_value=number if number is not None else row["headline_text"],
        headline_unit=row["headline_unit"] or "",
        **{
            name: row[name]
            for name in ("status", "state", "answer", "reason", "review", "reviewed_by", "failed_checks")
        },
    )


def _check(row: dict[str, Any]) -> CheckResult:
    return CheckResult(**{**row, "description": row["description"] or ""})
