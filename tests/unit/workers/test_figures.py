from __future__ import annotations

from datetime import date
from decimal import Decimal

from rag_core.datamodel.evidence import ColumnMeaning
from rag_core.datamodel.plan import DimensionFilter, MetricCondition, MetricQuery, TimeRange
from rag_core.workers.figures import MAX_TABLE_ROWS, describe_result
from tests.evidence import sql_evidence

RATE = ColumnMeaning(name="margin_rate", label="Net margin", unit="%", decimals=1, role="metric")
BEFORE = RATE.model_copy(update={"name": "margin_rate_previous"})
CHANGE = RATE.model_copy(update={"name": "margin_rate_change", "unit": "percentage points"})
REGION = ColumnMeaning(name="region", label="Region", role="dimension")
MONTH = ColumnMeaning(name="month", label="Month", role="time")
REVENUE = ColumnMeaning(name="revenue", label="Revenue", unit="EUR", decimals=0, role="metric")
QUARTER = TimeRange(start=date(2025, 7, 1), end=date(2025, 10, 1), label="Q3 2025")
NORDICS = DimensionFilter(dimension="region", values=("Nordics",))


def test_a_single_value_is_a_sentence_with_its_scope_period_and_change() -> None:
    query = MetricQuery(metrics=("margin_rate",), filters=(NORDICS,), time_range=QUARTER, comparison="previous")
    row = (Decimal("11.437"), Decimal("17.634"), Decimal("-6.197"))
    columns = {"margin_rate": "numeric", "margin_rate_previous": "numeric", "margin_rate_change": "numeric"}
    block = describe_result(sql_evidence(columns, row, meanings=(RATE, BEFORE, CHANGE)), query)
    assert block.sentences == (
        "Net margin of Nordics in Q3 2025 was 11.4 %, down 6.2 percentage points from 17.6 % in Q2 2025.",
    )
    assert (block.headline_value, block.headline_unit, block.table) == (Decimal("11.437"), "%", "")


def test_a_period_without_one_before_says_so() -> None:
    query = MetricQuery(metrics=("margin_rate",), time_range=QUARTER, comparison="previous")
    columns = {"margin_rate": "numeric", "margin_rate_previous": "numeric", "margin_rate_change": "numeric"}
    row = (Decimal("11.437"), None, None)
    block = describe_result(sql_evidence(columns, row, meanings=(RATE, BEFORE, CHANGE)), query)
    assert block.sentences == ("Net margin in Q3 2025 was 11.4 %; for Q2 2025 there is no value.",)


def test_codes_are_spoken_and_plurals_agree() -> None:
    meaning = ColumnMeaning(name="churned", label="Churned customers", unit="customers", decimals=0, role="metric")
    query = MetricQuery(metrics=("churned",), filters=(DimensionFilter(dimension="segment", values=("mid_market",)),))
    evidence = sql_evidence({"churned": "bigint"}, (1303,), meanings=(meaning,))
    block = describe_result(evidence, query, {"mid_market": "mid-market"})
    assert block.sentences == ("Churned customers of mid-market were 1,303.",)


def test_a_ranking_names_its_first_and_shows_a_table_with_units() -> None:
    query = MetricQuery(metrics=("revenue",), dimensions=("region",), order="descending", time_range=QUARTER)
    rows = (("Nordics", Decimal("1234567.8")), ("Iberia", Decimal("5")))
    evidence = sql_evidence({"region": "text", "revenue": "numeric"}, *rows, meanings=(REGION, REVENUE))
    block = describe_result(evidence, query)
    assert block.sentences == ("Nordics had the highest revenue in Q3 2025: 1,234,568 EUR.",)
    assert block.table.splitlines() == [
        "| Region | Revenue (EUR) |",
        "| --- | ---: |",
        "| Nordics | 1,234,568 |",
        "| Iberia | 5 |",
    ]
    assert block.headline_value == Decimal("1234567.8")


def test_a_long_series_shows_its_first_rows_and_says_how_many_there_are() -> None:
    query = MetricQuery(metrics=("revenue",), grain="month")
    rows = tuple((date(2024 + index // 12, index % 12 + 1, 1), Decimal(100 + index)) for index in range(14))
    evidence = sql_evidence({"month": "date", "revenue": "numeric"}, *rows, meanings=(MONTH, REVENUE))
    block = describe_result(evidence, query)
    assert block.sentences == (
        "Revenue was highest in February 2025 with 113 EUR and lowest in January 2024 with 100 EUR.",
    )
    assert f"14 rows in all, the first {MAX_TABLE_ROWS} shown." in block.table
    assert block.headline_value is None


def test_sql_without_meanings_is_read_from_names_and_cells() -> None:
    evidence = sql_evidence({"customer_name": "text", "order_count": "bigint"}, ("A | B", 3), ("C", 4))
    block = describe_result(evidence)
    assert block.sentences == ("Order count was highest in C with 4 and lowest in A | B with 3.",)
    assert "| A \\| B | 3 |" in block.table


def test_names_alone_are_counted_and_listed() -> None:
    evidence = sql_evidence({"customer_name": "text"}, ("A",), ("B",))
    assert describe_result(evidence).sentences == ("2 rows were found.",)


COUNT = ColumnMeaning(name="incidents", label="Incidents", unit="incidents", decimals=0, role="metric")
SERVICE = ColumnMeaning(name="service", label="Service", role="dimension")


def test_all_that_share_the_first_place_are_named() -> None:
    query = MetricQuery(metrics=("incidents",), dimensions=("service",), order="ascending", limit=1, time_range=QUARTER)
    rows = (("atlas", 0), ("billing", 0), ("cargo", 0))
    evidence = sql_evidence({"service": "text", "incidents": "bigint"}, *rows, meanings=(SERVICE, COUNT))
    assert describe_result(evidence, query).sentences == (
        "atlas, billing and cargo had the lowest incidents in Q3 2025: 0 incidents each.",
    )


def test_one_place_is_said_as_it_was_asked() -> None:
    query = MetricQuery(metrics=("revenue",), dimensions=("region",), order="descending", place=2, time_range=QUARTER)
    evidence = sql_evidence({"region": "text", "revenue": "numeric"}, ("Iberia", 5), meanings=(REGION, REVENUE))
    assert describe_result(evidence, query).sentences == ("Iberia had the second highest revenue in Q3 2025: 5 EUR.",)


def test_the_ends_of_a_series_name_every_period_that_shares_them_and_a_split_only_speaks_of_what_it_lists() -> None:
    months = tuple((date(2025, month, 1), count) for month, count in ((1, 0), (2, 3), (3, 0)))
    series = sql_evidence({"month": "date", "incidents": "bigint"}, *months, meanings=(MONTH, COUNT))
    assert describe_result(series, MetricQuery(metrics=("incidents",), grain="month")).sentences == (
        "Incidents were highest in February 2025 with 3 and lowest in January 2025 and March 2025 with 0.",
    )
    rows = (("atlas", 1), ("billing", 4))
    split = sql_evidence({"service": "text", "incidents": "bigint"}, *rows, meanings=(SERVICE, COUNT))
    assert describe_result(split, MetricQuery(metrics=("incidents",), dimensions=("service",))).sentences == (
        "Incidents were highest in billing with 4 and lowest, of the 2 listed, in atlas with 1.",
    )


def test_who_has_it_is_said_with_names() -> None:
    rows = (("atlas", 0), ("billing", 0))
    evidence = sql_evidence({"service": "text", "incidents": "bigint"}, *rows, meanings=(SERVICE, COUNT))
    none = MetricCondition(metric="incidents", operator="=", value=Decimal(0))
    query = MetricQuery(metrics=("incidents",), dimensions=("service",), time_range=QUARTER, conditions=(none,))
    assert describe_result(evidence, query).sentences == ("atlas and billing had no incidents in Q3 2025.",)
    difference = ColumnMeaning(name="difference", label="Revenue less sales target", unit="EUR", role="metric")
    above = MetricCondition(metric="difference", operator=">", value=Decimal(0))
    query = MetricQuery(
        metrics=("revenue", "sales_target"), combine="difference", dimensions=("region",), conditions=(above,)
    )
    columns = {"region": "text", "difference": "numeric"}
    found = describe_result(sql_evidence(columns, ("DACH", 5), ("Iberia", 2), meanings=(REGION, difference)), query)
    assert found.sentences[0] == "DACH and Iberia had revenue above sales target."
