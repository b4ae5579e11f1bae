"""Which chart a result gets, and what it says."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree

import pytest

from rag_core.datamodel.evidence import ColumnMeaning
from rag_core.datamodel.question import ChartKind
from rag_core.reports.charts import choose_chart, describe_chart, draw_chart
from tests.evidence import sql_evidence

QUARTERS = [date(2025, 1, 1), date(2025, 4, 1), date(2025, 7, 1)]
REVENUE = ColumnMeaning(name="revenue", label="Revenue", unit="EUR", decimals=2, role="metric")
QUARTER = ColumnMeaning(name="quarter", label="Quarter", role="time")


def _series(*values: Any) -> Any:
    rows = list(zip(QUARTERS, values, strict=False))
    return sql_evidence({"quarter": "date", "revenue": "numeric"}, *rows, meanings=(QUARTER, REVENUE))


def _ranking(*rows: tuple[Any, Any]) -> Any:
    return sql_evidence({"region": "text", "revenue": "numeric"}, *rows, meanings=(REVENUE,))


def test_a_series_is_a_line_with_its_periods_and_unit() -> None:
    spec = choose_chart(_series(Decimal(5), Decimal(6), Decimal(7)))
    assert spec is not None
    assert (spec.kind, spec.title, spec.y_label) == ("line", "Revenue by quarter (EUR)", "Revenue (EUR)")
    assert [point[0] for point in spec.points] == ["Q1 2025", "Q2 2025", "Q3 2025"]
    assert spec.labels == ("5.00", "6.00", "7.00")


def test_names_in_alphabetical_order_become_a_ranking() -> None:
    spec = choose_chart(_ranking(("A", Decimal(1)), ("B", Decimal(3)), ("C", Decimal(2))))
    assert spec is not None
    assert [point[0] for point in spec.points] == ["B", "C", "A"]


def test_an_order_that_was_asked_for_is_kept() -> None:
    spec = choose_chart(_ranking(("low", Decimal(1)), ("high", Decimal(3)), ("critical", Decimal(2))))
    assert spec is not None
    assert [point[0] for point in spec.points] == ["low", "high", "critical"]


@pytest.mark.parametrize("wanted", ["table", "none", "line"])
def test_a_ranking_is_no_line_and_a_table_is_no_chart(wanted: ChartKind) -> None:
    assert choose_chart(_ranking(("A", Decimal(1)), ("B", Decimal(3))), wanted) is None


@pytest.mark.parametrize(
    "evidence",
    [
        _series(Decimal(5), Decimal(6)),
        _ranking(("A", Decimal(1))),
        _ranking(*((f"n{number}", Decimal(number)) for number in range(26))),
        _ranking(("A", None), ("B", Decimal("NaN"))),
        sql_evidence({"revenue": "numeric"}, (Decimal(5),)),
        sql_evidence({"a": "text", "b": "text", "n": "bigint"}, ("x", "y", 1), ("x", "z", 2)),
    ],
)
def test_other_shapes_stay_tables(evidence: Any) -> None:
    assert choose_chart(evidence) is None


def test_a_drawing_is_whole_the_same_each_time_and_escapes_its_data() -> None:
    spec = choose_chart(_ranking(("<script>alert(1)</script>", Decimal(20_000)), ("B & C", Decimal(1))))
    assert spec is not None
    svg = draw_chart(spec)
    assert svg == draw_chart(spec)
    ElementTree.fromstring(svg)
    assert "<script>" not in svg
    assert "20,000.00" in svg
    assert "prefers-color-scheme: dark" in svg


def test_a_chart_is_told_to_those_who_cannot_see_it() -> None:
    spec = choose_chart(_series(Decimal(5), None, Decimal(7)))
    assert spec is None
    spec = choose_chart(_series(Decimal(5), Decimal("9.5"), Decimal(7)))
    assert spec is not None
    assert describe_chart(spec) == (
        "Line chart: Revenue by quarter (EUR). 3 points; highest Q2 2025: 9.50, lowest Q1 2025: 5.00."
    )
