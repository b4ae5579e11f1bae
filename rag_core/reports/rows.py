"""A run as rows of the tables in `reports`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from rag_core.datamodel.evidence import ColumnMeaning, Passage, SqlEvidence
from rag_core.datamodel.query import cell_to_json
from rag_core.datamodel.question import Batch, Question
from rag_core.reports.bundle import AnsweredQuestion, RunBundle
from rag_core.reports.numbers import format_value

# A report table is no copy of the warehouse: this many rows of each result are kept as cells.
MAX_CELL_ROWS = 1_000
MAX_EXCERPT = 4_000
_PLACEHOLDER = re.compile(r"\{([a-z]+(?:_[a-z]+)*)\}")

Row = dict[str, Any]


def clean_text(text: str) -> str:
    """The text as PostgreSQL can hold it: no zero character, no half of a surrogate pair."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def clean_row(row: Row) -> Row:
    """The row with every text cleaned."""
    return {key: clean_text(value) if isinstance(value, str) else value for key, value in row.items()}


def batch_row(batch: Batch) -> Row:
    """Row of `dim_batch`."""
    wanted = {"batch", "title", "description", "owner", "audience", "schedule", "timezone"}
    return clean_row(batch.model_dump(include=wanted))


def question_row(batch: Batch, question: Question, run_date: date) -> Row:
    """Row of `dim_question`, whose version the database gives."""
    return clean_row(
        {
            "batch": batch.batch,
            "question_id": question.question_id,
            "title": plain_title(question),
            "question": question.text,
            "tags": ", ".join(question.tags),
            "first_seen_on": run_date,
        }
    )


def plain_title(question: Question) -> str:
    """A question's title, else its text; a date that each run fills in is named: `{last_year}` -> last year."""
    return _PLACEHOLDER.sub(lambda match: match[1].replace("_", " "), question.title or question.text)


def heading_of(question: Question, asked: str) -> tuple[str, str]:
    """What a report says above an answer: the question's title with the text that was asked below it, else that text.

    `asked` is the text as it was asked, with the dates of the run.
    """
    title = plain_title(question) if question.title else asked
    return title, "" if title.strip().casefold() == asked.strip().casefold() else asked


def headings_below(passage: Passage) -> tuple[str, ...]:
    """The headings above a passage without the first where that is the document's title once more."""
    path = passage.heading_path
    return path[1:] if path and path[0].strip().casefold() == passage.title.strip().casefold() else path


def run_row(bundle: RunBundle, report_path: str) -> Row:
    """Row of `dim_run`."""
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
        "report_path": clean_text(report_path),
    }


def answer_row(bundle: RunBundle, item: AnsweredQuestion, version: int) -> Row:
    """Row of `fact_answer`."""
    answer, review = item.answer, item.review
    number, text = split_headline(answer.headline_value)
    return clean_row(
        {
            "run_date": bundle.run_date,
            "batch": bundle.batch.batch,
            "question_id": item.question.question_id,
            "version": version,
            "run_id": bundle.run_id,
            "state": item.outcome.state,
            "status": answer.status,
            "strategy": answer.strategy,
            "query_type": answer.query_type,
            "question": answer.question,
            "answer": answer.text,
            "headline_number": number,
            "headline_text": text,
            "headline_unit": answer.headline_unit or None,
            "row_count": answer.sql[0].result.row_count if answer.sql else None,
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
            "fingerprint": item.fingerprint,
            "review": review.decision if review is not None else None,
            "reviewed_by": review.reviewed_by if review is not None else None,
            "reviewed_at": review.reviewed_at if review is not None else None,
            "review_note": review.note if review is not None else None,
        }
    )


def split_headline(value: Any) -> tuple[Decimal | None, str | None]:
    """A headline as a number, where it is a finite one, and as text."""
    if value is None:
        return None, None
    return finite_number(value), str(cell_to_json(value))


def finite_number(value: Any) -> Decimal | None:
    """A number exactly; None for NaN, infinities, booleans and anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    number = Decimal(str(value))
    return number if number.is_finite() else None


CELL_COLUMNS = (
    "run_date",
    "batch",
    "question_id",
    "marker",
    "result_number",
    "row_number",
    "column_number",
    "column_name",
    "column_label",
    "unit",
    "value_text",
    "value_number",
    "value_date",
    "value_timestamp",
    "value_boolean",
)


def cell_rows(bundle: RunBundle, item: AnsweredQuestion) -> Iterator[tuple[Any, ...]]:
    """Rows of `fact_answer_cell` in the order of CELL_COLUMNS."""
    for result_number, evidence in enumerate(results_of(item), start=1):
        meanings = meanings_of(evidence)
        head = (bundle.run_date, bundle.batch.batch, item.question.question_id, evidence.marker, result_number)
        for row_number, row in enumerate(evidence.result.rows[:MAX_CELL_ROWS], start=1):
            for column_number, (meaning, value) in enumerate(zip(meanings, row, strict=True), start=1):
                named = (clean_text(meaning.name), clean_text(meaning.label), clean_text(meaning.unit))
                yield (*head, row_number, column_number, *named, *typed_values(value))


def results_of(item: AnsweredQuestion) -> list[SqlEvidence]:
    """The answer's results, each marker once: a marker that is used twice must not fail the whole run."""
    return list({evidence.marker: evidence for evidence in reversed(item.answer.sql)}.values())[::-1]


def meanings_of(evidence: SqlEvidence) -> list[ColumnMeaning]:
    """How each column of the result is to be read; a column that nobody describes is read by its name."""
    known = {meaning.name: meaning for meaning in evidence.meanings}
    return [
        known.get(column.name) or ColumnMeaning(name=column.name, label=column.name.replace("_", " ").capitalize())
        for column in evidence.result.columns
    ]


def headline_row(question: Question, evidence: Sequence[SqlEvidence]) -> str:
    """Which row a named headline is of, such as `Direct, the first of 4 rows`; empty where its result has one row.

    Without it the first value of several would be taken for their total.
    """
    for item in evidence:
        names = [column.name for column in item.result.columns]
        if question.headline not in names or not item.result.rows:
            continue
        if item.result.row_count == 1:
            return ""
        kinds = zip(item.result.rows[0], meanings_of(item), strict=True)
        labels = [format_value(cell) for cell, meaning in kinds if _names_row(cell, meaning, question.headline)]
        return ", ".join([*labels, f"the first of {item.result.row_count} rows"])
    return ""


def _names_row(cell: Any, meaning: ColumnMeaning, headline: str | None) -> bool:
    if meaning.name == headline or cell is None:
        return False
    return meaning.role in ("dimension", "time") or (meaning.role == "other" and isinstance(cell, str | date))


def with_unit(meaning: ColumnMeaning) -> str:
    """The label with its unit, unless the label says it already ("Support tickets" in tickets)."""
    words = meaning.label.lower().split()
    return f"{meaning.label} ({meaning.unit})" if meaning.unit and meaning.unit.lower() not in words else meaning.label


def typed_values(value: Any) -> tuple[str | None, Decimal | None, date | None, datetime | None, bool | None]:
    """A cell as text, number, date, moment and truth; a moment without a zone is one of UTC."""
    plain = cell_to_json(value)
    moment = value if isinstance(value, datetime) else None
    if moment is not None and moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (
        None if plain is None else clean_text(str(plain)),
        finite_number(value),
        value if isinstance(value, date) and not isinstance(value, datetime) else None,
        moment,
        value if isinstance(value, bool) else None,
    )


def evidence_rows(item: AnsweredQuestion) -> Iterator[Row]:
    """Rows of `fact_evidence` without the key of the run."""
    statements: dict[str, SqlEvidence] = {evidence.marker: evidence for evidence in item.answer.sql}
    passages = {passage.marker: passage for passage in item.answer.documents}
    cited = {citation.marker: citation for citation in item.answer.citations}
    for citation in cited.values():
        evidence = statements.get(citation.marker)
        passage = passages.get(citation.marker)
        yield clean_row(
            {
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
        )


def execution_rows(item: AnsweredQuestion) -> Iterator[Row]:
    """Rows of `fact_sql_execution` without the key of the run."""
    for evidence in results_of(item):
        yield clean_row(
            {
                "question_id": item.question.question_id,
                "marker": evidence.marker,
                "task": evidence.task,
                "strategy": evidence.strategy,
                "sql_text": evidence.sql,
                "tables": ", ".join(evidence.tables),
                "row_count": evidence.result.row_count,
                "truncated_by": evidence.result.truncated_by,
                "confidence": evidence.confidence,
                "seconds": evidence.result.seconds,
            }
        )


def check_rows(item: AnsweredQuestion) -> Iterator[Row]:
    """Rows of `dim_check` without the batch."""
    for check in item.outcome.checks:
        yield clean_row(
            {
                "question_id": item.question.question_id,
                "check_id": check.check_id,
                "severity": check.severity,
                "description": check.description,
            }
        )


def validation_rows(item: AnsweredQuestion) -> Iterator[Row]:
    """Rows of `fact_validation` without the key of the run."""
    for check in item.outcome.checks:
        yield clean_row(
            {
                "question_id": item.question.question_id,
                "check_id": check.check_id,
                "verdict": check.verdict,
                "severity": check.severity,
                "observed": None if check.observed is None else str(cell_to_json(check.observed)),
                "threshold": None if check.threshold is None else str(check.threshold),
                "message": check.message,
            }
        )
