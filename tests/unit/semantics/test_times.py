"""Times in plain English, as of a day in the middle of a quarter and as of the first day of one."""

from __future__ import annotations

from datetime import date

import pytest

from rag_core.semantics.calendar import add_months, buckets, describe_range, shift_range
from rag_core.semantics.times import TimeMention, find_times

MIDDLE = date(2026, 5, 20)


def only(text: str, run_date: date = MIDDLE) -> TimeMention:
    found = find_times(text, run_date)
    assert len(found) == 1, [mention.text for mention in found]
    return found[0]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("revenue last quarter", "2026-01-01", "2026-04-01"),
        ("this month", "2026-05-01", "2026-06-01"),
        ("previous year", "2025-01-01", "2026-01-01"),
        ("last week", "2026-05-11", "2026-05-18"),
        ("yesterday", "2026-05-19", "2026-05-20"),
        ("in the last 90 days", "2026-02-19", "2026-05-20"),
        ("past 6 months", "2025-11-01", "2026-05-01"),
        ("over the past twelve months", "2025-05-01", "2026-05-01"),
        ("the last two complete quarters", "2025-10-01", "2026-04-01"),
        ("in 2025", "2025-01-01", "2026-01-01"),
        ("Q3 2025", "2025-07-01", "2025-10-01"),
        ("2025-Q3", "2025-07-01", "2025-10-01"),
        ("the third quarter of 2025", "2025-07-01", "2025-10-01"),
        ("last year's third quarter", "2025-07-01", "2025-10-01"),
        ("the first half of last year", "2025-01-01", "2025-07-01"),
        ("the first two quarters of 2025", "2025-01-01", "2025-07-01"),
        ("the last three months of 2025", "2025-10-01", "2026-01-01"),
        ("March 2025", "2025-03-01", "2025-04-01"),
        ("Sept. 2025", "2025-09-01", "2025-10-01"),
        ("since March 2026", "2026-03-01", None),
        ("since the start of 2026", "2026-01-01", None),
        ("after June 2025", "2025-07-01", None),
        ("until March 2026", None, "2026-04-01"),
        ("before 2025", None, "2025-01-01"),
        ("between January and June 2025", "2025-01-01", "2025-07-01"),
        ("from November to January 2026", "2025-11-01", "2026-02-01"),
        ("December 2025 through February 2026", "2025-12-01", "2026-03-01"),
        ("from 2024-03-05 to 2024-03-07", "2024-03-05", "2024-03-08"),
        ("on 2024-02-29", None, "2024-03-01"),
        ("29 February 2024", "2024-02-29", "2024-03-01"),
        ("year to date", "2026-01-01", "2026-05-20"),
        ("2026 so far", "2026-01-01", "2026-05-20"),
        ("so far this quarter", "2026-04-01", "2026-05-20"),
        ("two years ago", "2024-01-01", "2025-01-01"),
        ("the month just ended", "2026-04-01", "2026-05-01"),
        ("next 2 months", "2026-05-20", "2026-07-20"),
        ("in the same months of 2025", "2025-01-01", "2026-01-01"),
    ],
)
def test_ranges(text: str, start: str | None, end: str | None) -> None:
    found = only(text).time_range
    assert (str(found.start) if found.start else None, str(found.end) if found.end else None) == (start, end)


@pytest.mark.parametrize(
    ("text", "end"),
    [("at the end of 2025", "2026-01-01"), ("as of 2025-12-31", "2026-01-01"), ("today", "2026-05-20"),
     ("at the start of 2026", "2026-01-01"), ("current", "2026-05-20")],
)  # fmt: skip
def test_moments(text: str, end: str) -> None:
    found = only(text)
    assert found.kind == "as_of"
    assert found.time_range.start is None
    assert str(found.time_range.end) == end


@pytest.mark.parametrize(
    ("text", "comparison"),
    [("year over year", "year_ago"), ("YoY", "year_ago"), ("month-over-month", "previous"), ("a year ago", "year_ago"),
     ("the same quarter last year", "year_ago"), ("the quarter before", "previous"),
     ("the three months before", "previous")],
)  # fmt: skip
def test_comparisons(text: str, comparison: str) -> None:
    assert only(text).comparison == comparison


def test_a_month_without_a_year_is_the_latest_and_said_so() -> None:
    found = only("in August")
    assert found.time_range.start == date(2025, 8, 1)
    assert found.assumption == "august is taken as August 2025"


def test_a_month_takes_the_year_of_its_neighbour() -> None:
    starts = [mention.time_range.start for mention in find_times("April, May and June 2024", MIDDLE)]
    assert starts == [date(2024, 4, 1), date(2024, 5, 1), date(2024, 6, 1)]
    starts = [mention.time_range.start for mention in find_times("2025 Q3 versus Q2", MIDDLE)]
    assert starts == [date(2025, 7, 1), date(2025, 4, 1)]


def test_a_quarter_left_out_is_found() -> None:
    found = find_times("in the fourth quarter of 2025 against the third", MIDDLE)
    assert [mention.time_range.start for mention in found] == [date(2025, 10, 1), date(2025, 7, 1)]


def test_the_ends_of_a_range_are_known() -> None:
    found = only("from Q1 to Q2 2026")
    assert found.ends is not None
    assert [item.start for item in found.ends] == [date(2026, 1, 1), date(2026, 4, 1)]


def test_the_next_quarter_is_unclear_on_its_first_day() -> None:
    assert only("next quarter").unclear == ""
    assert "Q3 2026" in only("next quarter", date(2026, 7, 1)).unclear


@pytest.mark.parametrize("text", ["may we see it", "a second response", "top 5", "2025 customers", "billing-api"])
def test_what_is_no_time(text: str) -> None:
    assert find_times(text, MIDDLE) == ()


def test_leap_days_and_month_ends() -> None:
    assert add_months(date(2024, 2, 29), -12) == date(2023, 2, 28)
    assert add_months(date(2025, 1, 31), 1) == date(2025, 2, 28)
    assert add_months(date(2025, 12, 15), 1) == date(2026, 1, 15)


def test_periods_before() -> None:
    assert shift_range(date(2026, 1, 1), date(2026, 4, 1), year=False) == (date(2025, 10, 1), date(2026, 1, 1))
    assert shift_range(date(2026, 1, 5), date(2026, 1, 12), year=False) == (date(2025, 12, 29), date(2026, 1, 5))
    assert shift_range(date(2024, 2, 1), date(2024, 3, 1), year=True) == (date(2023, 2, 1), date(2023, 3, 1))


def test_buckets_end_with_the_range() -> None:
    found = buckets(date(2026, 1, 15), date(2026, 3, 10), "month")
    assert found == [
        (date(2026, 1, 1), date(2026, 2, 1)),
        (date(2026, 2, 1), date(2026, 3, 1)),
        (date(2026, 3, 1), date(2026, 3, 10)),
    ]


def test_ranges_in_words() -> None:
    assert describe_range(only("Q3 2025").time_range) == "Q3 2025"
    assert describe_range(only("the last 90 days").time_range) == "2026-02-19 to 2026-05-19"
    assert describe_range(only("from March to May 2025").time_range) == "March 2025 to May 2025"
