"""Makes evidence for unit tests in a line."""

from __future__ import annotations

from typing import Any

from rag_core.datamodel.evidence import ColumnMeaning, Passage, Scores, SqlEvidence
from rag_core.datamodel.query import QueryResult, ResultColumn


def result_of(columns: dict[str, str], *rows: tuple[Any, ...], **more: Any) -> QueryResult:
    """A result with these columns (name to type) and rows."""
    names = tuple(ResultColumn(name=name, type=kind) for name, kind in columns.items())
    return QueryResult(columns=names, rows=rows, **more)


def sql_evidence(
    columns: dict[str, str], *rows: tuple[Any, ...], meanings: tuple[ColumnMeaning, ...] = (), **more: Any
) -> SqlEvidence:
    """A result as evidence S1 of step s1."""
    values: dict[str, Any] = {"marker": "S1", "step_id": "s1", "task": "a task", "sql": "SELECT 1"} | more
    limits = {name: values.pop(name) for name in ("truncated_by", "own_limit") if name in values}
    return SqlEvidence(result=result_of(columns, *rows, **limits), meanings=meanings, **values)


def passage(text: str, *, marker: str = "D1", title: str = "A document", rank: int = 1, **more: Any) -> Passage:
    """A passage whose document is named by its title."""
    name = title.lower().replace(" ", "-")
    values: dict[str, Any] = {"document_id": name, "path": f"docs/{name}.md", "chunk_id": rank} | more
    return Passage(marker=marker, rank=rank, title=title, text=text, scores=Scores(rrf=1 / (60 + rank)), **values)
