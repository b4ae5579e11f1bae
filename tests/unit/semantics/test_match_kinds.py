"""Kinds of questions: rankings within groups, declared readings, sizes, question words, times; foreign words."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from rag_core.datamodel.plan import MetricQuery
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.describe import describe_query
from rag_core.semantics.match import Match, match_question
from rag_core.semantics.values import ValueIndex

Q2 = {"start": "2026-04-01", "end": "2026-07-01"}
LAST_YEAR = {"start": "2025-01-01", "end": "2026-01-01"}
Matching = Callable[[str], Match]


def query_of(found: Match) -> dict[str, Any]:
    """The query's parts that are set, without labels."""
    assert found.complete, (found.unmatched, found.ambiguous, found.reason)
    assert found.query is not None
    parts = found.query.model_dump(exclude_defaults=True, mode="json")
    for name in ("time_range", "comparison_range"):
        if name in parts:
            parts[name].pop("label", None)
    return parts


def wanted(parts: dict[str, Any]) -> dict[str, Any]:
    return MetricQuery.model_validate(parts).model_dump(exclude_defaults=True, mode="json")


TOP = {"metrics": ["revenue"], "time_range": LAST_YEAR, "order": "descending", "limit_by": ["region"]}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Top 3 products in each region by revenue in 2025", {**TOP, "dimensions": ["product", "region"], "limit": 3}),
        (
            "For every region, the two products with the highest revenue last year",
            {**TOP, "dimensions": ["region", "product"], "limit": 2},
        ),
        (
            "Which product had the highest revenue in each region in 2025?",
            {**TOP, "dimensions": ["product", "region"], "limit": 1},
        ),
        (
            "Why did customers leave last quarter?",
            {
                "metrics": ["churned_customers"],
                "dimensions": ["churn_reason"],
                "time_range": Q2,
                "order": "descending",
                "keep_empty": True,
            },
        ),
        (
            "Team sizes at the end of 2025",
            {"metrics": ["headcount"], "dimensions": ["team"], "time_range": {"end": "2026-01-01"}},
        ),
        (
            "How large was the Platform team at the end of 2025?",
            {
                "metrics": ["headcount"],
                "filters": [{"dimension": "team", "values": ["Platform"]}],
                "time_range": {"end": "2026-01-01"},
            },
        ),
        (
            "How dependent was Benelux on Waalhaven Logistics last quarter?",
            {
                "metrics": ["revenue"],
                "dimensions": ["customer"],
                "filters": [
                    {"dimension": "region", "values": ["Benelux"]},
                    {"dimension": "customer", "values": ["Waalhaven Logistics"]},
                ],
                "time_range": Q2,
                "share": True,
            },
        ),
        (
            "Average order value before and after 2025-04-01",
            {
                "metrics": ["average_order_value"],
                "time_range": {"start": "2025-04-01", "end": "2026-07-01"},
                "comparison": "range",
                "comparison_range": {"end": "2025-04-01"},
            },
        ),
        (
            "How did tickets develop over the last two quarters?",
            {
                "metrics": ["tickets"],
                "grain": "quarter",
                "time_range": {"start": "2026-01-01", "end": "2026-07-01"},
            },
        ),
        (
            "What percentage of the customers we had on 1 January 2025 left during 2025?",
            {"metrics": ["churn_rate"], "time_range": LAST_YEAR},
        ),
        (
            "How many orders did we get in an average month of 2025?",
            {"metrics": ["orders"], "time_range": LAST_YEAR, "average_over": "month"},
        ),
        ("How much did the goods we sold last quarter cost us?", {"metrics": ["cost_of_goods"], "time_range": Q2}),
        (
            "Contracts due for renewal next quarter",
            {"metrics": ["renewals_due"], "time_range": {"start": "2026-07-01", "end": "2026-10-01"}},
        ),
    ],
)
def test_read(match: Matching, text: str, parts: dict[str, Any]) -> None:
    assert query_of(match(text)) == wanted(parts)


@pytest.mark.parametrize(
    ("text", "metric", "assumption"),
    [
        ("Sales by region in 2025", "revenue", "'Sales' is taken as revenue"),
        ("Monthly sales in 2025", "revenue", "'sales' is taken as revenue"),
        ("Top 3 countries by sales, 2026 Q2", "revenue", "'sales' is taken as revenue"),
        ("Share of sales by channel in 2025", "revenue", "'sales' is taken as revenue"),
        ("Churn by month in 2025", "churned_customers", "'Churn' is taken as churned customers"),
        ("Churn by segment in 2025", "churn_rate", "'Churn' is taken as churn rate"),
    ],
)
def test_a_declared_reading_is_taken_and_said(match: Matching, text: str, metric: str, assumption: str) -> None:
    found = match(text)
    assert query_of(found)["metrics"] == [metric]
    assert assumption in found.assumptions
    assert found.confidence < 1.0


@pytest.mark.parametrize("text", ["Sales last month", "Churn in Q1 2026", "Churn by region and month in 2026"])
def test_where_no_reading_is_declared_it_is_asked_back(match: Matching, text: str) -> None:
    found = match(text)
    assert not found.complete
    assert found.ambiguous


def test_without_declared_readings_every_use_is_asked_back(
    sample_model: SemanticModel, sample_values: ValueIndex
) -> None:
    plain = sample_model.model_copy(update={"readings": {}})
    found = match_question("Sales by region in 2025", plain, sample_values, date(2026, 7, 1))
    assert [set(item.options) for item in found.ambiguous] == [{"Revenue", "Orders"}]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Revenue in spring 2026", "no fixed first day"),
        ("Revenue before and after 2025-04-01", "not equally long"),
        ("Revenue of the five smallest countries together in 2025", "sum over what is ranked"),
        ("Which customers in each region had the highest revenue in 2025?", "say how many"),
        ("Top 3 regions and segments by revenue in 2025", "ranked within what"),
        ("Revenue next quarter", "the one after it"),
        ("Size of the Benelux region in 2025", "no figure"),
        ("Size of orders by region in 2025", "how many or how large"),
        ("Revenue share of the top 10 customers in 2025", "of all of them together"),
        ("How dependent was DACH on enterprise customers in 2025?", "no figure|which figure"),
        ("Why did headcount fall in 2025?", "Why"),
        ("Why did customers leave in 2025 and where?", "where"),
        ("How far did each region get against its churn?", "."),
    ],
)
def test_what_has_no_single_answer_says_why(match: Matching, text: str, reason: str) -> None:
    found = match(text)
    assert not found.complete
    assert re.search(reason, f"{found.reason} {' '.join(found.unmatched)}"), found


def test_a_ranking_within_groups_is_said_in_words(match: Matching, sample_model: SemanticModel) -> None:
    found = match("Top 3 products in each region by revenue in 2025")
    assert found.query is not None
    assert describe_query(found.query, sample_model) == (
        "Revenue by product and region, 2025, the 3 highest by revenue in each region"
    )


def test_one_foreign_word_is_enough_to_make_a_question_incomplete(match: Matching, repo_root: Path) -> None:
    """Put into every question of the bench at three places: it is named, and nothing is given as complete."""
    path = repo_root / "bench" / "semantics" / "paraphrases.yaml"
    entries = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))["questions"]
    asked = 0
    for entry in entries:
        words = entry["wordings"][0].split()
        for at in {0, len(words) // 2, len(words)}:
            found = match(" ".join([*words[:at], "zorblax", *words[at:]]))
            assert not found.complete, (words, at)
            assert "zorblax" in found.unmatched or found.reason, (words, at)
            asked += 1
    assert asked > 150
