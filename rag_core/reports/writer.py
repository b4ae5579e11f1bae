"""Publishes a run to the schema `reports`: one transaction, idempotent by batch, question and run date."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg

from rag_core.connectors.sql_files import statement
from rag_core.datamodel.answer import Answer
from rag_core.datamodel.evidence import ColumnMeaning, SqlEvidence
from rag_core.datamodel.query import cell_to_json
from rag_core.datamodel.question import Batch
from rag_core.reports.bundle import AnsweredQuestion, History, PastValue, RunBundle

# A report table is no copy of the warehouse: this many rows of each result are kept as cells.
MAX_CELL_ROWS = 1_000
MAX_EXCERPT = 4_000


def publish_run(connection: psycopg.Connection, bundle: RunBundle, report_path: Path) -> None:
    """Replaces what is published for this batch and run date by this run.

    Runs inside the caller's transaction, under a lock on batch and run date, so that a run started twice leaves the
    rows of one.
    """
    key = {"batch": bundle.batch.batch, "run_date": bundle.run_date}
    connection.execute(statement("reports/lock_batch_day"), key)
    connection.execute(statement("reports/ensure_partitions"), key)
    connection.execute(statement("reports/upsert_batch"), _batch_row(bundle.batch))
    versions = {item.question.question_id: _upsert_question(connection, bundle, item) for item in bundle.items}
    for table in ("answers", "cells", "evidence", "validations", "runs"):
        connection.execute(statement(f"reports/delete_{table}"), key)
    connection.execute(statement("reports/insert_run"), _run_row(bundle, report_path))
    with connection.cursor() as cursor:
        cursor.executemany(
            statement("reports/insert_answer"),
            [_answer_row(bundle, item, versions[item.question.question_id]) for item in bundle.items],
        )
        for name, rows in (
            ("cell", [row for item in bundle.items for row in _cell_rows(item)]),
            ("evidence", [row for item in bundle.items for row in _evidence_rows(item)]),
            ("validation", [row for item in bundle.items for row in _validation_rows(item)]),
        ):
            if rows:
                cursor.executemany(statement(f"reports/insert_{name}"), [{**key, **row} for row in rows])


def read_history(connection: psycopg.Connection, batch: Batch, *, before: date, runs: int = 30) -> History:
    """Published headline values of earlier run dates by question, oldest first, at most `runs` of each."""
    rows = connection.execute(
        statement("reports/list_headline_history"), {"batch": batch.batch, "before": before, "runs": runs}
    ).fetchall()
    history: dict[str, list[PastValue]] = {}
    for question_id, run_date, number, text, unit in rows:
        value = number if number is not None else text
        history.setdefault(question_id, []).append(PastValue(run_date=run_date, value=value, unit=unit or ""))
    return {question_id: tuple(values) for question_id, values in history.items()}


def _batch_row(batch: Batch) -> dict[str, Any]:
    return {
        "batch": batch.batch,
        "title": batch.title,
        "description": batch.description,
        "owner": batch.owner,
        "audience": batch.audience,
        "schedule": batch.schedule,
    }


def _upsert_question(connection: psycopg.Connection, bundle: RunBundle, item: AnsweredQuestion) -> int:
    values = {
        "batch": bundle.batch.batch,
        "question_id": item.question.question_id,
        "title": item.question.title or item.question.text,
        "question": item.question.text,
        "tags": ", ".join(item.question.tags),
        "first_seen_on": bundle.run_date,
    }
    row = connection.execute(statement("reports/upsert_question"), values).fetchone()
    if row is None:  # the statement always returns a row; an empty reply means that the table was replaced
        raise psycopg.DataError("reports.dim_question returned no version")
    return int(row[0])


def _run_row(bundle: RunBundle, report_path: Path) -> dict[str, Any]:
    states = [item.outcome.state for item in bundle.items]
    return {
        "run_id": bundle.run_id,
        "batch": bundle.batch.batch,
        "run_date": bundle.run_date,
        "started_at": bundle.started_at,
        "finished_at": bundle.finished_at,
        "questions": len(states),
        "published": states.count("published"),
        "quarantined": states.count("quarantined"),
        "failed": states.count("failed"),
        "needs_model": states.count("needs_model"),
        "model_calls": bundle.usage.model_calls,
        "prompt_tokens": bundle.usage.prompt_tokens,
        "completion_tokens": bundle.usage.completion_tokens,
        "cost_usd": bundle.usage.cost_usd,
        "report_path": str(report_path),
    }


def _answer_row(bundle: RunBundle, item: AnsweredQuestion, version: int) -> dict[str, Any]:
    answer = item.answer
    number, text = split_headline(answer.headline_value)
    return {
        "run_date": bundle.run_date,
        "batch": bundle.batch.batch,
        "question_id": item.question.question_id,
        "version": version,
        "run_id": bundle.run_id,
        "state": item.outcome.state,
        "status": answer.status,
        "strategy": answer.strategy,
        "query_type": answer.query_type,
        "question": item.question.text,
        "answer": answer.text,
        "headline_number": number,
        "headline_text": text,
        "headline_unit": answer.headline_unit or None,
        "explanation": answer.explanation,
        "reason": item.outcome.reason,
        "supported": answer.verdict.supported,
        "relevance": answer.verdict.relevance,
        "citation_accuracy": answer.verdict.citation_accuracy,
        "citations": len(answer.citations),
        "model_calls": answer.usage.model_calls,
        "prompt_tokens": answer.usage.prompt_tokens,
        "completion_tokens": answer.usage.completion_tokens,
        "cost_usd": answer.usage.cost_usd,
        "milliseconds": sum(entry.ms for entry in answer.trace),
        "plan_id": answer.plan_id or None,
        "answered_at": bundle.finished_at,
    }


def split_headline(value: Any) -> tuple[Decimal | None, str | None]:
    """A headline as a number, where it is a finite one, and as text."""
    if value is None:
        return None, None
    text = str(cell_to_json(value))
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None, text
    number = Decimal(str(value))
    return (number if number.is_finite() else None), text


def _cell_rows(item: AnsweredQuestion) -> Iterator[dict[str, Any]]:
    for evidence in item.answer.sql:
        meanings = {meaning.name: meaning for meaning in evidence.meanings}
        for row_number, row in enumerate(evidence.result.rows[:MAX_CELL_ROWS], start=1):
            for column_number, (column, value) in enumerate(zip(evidence.result.columns, row, strict=True), start=1):
                meaning = meanings.get(column.name) or ColumnMeaning(name=column.name, label=column.name)
                yield {
                    "question_id": item.question.question_id,
                    "marker": evidence.marker,
                    "row_number": row_number,
                    "column_number": column_number,
                    "column_name": column.name,
                    "column_label": meaning.label,
                    "unit": meaning.unit,
                    **_typed_values(value),
                }


def _typed_values(value: Any) -> dict[str, Any]:
    number = value if isinstance(value, int | float | Decimal) and not isinstance(value, bool) else None
    if number is not None and not Decimal(str(number)).is_finite():
        number = None
    moment = value if isinstance(value, datetime) and value.tzinfo is not None else None
    day = value if isinstance(value, date) and not isinstance(value, datetime) else None
    plain = cell_to_json(value)
    return {
        "value_text": None if plain is None else str(plain),
        "value_number": number,
        "value_date": day,
        "value_timestamp": moment,
    }


def _evidence_rows(item: AnsweredQuestion) -> Iterator[dict[str, Any]]:
    answer: Answer = item.answer
    statements: dict[str, SqlEvidence] = {evidence.marker: evidence for evidence in answer.sql}
    passages = {passage.marker: passage for passage in answer.documents}
    for citation in answer.citations:
        evidence = statements.get(citation.marker)
        passage = passages.get(citation.marker)
        yield {
            "question_id": item.question.question_id,
            "marker": citation.marker,
            "kind": citation.kind,
            "reference": citation.ref,
            "title": passage.title if passage is not None else evidence.task if evidence is not None else "",
            "excerpt": citation.excerpt[:MAX_EXCERPT],
            "document_id": passage.document_id if passage is not None else None,
            "page": passage.page if passage is not None else None,
            "sql_text": evidence.sql if evidence is not None else None,
            "row_count": evidence.result.row_count if evidence is not None else None,
            "truncated_by": evidence.result.truncated_by if evidence is not None else None,
        }


def _validation_rows(item: AnsweredQuestion) -> Iterator[dict[str, Any]]:
    for check in item.outcome.checks:
        yield {
            "question_id": item.question.question_id,
            "check_id": check.check_id,
            "verdict": check.verdict,
            "severity": check.severity,
            "observed": None if check.observed is None else str(cell_to_json(check.observed)),
            "threshold": None if check.threshold is None else str(check.threshold),
            "message": check.message,
        }
