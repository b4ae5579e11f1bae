"""What a chat model adds to an answer, and that asking it loses nothing of what is known without it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from rag_core.datamodel.answer import Answer
from rag_core.errors import ModelFault
from rag_core.workers.planner import Route
from rag_core.workers.sql_worker import SqlThought
from rag_core.workers.writer import WrittenAnswer, WrittenClaim
from tests.question_world import ScriptedModel, open_world

JULY = date(2026, 7, 1)
STRIKE = "When did the dock workers stop work?"
QUOTE = "Dock workers stopped work on 2026-04-07."
FIGURE = "What was the revenue of dock workers last quarter?"
UNKNOWN = "List the customers by postcode"
COUNT = SqlThought(sql_query="SELECT count(*) AS order_count FROM main.orders", explanation="", confidence=0.9)


def route(worker: str) -> Route:
    return Route(
        reasoning="",
        next_worker=worker,
        task_description_sql="",
        task_description_documents="",
        clarification="",
    )


def written(*claims: tuple[str, str], missing: str = "") -> WrittenAnswer:
    return WrittenAnswer(claims=[WrittenClaim(text=text, markers=[at]) for text, at in claims], missing=missing)


def ask(folder: Path, question: str, model: ScriptedModel) -> Answer:
    return open_world(folder, chat_model=model).answer(question, run_date=JULY)


def test_no_router_is_asked_where_its_reply_would_change_nothing(tmp_path: Path) -> None:
    model = ScriptedModel()
    question = "What was the revenue of the Nordics in 2026? How long are service metrics kept at full resolution?"
    answer = ask(tmp_path, question, model)
    assert (model.prompts, answer.strategy, answer.query_type, answer.status) == ([], "metric", "both", "answered")
    assert "3,050 EUR" in answer.text
    assert "Service metrics are kept at full resolution for 90 days. [D1]" in answer.text


def test_documents_are_asked_beside_a_router_that_wants_the_warehouse(tmp_path: Path) -> None:
    said = written(("The order count is 6.", "S1"))
    model = ScriptedModel(Route=[route("sql_worker")], SqlThought=[COUNT], WrittenAnswer=[said])
    answer = ask(tmp_path, STRIKE, model)
    assert QUOTE in answer.text
    assert {citation.kind for citation in answer.citations} == {"sql", "document"}


def test_what_the_documents_do_not_hold_is_no_gap_where_the_warehouse_answers_it(tmp_path: Path) -> None:
    said = written(("The order count is 6.", "S1"))
    model = ScriptedModel(Route=[route("both")], SqlThought=[COUNT], WrittenAnswer=[said])
    answer = ask(tmp_path, "Who handled parcels?", model)
    assert (answer.status, answer.text) == ("answered", "The order count is 6. [S1]")


def test_what_the_warehouse_does_not_speak_of_is_no_gap_where_the_documents_answer_it(tmp_path: Path) -> None:
    thoughts = [ModelFault("no JSON")] * 3
    model = ScriptedModel(Route=[route("both")], SqlThought=thoughts, WrittenAnswer=[written((QUOTE, "D1"))])
    answer = ask(tmp_path, STRIKE, model)
    assert (answer.status, answer.text) == ("answered", f"{QUOTE} [D1]")
    unknown = ScriptedModel(Route=[route("both")], SqlThought=thoughts, WrittenAnswer=[written((QUOTE, "D1"))])
    answer = ask(tmp_path, FIGURE, unknown)
    assert answer.status == "partial"
    assert f"Not answered: {FIGURE} (" in answer.text


@pytest.mark.parametrize("useless", [written(), written(("The answer is 42.", "D1"))])
def test_what_the_model_does_not_say_code_says(tmp_path: Path, useless: WrittenAnswer) -> None:
    model = ScriptedModel(Route=[route("vector_worker")], WrittenAnswer=[useless] * 2)
    answer = ask(tmp_path, STRIKE, model)
    assert QUOTE in answer.text
    assert "42" not in answer.text


def test_quotes_that_the_model_does_not_take_up_are_doubted_as_without_it(tmp_path: Path) -> None:
    asked = "How many widgets were kept at full resolution?"
    without = open_world(tmp_path).answer(asked, run_date=JULY)
    assert without.status == "needs_model"
    silent = ScriptedModel(Route=[route("vector_worker")], WrittenAnswer=[written()])
    answer = ask(tmp_path, asked, silent)
    assert (answer.status, answer.claims) == ("no_evidence", ())
    said = written(("Service metrics are kept at full resolution for 90 days.", "D1"), missing="the widgets")
    answer = ask(tmp_path, asked, ScriptedModel(Route=[route("vector_worker")], WrittenAnswer=[said]))
    assert answer.status == "partial"


def test_what_the_model_says_is_not_said_twice(tmp_path: Path) -> None:
    said = ("On 2026-04-07 the dock workers stopped work.", "D1")
    model = ScriptedModel(Route=[route("vector_worker")], WrittenAnswer=[written(said, said, ("It rained.", "D1"))] * 2)
    answer = ask(tmp_path, STRIKE, model)
    assert answer.text.startswith(f"{said[0]} [D1]")
    assert answer.text.count("2026-04-07") == 1
    assert "rained" not in answer.text


def test_a_sentence_of_another_figure_does_not_say_it(tmp_path: Path) -> None:
    said = written(("The dock workers stopped work.", "D1"))
    model = ScriptedModel(Route=[route("vector_worker")], WrittenAnswer=[said])
    answer = ask(tmp_path, STRIKE, model)
    assert answer.text.index("The dock workers stopped work. [D1]") < answer.text.index(QUOTE)


def test_a_result_on_which_nothing_was_said_is_not_called_missing(tmp_path: Path) -> None:
    model = ScriptedModel(Route=[route("sql_worker")], SqlThought=[COUNT], WrittenAnswer=[written()])
    answer = ask(tmp_path, UNKNOWN, model)
    assert answer.status == "no_evidence"
    assert answer.text == "There is a result, and no sentence on it that it carries."
    beside = ScriptedModel(Route=[route("both")], SqlThought=[COUNT], WrittenAnswer=[written((QUOTE, "D1"))])
    answer = ask(tmp_path, FIGURE, beside)
    assert answer.status == "partial"
    assert f"Not answered: {FIGURE} (there is a result, and no sentence on it that it carries)" in answer.text


UNSURE = "What was the revenue of the Nordics in 2026, and who drove the lorries in the strike of the port?"


def test_the_model_reads_what_code_doubts_and_the_doubt_stays(tmp_path: Path) -> None:
    without = open_world(tmp_path).answer(UNSURE, run_date=JULY)
    assert (without.status, "Not sure that this answers" in without.text) == ("partial", True)
    said = written(("Dock workers stopped work on 2026-04-07.", "D1"), ("Lorries were driven by 900 agents.", "D1"))
    model = ScriptedModel(WrittenAnswer=[said])
    answer = ask(tmp_path, UNSURE, model)
    assert [name for name, _, _ in model.prompts] == ["WrittenAnswer"]
    assert (answer.status, answer.strategy, answer.usage.model_calls) == ("partial", "metric", 1)
    assert "Dock workers stopped work on 2026-04-07. [D1]" in answer.text
    assert "900" not in answer.text
    assert without.text.splitlines()[0] in answer.text
    assert "Not sure that this answers" in answer.text


def test_no_model_reads_along_where_none_was_asked_for(tmp_path: Path) -> None:
    model = ScriptedModel()
    answer = open_world(tmp_path, chat_model=model).answer(UNSURE, run_date=JULY, strategy="metric")
    assert (answer.status, model.prompts) == ("partial", [])
