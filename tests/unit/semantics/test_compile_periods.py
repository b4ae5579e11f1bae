"""Figures that run up, and periods of which the warehouse knows a part, no row or nothing at all."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import duckdb
import pytest

from rag_core.datamodel.plan import MetricQuery
from rag_core.semantics.compile import compile_query
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.paths import SemanticError

YEAR = {"start": "2025-01-01", "end": "2026-01-01"}
JANUARY = {"start": "2025-01-01", "end": "2025-02-01"}
FEBRUARY = {"start": "2025-02-01", "end": "2025-03-01"}
QUARTER = {"start": "2025-01-01", "end": "2025-04-01"}
D = Decimal


@pytest.fixture
def running(small: SemanticModel) -> SemanticModel:
    """The small company with figures that run up: all orders, those of 30 days, those of the year."""
    base = small.metrics["revenue"]
    kinds: dict[str, dict[str, Any]] = {"ever": {}, "month_long": {"window": "30 days"}, "in_year": {"to_date": "year"}}
    more = {name: base.model_copy(update={"type": "cumulative", **parts}) for name, parts in kinds.items()}
    return small.model_copy(update={"metrics": {**small.metrics, **more}})


def run(model: SemanticModel, rows: str, **parts: Any) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.execute(rows)
        sql = compile_query(MetricQuery.model_validate(parts), model, "duckdb").sql
        found: list[tuple[Any, ...]] = connection.execute(sql).fetchall()
        return found


RUNNING = ["ever", "month_long", "in_year"]


def test_figures_that_run_up_stand_at_the_end_of_the_period(running: SemanticModel, small_rows: str) -> None:
    assert run(running, small_rows, metrics=RUNNING, time_range=FEBRUARY) == [(D(535), D(275), D(375))]
    assert run(running, small_rows, metrics=["ever"], time_range={"end": "2025-01-01"}) == [(D(160),)]


def test_figures_that_run_up_by_month(running: SemanticModel, small_rows: str) -> None:
    rows = run(running, small_rows, metrics=RUNNING, grain="month", time_range=QUARTER)
    assert [row[1:] for row in rows] == [
        (D(310), D(150), D(150)),
        (D(535), D(275), D(375)),
        (D(575), None, D(415)),  # nothing in the 30 days to 31 March
    ]


def test_figures_that_run_up_compare_with_the_period_before(running: SemanticModel, small_rows: str) -> None:
    rows = run(running, small_rows, metrics=["in_year"], grain="month", time_range=FEBRUARY, comparison="previous")
    assert [row[1:4] for row in rows] == [(D(375), D(150), D(225))]


def test_figures_that_run_up_are_not_added_up(running: SemanticModel, small_rows: str) -> None:
    with pytest.raises(SemanticError, match="a running total already"):
        run(running, small_rows, metrics=["ever"], grain="month", time_range=YEAR, running_total=True)
    with pytest.raises(SemanticError, match="needs a period with an end"):
        run(running, small_rows, metrics=["in_year"])


@pytest.fixture
def since_2025(small: SemanticModel) -> SemanticModel:
    """The small company, whose warehouse knows orders from 2025 on."""
    role = small.time_dimensions["ordered_on"].model_copy(update={"data_from": date(2025, 1, 1)})
    return small.model_copy(update={"time_dimensions": {**small.time_dimensions, "ordered_on": role}})


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"time_range": {"start": "2024-01-01", "end": "2025-01-01"}}, "from 2025-01-01 on, nothing of 2024"),
        ({"time_range": JANUARY, "comparison": "previous"}, "nothing to compare with"),
        ({"time_range": YEAR, "comparison": "year_ago"}, "nothing to compare with"),
    ],
)
def test_what_the_warehouse_cannot_know_is_no_zero(
    since_2025: SemanticModel, parts: dict[str, Any], message: str
) -> None:
    with pytest.raises(SemanticError, match=message):
        compile_query(MetricQuery.model_validate({"metrics": ["orders"], **parts}), since_2025, "duckdb")


def test_a_period_known_in_part_says_so(since_2025: SemanticModel) -> None:
    query = MetricQuery.model_validate(
        {"metrics": ["orders"], "time_range": {"start": "2024-07-01", "end": "2026-01-01"}}
    )
    assert compile_query(query, since_2025, "duckdb").description.endswith(", known from 2025-01-01 on")


def test_the_first_known_period_has_no_period_before(since_2025: SemanticModel, small_rows: str) -> None:
    query = MetricQuery.model_validate(
        {"metrics": ["orders"], "grain": "month", "comparison": "previous", "time_range": QUARTER}
    )
    with duckdb.connect() as connection:
        connection.execute(small_rows)
        rows = connection.execute(compile_query(query, since_2025, "duckdb").sql).fetchall()
    assert [row[:3] for row in rows] == [
        (date(2025, 1, 1), 2, None),
        (date(2025, 2, 1), 2, 2),
        (date(2025, 3, 1), 1, 2),
    ]


def test_a_period_without_a_row_is_zero_up_to_the_last_one_that_is_known(ask: Any) -> None:
    spain = [{"dimension": "country", "values": ["Spain"]}]
    half = {"start": "2025-01-01", "end": "2025-07-01"}
    rows = ask(metrics=["orders"], grain="month", filters=spain, time_range=half)
    # The last order of all is of March: of April nobody knows whether it is loaded.
    assert rows == [(date(2025, 1, 1), 1), (date(2025, 2, 1), 0), (date(2025, 3, 1), 0)]


def test_periods_are_filled_up_to_the_run_date_only(ask: Any) -> None:
    parts = {
        "metrics": ["orders"],
        "grain": "month",
        "filters": [{"dimension": "country", "values": ["Spain"]}],
        "time_range": {"start": "2025-01-01", "end": "2026-01-01"},
        "as_of": "2025-02-10",
    }
    assert ask(**parts) == [(date(2025, 1, 1), 1), (date(2025, 2, 1), 0)]
    assert ask(**parts, order="ascending", limit=1) == [(date(2025, 1, 1), 1)]  # February is under way


def test_each_member_has_every_period(ask: Any) -> None:
    rows = ask(metrics=["orders"], grain="month", dimensions=["country"], time_range=QUARTER)
    assert len(rows) == 9
    assert (date(2025, 2, 1), "Spain", 0) in rows
