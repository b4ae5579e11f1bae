"""An orchestrator that says what a test wants, and answers for it to say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import psycopg

from rag_core.datamodel.answer import Answer, Citation, Verdict
from rag_core.datamodel.evidence import ColumnMeaning, Passage, Scores, SqlEvidence
from rag_core.datamodel.query import QueryResult, ResultColumn
from rag_core.datamodel.question import Batch, Question

RUN_DATE = date(2026, 7, 1)
TABLES = (
    "dim_batch",
    "dim_question",
    "dim_check",
    "dim_run",
    "fact_answer",
    "fact_answer_cell",
    "fact_evidence",
    "fact_sql_execution",
    "fact_validation",
    "fact_review",
)
# Ids of runs and moments of the clock differ from run to run; nothing else may.
VARYING = {"run_id", "updated_at", "started_at", "finished_at", "answered_at", "reviewed_at", "review_id"}


class ScriptedOrchestrator:
    """Answers from a table; a question that it does not hold is a failure of the test."""

    def __init__(self, answers: Mapping[str, Answer | Callable[[], Answer]]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def answer(self, question: str, *, run_date: date, question_id: str, run_id: str, **_: Any) -> Answer:
        """The scripted answer with the run's own date and ids."""
        self.asked.append(question_id)
        found = self.answers[question_id]
        answer = found() if callable(found) else found
        return answer.model_copy(
            update={"question": question, "question_id": question_id, "run_date": run_date, "run_id": run_id}
        )


def result_evidence(
    columns: Mapping[str, tuple[str, Sequence[Any]]], *, marker: str = "S1", meanings: Sequence[ColumnMeaning] = ()
) -> SqlEvidence:
    """Evidence over a result given by column: `{"revenue": ("numeric", [Decimal(1)])}`."""
    return SqlEvidence(
        marker=marker,
        step_id="a",
        task="revenue",
        sql="SELECT revenue FROM public.orders",
        result=QueryResult(
            columns=tuple(ResultColumn(name=name, type=kind) for name, (kind, _) in columns.items()),
            rows=tuple(zip(*(cells for _, cells in columns.values()), strict=True)),
            seconds=0.01,
        ),
        meanings=tuple(meanings),
        tables=("public.orders",),
    )


def passage(text: str = "The port strike forced air freight.", **fields: Any) -> Passage:
    """A cited passage."""
    values: dict[str, Any] = {
        "marker": "D1",
        "rank": 1,
        "chunk_id": 7,
        "document_id": "doc-7",
        "path": "business/market/note.md",
        "title": "Note",
        "heading_path": ("Freight",),
        "text": text,
        "quotes": (text,),
        "scores": Scores(rrf=0.1),
    }
    return Passage(**{**values, **fields})


def scripted_answer(*evidence: SqlEvidence, documents: Sequence[Passage] = (), **fields: Any) -> Answer:
    """An answered question over this evidence."""
    citations = [Citation(marker=item.marker, kind="sql", ref=item.sql, excerpt="5") for item in evidence]
    citations += [Citation(marker=d.marker, kind="document", ref=d.path, excerpt=d.text) for d in documents]
    values: dict[str, Any] = {
        "question": "q",
        "run_date": RUN_DATE,
        "status": "answered",
        "text": "Revenue was 5 EUR. [S1]",
        "strategy": "metric",
        "query_type": "sql",
        "verdict": Verdict(supported=True),
        "sql": evidence,
        "documents": tuple(documents),
        "citations": tuple(citations),
        "explanation": "Said by a script.",
    }
    return Answer(**{**values, **fields})


def make_batch(name: str, questions: Sequence[Question]) -> Batch:
    """A batch of these questions."""
    return Batch(batch=name, title=name.capitalize(), owner="tests", questions=tuple(questions))


REVENUE = result_evidence({"region": ("text", ["DACH", "Iberia"]), "revenue": ("numeric", [Decimal("5.10"), None])})


def ask_about(*ids: str, **fields: Any) -> list[Question]:
    """A question an id."""
    return [Question(question_id=name, text=f"What about {name}?", **fields) for name in ids]


def published_rows(connection: psycopg.Connection, batch: str) -> dict[str, list[Any]]:
    """What the result tables hold of a batch, without what differs from run to run: sorted rows by table."""
    found = {}
    for table in TABLES:
        cursor = connection.execute(f"SELECT * FROM reports.{table} WHERE batch = %s", (batch,))  # type: ignore[arg-type]
        names = [column.name for column in cursor.description or ()]
        rows = [
            tuple(value for name, value in zip(names, row, strict=True) if name not in VARYING)
            for row in cursor.fetchall()
        ]
        found[table] = sorted(rows, key=repr)
    return found
