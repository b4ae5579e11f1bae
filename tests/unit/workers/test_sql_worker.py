from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

from rag_core.datamodel.plan import SqlStep
from rag_core.workers.reflection import decide
from rag_core.workers.sql_worker import SqlThought
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
    worker = replace(open_world(tmp_path, chat_model=model)._sql_worker(), refuses_foreign=True)
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


def model_again() -> list[SqlThought]:
    return [thought("SELECT count(*) AS n FROM main.ordrs")]


def test_what_the_policy_hides_is_never_mended_towards(tmp_path: Path) -> None:
    model = ScriptedModel(SqlThought=[thought("SELECT name FROM main.secret")] * 2)
    worker = open_world(tmp_path, chat_model=model)._sql_worker()
    outcome, _ = worker.run(SqlStep(step_id="s1", task="Names"), run_date=DAY)
    assert outcome.sql is None
    assert outcome.repaired == ""
