"""Questions that relate figures to one another or to their rows, and what of them is asked back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from rag_core.semantics.match import Match, Matcher
from tests.unit.semantics.test_match_kinds import query_of, wanted

Q2 = {"start": "2026-04-01", "end": "2026-07-01"}
JUNE = {"start": "2026-06-01", "end": "2026-07-01"}
YEAR = {"start": "2025-01-01", "end": "2026-01-01"}
SEV1 = [{"dimension": "incident_severity", "values": ["sev1"]}]
Matching = Callable[[str], Match]


def over(metric: str, operator: str, value: int) -> list[dict[str, Any]]:
    return [{"metric": metric, "operator": operator, "value": value}]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "Difference between revenue and sales target in Q2 2026",
            {"metrics": ["revenue", "sales_target"], "combine": "difference", "time_range": Q2},
        ),
        (
            "Which regions had revenue above their sales target in Q2 2026?",
            {
                "metrics": ["revenue", "sales_target"],
                "combine": "difference",
                "dimensions": ["region"],
                "conditions": over("difference", ">", 0),
                "time_range": Q2,
            },
        ),
        (
            "How many more orders than tickets did we have in 2025?",
            {"metrics": ["orders", "tickets"], "combine": "difference", "time_range": YEAR},
        ),
        (
            "Ratio of tickets to orders in 2025",
            {"metrics": ["tickets", "orders"], "combine": "ratio", "time_range": YEAR},
        ),
        (
            "Ratio of revenue to sales target in Q2 2026",  # the model defines this one
            {"metrics": ["target_attainment"], "time_range": Q2},
        ),
        (
            "How many countries had more than 500 orders in Q2 2026?",
            {
                "metrics": ["orders"],
                "dimensions": ["country"],
                "conditions": over("orders", ">", 500),
                "count_rows": True,
                "time_range": Q2,
            },
        ),
        (
            "How many services had an incident in June 2026?",
            {
                "metrics": ["incidents"],
                "dimensions": ["service"],
                "conditions": over("incidents", ">", 0),
                "count_rows": True,
                "time_range": JUNE,
            },
        ),
        (
            "Which months of 2025 had no sev1 incidents?",
            {
                "metrics": ["incidents"],
                "grain": "month",
                "filters": SEV1,
                "conditions": over("incidents", "=", 0),
                "time_range": YEAR,
            },
        ),
        (
            "By how much did Iberia miss its sales target in Q2 2026?",
            {
                "metrics": ["revenue", "sales_target"],
                "combine": "difference",
                "filters": [{"dimension": "region", "values": ["Iberia"]}],
                "time_range": Q2,
            },
        ),
        (
            "Services with no sev1 or sev2 incidents in 2025",
            {
                "metrics": ["incidents"],
                "dimensions": ["service"],
                "filters": [{"dimension": "incident_severity", "values": ["sev1", "sev2"]}],
                "conditions": over("incidents", "=", 0),
                "time_range": YEAR,
            },
        ),
        (
            "Low, medium and critical tickets in June 2026",
            {
                "metrics": ["tickets"],
                "filters": [{"dimension": "ticket_severity", "values": ["low", "medium", "critical"]}],
                "time_range": JUNE,
            },
        ),
        (
            "Which teams had open positions at the end of June 2026?",
            {
                "metrics": ["open_positions"],
                "dimensions": ["team"],
                "conditions": over("open_positions", ">", 0),
                "time_range": {"end": "2026-07-01"},
            },
        ),
        (
            "Which regions missed their sales target in Q2 2026?",
            {
                "metrics": ["target_attainment"],
                "dimensions": ["region"],
                "conditions": over("target_attainment", "<", 100),
                "time_range": Q2,
            },
        ),
        (
            "Which product had the second highest revenue in 2025?",
            {"metrics": ["revenue"], "dimensions": ["product"], "order": "descending", "place": 2, "time_range": YEAR},
        ),
        (
            "Countries with between 100 and 300 orders in Q2 2026",
            {
                "metrics": ["orders"],
                "dimensions": ["country"],
                "conditions": [*over("orders", ">=", 100), *over("orders", "<=", 300)],
                "time_range": Q2,
            },
        ),
        ("How many tickets opened in 2025 are still open?", {"metrics": ["tickets_still_open"], "time_range": YEAR}),
        ("Tickets still open from 2025", {"metrics": ["tickets_still_open"], "time_range": YEAR}),
        (
            "How many tickets were still open at the end of 2025?",
            {"metrics": ["open_tickets"], "time_range": {"end": "2026-01-01"}},
        ),
    ],
)
def test_read(match: Matching, text: str, parts: dict[str, Any]) -> None:
    assert query_of(match(text)) == wanted(parts)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Tickets still open in March 2026", "began or at what time"),
        ("How many tickets were opened and resolved in June 2025?", "beginning, the end or both"),
        ("How many tickets opened in Q4 2025 were still unresolved at the end of 2025?", "do not go together"),
        ("Gap of revenue in 2025", "needs two figures"),
        ("Difference between revenue and orders in 2025", "not in the same unit"),
        ("Ratio of tickets to headcount in 2025", "no ratio"),
        ("Share of web revenue by region in 2025", "may mean two things"),
        ("Which regions met their target in every quarter of 2025?", "every single period"),
        ("Sales target by month in 2025", "known by quarter"),
        ("Net margin from 15 March 2026 to 20 April 2026", "whole months only"),
        ("Open tickets since May 2026", "began or at what time"),
        ("Which team shrank in 2025?", "rose or fell"),
        ("Revenue net of discounts in 2025", "net"),
        ("Revenue growth by region above 10 percent in 2025", "the figure or its change"),
        ("Last month with a sev1 incident", "the latest that had any"),
        ("Tickets with low satisfaction in 2025", "low"),
        ("How many more incidents did billing-api have than metering-store in 2025?", "not worked out"),
    ],
)
def test_what_has_two_meanings_or_none_is_asked_back(match: Matching, text: str, words: str) -> None:
    found = match(text)
    assert not found.complete
    assert words in found.reason


@pytest.mark.parametrize(
    "text",
    [
        "Which country was second in orders in Q2 2026?",
        "Which regions exceeded in Q2 2026?",
        "Revenue less in 2025",
        "Did Spain have more revenue in 2025?",
    ],
)
def test_a_word_of_comparison_without_its_other_side_is_never_read_over(match: Matching, text: str) -> None:
    assert not match(text).complete


@pytest.mark.parametrize(
    ("text", "word", "suggestion"),
    [
        ("revenu last quarter", "revenu", "revenue"),
        ("Revenue in Germny in 2025", "Germny", "Germany"),
        ("How many tikets were opened in June 2026?", "tikets", "tickets"),
        ("Net margn by region in Q1 2026", "margn", "margin"),
        ("Revenue in Janaury 2026", "Janaury", "january"),
    ],
)
def test_a_misspelt_word_is_asked_back_and_never_taken_silently(
    match: Matching, text: str, word: str, suggestion: str
) -> None:
    found = match(text)
    assert not found.complete
    assert found.query is None
    assert (found.near_misses[0].word, found.near_misses[0].suggestions[0]) == (word, suggestion)
    assert found.near_misses[0].score >= 0.8
    assert found.unmatched == ()
    assert f"did you mean {suggestion}" in found.reason
    assert found.ambiguous[0].text == word


@pytest.mark.parametrize("verb", ["sent", "held", "told", "kept"])
def test_a_verb_that_is_spelt_right_is_not_taken_for_a_slip(match: Matching, verb: str) -> None:
    found = match(f"Which team {verb} most incidents in 2025?")
    assert not found.complete
    assert found.near_misses == ()
    assert found.unmatched == (verb,)


@pytest.mark.parametrize("most", ["most", "the most"])
def test_tickets_are_sent(match: Matching, most: str) -> None:
    found = match(f"Which region sent {most} tickets in 2026 Q1?")
    assert found.complete
    assert found.query is not None
    assert (found.query.metrics, found.query.dimensions, found.query.limit) == (("tickets",), ("region",), 1)


@pytest.mark.parametrize("movement", ["growing", "rising", "falling", "shrinking", "going down"])
def test_a_movement_under_way_needs_a_period_as_any_other(match: Matching, movement: str) -> None:
    found = match(f"Is revenue {movement}?")
    assert not found.complete
    assert found.reason.startswith("a change needs a period")
    within = match(f"Is revenue {movement} in Q2 2026?")
    assert within.query is not None
    assert within.query.comparison == "previous"


def test_a_near_word_that_completes_nothing_is_told_but_the_rest_stays_unmatched(match: Matching) -> None:
    found = match("What does the runbook say about revenu leakage")
    assert "revenu" in [miss.word for miss in found.near_misses]
    assert "leakage" in found.unmatched
    assert found.ambiguous == ()


def test_a_period_under_way_is_no_lowest_one_and_times_beyond_now_have_the_run_date(matcher: Matcher) -> None:
    found = matcher.match("Which month of 2026 had the fewest incidents?", date(2026, 7, 15))
    assert found.query is not None
    assert found.query.as_of == date(2026, 7, 15)
    assert any("under way" in text for text in found.assumptions)
    past = matcher.match("Which month of 2025 had the fewest incidents?", date(2026, 7, 15))
    assert past.query is not None
    assert past.query.as_of is None


def test_a_question_for_names_leaves_out_what_has_no_name(match: Matching) -> None:
    query = (
        match("Which churn reasons did we have in 2025?").query or match("Which reasons had churned customers?").query
    )
    assert query is not None
    assert [(item.dimension, item.values, item.negated) for item in query.filters] == [("churn_reason", (None,), True)]
