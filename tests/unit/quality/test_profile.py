"""Profiles of results, exact and without guessing."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from rag_core.datamodel.query import QueryResult, ResultColumn
from rag_core.quality.profile import declared_kind, profile_result


def _result(type_name: str, *cells: Any) -> QueryResult:
    return QueryResult(columns=(ResultColumn(name="a", type=type_name),), rows=tuple((cell,) for cell in cells))


def test_nulls_and_nan_are_counted_apart() -> None:
    (profile,) = profile_result(_result("numeric", Decimal(1), None, Decimal("NaN"), Decimal(3)))
    assert (profile.rows, profile.nulls, profile.not_finite) == (4, 1, 1)
    assert (profile.minimum, profile.maximum) == (Decimal(1), Decimal(3))
    assert profile.null_share == 0.25


def test_large_integers_keep_their_digits() -> None:
    (profile,) = profile_result(_result("bigint", 9007199254740993, None))
    assert profile.maximum == 9007199254740993


def test_duplicate_column_names_stay_apart() -> None:
    result = QueryResult(
        columns=(ResultColumn(name="a", type="integer"), ResultColumn(name="a", type="integer")), rows=((1, None),)
    )
    assert [profile.nulls for profile in profile_result(result)] == [0, 1]


def test_dates_beside_moments_have_no_order_and_no_error() -> None:
    (profile,) = profile_result(_result("date", date(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC)))
    assert profile.minimum is None


@pytest.mark.parametrize(
    ("type_name", "kind"),
    [
        ("numeric(12,2)", "number"),
        ("double precision", "number"),
        ("timestamp with time zone", "date"),
        ("character varying(20)", "text"),
        ("boolean", "boolean"),
        ("integer[]", "other"),
        ("jsonb", "other"),
        ("customer_segment", "other"),
    ],
)
def test_kind_of_a_database_type(type_name: str, kind: str) -> None:
    assert declared_kind(type_name) == kind
