"""Names, kinds and columns of the typed views."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from rag_core.reports.question_views import ViewColumn, append_columns, column_kind, safe_name, view_statement


@pytest.mark.parametrize(
    ("text", "taken", "name"),
    [
        ("Net Margin %", (), "net_margin"),
        ("revenue", ("revenue",), "revenue_2"),
        ("revenue", ("revenue", "revenue_2"), "revenue_3"),
        ("2025", (), "c_2025"),
        ("漢字", (), "x"),
        ("x'; DROP TABLE y; --", (), "x_drop_table_y"),
        ("Größe", (), "gr_e"),
    ],
)
def test_names_are_plain_identifiers(text: str, taken: tuple[str, ...], name: str) -> None:
    assert safe_name(text, taken, fallback="x") == name


def test_long_names_are_cut_and_stay_apart() -> None:
    first, second = safe_name("a" * 70 + "x", (), fallback="x"), safe_name("a" * 70 + "y", (), fallback="x")
    assert len(first) == len(second) == 63
    assert first != second
    assert len(safe_name("a" * 63, ("a" * 63,), fallback="x")) == 63


@pytest.mark.parametrize(
    ("type_name", "cells", "kind"),
    [
        ("numeric", [Decimal(1), None], "number"),
        ("text", [1, "x"], "text"),
        ("double precision", [None], "number"),
        ("timestamp with time zone", [], "timestamp"),
        ("date", [date(2026, 1, 1)], "date"),
        ("date", [datetime(2026, 1, 1, tzinfo=UTC)], "timestamp"),
        ("boolean", [True], "boolean"),
        ("integer[]", [], "text"),
        ("interval", [], "text"),
        ("jsonb", [{"a": 1}], "text"),
    ],
)
def test_kinds_come_from_values_then_from_types(type_name: str, cells: list[Any], kind: str) -> None:
    assert column_kind(type_name, cells) == kind


def test_columns_are_only_appended() -> None:
    known = [ViewColumn(column_name="n", source_name="n", kind="number", description="N")]
    added = append_columns(known, [("n", "text", "N"), ("run_date", "date", "D"), ("n", "number", "N")])
    assert [(column.column_name, column.source_name, column.kind) for column in added] == [
        ("n_text", "n", "text"),
        ("run_date_2", "run_date", "date"),
    ]
    assert append_columns([*known, *added], [("n", "text", "N")]) == []


def test_names_and_values_are_quoted_in_the_statement() -> None:
    column = ViewColumn(column_name='we"ird', source_name="it's", kind="number", description="")
    text = view_statement("q_x", "b'; DROP", "a", [column]).as_string(None)
    assert "'b''; DROP'" in text
    assert """max(c."value_number") FILTER (WHERE c.column_name = 'it''s') AS "we""ird\"""" in text
