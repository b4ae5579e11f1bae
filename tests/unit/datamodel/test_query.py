"""Results travel through JSON without losing a digit or a type."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from rag_core.datamodel.query import QueryResult, ResultColumn, cell_to_json

CELLS = [
    None,
    True,
    9007199254740993,
    2**70,
    1.5,
    Decimal("12345678901234567890.123456789"),
    Decimal("1.20"),
    date(9999, 12, 31),
    datetime(2026, 7, 1, 12, 30, tzinfo=UTC),
    time(1, 2, 3),
    timedelta(days=-1, seconds=5),
    UUID(int=7),
    b"\x00\xff",
    "text",
    {"a": Decimal("1.0"), "$type": "looks like a tag"},
    [1, Decimal("2.50"), None],
]


@pytest.mark.parametrize("cell", CELLS, ids=repr)
def test_a_cell_survives_json(cell: Any) -> None:
    result = QueryResult(columns=(ResultColumn(name="a", type="x"),), rows=((cell,),))
    back = QueryResult.model_validate_json(result.model_dump_json()).rows[0][0]
    assert back == cell
    assert type(back) is type(cell)
    assert str(back) == str(cell)


def test_nan_and_infinity_survive_json_and_stay_valid_json() -> None:
    rows = ((float("nan"), float("inf"), Decimal("NaN")),)
    result = QueryResult(columns=tuple(ResultColumn(name=name, type="x") for name in "abc"), rows=rows)
    text = result.model_dump_json()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert str(QueryResult.model_validate_json(text).rows) == str(rows)


def test_values_for_readers_lose_no_digit() -> None:
    assert cell_to_json(Decimal("1E+3")) == "1000"
    assert cell_to_json(2**60) == "1152921504606846976"
    assert cell_to_json(float("nan")) == "nan"
    assert cell_to_json(datetime(2026, 7, 1, tzinfo=UTC)) == "2026-07-01T00:00:00+00:00"
