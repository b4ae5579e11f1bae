from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from rag_core.datamodel.answer import Answer
from tests.question_world import WordSearch, open_world

JULY = date(2026, 7, 1)


def ask(folder: Path, question: str) -> Answer:
    return open_world(folder).answer(question, run_date=JULY)


def test_the_second_part_is_asked_of_what_the_first_one_found(tmp_path: Path) -> None:
    answer = ask(
        tmp_path, "Which region had the highest revenue in Q1 2026 and how many orders did it have in Q1 2026?"
    )
    assert (answer.status, answer.strategy) == ("answered", "decomposed")
    assert "Nordics" in answer.text
    assert answer.sql[1].result.rows == ((2,),)
    assert "'Nordics'" in answer.sql[1].sql
    assert answer.usage.model_calls == 0


def test_the_value_is_the_rows_and_not_the_stand_in(tmp_path: Path) -> None:
    answer = ask(tmp_path, "Which region had the lowest revenue in Q1 2026 and what was its revenue in Q2 2026?")
    assert answer.sql[1].result.rows[0][-1] == 320
    assert "'Iberia'" in answer.sql[1].sql
    assert "Nordics" not in answer.text


def test_several_names_are_asked_of_each(tmp_path: Path) -> None:
    answer = ask(tmp_path, "Which 2 regions had the highest revenue in Q1 2026, and what was their revenue in Q2 2026?")
    assert [row[0] for row in answer.sql[1].result.rows] == ["Iberia", "Nordics"]
    assert "IN ('Nordics', 'Iberia')" in answer.sql[1].sql


def test_a_period_that_was_found_is_the_next_parts_time(tmp_path: Path) -> None:
    answer = ask(tmp_path, "Which month had the highest revenue in 2026, and how many orders were there in that month?")
    assert (answer.status, answer.strategy) == ("answered", "decomposed")
    assert "2026-01-01" in answer.sql[1].sql
    assert "2026-02-01" in answer.sql[1].sql
    assert answer.sql[1].result.rows == ((1,),)


def test_a_name_goes_into_the_search_that_depends_on_it(tmp_path: Path) -> None:
    search = WordSearch()
    question = "Which region had the highest revenue in Q1 2026, and what does the report say about it?"
    answer = open_world(tmp_path, search=search).answer(question, run_date=JULY)
    assert search.asked == ["what does the report say about Nordics"]
    assert answer.strategy == "decomposed"


def test_nothing_to_go_on_with_is_said_and_not_guessed(tmp_path: Path) -> None:
    answer = ask(tmp_path, "Which region had the highest revenue in 2019 and how many orders did it have in 2026?")
    assert answer.status in ("partial", "no_evidence", "failed")
    assert len([item for item in answer.sql if item.step_id == "s2"]) == 0
    assert "Orders in 2026" not in answer.text


@pytest.mark.parametrize(
    "question",
    [
        "What was revenue in Q1 2026, and how many orders were there?",
        "Which region had the highest revenue in Q1 2026?",
        "Which region had the highest revenue in Q1 2026 and how many elephants did it have?",
    ],
)
def test_what_does_not_depend_or_is_not_understood_is_left_to_the_planner(tmp_path: Path, question: str) -> None:
    assert ask(tmp_path, question).strategy != "decomposed"


def test_a_kept_decomposed_plan_follows_the_data(tmp_path: Path) -> None:
    import duckdb

    question = "Which region had the highest revenue in Q1 2026 and how many orders did it have in Q1 2026?"
    world = open_world(tmp_path)
    plan = world.get_compiled_app().invoke({"request": _request(question)})["plan"]
    world._warehouse.close()
    with duckdb.connect(str(tmp_path / "company.duckdb")) as connection:
        connection.execute("INSERT INTO orders VALUES (7, 'IBE', '2026-03-20', 9000)")
    later = open_world(tmp_path).get_compiled_app().invoke({"request": _request(question), "plan": plan})["answer"]
    assert "'Iberia'" in later.sql[1].sql
    assert later.sql[1].result.rows == ((2,),)


def _request(question: str) -> object:
    from rag_core.graph.state import Request

    return Request(question=question, run_date=JULY)
