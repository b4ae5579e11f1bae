from __future__ import annotations

import pytest

from rag_core.workers.clauses import nearest, read_clauses, without_cause


@pytest.mark.parametrize(
    ("question", "clauses"),
    [
        ("What was revenue last quarter?", ["What was revenue last quarter"]),
        (
            "How many orders did Iberia place in 2025, and why was the second quarter weak?",
            ["How many orders did Iberia place in 2025", "why was the second quarter weak"],
        ),
        (
            "How many orders came in May? Below a lag of two seconds, what is promoted?",
            ["How many orders came in May", "Below a lag of two seconds", "what is promoted"],
        ),
        (
            "How many customers left in each month, and within how many days do backups expire? Above which amount?",
            ["How many customers left in each month", "within how many days do backups expire", "Above which amount"],
        ),
        ("How many customers churned, and why?", ["How many customers churned", "why"]),
        ("Revenue and orders by region and month", ["Revenue and orders by region and month"]),
        ("What is the fee and who approves it?", ["What is the fee", "who approves it"]),
        (
            "Who are the largest customers; under which contract did they order?",
            ["Who are the largest customers", "under which contract did they order"],
        ),
    ],
)
def test_a_cut_stands_only_before_a_question_of_its_own(question: str, clauses: list[str]) -> None:
    assert [clause.text for clause in read_clauses(question)] == clauses


def test_causes_and_documents_are_told_apart_from_figures() -> None:
    figure, cause = read_clauses("How many customers churned in May, and what caused it?")
    assert (figure.asks_cause, figure.asks_documents) == (False, False)
    assert (cause.asks_cause, cause.asks_documents) == (True, True)
    (counted,) = read_clauses("How many customers signed their first contract in 2025 per country?")
    assert not counted.asks_documents
    (written,) = read_clauses("What does the data retention standard say about logs?")
    assert (written.asks_cause, written.asks_documents) == (False, True)


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("Why did the net margin of the Nordics fall in Q3 2025", "the net margin of the Nordics in Q3 2025"),
        ("What caused the rise of support tickets in December 2025", "support tickets in December 2025"),
        ("Explain the drop in orders in April 2025", "orders in April 2025"),
    ],
)
def test_a_question_after_a_cause_becomes_one_after_its_figure(question: str, figure: str) -> None:
    assert without_cause(question) == figure


@pytest.mark.parametrize(
    ("question", "part", "figures", "leans_on"),
    [
        # of its own sentence, whatever is asked before and after it
        ("What was the rent per month, and which guest stands out? What does a boat cost?", 1, [0, 2], [0]),
        ("What does a boat cost? What was the rent per month, and which guest stands out?", 2, [0, 1], [1]),
        ("What was the rent, how many guests came, and why?", 2, [0, 1], [0, 1]),
        # else of the nearest one before
        ("What was the rent? How many guests came? Who decided on it?", 2, [0, 1], [1]),
        # else of any
        ("Who decided on it? What was the rent? How many guests came?", 0, [1, 2], [1, 2]),
    ],
)
def test_a_part_leans_on_the_figures_nearest_to_it(
    question: str, part: int, figures: list[int], leans_on: list[int]
) -> None:
    clauses = read_clauses(question)
    assert nearest(question, clauses[part], [clauses[at] for at in figures]) == tuple(clauses[at] for at in leans_on)
