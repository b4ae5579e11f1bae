"""Runs a batch: start, answer in groups, then judge, publish and report. Each step may run in a process of its own."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg.types.json import Jsonb

from rag_core.batch.usage import add_usage
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.answer import Answer, Usage, Verdict
from rag_core.datamodel.question import Batch, Question
from rag_core.datamodel.report import BatchOutcome, QuestionOutcome
from rag_core.errors import ConfigurationError
from rag_core.quality.decide import decide
from rag_core.quality.suites import observe_answer
from rag_core.quality.validate import judge
from rag_core.reports.bundle import AnsweredQuestion, RunBundle
from rag_core.reports.files import write_report
from rag_core.reports.writer import publish_run, read_history

if TYPE_CHECKING:
    from rag_core.graph.build import Orchestrator

logger = logging.getLogger(__name__)

Progress = Callable[[str, Answer], None]


class StartedRun(NamedTuple):
    """A run that was recorded, with its questions in groups for separate processes."""

    run_id: str
    groups: tuple[tuple[str, ...], ...]


class _Run(NamedTuple):
    batch: Batch
    run_date: date
    publish: bool
    state: str
    started_at: datetime


class BatchRunner:
    """Runs batches against one store. The orchestrator is made when the first question is asked."""

    def __init__(self, *, store: Store, orchestrator: Callable[[], Orchestrator], reports_folder: Path) -> None:
        self._store = store
        self._orchestrator = orchestrator
        self._reports_folder = reports_folder

    def run(
        self, batch: Batch, run_date: date, *, publish: bool = True, progress: Progress | None = None
    ) -> BatchOutcome:
        """All steps one after the other in this process."""
        started = self.start(batch, run_date, publish=publish)
        for group in started.groups:
            self.answer(started.run_id, group, progress=progress)
        return self.finish(started.run_id)

    def start(self, batch: Batch, run_date: date, *, publish: bool = True, group_size: int = 20) -> StartedRun:
        """Records the run with the batch as it is now, so that a later change of the file does not reach it."""
        run_id = str(uuid.uuid4())
        with self._store.connection() as connection:
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
        ids = [question.question_id for question in batch.questions]
        groups = tuple(tuple(ids[start : start + group_size]) for start in range(0, len(ids), group_size))
        return StartedRun(run_id, groups)

    def answer(self, run_id: str, question_ids: Sequence[str], *, progress: Progress | None = None) -> dict[str, Any]:
        """Answers these questions of the run and stages each answer at once.

        A question that is already staged is not asked again, so that a process that died goes on where it stopped.
        Returns counts by status. Raises ServiceUnavailable where a service is gone: the caller tries again later.
        """
        run = self._load(run_id)
        with self._store.connection() as connection:
            rows = connection.execute(statement("batches/list_staged_ids"), {"run_id": run_id}).fetchall()
        done = {row[0] for row in rows}
        counts: dict[str, int] = {"already_answered": 0}
        for question in _select(run.batch, question_ids):
            if question.question_id in done:
                counts["already_answered"] += 1
                continue
            answer = self._orchestrator().answer(
                question.text,
                run_date=run.run_date,
                question_id=question.question_id,
                parameters=dict(question.parameters),
                run_id=run_id,
            )
            self._stage(run_id, question.question_id, answer)
            counts[answer.status] = counts.get(answer.status, 0) + 1
            if progress is not None:
                progress(question.question_id, answer)
        return counts

    def finish(self, run_id: str) -> BatchOutcome:
        """Judges all staged answers in one pass, publishes them in one transaction and writes the report.

        Safe to repeat: the same run leaves the same rows. A question without a staged answer is a failed row.
        """
        run = self._load(run_id)
        answered = self._collect(run_id, run)
        outcomes = self._judge(answered)
        bundle = RunBundle(
            run_id=run_id,
            batch=run.batch,
            run_date=run.run_date,
            started_at=run.started_at,
            finished_at=datetime.now(UTC),
            published=run.publish,
            items=tuple(
                AnsweredQuestion(question=question, answer=answer, outcome=outcome)
                for (question, answer), outcome in zip(answered, outcomes, strict=True)
            ),
            usage=add_usage(answer.usage for _, answer in answered),
        )
        with self._store.connection() as connection:
            history = read_history(connection, run.batch, before=run.run_date)
        report_path = write_report(bundle, history, self._reports_folder)
        outcome = _summarise(bundle, report_path)
        with self._store.connection() as connection:
            if run.publish:
                publish_run(connection, bundle, report_path)
            connection.execute(
                statement("batches/finish_run"),
                {
                    "run_id": run_id,
                    "state": "finished",
                    "outcome": Jsonb(outcome.model_dump(mode="json", exclude={"questions"})),
                },
            )
        return outcome

    def _judge(self, answered: Sequence[tuple[Question, Answer]]) -> list[QuestionOutcome]:
        observations = [item for question, answer in answered for item in observe_answer(question, answer)]
        results = judge(observations)
        return [
            decide(question, answer, [check for check in results if check.question_id == question.question_id])
            for question, answer in answered
        ]

    def _collect(self, run_id: str, run: _Run) -> list[tuple[Question, Answer]]:
        with self._store.connection() as connection:
            rows = connection.execute(statement("batches/list_staged_answers"), {"run_id": run_id}).fetchall()
        staged = {question_id: Answer.model_validate(answer) for question_id, answer, _ in rows}
        return [
            (question, staged.get(question.question_id) or _not_answered(question, run.run_date, run_id))
            for question in run.batch.questions
        ]

    def _stage(self, run_id: str, question_id: str, answer: Answer) -> None:
        payload = Jsonb(json.loads(answer.model_dump_json()))
        with self._store.connection() as connection:
            connection.execute(
                statement("batches/upsert_staged_answer"),
                {"run_id": run_id, "question_id": question_id, "answer": payload},
            )

    def _load(self, run_id: str) -> _Run:
        with self._store.connection() as connection:
            row = connection.execute(statement("batches/find_run"), {"run_id": run_id}).fetchone()
        if row is None:
            raise ConfigurationError(f"there is no batch run {run_id}")
        _, run_date, publish, state, definition, started_at, _ = row
        return _Run(Batch.model_validate(definition), run_date, publish, state, started_at)


def _select(batch: Batch, question_ids: Sequence[str]) -> list[Question]:
    by_id = {question.question_id: question for question in batch.questions}
    unknown = [question_id for question_id in question_ids if question_id not in by_id]
    if unknown:
        raise ConfigurationError(f"the batch {batch.batch} has no question {', '.join(unknown)}")
    return [by_id[question_id] for question_id in question_ids]


def _not_answered(question: Question, run_date: date, run_id: str) -> Answer:
    return Answer(
        question=question.text,
        question_id=question.question_id,
        run_date=run_date,
        status="failed",
        text="The run ended before this question was answered.",
        strategy="none",
        query_type="none",
        verdict=Verdict(supported=True),
        run_id=run_id,
    )


def _summarise(bundle: RunBundle, report_path: Path) -> BatchOutcome:
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
        usage=bundle.usage if bundle.usage is not None else Usage(),
        report_path=str(report_path),
    )
