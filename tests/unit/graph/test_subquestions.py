from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from rag_core.datamodel.answer import Answer
from rag_core.errors import ModelFault
from rag_core.graph.subquestions import Part, Parts
from rag_core.workers.planner import Route
from rag_core.workers.sql_worker import SqlThought
from rag_core.workers.writer import WrittenAnswer, WrittenClaim
from tests.question_world import ScriptedModel, WordSearch, open_world

JULY = date(2026, 7, 1)
QUESTION = "List the ids of the orders of the region with the highest revenue in Q1 2026"


def part(question: str, source: Any = "warehouse", needs: int = 0, takes: Any = "nothing") -> Part:
    return Part(question=question, source=source, needs=needs, takes=takes)


def thought(sql: str) -> SqlThought:
    return SqlThought(sql_query=sql, explanation="", confidence=1)


PARTS = Parts(
    parts=[
        part("Which region had the highest revenue in Q1 2026?"),
        part("List the orders of the region found", needs=1, takes="name"),
    ]
)
JOINED = (
    "SELECT o.id AS order_id FROM main.orders AS o JOIN main.regions AS r ON o.region_code = r.code"
    " WHERE r.name = '@s1'"
)
SAID = WrittenAnswer(claims=[WrittenClaim(text="The order ids include 1.", markers=["S2"])], missing="")


def ask(folder: Path, model: ScriptedModel, **more: Any) -> Answer:
    world = open_world(folder, chat_model=model, **more)
    return world.answer(QUESTION, run_date=JULY, strategy="decomposed")


def test_a_part_that_is_understood_needs_no_sql_of_a_model_and_its_result_goes_on(tmp_path: Path) -> None:
    model = ScriptedModel(Parts=[PARTS], SqlThought=[thought(JOINED)], WrittenAnswer=[SAID])
    answer = ask(tmp_path, model)
    assert (answer.status, answer.strategy) == ("answered", "decomposed")
    assert [item.strategy for item in answer.sql] == ["metric", "model"]
    assert "'Nordics'" in answer.sql[1].sql
    assert "@s1" not in answer.sql[1].sql
    assert {row[0] for row in answer.sql[1].result.rows} == {1, 2, 4, 5}
    assert "'@s1'" in next(text for name, _, text in model.prompts if name == "SqlThought")


def test_a_value_that_looks_like_sql_stays_a_value(tmp_path: Path) -> None:
    import duckdb

    open_world(tmp_path)._warehouse.close()
    with duckdb.connect(str(tmp_path / "company.duckdb")) as connection:
        connection.execute("INSERT INTO regions VALUES ('BAD', 'x'' OR 1=1 --')")
        connection.execute("INSERT INTO orders VALUES (9, 'BAD', '2026-03-01', 90000)")
    said = WrittenAnswer(claims=[WrittenClaim(text="The order id is 9.", markers=["S2"])], missing="")
    model = ScriptedModel(Parts=[PARTS], SqlThought=[thought(JOINED)], WrittenAnswer=[said])
    answer = ask(tmp_path, model)
    assert answer.sql[1].result.rows == ((9,),)


def test_a_name_goes_into_a_search(tmp_path: Path) -> None:
    parts = Parts(parts=[PARTS.parts[0], part("What happened in the region?", "documents", 1, "name")])
    search = WordSearch()
    said = WrittenAnswer(claims=[WrittenClaim(text="Nordics had 2,300 EUR.", markers=["S1"])], missing="")
    ask(tmp_path, ScriptedModel(Parts=[parts], WrittenAnswer=[said] * 2), search=search)
    assert search.asked == ["What happened in the region? Nordics"]


def test_parts_that_are_not_ordered_fall_back_to_one_statement(tmp_path: Path) -> None:
    backwards = Parts(parts=[part("a", needs=2, takes="name"), part("b")])
    route = Route(
        reasoning="",
        next_worker="sql_worker",
        task_description_sql="",
        task_description_documents="",
        clarification="",
    )
    said = WrittenAnswer(claims=[WrittenClaim(text="The order count is 6.", markers=["S1"])], missing="")
    for cut in (backwards, Parts(parts=[part("one thing")]), ModelFault("no JSON")):
        model = ScriptedModel(
            Parts=[cut],
            Route=[route],
            SqlThought=[thought("SELECT count(*) AS order_count FROM main.orders")],
            WrittenAnswer=[said],
        )
        answer = ask(tmp_path, model)
        assert (answer.status, answer.strategy) == ("answered", "model")
        assert answer.usage.model_calls == 4
