from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from rag_core.datamodel.evidence import ColumnMeaning, SqlEvidence
from rag_core.datamodel.plan import Binding
from rag_core.datamodel.query import QueryResult, ResultColumn
from rag_core.graph.parameters import MissingValue, bind_sql, read_values

NASTY = "x'; DROP TABLE orders; --"


@pytest.mark.parametrize(
    ("sql", "values", "bound"),
    [
        ("SELECT a FROM t WHERE b = '@s1'", (7,), "SELECT a FROM t WHERE b = 7"),
        ("SELECT a FROM t WHERE b IN ('@s1')", (7, 8), "SELECT a FROM t WHERE b IN (7, 8)"),
        ("SELECT a FROM t WHERE b = '@s1'", ("x", "y"), "SELECT a FROM t WHERE b IN ('x', 'y')"),
        ("SELECT a FROM t WHERE b > '@s1'", (Decimal("1.50"),), "SELECT a FROM t WHERE b > 1.50"),
        ("SELECT '@s1' AS a FROM t", (date(2026, 1, 2),), "SELECT CAST('2026-01-02' AS DATE) AS a FROM t"),
        ("SELECT '@s2', 's1' FROM t", (7,), "SELECT '@s2', 's1' FROM t"),
        ("SELECT a FROM t WHERE b = '@s1'", (NASTY,), "SELECT a FROM t WHERE b = 'x''; DROP TABLE orders; --'"),
    ],
)  # fmt: skip
def test_values_become_literals_of_their_type(sql: str, values: tuple[object, ...], bound: str) -> None:
    assert bind_sql(sql, {"s1": values}, dialect="postgres") == bound


def test_what_cannot_be_parsed_is_left_for_the_guard() -> None:
    assert bind_sql("SELEC '@s1' FRM", {"s1": (1,)}, dialect="postgres") == "SELEC '@s1' FRM"


def _evidence(rows: tuple[tuple[object, ...], ...], **more: object) -> SqlEvidence:
    columns = (ResultColumn(name="region", type="text"), ResultColumn(name="revenue", type="numeric"))
    return SqlEvidence(
        marker="S1",
        step_id="s1",
        task="t",
        sql="SELECT 1",
        result=QueryResult(columns=columns, rows=rows, **more),  # type: ignore[arg-type]
        meanings=(ColumnMeaning(name="region", label="Region", role="dimension"),),
    )


def test_each_value_is_taken_once_and_null_never() -> None:
    evidence = _evidence((("DACH", 1), (None, 2), ("Nordics", 3), ("DACH", 4)))
    assert read_values(Binding(step_id="s1", kind="names"), evidence) == ("DACH", "Nordics")
    assert read_values(Binding(step_id="s1", kind="name"), evidence) == ("DACH",)
    assert read_values(Binding(step_id="s1", kind="ids", column="revenue"), evidence) == (1, 2, 3, 4)


@pytest.mark.parametrize(
    ("evidence", "binding"),
    [
        (None, Binding(step_id="s1", kind="name")),
        (_evidence(()), Binding(step_id="s1", kind="name")),
        (_evidence(((None, 1),)), Binding(step_id="s1", kind="name")),
        (_evidence((("DACH", 1),)), Binding(step_id="s1", kind="ids", column="gone")),
        (_evidence((("DACH", 1),), truncated_by="rows"), Binding(step_id="s1", kind="names")),
    ],
)
def test_a_value_that_is_not_there_is_missed(evidence: SqlEvidence | None, binding: Binding) -> None:
    with pytest.raises(MissingValue):
        read_values(binding, evidence)
