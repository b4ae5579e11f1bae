"""Kept plans after a rename: repaired, run against the data, and only then in the old one's place."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from rag_core.batch.watch import follow_renames
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.plan import MetricQuery, Plan, SqlStep
from rag_core.plans.store import KeptPlan, PlanStore
from rag_core.policy.rules import load_policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.decisions import map_event, reject_events
from rag_core.schema.diff import proven_renames
from rag_core.schema.repair import PlanRepair, pending_renames, repair_plans
from tests.integration.schema.conftest import Playground

pytestmark = pytest.mark.integration

SETUP = "CREATE TABLE margins (region text, profit_margin numeric); INSERT INTO margins VALUES ('NOR', 5), ('DAC', 7);"
SQL = "SELECT region, sum(profit_margin) AS total FROM margins GROUP BY region ORDER BY region"


def keep(playground: Playground, plan_id: str, step: SqlStep, columns: tuple[str, ...]) -> None:
    plan = Plan(
        plan_id=plan_id,
        question=f"Question of {plan_id}?",
        run_date=date(2026, 7, 1),
        query_type="sql",
        strategy="model",
        steps=(step,),
    )
    kept = KeptPlan(
        plan_id=plan_id,
        question_key=f"question of {plan_id}",
        question=plan.question,
        question_id=plan_id,
        state="draft",
        strategy="model",
        plan=plan,
        statements={"s1": step.sql} if step.sql else {},
        tables=("public.margins",),
        columns=columns,
        fingerprints={"policy": "x", "table:public.margins": "old"},
    )
    PlanStore(playground.store).save(kept)


@pytest.fixture
def before(playground: Playground) -> Catalog:
    playground.run(SETUP)
    playground.check()
    return playground.warehouse.snapshot()


def repair(playground: Playground, before: Catalog, repo_root: Path) -> tuple[PlanRepair, ...]:
    renames = proven_renames(playground.check().changes)
    after = playground.warehouse.snapshot()
    guard = SqlGuard(load_policy(repo_root / "config" / "schema_policy.yaml"), after)
    return repair_plans(playground.store, playground.warehouse, guard.check, renames, before=before, after=after)


def test_plan_is_repaired_and_runs(playground: Playground, before: Catalog, repo_root: Path) -> None:
    keep(playground, "p1", SqlStep(step_id="s1", task="t", sql=SQL), ("public.margins.profit_margin",))
    playground.run("ALTER TABLE margins RENAME profit_margin TO net_margin")
    (done,) = repair(playground, before, repo_root)
    assert done.outcome == "repaired"
    plans = PlanStore(playground.store)
    old, new = plans.get("p1"), plans.get(done.new_plan_id or "")
    assert (old.state, new.state) == ("retired", "draft")
    assert isinstance(new.plan.steps[0], SqlStep)
    assert new.plan.steps[0].sql == SQL.replace("profit_margin", "net_margin")
    assert new.statements == {"s1": SQL.replace("profit_margin", "net_margin")}
    assert new.columns == ("public.margins.net_margin",)
    assert new.fingerprints["policy"] == "x"
    assert new.fingerprints["table:public.margins"] not in ("old", "missing")
    assert plans.find("question of p1") == new


def test_plan_that_would_not_run_goes_stale(playground: Playground, before: Catalog, repo_root: Path) -> None:
    keep(playground, "p1", SqlStep(step_id="s1", task="t", sql=SQL), ("public.margins.profit_margin",))
    playground.run(
        "ALTER TABLE margins RENAME profit_margin TO net_margin; ALTER TABLE margins ALTER net_margin TYPE text"
    )
    (done,) = repair(playground, before, repo_root)
    assert done.outcome == "stale"
    assert PlanStore(playground.store).get("p1").state == "stale"
    assert "could not be repaired" in PlanStore(playground.store).get("p1").reason


def test_metric_plans_follow_the_semantic_model(playground: Playground, before: Catalog, repo_root: Path) -> None:
    step = SqlStep(step_id="s1", task="t", metric_query=MetricQuery(metrics=("net_margin",)))
    keep(playground, "p1", step, ("public.margins.profit_margin",))
    playground.run("ALTER TABLE margins RENAME profit_margin TO net_margin")
    (done,) = repair(playground, before, repo_root)
    assert done.outcome == "follows_model"
    assert PlanStore(playground.store).get("p1").state == "draft"


def test_untouched_plans_are_left_alone(playground: Playground, before: Catalog, repo_root: Path) -> None:
    keep(
        playground, "p1", SqlStep(step_id="s1", task="t", sql="SELECT region FROM margins"), ("public.margins.region",)
    )
    playground.run("ALTER TABLE margins RENAME profit_margin TO net_margin")
    assert repair(playground, before, repo_root) == ()


def test_renamed_table(playground: Playground, before: Catalog, repo_root: Path) -> None:
    keep(playground, "p1", SqlStep(step_id="s1", task="t", sql=SQL), ("public.margins.profit_margin",))
    playground.run("ALTER TABLE margins RENAME TO monthly_margins")
    (done,) = repair(playground, before, repo_root)
    assert done.outcome == "repaired"
    new = PlanStore(playground.store).get(done.new_plan_id or "")
    assert (new.tables, new.columns) == (("public.monthly_margins",), ("public.monthly_margins.profit_margin",))


def test_mapping_that_is_taken_back_ends_the_plans_that_followed_it(
    playground: Playground, before: Catalog, repo_root: Path
) -> None:
    keep(playground, "p1", SqlStep(step_id="s1", task="t", sql=SQL), ("public.margins.profit_margin",))
    playground.run("DROP TABLE margins; CREATE TABLE margins (region text, freight numeric)")
    removed = next(item for item in playground.check().changes if item.kind == "column_removed")
    event = map_event(playground.store, removed.change_id, "freight", actor="ada")
    now = playground.warehouse.snapshot()
    guard = SqlGuard(load_policy(repo_root / "config" / "schema_policy.yaml"), now)
    (repaired,), _, _ = follow_renames(playground.store, playground.warehouse, guard.check, now)
    assert repaired.outcome == "repaired"
    reject_events(playground.store, [str(event.event_id)], actor="ada")
    rows = dict(playground.rows("SELECT plan_id, state FROM nightshift.plan"))
    assert rows == {"p1": "retired", repaired.new_plan_id: "stale"}
    assert pending_renames(playground.store, now).empty
