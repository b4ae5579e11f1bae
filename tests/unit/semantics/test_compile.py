"""Figures that can be counted by hand, compiled and run in DuckDB; and the text for the other dialects."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
import sqlglot

from rag_core.datamodel.plan import MetricQuery
from rag_core.semantics.compile import compile_query
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.paths import SemanticError

YEAR = {"start": "2025-01-01", "end": "2026-01-01"}
JANUARY = {"start": "2025-01-01", "end": "2025-02-01"}
FEBRUARY = {"start": "2025-02-01", "end": "2025-03-01"}
QUARTER = {"start": "2025-01-01", "end": "2025-04-01"}
D = Decimal


def test_a_period_ends_before_its_end(ask: Any) -> None:
    assert ask(metrics=["revenue"], time_range=JANUARY) == [(D(150),)]


def test_rows_without_a_partner_stay_visible(ask: Any) -> None:
    rows = ask(metrics=["revenue"], dimensions=["country"], time_range=YEAR)
    assert rows == [("Norway", D(300)), ("Spain", D(50)), (None, D(65))]


def test_excluding_a_value_keeps_rows_without_one(ask: Any) -> None:
    excluded = [{"dimension": "country", "values": ["Norway"], "negated": True}]
    assert ask(metrics=["orders"], filters=excluded, time_range=YEAR) == [(3,)]


def test_no_value_can_be_asked_for(ask: Any) -> None:
    assert ask(metrics=["orders"], filters=[{"dimension": "country", "values": [None]}], time_range=YEAR) == [(2,)]


def test_figures_of_two_tables_do_not_multiply(ask: Any) -> None:
    rows = ask(metrics=["revenue", "units"], dimensions=["country"], time_range=YEAR)
    assert rows == [("Norway", D(300), 8), ("Spain", D(50), 2), (None, D(65), 5)]


def test_a_ratio_over_two_tables(ask: Any) -> None:
    rows = ask(metrics=["per_order"], grain="month", time_range=QUARTER)
    assert [(row[0], round(row[1], 2)) for row in rows] == [
        (date(2025, 1, 1), 4.5),
        (date(2025, 2, 1), 3.0),
        (date(2025, 3, 1), 0.0),
    ]


def test_a_ratio_with_nothing_below_is_empty_and_no_error(ask: Any) -> None:
    assert ask(metrics=["large_share"], time_range={"start": "2020-01-01", "end": "2021-01-01"}) == [(None,)]


def test_percent_and_derived_figures(ask: Any) -> None:
    rows = ask(metrics=["large_share", "margin"], time_range=FEBRUARY)
    assert [round(float(cell), 2) for cell in rows[0]] == [88.89, 205.0]


def test_comparison_with_the_period_before(ask: Any) -> None:
    rows = ask(metrics=["revenue"], time_range=FEBRUARY, comparison="previous")
    assert [float(cell) for cell in rows[0]] == [225, 150, 75, 50]


def test_comparison_keeps_values_that_only_the_past_has(ask: Any) -> None:
    rows = ask(metrics=["orders"], dimensions=["country"], time_range=FEBRUARY, comparison="previous")
    assert ("Spain", 0, 1, -1, -100.0) in [(*row[:4], float(row[4]) if row[4] is not None else None) for row in rows]


def test_comparison_by_month_with_the_year_before_leaves_out_the_future(ask: Any) -> None:
    rows = ask(metrics=["revenue"], grain="month", comparison="year_ago", time_range={"start": "2024-01-01"})
    assert [(row[0].isoformat()[:7], row[1], row[2]) for row in rows] == [
        ("2024-02", D(160), D(0)),
        ("2025-01", D(150), D(0)),
        ("2025-02", D(225), D(160)),
        ("2025-03", D(40), D(0)),
    ]


def test_comparison_with_any_other_period(ask: Any) -> None:
    other = {"start": "2024-02-01", "end": "2024-03-01"}
    rows = ask(metrics=["revenue"], time_range=FEBRUARY, comparison="range", comparison_range=other)
    assert rows[0][:3] == (D(225), D(160), D(65))


def test_share_of_all_while_one_value_is_shown(ask: Any) -> None:
    shown = [{"dimension": "country", "values": ["Spain"]}]
    rows = ask(metrics=["revenue"], dimensions=["country"], filters=shown, share=True, time_range=JANUARY)
    assert [(row[0], row[1], round(float(row[2]), 2)) for row in rows] == [("Spain", D(50), 33.33)]


def test_running_total(ask: Any) -> None:
    rows = ask(metrics=["revenue"], grain="month", running_total=True, time_range=QUARTER)
    assert [row[2] for row in rows] == [D(150), D(375), D(415)]


def test_top_one_leaves_out_what_has_no_name(ask: Any) -> None:
    rows = ask(metrics=["orders"], dimensions=["country"], time_range=FEBRUARY, order="descending", limit=1)
    assert rows == [("Norway", 1)]


def test_ties_are_ordered_by_the_dimension(ask: Any) -> None:
    rows = ask(metrics=["orders"], dimensions=["country"], time_range=JANUARY, order="descending", limit=2)
    assert rows == [("Norway", 1), ("Spain", 1)]


def test_a_dimension_keeps_its_natural_order(ask: Any) -> None:
    rows = ask(metrics=["orders"], dimensions=["size"], time_range=YEAR)
    assert [row[0] for row in rows] == ["small", "large", None]


def test_order_by_change(ask: Any) -> None:
    rows = ask(
        metrics=["revenue"], dimensions=["country"], time_range=FEBRUARY, comparison="previous", order="ascending",
        order_by="change", limit=1,
    )  # fmt: skip
    assert rows[0][:2] == ("Spain", D(0))


def test_conditions_keep_the_rows_that_meet_them(ask: Any) -> None:
    rows = ask(
        metrics=["revenue"],
        dimensions=["country"],
        time_range=YEAR,
        conditions=[{"metric": "revenue", "operator": ">", "value": 50}],
    )
    assert [row[0] for row in rows] == ["Norway", None]


def test_a_mean_over_months_counts_the_empty_ones(ask: Any) -> None:
    rows = ask(metrics=["revenue"], average_over="month", time_range={"start": "2025-01-01", "end": "2025-05-01"})
    assert float(rows[0][0]) == pytest.approx(103.75)


def test_a_mean_over_months_needs_whole_months(ask: Any) -> None:
    with pytest.raises(SemanticError, match="whole months"):
        ask(metrics=["revenue"], average_over="month", time_range={"start": "2025-01-15", "end": "2025-05-01"})


def test_a_snapshot_is_not_added_up_over_months(ask: Any) -> None:
    assert ask(metrics=["employees"], time_range={"start": "2025-01-01", "end": "2025-03-01"}) == [(8,)]
    assert ask(metrics=["employees"], grain="quarter", time_range=YEAR) == [(date(2025, 1, 1), 7)]
    assert ask(metrics=["employees"], grain="month", time_range=QUARTER)[0] == (date(2025, 1, 1), 7)


def test_a_stock_is_the_state_before_the_end(ask: Any) -> None:
    assert ask(metrics=["members"], time_range={"end": "2025-02-16"}) == [(2,)]
    assert ask(metrics=["members"], time_range={"end": "2025-02-15"}) == [(3,)]
    by_month = ask(metrics=["members"], grain="month", time_range=QUARTER)
    assert [row[1] for row in by_month] == [3, 2, 2]


def test_lost_of_those_at_the_start(ask: Any) -> None:
    rows = ask(metrics=["loss_rate"], time_range=FEBRUARY)
    assert float(rows[0][0]) == pytest.approx(100 / 3)


def test_a_rate_over_a_stock_needs_a_beginning(ask: Any) -> None:
    with pytest.raises(SemanticError, match="beginning"):
        ask(metrics=["loss_rate"], time_range={"end": "2025-02-16"})


def test_a_join_that_fans_out_is_refused_by_name(ask: Any) -> None:
    with pytest.raises(SemanticError, match="lines to orders would count rows of orders several times"):
        ask(metrics=["revenue"], dimensions=["product"], time_range=YEAR)


def test_tables_that_are_not_joined_are_refused(ask: Any) -> None:
    with pytest.raises(SemanticError, match="not joined"):
        ask(metrics=["revenue"], dimensions=["team"], time_range=YEAR)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"metrics": ["nothing"]}, "no metric called"),
        ({"metrics": ["revenue"], "dimensions": ["nothing"]}, "no dimension called"),
        ({"metrics": ["revenue"], "limit": 3}, "limit needs an order"),
        ({"metrics": ["per_order"], "dimensions": ["country"], "share": True}, "not a sum of its parts"),
        ({"metrics": ["loss_rate"], "grain": "month", "running_total": True, "time_range": YEAR}, "not a sum"),
        ({"metrics": ["employees"], "grain": "month", "running_total": True}, "cannot be added up"),
        ({"metrics": ["revenue"], "running_total": True}, "needs periods"),
        ({"metrics": ["revenue"], "comparison": "previous"}, "needs a period"),
    ],
)
def test_what_has_no_meaning_is_refused(ask: Any, parts: dict[str, Any], message: str) -> None:
    with pytest.raises(SemanticError, match=message):
        ask(**parts)


def test_values_are_never_pasted(ask: Any, small: SemanticModel) -> None:
    assert ask(metrics=["units"], filters=[{"dimension": "product", "values": ["it's"]}]) == [(5,)]
    nasty = "x' OR 1=1; DROP TABLE orders; --"
    query = MetricQuery.model_validate({"metrics": ["units"], "filters": [{"dimension": "product", "values": [nasty]}]})
    for dialect in ("postgres", "redshift", "snowflake", "bigquery", "duckdb"):
        trees = sqlglot.parse(compile_query(query, small, dialect).sql, dialect=dialect)
        assert len(trees) == 1
        literals = [node.this for node in trees[0].find_all(sqlglot.exp.Literal)]  # type: ignore[union-attr]
        assert nasty in literals


def test_text_is_the_same_every_time_and_parses_in_every_dialect(sample_model: SemanticModel) -> None:
    queries = [
        MetricQuery.model_validate(
            {"metrics": [name], "time_range": {"start": "2026-01-01", "end": "2026-07-01"}, "comparison": "year_ago"}
        )
        for name in sample_model.metrics
    ]
    for dialect in ("postgres", "redshift", "snowflake", "bigquery", "duckdb"):
        for query in queries:
            first = compile_query(query, sample_model, dialect)
            assert first == compile_query(query, sample_model, dialect)
            assert len(sqlglot.parse(first.sql, dialect=dialect)) == 1


def test_mixed_case_names_keep_their_quotes(sample_model: SemanticModel) -> None:
    query = MetricQuery(metrics=("sales_target",), dimensions=("region",))
    compiled = compile_query(query, sample_model, "postgres")
    assert 'public."SalesTarget"' in compiled.sql
    assert compiled.tables == ("public.SalesTarget", "public.regions")


def test_weeks_begin_on_monday_in_bigquery_too(sample_model: SemanticModel) -> None:
    for metric in ("revenue", "tickets"):
        query = MetricQuery(metrics=(metric,), grain="week")
        assert "ISOWEEK" in compile_query(query, sample_model, "bigquery").sql


def test_meanings_and_description(sample_model: SemanticModel) -> None:
    query = MetricQuery.model_validate(
        {
            "metrics": ["net_margin_percent"],
            "dimensions": ["region"],
            "time_range": {"start": "2025-07-01", "end": "2025-10-01", "label": "Q3 2025"},
            "filters": [{"dimension": "product_family", "values": ["Meters"], "negated": True}],
            "comparison": "previous",
        }
    )
    compiled = compile_query(query, sample_model, "postgres")
    assert [(meaning.name, meaning.unit, meaning.role) for meaning in compiled.meanings] == [
        ("region", "", "dimension"),
        ("net_margin_percent", "%", "metric"),
        ("net_margin_percent_previous", "%", "metric"),
        ("net_margin_percent_change", "percentage points", "metric"),
        ("net_margin_percent_change_percent", "%", "metric"),
    ]
    assert compiled.description == (
        "Net margin rate by region, Q3 2025, without product family Meters, compared with the period before"
    )


def test_a_limit_within_groups(ask: Any) -> None:
    rows = ask(
        metrics=["units"],
        dimensions=["product", "country"],
        time_range={"start": "2024-01-01", "end": "2026-01-01"},
        order="descending",
        limit=1,
        limit_by=["country"],
    )
    assert rows == [("bolt", "Norway", 10), ("nut", "Spain", 2)]


def test_a_ranking_may_keep_what_has_no_name(ask: Any) -> None:
    asked: dict[str, Any] = {"metrics": ["revenue"], "dimensions": ["country"], "time_range": YEAR}
    assert ask(**asked, order="descending", keep_empty=True) == [("Norway", D(300)), (None, D(65)), ("Spain", D(50))]
    assert ask(**asked, order="descending") == [("Norway", D(300)), ("Spain", D(50))]


def test_a_mean_of_nothing_is_not_zero(ask: Any) -> None:
    spain = [{"dimension": "country", "values": ["Spain"]}]
    rows = ask(metrics=["per_order"], grain="month", filters=spain, time_range=QUARTER)
    assert [row[0] for row in rows] == [date(2025, 1, 1)]


def test_the_fewest_may_be_none(ask: Any) -> None:
    rows = ask(metrics=["orders"], dimensions=["country"], time_range=FEBRUARY, order="ascending", limit=1)
    assert rows == [("Spain", 0)]
    none = [{"metric": "orders", "operator": "=", "value": 0}]
    assert ask(metrics=["orders"], dimensions=["country"], time_range=FEBRUARY, conditions=none) == [("Spain", 0)]


def test_what_shares_the_last_place_stands_there_too(ask: Any) -> None:
    rows = ask(metrics=["orders"], dimensions=["country"], time_range=JANUARY, order="descending", limit=1)
    assert rows == [("Norway", 1), ("Spain", 1)]


def test_one_place_counts_values_not_rows(ask: Any) -> None:
    rows = ask(metrics=["orders"], grain="month", time_range=QUARTER, order="descending", place=2)
    assert rows == [(date(2025, 3, 1), 1)]  # January and February share the first place


def test_two_figures_give_a_difference_a_ratio_and_a_percentage(ask: Any) -> None:
    assert ask(metrics=["revenue", "orders"], combine="difference", time_range=JANUARY) == [(D(148), D(150), 2)]
    ratio = ask(metrics=["units", "orders"], combine="ratio", time_range=JANUARY)
    assert [float(cell) for cell in ratio[0]] == [4.5, 9, 2]
    rows = ask(metrics=["large", "revenue"], combine="percent", dimensions=["country"], time_range=FEBRUARY)
    assert {row[0]: round(float(row[1]), 1) for row in rows} == {"Norway": 100.0, None: 0.0}
    above = [{"metric": "difference", "operator": ">", "value": 0}]
    parts = {"combine": "difference", "dimensions": ["country"], "time_range": FEBRUARY, "conditions": above}
    assert [row[0] for row in ask(metrics=["revenue", "large"], **parts)] == [None]


def test_rows_are_counted_by_name(ask: Any) -> None:
    some = [{"metric": "orders", "operator": ">", "value": 0}]
    rows = ask(metrics=["orders"], dimensions=["country"], time_range=QUARTER, count_rows=True, conditions=some)
    assert rows == [(2,)]  # the orders of no country are no country's
    many = [{"metric": "orders", "operator": ">", "value": 1}]
    assert ask(metrics=["orders"], grain="month", time_range=QUARTER, count_rows=True, conditions=many) == [(2,)]
