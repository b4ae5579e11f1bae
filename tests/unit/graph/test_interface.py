from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from rag_core.connectors.duckdb import DuckDBWarehouse
from rag_core.errors import BudgetExhausted, ConfigurationError
from rag_core.graph.build import create_orchestrator
from rag_core.graph.state import Request
from rag_core.workers.planner import Route
from rag_core.workers.sql_worker import SqlThought
from tests.question_world import ScriptedModel, open_world

JULY = date(2026, 7, 1)
POLICY = "version: 1\nschemas: [main]\n"
UNKNOWN = "List the customers by postcode"


def test_an_orchestrator_from_a_warehouse_and_two_files(tmp_path: Path) -> None:
    open_world(tmp_path)
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    orchestrator = create_orchestrator(
        warehouse=DuckDBWarehouse(str(tmp_path / "company.duckdb")),
        semantic_model=tmp_path / "semantic_model.yaml",
        policy=tmp_path / "policy.yaml",
    )
    app = orchestrator.get_compiled_app()
    given: Any = {"request": Request(question="What was revenue last quarter?", run_date=JULY)}
    answer = app.invoke(given)["answer"]
    later = asyncio.run(app.ainvoke(given))["answer"]
    assert answer.text == later.text == "Revenue in Q2 2026 was 1,070 EUR. [S1]"
    nothing = orchestrator.answer("When did the dock workers stop work?", run_date=JULY)
    assert nothing.status == "no_evidence"
    assert "no documents are connected" in nothing.text


def test_an_orchestrator_needs_a_policy(tmp_path: Path) -> None:
    open_world(tmp_path)
    with pytest.raises(ConfigurationError, match="policy"):
        create_orchestrator(
            warehouse=DuckDBWarehouse(str(tmp_path / "company.duckdb")), semantic_model=tmp_path / "semantic_model.yaml"
        )


def _route(worker: Any = "sql_worker") -> Route:
    return Route(
        reasoning="", next_worker=worker, task_description_sql="", task_description_documents="", clarification=""
    )


@pytest.mark.parametrize(("retries", "attempts"), [(0, 1), (1, 2), (2, 3), (9, 3)])
def test_retries_are_bounded(tmp_path: Path, retries: int, attempts: int) -> None:
    thoughts = [SqlThought(sql_query="SELEC 1", explanation="", confidence=1)] * 5
    model = ScriptedModel(Route=[_route()], SqlThought=thoughts)
    answer = open_world(tmp_path, chat_model=model, max_retries=retries).answer(UNKNOWN, run_date=JULY)
    assert answer.status == "failed"
    assert [name for name, _, _ in model.prompts].count("SqlThought") == attempts


def test_a_spent_budget_leaves_what_needs_no_model(tmp_path: Path) -> None:
    spent = BudgetExhausted("budget: 900 of 1,000 tokens of today are used, and a call needs more")
    model = ScriptedModel(Route=[spent, _route(), spent], SqlThought=[spent])
    world = open_world(tmp_path, chat_model=model)
    first = world.answer(UNKNOWN, run_date=JULY)
    second = world.answer(UNKNOWN, run_date=JULY)
    for answer in (first, second):
        assert answer.status in ("needs_model", "no_evidence")
        assert "budget: 900 of 1,000 tokens" in answer.text
    assert world.answer("What was revenue last quarter?", run_date=JULY).status == "answered"
    third = world.answer("What was revenue last quarter, and who approved the zeppelin?", run_date=JULY)
    assert "Revenue in Q2 2026 was 1,070 EUR. [S1]" in third.text
