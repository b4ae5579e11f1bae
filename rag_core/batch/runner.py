"""Runs a batch: start, answer in groups, then judge, publish and report. Each step may run in a process of its own."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import psycopg
from psycopg.types.json import Json, Jsonb
from pydantic import ValidationError

from rag_core.batch.budget import exhausted
from rag_core.batch.dates import date_values
from rag_core.batch.file import fill_placeholders
from rag_core.batch.gate import Choice, Gate, HeldQuestion, SchemaGate
from rag_core.batch.headline import with_headline
from rag_core.batch.turns import in_turns, part
from rag_core.batch.usage import add_usage
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.answer import Answer, Usage, Verdict
from rag_core.datamodel.question import Batch, Budget, Question
from rag_core.datamodel.report import BatchOutcome, History
from rag_core.errors import ConfigurationError, ServiceUnavailable
from rag_core.graph.housekeeping import forget_run
from rag_core.plans.fingerprint import question_key
from rag_core.quality.decide import decide
from rag_core.quality.observation import RunContext
from rag_core.quality.suites import observe_answer
from rag_core.quality.validate import judge
from rag_core.reports.bundle import AnsweredQuestion, RunBundle, answer_fingerprint
from rag_core.reports.files import draw_charts, render_reports, report_path, write_reports
from rag_core.reports.summary import summarise_run
from rag_core.reports.writer import apply_reviews, lock_batch, prepare_partitions, publish_run, read_history

if TYPE_CHECKING:
    from rag_core.graph.build import Orchestrator

logger = logging.getLogger(__name__)

_ENDED = "The run ended before this question was answered."

Progress = Callable[[str, Answer], None]


class StartedRun(NamedTuple):
    """A run that was recorded, with its questions in groups for separate processes.

    Questions that `gate` holds are in no group. Where its policy is to wait, they are still to be decided on.
    """

    run_id: str
    groups: tuple[tuple[str, ...], ...]
    gate: Gate = Gate()


class _Run(NamedTuple):
    batch: Batch
    run_date: date
    publish: bool
    state: str
    started_at: datetime


class BatchRunner:
    """Runs batches against one store. The orchestrator is made, for a batch's principal, when it is first asked.

    `schema_gate` makes what holds questions back that a breaking schema change touches; None holds none. So many
    questions that need no chat model are answered `side_by_side`.
    """

    def __init__(
        self,
        *,
        store: Store,
        orchestrator: Callable[[str | None], Orchestrator],
        reports_folder: Path,
        schema_gate: Callable[[], SchemaGate] | None = None,
        side_by_side: int = 1,
    ) -> None:
        self._store = store
        self._orchestrator = orchestrator
        self._reports_folder = reports_folder
        self._schema_gate = schema_gate
        self._side_by_side = side_by_side

    def run(
        self, batch: Batch, run_date: date, *, publish: bool = True, progress: Progress | None = None
    ) -> BatchOutcome:
        """All steps one after the other in this process."""
        started = self.start(batch, run_date, publish=publish)
        # Nobody can be waited for here: the questions are paused, and the report says for what decision.
        self.pause(started.run_id, started.gate.held)
        for group in started.groups:
            self.answer(started.run_id, group, progress=progress)
        return self.finish(started.run_id)

    def start(self, batch: Batch, run_date: date, *, publish: bool = True, group_size: int = 20) -> StartedRun:
        """Records the run with the batch as it is now, so that a later change of the file does not reach it.

        Questions that a breaking schema change touches are left out of the groups; they are paused at once, unless the
        batch waits for a decision. Raises BatchHeld where the batch is to fail then.
        """
        gate = self._schema_gate().look(batch) if self._schema_gate is not None else Gate()
        run_id = str(uuid.uuid4())
        with self._transaction() as connection:
            connection.execute(
                statement("batches/insert_run"),
                {
                    "run_id": run_id,
                    "batch": batch.batch,
                    "run_date": run_date,
                    "publish": publish,
                    "definition": Jsonb(batch.model_dump(mode="json")),
                },
            )
        held = {item.question_id for item in gate.held}
        ids = [question.question_id for question in batch.questions if question.question_id not in held]
        groups = tuple(tuple(ids[start : start + group_size]) for start in range(0, len(ids), group_size))
        if gate.policy != "wait":
            self.pause(run_id, gate.held)
        return StartedRun(run_id, groups, gate)

    def pause(self, run_id: str, held: Sequence[HeldQuestion]) -> None:
        """Stages an answer with the status `paused` and the reason for each of these questions."""
        run = self._load(run_id) if held else None
        for item in held:
            assert run is not None
            (question,) = _select(run.batch, [item.question_id])
            answer = _not_answered(question, run.run_date, run_id, f"Paused: {item.reason}.", status="paused")
            self._stage(run_id, item.question_id, answer)

    def take_up(
        self,
        run_id: str,
        question_ids: Sequence[str],
        choice: Choice,
        *,
        actor: str,
        became: str = "",
        events: Sequence[int] = (),
    ) -> dict[str, Any]:
        """Carries out a decision on the questions that a run holds: answers those it frees, pauses the others.

        Returns counts by status. See `SchemaGate.take_up` for the arguments and errors.
        """
        if self._schema_gate is None:
            raise ConfigurationError("this runner holds no questions back: there is nothing to decide")
        batch = self._load(run_id).batch
        gate = self._schema_gate().take_up(batch, choice, actor=actor, became=became, events=events)
        still = [item for item in gate.held if item.question_id in question_ids]
        self.pause(run_id, still)
        paused = {item.question_id for item in still}
        counts = self.answer(run_id, [name for name in question_ids if name not in paused])
        return {**counts, "paused": len(paused)}

    def answer(self, run_id: str, question_ids: Sequence[str], *, progress: Progress | None = None) -> dict[str, Any]:
        """Answers these questions of the run and stages each answer at once.

        A question that is already staged is not asked again, so that a process that died goes on where it stopped.
        Returns counts by status. Raises ServiceUnavailable where a service is gone: the caller tries again later.
        """
        run = self._load(run_id)
        with self._transaction() as connection:
            rows = connection.execute(statement("batches/list_staged_ids"), {"run_id": run_id}).fetchall()
        done = {row[0] for row in rows}
        asked = _select(run.batch, question_ids)
        todo = [question for question in asked if question.question_id not in done]
        counts: dict[str, int] = {"already_answered": len(asked) - len(todo)}
        together, alone = self._parted(run, todo)
        for questions, width in ((together, self._side_by_side), (alone, 1)):
            answers = in_turns(questions, lambda question: self._answer_one(run_id, run, question), width=width)
            for question, answer in zip(questions, answers, strict=True):
                counts[answer.status] = counts.get(answer.status, 0) + 1
                if progress is not None:
                    progress(question.question_id, answer)
        return counts

    def _parted(self, run: _Run, todo: Sequence[Question]) -> tuple[list[Question], list[Question]]:
        """See `turns.part`."""
        if self._side_by_side < 2 or len(todo) < 2:
            return [], list(todo)
        given = [(question.text, _parameters(run, question)) for question in todo]
        free = self._orchestrator(run.batch.principal).need_no_model(given, replay=run.batch.plan_policy)
        return part(todo, free, lambda question: (question_key(question.text), str(question.parameters)))

    def _answer_one(self, run_id: str, run: _Run, question: Question) -> Answer:
        """Answers and stages one question, where the budget is not used up."""
        spent = self._exhausted(run_id, run)
        if spent is not None:
            answer = _not_answered(question, run.run_date, run_id, f"The budget of the batch is used up: {spent}.")
        else:
            answer = self._orchestrator(run.batch.principal).answer(
                question.text,
                run_date=run.run_date,
                question_id=question.question_id,
                parameters=_parameters(run, question),
                run_id=run_id,
                replay=run.batch.plan_policy,
            )
        self._stage(run_id, question.question_id, answer)
        return answer

    def resume(self, run_id: str, *, progress: Progress | None = None) -> BatchOutcome:
        """Answers what a run that was cut off has not answered yet, and finishes it."""
        run = self._load(run_id)
        self.answer(run_id, [question.question_id for question in run.batch.questions], progress=progress)
        return self.finish(run_id)

    def find_unfinished(self, batch: Batch, run_date: date) -> str | None:
        """The last run of this batch and date that was never finished, or None."""
        with self._transaction() as connection:
            row = connection.execute(
                statement("batches/find_unfinished_run"), {"batch": batch.batch, "run_date": run_date}
            ).fetchone()
        return str(row[0]) if row is not None else None

    def finish(self, run_id: str) -> BatchOutcome:
        """Judges all staged answers in one pass, publishes them and writes the report: all of it or nothing.

        Safe to repeat: the same run leaves the same rows. A question without a staged answer is a failed row. Raises
        ServiceUnavailable where the store is gone, ConfigurationError where the report cannot be written.
        """
        run = self._load(run_id)
        answered = self._collect(run_id, run)
        draw_charts(answered)
        if run.publish:
            with self._transaction() as connection:
                prepare_partitions(connection, run.run_date)
        with self._transaction() as connection:
            # Until the end nobody else publishes or reviews this batch: what is judged here is what is published.
            lock_batch(connection, run.batch.batch)
            history = read_history(connection, run.batch, before=run.run_date)
            bundle = RunBundle(
                run_id=run_id,
                batch=run.batch,
                run_date=run.run_date,
                started_at=run.started_at,
                finished_at=datetime.now(UTC),
                published=run.publish,
                items=tuple(_judge(answered, history, run.run_date)),
                usage=add_usage(answer.usage for _, answer in answered),
            )
            if run.publish:
                bundle = apply_reviews(connection, bundle)
            path = report_path(bundle, self._reports_folder)
            texts = render_reports(bundle, history, path)
            if run.publish:
                publish_run(connection, bundle, path)
            outcome = _summarise(bundle, path)
            summary = summarise_run(run.batch, outcome).model_dump(mode="json")
            connection.execute(
                statement("batches/finish_run"),
                {
                    "run_id": run_id,
                    "state": "finished",
                    "outcome": Jsonb({**outcome.model_dump(mode="json", exclude={"questions"}), "summary": summary}),
                },
            )
            # Last, so that a disk that is full takes the rows back too.
            write_reports(texts)
        forget_run(self._store, run_id)
        return outcome

    @contextmanager
    def _transaction(self) -> Iterator[psycopg.Connection]:
        """A transaction of the store; where the store is lost on the way, ServiceUnavailable: nothing was written."""
        try:
            with self._store.connection() as connection:
                yield connection
        except psycopg.OperationalError as error:
            reason = str(error).strip().splitlines()
            raise ServiceUnavailable(
                f"the store was lost during a batch ({reason[0] if reason else type(error).__name__}); "
                "go on with `nightshift batch run --resume`"
            ) from error

    def _collect(self, run_id: str, run: _Run) -> list[tuple[Question, Answer]]:
        with self._transaction() as connection:
            rows = connection.execute(statement("batches/list_staged_answers"), {"run_id": run_id}).fetchall()
        staged = {question_id: answer for question_id, answer, _ in rows}
        collected = []
        for question in run.batch.questions:
            if question.question_id not in staged:
                answer = _not_answered(question, run.run_date, run_id, _ENDED)
            else:
                try:
                    answer = with_headline(question, Answer.model_validate(staged[question.question_id]))
                except ValidationError:
                    logger.exception("the staged answer to %s cannot be read", question.question_id)
                    answer = _not_answered(question, run.run_date, run_id, "The staged answer cannot be read.")
            collected.append((question, answer))
        return collected

    def _exhausted(self, run_id: str, run: _Run) -> str | None:
        if run.batch.budget == Budget():
            return None
        with self._transaction() as connection:
            rows = connection.execute(statement("batches/list_staged_usage"), {"run_id": run_id}).fetchall()
        usage = add_usage(Usage.model_validate(row[0]) for row in rows)
        minutes = (datetime.now(UTC) - run.started_at).total_seconds() / 60
        return exhausted(run.batch.budget, usage, minutes)

    def _stage(self, run_id: str, question_id: str, answer: Answer) -> None:
        payload = Json(answer.model_dump(mode="json"), dumps=_dump)
        with self._transaction() as connection:
            connection.execute(
                statement("batches/upsert_staged_answer"),
                {"run_id": run_id, "question_id": question_id, "answer": payload},
            )

    def _load(self, run_id: str) -> _Run:
        with self._transaction() as connection:
            row = connection.execute(statement("batches/find_run"), {"run_id": run_id}).fetchone()
        if row is None:
            raise ConfigurationError(f"there is no batch run {run_id}")
        _, run_date, publish, state, definition, started_at, _ = row
        return _Run(Batch.model_validate(definition), run_date, publish, state, started_at)


def _parameters(run: _Run, question: Question) -> dict[str, Any]:
    return {**date_values(run.run_date), **question.parameters}


def last_definition(store: Store, batch: str) -> tuple[Batch, date] | None:
    """The batch as it was when it last ran to its end, with that run's date; None where it never did."""
    with store.connection() as connection:
        row = connection.execute(statement("batches/find_last_definition"), {"batch": batch}).fetchone()
    return None if row is None else (Batch.model_validate(row[0]), row[1])


def _judge(answered: Sequence[tuple[Question, Answer]], history: History, run_date: date) -> Iterator[AnsweredQuestion]:
    context = RunContext(
        answers={question.question_id: answer for question, answer in answered}, history=history, run_date=run_date
    )
    observed = [observe_answer(question, answer, context) for question, answer in answered]
    results = judge([item for items in observed for item in items])
    position = 0
    for (question, answer), items in zip(answered, observed, strict=True):
        checks = results[position : position + len(items)]
        position += len(items)
        outcome = decide(question, answer, checks)
        yield AnsweredQuestion(
            question=question, answer=answer, outcome=outcome, fingerprint=answer_fingerprint(answer, outcome.reason)
        )


def _select(batch: Batch, question_ids: Sequence[str]) -> list[Question]:
    by_id = {question.question_id: question for question in batch.questions}
    unknown = [question_id for question_id in question_ids if question_id not in by_id]
    if unknown:
        raise ConfigurationError(f"the batch {batch.batch} has no question {', '.join(unknown)}")
    return [by_id[question_id] for question_id in question_ids]


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def _not_answered(
    question: Question, run_date: date, run_id: str, reason: str, *, status: Literal["failed", "paused"] = "failed"
) -> Answer:
    return Answer(
        question=fill_placeholders(question.text, date_values(run_date)),
        question_id=question.question_id,
        run_date=run_date,
        status=status,
        text=reason,
        strategy="none",
        query_type="none",
        verdict=Verdict(supported=True),
        run_id=run_id,
    )


def _summarise(bundle: RunBundle, path: Path) -> BatchOutcome:
    outcomes = tuple(item.outcome for item in bundle.items)
    return BatchOutcome(
        run_id=bundle.run_id,
        batch=bundle.batch.batch,
        run_date=bundle.run_date,
        published=sum(item.state == "published" for item in outcomes),
        quarantined=sum(item.state == "quarantined" for item in outcomes),
        failed=sum(item.state == "failed" for item in outcomes),
        needs_model=sum(item.state == "needs_model" for item in outcomes),
        questions=outcomes,
        usage=bundle.usage,
        report_path=str(path),
    )
