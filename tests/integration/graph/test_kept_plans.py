"""Kept plans and the log of strategies in a real store: what is replayed, what replaces what, what is learned."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from rag_core.connectors.store import Store
from rag_core.datamodel.answer import Answer
from rag_core.errors import ConfigurationError
from rag_core.graph.build import Orchestrator
from rag_core.graph.checkpoints import Checkpoints
from rag_core.graph.state import Request
from rag_core.plans.compare import compare_plans
from rag_core.plans.fingerprint import question_key
from rag_core.plans.store import KeptPlan, PlanStore
from rag_core.plans.strategies import StrategyStats, StrategyStore
from tests.question_world import MODEL, ScriptedModel, open_world

pytestmark = pytest.mark.integration

JULY = date(2026, 7, 1)


@pytest.fixture
def store(store_dsn: str) -> Iterator[Store]:
    made = Store(store_dsn)
    yield made
    made.close()


@pytest.fixture
def question() -> str:
    """What each test asks; the plans of it are removed before each."""
    return "What was revenue last quarter?"


@pytest.fixture(autouse=True)
def _empty(store: Store) -> None:
    with store.connection() as connection:
        connection.execute("DELETE FROM nightshift.plan WHERE question LIKE '%revenue last quarter%'")
        connection.execute("DELETE FROM nightshift.strategy_use")


def ask(orchestrator: Orchestrator, question: str, **more: Any) -> Answer:
    return orchestrator.answer(question, **{"run_date": JULY, **more})


def kept(store: Store, question: str) -> KeptPlan:
    found = PlanStore(store).find(question_key(question))
    assert found is not None
    return found


def test_only_approved_plans_are_replayed_where_that_is_the_policy(tmp_path: Path, store: Store, question: str) -> None:
    world = open_world(tmp_path, store=store, replay="approved")
    assert [ask(world, question).strategy for _ in range(2)] == ["metric", "metric"]
    assert ask(world, question, replay="drafts").strategy == "replay"
    PlanStore(store).set_state(kept(store, question).plan_id, "approved")
    assert ask(world, question).strategy == "replay"
    assert ask(world, question, strategy="replay").status == "answered"


def _reopen(folder: Path, store: Store, change: Callable[[str], str] = str, sql: str = "") -> Orchestrator:
    """The world after a change of its semantic model or of its warehouse."""
    if sql:
        with duckdb.connect(str(folder / "company.duckdb")) as connection:
            connection.execute(sql)
    from tests import question_world

    made = pytest.MonkeyPatch()
    with made.context() as patch:
        patch.setattr(question_world, "MODEL", change(MODEL))
        return open_world(folder, store=store)


def _close(world: Orchestrator) -> None:
    world._warehouse.close()


def test_a_changed_metric_does_not_replace_an_approved_plan_unseen(tmp_path: Path, store: Store, question: str) -> None:
    world = open_world(tmp_path, store=store)
    before = ask(world, question)
    PlanStore(store).set_state(kept(store, question).plan_id, "approved")
    ask(world, question)
    _close(world)
    changed = _reopen(tmp_path, store, lambda text: text.replace("sum(total)", "sum(total) * 2", 1))
    after = ask(changed, question)
    assert after.headline_value == before.headline_value * 2
    plan = kept(store, question)
    assert plan.state == "draft", "nobody has seen the new figure"
    difference = compare_plans(plan)
    assert difference.approved_before
    assert difference.changed == ("semantic_model",)
    assert (difference.same_sql, difference.same_answer) == (False, False)
    assert (difference.answer.before, difference.answer.now) == (before.text, after.text)
    assert "* 2" in difference.sql[0].now
    assert "* 2" not in difference.sql[0].before


def test_an_approval_holds_over_a_change_of_a_table_that_asks_the_same(
    tmp_path: Path, store: Store, question: str
) -> None:
    world = open_world(tmp_path, store=store)
    before = ask(world, question)
    PlanStore(store).set_state(kept(store, question).plan_id, "approved")
    _close(world)
    changed = _reopen(tmp_path, store, sql="ALTER TABLE orders ADD COLUMN note VARCHAR")
    assert ask(changed, question).text == before.text
    plan = kept(store, question)
    assert plan.state == "approved"
    assert "table:main.orders" in plan.reason
    difference = compare_plans(plan)
    assert (difference.same_sql, difference.same_answer) == (True, True)
    assert ask(changed, question).strategy == "replay"


def test_a_plan_that_other_rules_made_is_made_anew_and_stays_approved_where_it_asks_the_same(
    tmp_path: Path, store: Store, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = open_world(tmp_path, store=store)
    ask(world, question)
    PlanStore(store).set_state(kept(store, question).plan_id, "approved")
    monkeypatch.setattr("rag_core.plans.keeper.reading_version", lambda: "other rules")
    tomorrow = JULY + timedelta(days=1)
    assert ask(world, question, run_date=tomorrow).strategy == "metric"
    assert kept(store, question).state == "approved"
    assert ask(world, question, run_date=tomorrow).strategy == "replay"
    # Rules that write other SQL for the same reading: nobody has approved that.
    with store.connection() as connection:
        connection.execute(
            "UPDATE nightshift.plan SET statements = jsonb_build_object('s1', 'SELECT 1') WHERE plan_id = %s",
            (kept(store, question).plan_id,),
        )
    monkeypatch.setattr("rag_core.plans.keeper.reading_version", lambda: "still other rules")
    assert ask(world, question, run_date=tomorrow).strategy == "metric"
    assert kept(store, question).state == "draft"


def test_a_first_plan_replaces_none(tmp_path: Path, store: Store, question: str) -> None:
    ask(open_world(tmp_path, store=store), question)
    with pytest.raises(ConfigurationError, match="replaces none"):
        compare_plans(kept(store, question))


def test_each_question_is_logged_with_its_strategy_and_cost(tmp_path: Path, store: Store, question: str) -> None:
    world = open_world(tmp_path, store=store)
    run_id = str(uuid.uuid4())
    ask(world, question, run_id=run_id, question_id="q1")
    ask(world, question, run_id=str(uuid.uuid4()), question_id="q1")
    ask(world, "What was revenue last quarter, and who approved the zeppelin?")
    known = {(item.question_class, item.strategy): item for item in StrategyStore(store).summarise()}
    name = "figures, one part, understood"
    assert known[name, "metric"].uses == 1
    assert known[name, "replay"].uses == 1
    assert known[name, "replay"].success == 1
    assert known[name, "replay"].milliseconds > 0
    assert known["figures and documents, several parts, understood", "metric"].success == 0.5
    with store.connection() as connection:
        rows = connection.execute(
            "SELECT why, asked_for, status, model_calls FROM nightshift.strategy_use WHERE run_id = %s", (run_id,)
        ).fetchall()
    assert rows == [("rule: it needs no model, or there is none", False, "answered", 0)]


def test_what_a_check_held_back_counts_as_bad(tmp_path: Path, store: Store, question: str) -> None:
    run_id = str(uuid.uuid4())
    ask(open_world(tmp_path, store=store), question, run_id=run_id, question_id="held")

    def success() -> float:
        stats: tuple[StrategyStats, ...] = StrategyStore(store).summarise()
        return stats[0].success

    assert success() == 1
    with store.connection() as connection:
        connection.execute("SELECT nightshift.ensure_report_partitions(%s)", (JULY,))
        connection.execute(
            "INSERT INTO reports.fact_answer (run_date, batch, question_id, version, run_id, state, status, strategy,"
            " query_type, question, answer, explanation, reason, supported, relevance, citation_accuracy, citations,"
            " model_calls, prompt_tokens, completion_tokens, milliseconds, answered_at, fingerprint)"
            " VALUES (%s, 'held', 'held', 1, %s, 'quarantined', 'answered', 'metric', 'sql', '', '', '', '', true, 1,"
            " 1, 1, 0, 0, 0, 1, now(), '')",
            (JULY, run_id),
        )
    assert success() == 0
    with store.connection() as connection:
        connection.execute("DELETE FROM reports.fact_answer WHERE batch = 'held'")


def test_the_checkpointed_app_can_be_awaited_and_looked_into(tmp_path: Path, store: Store, question: str) -> None:
    checkpoints = Checkpoints(store)
    app = open_world(tmp_path, store=store, checkpoints=checkpoints).get_compiled_app(checkpointed=True)
    config: Any = {"configurable": {"thread_id": f"{uuid.uuid4()}:q1"}}
    given: Any = {"request": Request(question=question, run_date=JULY)}
    answer = asyncio.run(app.ainvoke(given, config))["answer"]
    assert answer.status == "answered"
    assert app.get_state(config).values["answer"] == answer
    assert [entry.node for entry in answer.trace][-1] == "explain"
    visited = [state.next for state in app.get_state_history(config)]
    assert ("evaluate",) in visited
    checkpoints.close()


def test_without_checkpoints_there_is_no_checkpointed_app(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="checkpoints"):
        open_world(tmp_path).get_compiled_app(checkpointed=True)


def test_which_questions_need_no_model_is_read_for_all_at_once(tmp_path: Path, store: Store, question: str) -> None:
    world = open_world(tmp_path, store=store)
    asked: list[tuple[str, dict[str, Any]]] = [("What was {what} last quarter?", {"what": "revenue"}), ("Why?", {})]
    assert world.need_no_model(asked) == [True, True]  # there is no chat model
    ask(world, question)
    _close(world)
    with_model = open_world(tmp_path, store=store, chat_model=ScriptedModel())
    assert with_model.need_no_model(asked) == [True, False]
    assert with_model.need_no_model(asked, replay="approved") == [False, False]
    PlanStore(store).set_state(kept(store, question).plan_id, "approved")
    assert with_model.need_no_model(asked, replay="approved") == [True, False]
