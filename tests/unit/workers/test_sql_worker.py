from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from rag_core.connectors.base import QueryCost
from rag_core.datamodel.plan import SqlStep
from rag_core.datamodel.query import GuardedSql, QueryResult
from rag_core.workers.reflection import decide
from rag_core.workers.sql_worker import SqlThought
from tests.gbnf import Grammar
from tests.question_world import ScriptedModel, open_world

DAY = date(2026, 7, 1)


def thought(sql: str) -> SqlThought:
    return SqlThought(sql_query=sql, explanation="", confidence=1.0)


def test_what_reads_no_table_is_no_evidence(tmp_path: Path) -> None:
    model = ScriptedModel(SqlThought=[thought("SELECT 42 AS answer")])
    worker = open_world(tmp_path, chat_model=model)._sql_worker()
    outcome, usage = worker.run(SqlStep(step_id="s1", task="How many orders?"), run_date=DAY)
    assert outcome.sql is None
    assert outcome.fault is not None
    assert (outcome.fault.fault_class, outcome.fault.code, usage.model_calls) == ("impossible", "no_table", 1)
    assert decide(outcome.fault, 1, has_model=True, written_by_model=True).kind == "stop"


def test_a_question_about_something_else_ends_before_a_model_is_asked(tmp_path: Path) -> None:
    model = ScriptedModel(SqlThought=[thought("SELECT count(*) FROM main.orders")])
    worker = open_world(tmp_path, chat_model=model)._sql_worker()
    step = SqlStep(step_id="s1", task="Which animal stands on the coat of arms of Canada?")
    outcome, usage = worker.run(step, run_date=DAY)
    assert outcome.fault is not None
    assert (outcome.fault.code, usage.model_calls, model.prompts) == ("foreign", 0, [])


def test_a_mended_statement_carries_less_confidence_and_says_what_was_mended(tmp_path: Path) -> None:
    model = ScriptedModel(SqlThought=[thought("SELECT count(*) AS n FROM main.ordrs")])
    worker = open_world(tmp_path, chat_model=model)._sql_worker()
    outcome, _ = worker.run(SqlStep(step_id="s1", task="How many orders?"), run_date=DAY)
    assert outcome.sql is not None
    assert outcome.sql.confidence <= 0.6
    assert outcome.repaired.startswith("table name: ")

    untouched = replace(worker, repairs=False, chat_model=ScriptedModel(SqlThought=model_again()))
    outcome, _ = untouched.run(SqlStep(step_id="s1", task="How many orders?"), run_date=DAY)
    assert outcome.fault is not None
    assert outcome.fault.fault_class == "unknown_table"


def test_the_grammar_goes_with_the_task_and_holds_only_what_the_policy_opens(tmp_path: Path) -> None:
    model = ScriptedModel(SqlThought=[thought("SELECT COUNT(*) AS n FROM main.orders")] * 2)
    worker = open_world(tmp_path, chat_model=model)._sql_worker()
    step = SqlStep(step_id="s1", task="How many orders?")
    worker.run(step, run_date=DAY)
    replace(worker, grammar=False).run(step, run_date=DAY)
    first, second = model.decodings
    assert first.grammar is not None
    grammar = Grammar(first.grammar())
    reply = '{"sql_query": "SELECT COUNT(*) FROM main.%s", "explanation": "", "confidence": 1.0}'
    assert grammar.accepts(reply % "orders")
    assert not grammar.accepts(reply % "secrets")
    assert not grammar.accepts(reply % "ordrs")
    assert second.grammar is None


@pytest.mark.parametrize("sql", ["SELECT COUNT(*) AS n FROM main.ordrs", "SELECT SUM(totl) AS n FROM main.orders"])
def test_a_name_that_does_not_exist_is_mended_before_the_database_sees_it(tmp_path: Path, sql: str) -> None:
    worker = open_world(tmp_path, chat_model=ScriptedModel(SqlThought=[thought(sql)]))._sql_worker()
    seen: list[str] = []

    class Watched:
        dialect = worker.warehouse.dialect

        def explain(self, query: GuardedSql) -> QueryCost:
            seen.append(query.text)
            return worker.warehouse.explain(query)

        def execute(self, query: GuardedSql) -> QueryResult:
            return worker.warehouse.execute(query)

    watched: Any = Watched()
    outcome, _ = replace(worker, warehouse=watched).run(SqlStep(step_id="s1", task="How many?"), run_date=DAY)
    assert outcome.sql is not None
    assert len(seen) >= 1
    assert not any("ordrs" in text or "totl)" in text for text in seen)


def model_again() -> list[SqlThought]:
    return [thought("SELECT count(*) AS n FROM main.ordrs")]


def test_what_the_policy_hides_is_never_mended_towards(tmp_path: Path) -> None:
    model = ScriptedModel(SqlThought=[thought("SELECT name FROM main.secret")] * 2)
    worker = open_world(tmp_path, chat_model=model)._sql_worker()
    outcome, _ = worker.run(SqlStep(step_id="s1", task="Names"), run_date=DAY)
    assert outcome.sql is None
    assert outcome.repaired == ""
