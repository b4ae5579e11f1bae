"""Everything that a run says, as one value: what the writer publishes and the renderer shows."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from rag_core.datamodel.answer import Answer, Usage
from rag_core.datamodel.base import Record
from rag_core.datamodel.question import Batch, Question
from rag_core.datamodel.report import QuestionOutcome


class AnsweredQuestion(Record):
    """A question with its answer and what became of it."""

    question: Question
    answer: Answer
    outcome: QuestionOutcome


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


class PastValue(Record):
    """A headline value of an earlier run date."""

    run_date: date
    value: Any
    unit: str = ""


History = dict[str, tuple[PastValue, ...]]
