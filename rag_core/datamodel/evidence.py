"""What workers found, before anything is said."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

from rag_core.datamodel.base import Record
from rag_core.datamodel.query import Cell, QueryResult


class ColumnMeaning(Record):
    """How a result column is to be read: `unit` (EUR, %, minutes, ...), a label, and number format `decimals`."""

    name: str
    label: str
    unit: str = ""
    decimals: int | None = None
    role: Literal["metric", "dimension", "time", "other"] = "other"


class SqlEvidence(Record):
    """A result with the statement that made it. `marker` is the citation's name, e.g. `S1`.

    Looked up where it is needed to tell the result rightly: `recorded` are the first and last day of which the table
    has a row, where the result is nothing; `unnamed` the figure of the rows that a ranking leaves out, because they
    have no value of what is ranked.
    """

    marker: str
    step_id: str
    task: str
    sql: str
    result: QueryResult
    meanings: tuple[ColumnMeaning, ...] = ()
    tables: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    confidence: float = 1.0
    strategy: str = "metric"
    recorded: tuple[date, date] | None = None
    unnamed: Cell = None


class Scores(Record):
    """Raw and fused scores of one search result; a leg that did not find it leaves None."""

    rrf: float
    bm25: float | None = None
    cosine: float | None = None
    recency: float | None = None


class Passage(Record):
    """A chunk found by search, with what a citation needs. `quotes` are its sentences that answer, verbatim."""

    marker: str = ""
    step_id: str = ""
    rank: int
    chunk_id: int
    document_id: str
    path: str
    title: str
    document_type: str = ""
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    text: str
    metadata: dict[str, Any] = {}
    scores: Scores
    quotes: tuple[str, ...] = ()


class SearchOutcome(Record):
    """Result of one search. `null_signal` means that nothing in the index answers; `reason` says why in words.

    `ambiguous`: the best results come from different subjects and disagree. `detail` is for the trace.
    """

    query: str
    null_signal: bool
    reason: str = ""
    ambiguous: bool = False
    passages: tuple[Passage, ...] = ()
    detail: dict[str, Any] = {}


class Finding(Record):
    """Something evidence validation noticed. `severity` error stops the answer, warning is told with it."""

    code: str
    severity: Literal["error", "warning", "info"]
    message: str
    marker: str | None = None
