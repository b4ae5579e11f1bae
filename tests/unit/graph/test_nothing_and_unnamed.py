"""What a figure's result does not hold is said: none, no name, a period outside of what is recorded."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import duckdb
import pytest

from rag_core.datamodel.answer import Answer
from tests import question_world
from tests.question_world import open_world

JULY = date(2026, 7, 1)
UNNAMED = "INSERT INTO orders VALUES (7, NULL, '2026-06-16', 90)"


def ask(folder: Path, question: str, *statements: str) -> Answer:
    path = folder / "company.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(question_world.ROWS)
        for statement in statements:
            connection.execute(statement)
    return open_world(folder).answer(question, run_date=JULY)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "Which regions had revenue over 5000 last quarter?",
            "None: no region had revenue over 5,000 EUR in Q2 2026. [S1]",
        ),
        ("What was revenue of the Nordics in June 2026?", "Revenue of Nordics in June 2026: nothing is recorded. [S1]"),
        ("How many orders were there in the Nordics in June 2026?", "Orders of Nordics in June 2026 were 0. [S1]"),
        (
            "How many orders were there on 2026-06-28?",
            "Orders on 2026-06-28 were 0. [S1] The last row recorded is of 2026-06-15. [S1]",
        ),
    ],
)
def test_none_is_an_answer_over_what_is_recorded(tmp_path: Path, question: str, told: str) -> None:
    answer = ask(tmp_path, question)
    assert (answer.status, answer.text) == ("answered", told)


@pytest.mark.parametrize(
    "question",
    ["Which regions had orders in June 2020?", "How many orders were there in 2019?", "Revenue in June 2020"],
)
def test_a_period_before_everything_recorded_is_no_none(tmp_path: Path, question: str) -> None:
    answer = ask(tmp_path, question)
    assert answer.status == "no_evidence"
    assert "the warehouse has rows from 2026-01-15 to 2026-06-15 and nothing of" in answer.text


def test_a_table_without_any_row_answers_with_none(tmp_path: Path) -> None:
    answer = ask(tmp_path, "Which regions had orders in June 2026?", "DELETE FROM orders")
    assert answer.text == "None: no region had orders in June 2026. [S1]"


def test_rows_without_a_name_are_told_where_listed_and_where_left_out(tmp_path: Path) -> None:
    listed = ask(tmp_path, "What was revenue by region last quarter?", UNNAMED)
    assert "highest in Nordics with 750 EUR and lowest in Iberia with 320 EUR. [S1]" in listed.text
    assert "Rows without a region: 90 EUR. [S1]" in listed.text
    assert "| no region | 90 |" in listed.text


@pytest.mark.parametrize("which", ["lowest", "highest"])
def test_a_ranking_says_what_it_leaves_out(tmp_path: Path, which: str) -> None:
    answer = ask(tmp_path, f"Which region had the {which} revenue last quarter?", UNNAMED)
    assert "Left out of the ranking are rows without a region: 90 EUR. [S1]" in answer.text
    assert answer.status == "answered"


def test_a_ranking_that_leaves_nothing_out_says_nothing_of_it(tmp_path: Path) -> None:
    assert "Left out" not in ask(tmp_path, "Which region had the lowest revenue last quarter?").text


def test_a_figure_without_a_period_says_what_it_covers(tmp_path: Path) -> None:
    assert ask(tmp_path, "What was revenue?").text == "Revenue (all that is recorded) was 3,670 EUR. [S1]"


def test_the_first_day_known_is_said_of_a_figure_without_a_period_and_of_one_known_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = "column: day, data_from: 2026-01-10}"
    monkeypatch.setattr(question_world, "MODEL", question_world.MODEL.replace("column: day}", known))
    assert ask(tmp_path, "What was revenue?").text == (
        "Revenue (all that is recorded, from 2026-01-10 on) was 3,670 EUR. [S1]"
    )
    answer = open_world(tmp_path).answer("What was revenue in Q1 2026?", run_date=JULY)
    assert answer.text == "Revenue in Q1 2026 (known from 2026-01-10 on) was 2,600 EUR. [S1]"
