from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.datamodel.plan import MetricQuery, Plan, SearchStep, SqlStep, Step, TimeRange
from rag_core.plans.fingerprint import MISSING, changed, question_key, take_fingerprints
from rag_core.plans.replay import move_query, replay_plan
from rag_core.policy.rules import Policy
from rag_core.workers.planner import plan_id

JULY, OCTOBER = date(2026, 7, 1), date(2026, 10, 1)
LAST_QUARTER = TimeRange(start=date(2026, 4, 1), end=JULY, label="last quarter")
METRIC = SqlStep(
    step_id="s1", task="Revenue, Q2 2026", metric_query=MetricQuery(metrics=("revenue",), time_range=LAST_QUARTER)
)
SEARCH = SearchStep(step_id="d1", task="why", query="why Revenue Q2 2026")
TABLE = CatalogTable(schema_name="public", name="orders", columns=(CatalogColumn(name="total", type="numeric"),))
CATALOG = Catalog(dialect="postgres", database="d", taken_at=datetime(2026, 7, 1, tzinfo=UTC), tables=(TABLE,))


def plan(*steps: Step, strategy: Any = "metric") -> Plan:
    return Plan(plan_id="p1", question="Why?", run_date=JULY, query_type="both", strategy=strategy, steps=steps)


def prints(made: Plan, catalog: Catalog = CATALOG, **more: str) -> dict[str, str]:
    values = {"index_version": "1:m", "reading": "r1", "prompts": "aa", "chat_model": "m"} | more
    policy = Policy(version=1, schemas=("public",))
    return take_fingerprints(made, ["public.orders"], catalog, policy=policy, semantic_model=policy, **values)


def test_a_plan_rests_only_on_what_it_uses() -> None:
    assert list(prints(plan(METRIC))) == ["table:public.orders", "policy", "semantic_model", "reading"]
    assert list(prints(plan(SEARCH)))[-2:] == ["index", "reading"]
    by_model = prints(plan(METRIC, strategy="model"))
    assert {"prompts", "chat_model"} <= set(by_model)
    assert "reading" not in by_model


def test_a_changed_column_and_a_dropped_table_are_seen_and_a_comment_on_another_is_not() -> None:
    before = prints(plan(METRIC))
    retyped = TABLE.model_copy(update={"columns": (CatalogColumn(name="total", type="text"),)})
    assert changed(before, prints(plan(METRIC), CATALOG.model_copy(update={"tables": (retyped,)}))) == (
        "table:public.orders",
    )
    dropped = prints(plan(METRIC), CATALOG.model_copy(update={"tables": ()}))
    assert dropped["table:public.orders"] == MISSING
    more = CATALOG.model_copy(update={"tables": (TABLE, TABLE.model_copy(update={"name": "other"}))})
    assert changed(before, prints(plan(METRIC), more)) == ()
    assert changed(prints(plan(SEARCH)), prints(plan(SEARCH), index_version="2:n")) == ("index",)


def test_changed_rules_of_reading_make_plan_anew_what_no_model_planned() -> None:
    assert changed(prints(plan(SEARCH)), prints(plan(SEARCH), reading="r2")) == ("reading",)
    by_model = plan(METRIC, strategy="model")
    assert changed(prints(by_model), prints(by_model, reading="r2")) == ()


def test_the_same_question_has_the_same_key() -> None:
    assert question_key(" What was  Revenue? ") == question_key("what was revenue")


def test_relative_times_move_with_the_run_date_and_so_do_their_names() -> None:
    moved = replay_plan(plan(METRIC, SEARCH), OCTOBER)
    assert moved is not None
    step, search = moved.steps
    assert isinstance(step, SqlStep)
    assert step.metric_query is not None
    assert step.metric_query.time_range is not None
    assert (step.metric_query.time_range.start, step.metric_query.time_range.end) == (JULY, OCTOBER)
    assert step.metric_query.time_range.label == "last quarter"
    assert step.task == "Revenue, Q3 2026"
    assert isinstance(search, SearchStep)
    assert search.query == "why Revenue Q3 2026"
    assert (moved.strategy, moved.run_date) == ("replay", OCTOBER)


def test_fixed_times_stay() -> None:
    fixed = TimeRange(start=date(2026, 4, 1), end=JULY, label="Q2 2026")
    query = MetricQuery(metrics=("revenue",), time_range=fixed)
    assert move_query(query, JULY, OCTOBER) == query


def test_a_wording_that_does_not_give_its_range_is_planned_anew() -> None:
    strange = LAST_QUARTER.model_copy(update={"label": "the usual time"})
    assert move_query(MetricQuery(metrics=("revenue",), time_range=strange), JULY, OCTOBER) is None


def test_sql_of_a_model_is_replayed_on_its_own_day_only() -> None:
    written = SqlStep(step_id="s1", task="t", sql="SELECT 1 WHERE d >= '2026-04-01'")
    assert replay_plan(plan(written), OCTOBER) is None
    same = replay_plan(plan(written), JULY)
    assert same is not None
    assert same.steps == (written,)


def test_the_id_of_a_plan_does_not_depend_on_the_run_date() -> None:
    moved = replay_plan(plan(METRIC, SEARCH), OCTOBER)
    assert moved is not None
    assert plan_id("Why?", moved.steps) == plan_id("why?", (METRIC, SEARCH))
    assert plan_id("Why?", (METRIC,)) != plan_id("Why?", (METRIC, SEARCH))
