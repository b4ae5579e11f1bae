"""People's decisions on answers that checks kept back: release or reject, recorded with who, when and why."""

from __future__ import annotations

from datetime import date
from typing import Literal

import psycopg

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.answer import Answer
from rag_core.datamodel.base import Record
from rag_core.datamodel.question import Batch
from rag_core.datamodel.report import QuestionOutcome
from rag_core.errors import ConfigurationError
from rag_core.reports.audit import append_event
from rag_core.reports.bundle import AnsweredQuestion
from rag_core.reports.question_views import publish_views
from rag_core.reports.rows import clean_row
from rag_core.reports.writer import lock_batch, point_to_latest

Decision = Literal["released", "rejected"]


class HeldAnswer(Record):
    """An answer that checks kept back, with the decision on it, if there is one."""

    batch: str
    question_id: str
    run_date: date
    question: str
    answer: str
    reason: str
    review: Decision | None = None
    reviewed_by: str | None = None


def list_held_answers(store: Store, batch: str | None = None, run_date: date | None = None) -> list[HeldAnswer]:
    """Answers that are kept back, newest first, at most 500."""
    with store.connection() as connection:
        rows = connection.execute(
            statement("reports/list_quarantined"), {"batch": batch, "run_date": run_date}
        ).fetchall()
    fields = ("batch", "question_id", "run_date", "question", "answer", "reason", "review", "reviewed_by")
    return [HeldAnswer(**dict(zip(fields, row, strict=True))) for row in rows]


def review_answer(
    store: Store, *, batch: str, question_id: str, run_date: date, decision: Decision, by: str, note: str
) -> None:
    """Releases or rejects one answer. A run that finds the same answer again for this date obeys the decision.

    Raises ConfigurationError where there is no such answer, where it is not kept back, or where a name or a reason is
    missing.
    """
    if not by.strip() or not note.strip():
        raise ConfigurationError("a decision needs the name of who takes it (--by) and the reason (--note)")
    key = {"batch": batch, "question_id": question_id, "run_date": run_date}
    with store.connection() as connection:
        lock_batch(connection, batch)
        row = connection.execute(statement("reports/find_answer_state"), key).fetchone()
        if row is None:
            raise ConfigurationError(f"there is no answer to {question_id} of {batch} for {run_date.isoformat()}")
        state, fingerprint, run_id, _, review = row
        if state != "quarantined" and review != "released":
            raise ConfigurationError(f"the answer to {question_id} is {state}: only one that was kept back is reviewed")
        values = clean_row(
            {**key, "fingerprint": fingerprint, "decision": decision, "reviewed_by": by.strip(), "note": note.strip()}
        )
        recorded = connection.execute(statement("reports/insert_review"), values).fetchone()
        connection.execute(
            statement("reports/update_reviewed_answer"),
            {
                **values,
                "state": "published" if decision == "released" else "quarantined",
                "reviewed_at": recorded[0] if recorded is not None else None,
            },
        )
        connection.execute(statement("reports/update_run_counts"), key)
        point_to_latest(connection, batch, run_date, [question_id])
        if decision == "released":
            _publish_view(connection, batch, question_id, str(run_id))
        append_event(
            connection,
            actor=by.strip(),
            action=f"answer.{decision}",
            target=f"{batch}/{question_id}@{run_date.isoformat()}",
            detail={"note": note.strip(), "fingerprint": fingerprint, "run_id": str(run_id)},
        )


def _publish_view(connection: psycopg.Connection, batch: str, question_id: str, run_id: str) -> None:
    run = connection.execute(statement("batches/find_run"), {"run_id": run_id}).fetchone()
    staged = connection.execute(
        statement("batches/find_staged_answer"), {"run_id": run_id, "question_id": question_id}
    ).fetchone()
    if run is None or staged is None:  # retention removed the run; its typed view was made when it was younger
        return
    question = next(item for item in Batch.model_validate(run[4]).questions if item.question_id == question_id)
    answer = Answer.model_validate(staged[0])
    outcome = QuestionOutcome(
        question_id=question_id, status=answer.status, strategy=answer.strategy, state="published", answer=answer.text
    )
    publish_views(connection, batch, [AnsweredQuestion(question=question, answer=answer, outcome=outcome)])
