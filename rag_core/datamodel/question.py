"""Questions and batches of them, as people write them in `config/batches/*.yaml`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from rag_core.datamodel.base import Record

Severity = Literal["critical", "warning", "info"]
ChartKind = Literal["auto", "line", "bar", "table", "none"]

IDENTIFIER = r"^[a-z][a-z0-9_]{0,62}$"


class Expectation(Record):
    """One expectation of a question's result, judged by Great Expectations before the answer is published.

    `kind`: `bounds` (min/max of a column), `row_count` (min/max), `not_null`, `unique`, `null_share` (max share),
    `type` (number, date, text, boolean), `not_empty`, `contains_text` (the answer's text holds `value`).
    """

    kind: Literal["bounds", "row_count", "not_null", "unique", "null_share", "type", "not_empty", "contains_text"]
    column: str | None = None
    min: Any = None
    max: Any = None
    value: Any = None
    severity: Severity = "critical"


class Question(Record):
    """A standing question. `headline` names the result column whose first row is the answer's headline value."""

    question_id: str = Field(pattern=IDENTIFIER)
    text: str = Field(min_length=3, max_length=2_000)
    title: str | None = None
    parameters: dict[str, str | int | float | bool] = {}
    expectations: tuple[Expectation, ...] = ()
    chart: ChartKind = "auto"
    headline: str | None = None
    tags: tuple[str, ...] = ()
    may_be_empty: bool = False


class Batch(Record):
    """A named list of questions with a schedule. `batch` is the file's stem; `schedule` a cron text or None."""

    batch: str = Field(pattern=IDENTIFIER)
    title: str
    description: str = ""
    schedule: str | None = None
    timezone: str = "UTC"
    owner: str
    audience: str = ""
    questions: tuple[Question, ...] = Field(min_length=1)
