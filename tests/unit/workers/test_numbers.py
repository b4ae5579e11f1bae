from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from rag_core.workers.numbers import (
    agrees,
    as_number,
    describe_period,
    find_dates,
    find_numbers,
    format_number,
)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,234,567 EUR", ["1234567"]),
        ("1\u202f234 orders", ["1234"]),
        ("growth of 8,1 %", ["8.1"]),
        ("€1.2 million", ["1200000"]),
        ("about 3k tickets", ["3000"]),
        ("fell by \u22124.5 points", ["-4.5"]),
        ("10\u201320 minutes", ["10", "20"]),
        ("lasted eleven weeks", ["11"]),
        ("firmware 4.2.3 on p95 and sev1", []),
        ("in Q3 2025, June 2026 and on 2025-07-07", []),
        ("2,024 orders", ["2024"]),
        ("see [S1] and [D12]", []),
    ],
)
def test_numbers_are_found_without_dates_names_and_markers(text: str, values: list[str]) -> None:
    assert [mention.value for mention in find_numbers(text)] == [Decimal(value) for value in values]


def test_a_percent_is_marked() -> None:
    (mention,) = find_numbers("a share of 12 per cent")
    assert mention.percent


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("on 2025-07-07", date(2025, 7, 7), date(2025, 7, 7)),
        ("on 7 July 2025", date(2025, 7, 7), date(2025, 7, 7)),
        ("on July 7, 2025", date(2025, 7, 7), date(2025, 7, 7)),
        ("in February 2024", date(2024, 2, 1), date(2024, 2, 29)),
        ("in 2026-06", date(2026, 6, 1), date(2026, 6, 30)),
        ("in Q2 2026", date(2026, 4, 1), date(2026, 6, 30)),
        ("2026 Q2", date(2026, 4, 1), date(2026, 6, 30)),
        ("the third quarter of 2025", date(2025, 7, 1), date(2025, 9, 30)),
        ("in 2025", date(2025, 1, 1), date(2025, 12, 31)),
        ("2026-W01", date(2025, 12, 29), date(2026, 1, 4)),
    ],
)
def test_dates_and_periods_are_found(text: str, first: date, last: date) -> None:
    (mention,) = find_dates(text)
    assert (mention.first, mention.last) == (first, last)


def test_a_day_that_does_not_exist_is_no_date() -> None:
    assert find_dates("on 2025-02-30") == []


@pytest.mark.parametrize(
    ("text", "value", "same"),
    [
        ("11.4 %", "11.437", True),
        ("11.4 %", "11.46", False),
        ("2.5", "2.45", True),
        ("2.4", "2.45", True),
        ("1.2 million", "1234567", True),
        ("1.2 million", "1260000", False),
        ("6", "-6.2", True),
    ],
)
def test_a_number_agrees_with_what_rounds_to_it(text: str, value: str, same: bool) -> None:
    (mention,) = find_numbers(text)
    assert agrees(mention, Decimal(value)) is same


@pytest.mark.parametrize(
    ("value", "unit", "decimals", "shown"),
    [
        (Decimal("17788084.47"), "EUR", 0, "17,788,084 EUR"),
        (Decimal("11.449"), "%", 1, "11.4 %"),
        (10096, "", None, "10,096"),
        (-0.0001, "%", 1, "0.0 %"),
        (None, "EUR", None, "no value"),
        ("Nordics", "", None, "Nordics"),
    ],
)
def test_numbers_are_written_for_people(value: object, unit: str, decimals: int | None, shown: str) -> None:
    assert format_number(value, unit, decimals) == shown


def test_only_finite_numbers_count() -> None:
    assert as_number(float("nan")) is None
    assert as_number(Decimal("Infinity")) is None
    assert as_number(True) is None
    assert as_number(0.1) == Decimal("0.1")


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        (date(2026, 4, 1), date(2026, 6, 30), "Q2 2026"),
        (date(2026, 6, 1), date(2026, 6, 30), "June 2026"),
        (date(2025, 1, 1), date(2025, 12, 31), "2025"),
        (date(2026, 1, 1), date(2026, 6, 30), "January 2026 to June 2026"),
        (date(2026, 1, 5), date(2026, 1, 5), "2026-01-05"),
        (date(2026, 1, 5), date(2026, 2, 7), "2026-01-05 to 2026-02-07"),
    ],
)
def test_periods_are_written_for_people(first: date, last: date, words: str) -> None:
    assert describe_period(first, last) == words
