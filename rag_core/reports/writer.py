"""Publishes a run to the schema `reports`: one transaction, idempotent by batch, question and run date."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import psycopg

from rag_core.connectors.sql_files import statement
from rag_core.datamodel.question import Batch, Question
from rag_core.datamodel.report import History, PastValue
from rag_core.reports.audit import append_event
from rag_core.reports.bundle import AnsweredQuestion, Review, RunBundle
from rag_core.reports.question_views import publish_views
from rag_core.reports.rows import (
    answer_row,
    batch_row,
    cell_rows,
    check_rows,
    clean_text,
    evidence_rows,
    execution_rows,
    question_row,
    run_row,
    validation_rows,
)

# The number of earlier runs that checks and sparklines look at.
HISTORY_RUNS = 30


def lock_batch(connection: psycopg.Connection, batch: str) -> None:
    """Until the end of the transaction nobody else publishes or reviews answers of this batch."""
    connection.execute(statement("reports/lock_batch"), {"batch": batch})


def prepare_partitions(connection: psycopg.Connection, run_date: date) -> None:
    """Makes the month's partitions of the facts where they are missing.

    Best in a short transaction of its own: until it ends no other run can make the partitions of its month.
    """
    connection.execute(statement("reports/ensure_partitions"), {"run_date": run_date})


def publish_run(connection: psycopg.Connection, bundle: RunBundle, report_path: Path) -> None:
    """Replaces what is published for this batch and run date by this run.

    Runs inside the caller's transaction, under a lock on the batch, so that a run started twice leaves the rows of one.
    """
    key = {"batch": bundle.batch.batch, "run_date": bundle.run_date}
    lock_batch(connection, bundle.batch.batch)
    prepare_partitions(connection, bundle.run_date)
    connection.execute(statement("reports/upsert_batch"), batch_row(bundle.batch))
    versions = [_upsert_question(connection, bundle.batch, item.question, bundle.run_date) for item in bundle.items]
    for table in ("answers", "cells", "evidence", "executions", "validations", "runs"):
        connection.execute(statement(f"reports/delete_{table}"), key)
    run = run_row(bundle, str(report_path))
    connection.execute(statement("reports/insert_run"), run)
    with connection.cursor() as cursor:
        cursor.executemany(
            statement("reports/insert_answer"),
            [answer_row(bundle, item, version) for item, version in zip(bundle.items, versions, strict=True)],
        )
        for name, rows in (
            ("insert_evidence", [row for item in bundle.items for row in evidence_rows(item)]),
            ("insert_execution", [row for item in bundle.items for row in execution_rows(item)]),
            ("upsert_check", [row for item in bundle.items for row in check_rows(item)]),
            ("insert_validation", [row for item in bundle.items for row in validation_rows(item)]),
        ):
            if rows:
                cursor.executemany(statement(f"reports/{name}"), [{**key, **row} for row in rows])
        with cursor.copy(statement("reports/copy_cells")) as copy:
            for item in bundle.items:
                for row in cell_rows(bundle, item):
                    copy.write_row(row)
    point_to_latest(
        connection, bundle.batch.batch, bundle.run_date, [item.question.question_id for item in bundle.items]
    )
    publish_views(connection, bundle.batch.batch, [item for item in bundle.items if item.outcome.state == "published"])
    counts = {name: run[name] for name in ("published", "quarantined", "failed", "needs_model")}
    append_event(
        connection,
        actor="nightshift",
        action="run.published",
        target=f"{bundle.batch.batch}@{bundle.run_date.isoformat()}",
        detail={"run_id": bundle.run_id, **counts},
    )


def point_to_latest(connection: psycopg.Connection, batch: str, run_date: date, question_ids: Sequence[str]) -> None:
    """Notes anew which run date holds the last published answer of these questions, and of those that pointed here."""
    key = {"batch": batch, "run_date": run_date}
    rows = connection.execute(statement("reports/list_latest_question_ids"), key).fetchall()
    values = {**key, "question_ids": sorted({*question_ids, *(row[0] for row in rows)})}
    connection.execute(statement("reports/delete_latest_answers"), values)
    connection.execute(statement("reports/insert_latest_answers"), values)


def read_history(connection: psycopg.Connection, batch: Batch, *, before: date, runs: int = HISTORY_RUNS) -> History:
    """What earlier run dates published for each question as it is worded now, oldest first, at most `runs` of each."""
    rows = connection.execute(
        statement("reports/list_history"),
        {
            "batch": batch.batch,
            "before": before,
            "runs": runs,
            "question_ids": [question.question_id for question in batch.questions],
            "texts": [clean_text(question.text) for question in batch.questions],
        },
    ).fetchall()
    history: dict[str, list[PastValue]] = {}
    for question_id, run_date, number, text, unit, row_count in rows:
        value = number if number is not None else text
        past = PastValue(run_date=run_date, value=value, unit=unit or "", row_count=row_count)
        history.setdefault(question_id, []).append(past)
    return {question_id: tuple(values) for question_id, values in history.items()}


def apply_reviews(connection: psycopg.Connection, bundle: RunBundle) -> RunBundle:
    """The run with what people decided on exactly these answers of this date; only answers kept back are concerned."""
    rows = connection.execute(
        statement("reports/list_reviews"), {"batch": bundle.batch.batch, "run_date": bundle.run_date}
    ).fetchall()
    known = {
        (question_id, fingerprint): Review(decision=decision, reviewed_by=by, reviewed_at=at, note=note)
        for question_id, fingerprint, decision, by, at, note in rows
    }
    return bundle.model_copy(update={"items": tuple(_review(item, known) for item in bundle.items)})


def _review(item: AnsweredQuestion, known: dict[tuple[str, str], Review]) -> AnsweredQuestion:
    review = known.get((item.question.question_id, item.fingerprint))
    if review is None or item.outcome.state != "quarantined":
        return item
    outcome = item.outcome
    if review.decision == "released":
        outcome = outcome.model_copy(update={"state": "published"})
    return item.model_copy(update={"outcome": outcome, "review": review})


def _upsert_question(connection: psycopg.Connection, batch: Batch, question: Question, run_date: date) -> int:
    row = connection.execute(statement("reports/upsert_question"), question_row(batch, question, run_date)).fetchone()
    if row is None:  # the statement always returns a row; an empty reply means that the table was replaced
        raise psycopg.DataError("reports.dim_question returned no version")
    return int(row[0])
