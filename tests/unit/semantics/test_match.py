"""What questions are read as: by kind, not by instance. The figures over all wordings are in bench/semantics."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from rag_core.datamodel.plan import MetricQuery
from rag_core.semantics.match import Match

Q2 = {"start": "2026-04-01", "end": "2026-07-01"}
LAST_YEAR = {"start": "2025-01-01", "end": "2026-01-01"}


def query_of(found: Match) -> dict[str, Any]:
    """The query's parts that are set, without labels."""
    assert found.complete, (found.unmatched, found.ambiguous, found.reason)
    assert found.query is not None
    parts = found.query.model_dump(exclude_defaults=True, mode="json")
    for name in ("time_range", "comparison_range"):
        if name in parts:
            parts[name].pop("label", None)
    return parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("What was our revenue last quarter?", {"metrics": ["revenue"], "time_range": Q2}),
        (
            "German revenue excluding enterprise customers in 2025",
            {
                "metrics": ["revenue"],
                "time_range": LAST_YEAR,
                "filters": [
                    {"dimension": "country", "values": ["Germany"]},
                    {"dimension": "segment", "values": ["enterprise"], "negated": True},
                ],
            },
        ),
        (
            "Top 5 products by revenue in Q2 2026",
            {"metrics": ["revenue"], "dimensions": ["product"], "time_range": Q2, "order": "descending", "limit": 5},
        ),
        (
            "Which region had the worst churn rate in 2025?",
            {
                "metrics": ["churn_rate"],
                "dimensions": ["region"],
                "time_range": LAST_YEAR,
                "order": "descending",
                "limit": 1,
            },
        ),
        (
            "Revenue and orders by region and month, 2025",
            {"metrics": ["revenue", "orders"], "dimensions": ["region"], "grain": "month", "time_range": LAST_YEAR},
        ),
        (
            "How did revenue in Q2 2026 compare with the same quarter last year?",
            {"metrics": ["revenue"], "time_range": Q2, "comparison": "year_ago"},
        ),
        (
            "Tickets in June 2026 versus December 2025",
            {
                "metrics": ["tickets"],
                "time_range": {"start": "2026-06-01", "end": "2026-07-01"},
                "comparison": "range",
                "comparison_range": {"start": "2025-12-01", "end": "2026-01-01"},
            },
        ),
        (
            "What share of revenue came from DACH last quarter?",
            {
                "metrics": ["revenue"],
                "dimensions": ["region"],
                "filters": [{"dimension": "region", "values": ["DACH"]}],
                "time_range": Q2,
                "share": True,
            },
        ),
        (
            "Cumulative revenue by month in 2025",
            {"metrics": ["revenue"], "grain": "month", "time_range": LAST_YEAR, "running_total": True},
        ),
        (
            "Services with more than 10 incidents in 2025",
            {
                "metrics": ["incidents"],
                "dimensions": ["service"],
                "time_range": LAST_YEAR,
                "conditions": [{"metric": "incidents", "operator": ">", "value": "10"}],
            },
        ),
        ("Average monthly orders in 2025", {"metrics": ["orders"], "time_range": LAST_YEAR, "average_over": "month"}),
        (
            "How many support tickets are still open?",
            {"metrics": ["open_tickets"], "time_range": {"end": "2026-07-01"}},
        ),
        (
            "How many mid-market customers in DACH left last quarter?",
            {
                "metrics": ["churned_customers"],
                "filters": [
                    {"dimension": "segment", "values": ["mid_market"]},
                    {"dimension": "region", "values": ["DACH"]},
                ],
                "time_range": Q2,
            },
        ),
        ("Freight as a percentage of revenue in 2025", {"metrics": ["freight_share"], "time_range": LAST_YEAR}),
        (
            "Number of sev1 to sev3 incidents in 2025",
            {
                "metrics": ["incidents"],
                "filters": [{"dimension": "incident_severity", "values": ["sev1", "sev2", "sev3"]}],
                "time_range": LAST_YEAR,
            },
        ),
        (
            "How many active customers have no account manager?",
            {
                "metrics": ["active_customers"],
                "filters": [{"dimension": "account_manager", "values": [None]}],
                "time_range": {"end": "2026-07-01"},
            },
        ),
    ],
)
def test_read(match: Callable[[str], Match], text: str, parts: dict[str, Any]) -> None:
    found = query_of(match(text))
    wanted = MetricQuery.model_validate(parts).model_dump(exclude_defaults=True, mode="json")
    assert {**found} == {**wanted}


@pytest.mark.parametrize(
    ("text", "unmatched"),
    [
        ("Revenue from left-handed customers last quarter", ("left-handed",)),
        ("Revenue from new customers in 2025", ("new customers",)),
        ("Average first response time last month", ("Average",)),
        ("Revenue not in the list", ("not in",)),
        ("What should revenue have been last quarter?", ("should",)),
        ("Revenue before the strike", ("before", "strike")),
        ("Revenue by region in all markets", ("all", "markets")),
    ],
)
def test_what_is_not_understood_is_named(match: Callable[[str], Match], text: str, unmatched: tuple[str, ...]) -> None:
    found = match(text)
    assert not found.complete
    assert set(unmatched) & set(found.unmatched), found.unmatched
    assert found.confidence < 0.5
    assert found.reason


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Sales last month", ("Revenue", "Orders")),
        ("Churn in Q1 2026", ("Churned customers", "Churn rate")),
        ("Revenue in Germany and Spain in 2025", ("each country", "all of them together")),
        ("Tickets about installation last month", ("Product Installation", "Ticket category installation")),
    ],
)
def test_two_meanings_are_asked_back(match: Callable[[str], Match], text: str, options: tuple[str, ...]) -> None:
    found = match(text)
    assert not found.complete
    assert found.confidence == 0.0
    assert [set(item.options) for item in found.ambiguous] == [set(options)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Net margin by segment in 2025", "Net margin cannot be|cannot be split"),
        ("Deployments in DACH last quarter", "cannot be filtered by DACH"),
        ("Revenue in USD last quarter", "not understood"),
        ("How many hours of revenue did we have in 2025?", "is in EUR"),
        ("Cumulative net margin rate by month in 2025", "not a sum"),
        ("Monthly revenue", "needs a period"),
        ("Revenue compared with last year", "not said what"),
        ("Revenue per customer in 2025", "ask for the top ones"),
        ("Top 3 products by month in 2025 by revenue", "ranking"),
        ("Churn rate by region", "needs a period"),
        ("Orders in 2019", "from 2023-07-01 on"),
        ("Revenue in Q4 2027", "has not begun"),
        ("Active customers at the end of 2027", "has not come"),
    ],
)
def test_what_has_no_answer_says_why(match: Callable[[str], Match], text: str, reason: str) -> None:
    found = match(text)
    assert not found.complete
    assert re.search(reason, found.reason), found.reason


def test_a_value_leads_to_the_dimension_that_the_figure_has(match: Callable[[str], Match]) -> None:
    product = query_of(match("Revenue of Fleet Analytics in 2025"))
    service = query_of(match("Incidents of fleet-analytics in 2025"))
    assert product["filters"][0] == {"dimension": "product", "values": ["Fleet Analytics"]}
    assert service["filters"][0] == {"dimension": "service", "values": ["fleet-analytics"]}


def test_the_unit_decides_between_two_meanings(match: Callable[[str], Match]) -> None:
    assert query_of(match("How many Halo Gateways did we sell last quarter?"))["metrics"] == ["units"]
    assert query_of(match("How much did each region sell last quarter?"))["metrics"] == ["revenue"]
    assert query_of(match("Churn in 2025 in percent"))["metrics"] == ["churn_rate"]


def test_values_side_by_side(match: Callable[[str], Match]) -> None:
    compared = query_of(match("Compare revenue in DACH and the Nordics last quarter"))
    assert compared["dimensions"] == ["region"]
    together = query_of(match("Combined revenue of Germany and Spain in 2025"))
    assert "dimensions" not in together


def test_assumptions_lower_the_confidence(match: Callable[[str], Match]) -> None:
    found = match("Revenue in May")
    assert found.complete
    assert found.assumptions == ("may is taken as May 2026",)
    assert found.confidence == 0.95


def test_spans_say_what_each_part_was_taken_for(match: Callable[[str], Match]) -> None:
    text = "Revenue by region last quarter in Germany"
    found = match(text)
    meanings = {span.text: span.meaning for span in found.spans}
    assert meanings["Revenue"] == "Revenue (metric revenue)"
    assert meanings["region"] == "split by Region (dimension region)"
    assert meanings["Germany"] == "only Country Germany (dimension country)"
    assert all(text[span.start : span.end] == span.text for span in found.spans)


def test_a_verified_query_is_filled_with_literals(match: Callable[[str], Match]) -> None:
    found = match("What was the largest order last quarter?")
    assert found.verified is not None
    assert found.complete
    assert found.verified.name == "largest_order"
    assert "'2026-04-01'" in found.verified.sql
    assert ":period" not in found.verified.sql
    assert match("What was the largest order on the moon last quarter?").complete is False


def test_the_same_question_means_the_same_every_time(match: Callable[[str], Match]) -> None:
    text = "Top 3 products by units in Iberia, 2025 versus 2024"
    assert match(text) == match(text)


@pytest.mark.parametrize(
    "text", ["", "   ", "?", "...", "a" * 5000, "revenue " * 300, "\u0000\ud7ff", "' OR 1=1 --", "{period}"]
)
def test_odd_texts_do_no_harm(match: Callable[[str], Match], text: str) -> None:
    match(text)
