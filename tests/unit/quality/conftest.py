"""Small answers to judge."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from rag_core.datamodel.answer import Answer, Verdict
from rag_core.datamodel.evidence import SqlEvidence
from rag_core.datamodel.query import QueryResult, ResultColumn

MakeAnswer = Callable[..., Answer]


@pytest.fixture
def make_answer() -> MakeAnswer:
    """Makes an answer over one result: `make_answer({"column": ("type", [cells])}, **fields)`."""

    def make(columns: dict[str, tuple[str, list[Any]]] | None = None, **fields: Any) -> Answer:
        sql: tuple[SqlEvidence, ...] = ()
        if columns is not None:
            result = QueryResult(
                columns=tuple(ResultColumn(name=name, type=kind) for name, (kind, _) in columns.items()),
                rows=tuple(zip(*(cells for _, cells in columns.values()), strict=True)),
            )
            sql = (SqlEvidence(marker="S1", step_id="a", task="t", sql="SELECT 1", result=result),)
        values: dict[str, Any] = {
            "question": "q",
            "question_id": "a",
            "run_date": date(2026, 7, 1),
            "status": "answered",
            "text": "Revenue was 5 EUR. [S1]",
            "strategy": "metric",
            "query_type": "sql",
            "verdict": Verdict(supported=True),
            "sql": sql,
        }
        return Answer(**{**values, **fields})

    return make
