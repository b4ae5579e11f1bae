from __future__ import annotations

import pytest

from rag_core.workers.clauses import asks_series, read_clauses
from rag_core.workers.halves import halved

FIGURES = {"Revenue by month of 2026", "the orders of May", "Revenue and orders in May"}


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "Revenue by month of 2026, and the customer behind the peak.",
            [("Revenue by month of 2026", False), ("the customer behind the peak", True)],
        ),
        (
            "The plan for renewals and the orders of May",
            [("The plan for renewals", True), ("the orders of May", False)],
        ),
        ("Revenue and orders in May", [("Revenue and orders in May", False)]),
        ("The plan and the offer", [("The plan and the offer", False)]),
        (
            "Revenue by month of 2026 and the churn per region",
            [("Revenue by month of 2026", False), ("the churn per region", False)],
        ),
    ],
)
def test_a_figure_and_something_written_are_told_apart(question: str, parts: list[tuple[str, bool]]) -> None:
    found = halved(read_clauses(question), FIGURES.__contains__)
    assert [(clause.text, clause.asks_documents) for clause in found] == parts


def test_a_cause_that_is_joined_by_with_is_a_clause_of_its_own() -> None:
    figure, cause = read_clauses("Orders of Iberia by quarter of 2025 with the reason for the low second quarter.")
    assert (figure.asks_cause, cause.asks_cause) == (False, True)
    assert figure.text == "Orders of Iberia by quarter of 2025"


@pytest.mark.parametrize(
    ("text", "series"),
    [
        ("how did each team's headcount change", True),
        ("how many were there each month", True),
        ("how high is churn per region now", True),
        ("How large was the jump in orders", True),
        ("Cloud Plus: price per gateway and month", False),
        ("When did the weekly releases begin", False),
        ("which targets apply", False),
    ],
)
def test_figures_over_time_or_split_are_recognised_by_their_form(text: str, series: bool) -> None:
    assert asks_series(text) is series
