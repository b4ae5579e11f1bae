"""Everything that a run says, as one value: what the writer publishes and the renderer shows."""

from __future__ import annotations

import hashlib
import json
from datetime import date, datetime
from typing import Literal

from rag_core.datamodel.answer import Answer, Usage
from rag_core.datamodel.base import Record
from rag_core.datamodel.query import cell_to_json
from rag_core.datamodel.question import Batch, Question
from rag_core.datamodel.report import History, PastValue, QuestionOutcome

__all__ = ["AnsweredQuestion", "History", "PastValue", "Review", "RunBundle", "answer_fingerprint"]


class Review(Record):
    """A person's decision on an answer that checks kept back."""

    decision: Literal["released", "rejected"]
    reviewed_by: str
    reviewed_at: datetime
    note: str = ""


class AnsweredQuestion(Record):
    """A question with its answer and what became of it; `fingerprint` is that of the answer as it was judged."""

    question: Question
    answer: Answer
    outcome: QuestionOutcome
    review: Review | None = None
    fingerprint: str = ""


class RunBundle(Record):
    """A whole run. `published` is whether it is written to the schema `reports`."""

    run_id: str
    batch: Batch
    run_date: date
    started_at: datetime
    finished_at: datetime
    published: bool
    items: tuple[AnsweredQuestion, ...]
    usage: Usage


def answer_fingerprint(answer: Answer, reason: str) -> str:
    """SHA-256 of what a person judges: the text, the results and why the answer was kept back; never times or ids."""
    content = {
        "text": answer.text,
        "status": answer.status,
        "reason": reason,
        "results": [
            {
                "sql": evidence.sql,
                "columns": [[column.name, column.type] for column in evidence.result.columns],
                "rows": [[cell_to_json(cell) for cell in row] for row in evidence.result.rows],
            }
            for evidence in answer.sql
        ],
    }
    spelled = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(spelled.encode("utf-8", "backslashreplace")).hexdigest()
