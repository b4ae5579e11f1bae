"""Ids, pages, tags, tasks and parameters of the DAGs, as Airflow's own DagBag reads them."""

from __future__ import annotations

import ast
import copy
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from nightshift_airflow.defaults import DECISIONS, DOCUMENTS_ASSET, EMBEDDING_POOL, REPORTS_ASSET, SCHEMA_ASSET
from tests.dags.conftest import ROOT

if TYPE_CHECKING:
    from airflow.sdk import DAG

pytestmark = pytest.mark.airflow

BATCHES = sorted(path.stem for path in (ROOT / "config" / "batches").glob("*.yaml"))
BATCH_TASKS = {
    "start": {"groups_of", "held_of", "take_up", "publish"},
    "groups_of": {"answer"},
    "answer": {"publish"},
    "held_of": {"decide"},
    "decide": {"take_up"},
    "take_up": {"publish"},
    "publish": set(),
}
TASKS: dict[str, dict[str, set[str]]] = {
    "ask_questions": {
        "start": {"groups_of", "finish"},
        "groups_of": {"answer"},
        "answer": {"finish"},
        "finish": set(),
    },
    "detect_schema_drift": {"detect": {"repair", "tell"}, "repair": {"tell"}, "tell": set()},
    "ingest_documents": {
        "plan": {"groups_of", "check", "publish"},
        "groups_of": {"ingest"},
        "ingest": {"check"},
        "check": {"publish"},
        "publish": set(),
    },
    **{f"batch_{name}": BATCH_TASKS for name in BATCHES},
}
SCHEDULED = {"detect_schema_drift", "ingest_documents", *(f"batch_{name}" for name in BATCHES)}


def test_a_dag_is_named_after_its_file(dag_bag: dict[str, DAG]) -> None:
    files = {path.stem.removesuffix("_dag") for path in (ROOT / "dags").glob("*_dag.py")} - {"run_question_batches"}
    assert set(dag_bag) == files | {f"batch_{name}" for name in BATCHES}


def test_tasks_and_their_order(dag_bag: dict[str, DAG]) -> None:
    found = {name: {task.task_id: set(task.downstream_task_ids) for task in dag.tasks} for name, dag in dag_bag.items()}
    assert found == TASKS


def test_every_dag_has_a_page_and_tags(dag_bag: dict[str, DAG]) -> None:
    for name, dag in dag_bag.items():
        assert (dag.doc_md or "").strip().startswith("###"), name
        assert "nightshift" in dag.tags, name


def test_a_file_s_docstring_is_the_dag_s_page(dag_bag: dict[str, DAG]) -> None:
    for name in ("ask_questions", "detect_schema_drift", "ingest_documents"):
        source = (ROOT / "dags" / f"{name}_dag.py").read_text(encoding="utf-8")
        assert (dag_bag[name].doc_md or "").strip() == ast.get_docstring(ast.parse(source))


def test_schedules(dag_bag: dict[str, DAG]) -> None:
    assert {name for name, dag in dag_bag.items() if type(dag.timetable).__name__ != "NullTimetable"} == SCHEDULED
    for name in SCHEDULED:
        assert dag_bag[name].catchup is False, name
        assert dag_bag[name].max_active_runs == 1, name


def test_a_task_has_an_end_and_a_second_try(dag_bag: dict[str, DAG]) -> None:
    for dag in dag_bag.values():
        for task in dag.tasks:
            # A person's time is bounded otherwise: see the decision of a batch.
            assert task.execution_timeout is not None or task.task_id == "decide", task
            assert task.retries >= 1, task


def test_a_decision_has_an_end_and_then_pauses(dag_bag: dict[str, DAG]) -> None:
    for name in BATCHES:
        decide = dag_bag[f"batch_{name}"].get_task("decide").partial_kwargs  # type: ignore[union-attr]
        assert decide["response_timeout"] == timedelta(minutes=240)
        assert decide["execution_timeout"] is None
        assert decide["options"] == list(DECISIONS)
        assert [DECISIONS[option] for option in decide["defaults"]] == ["keep"]
        assert "became" in dag_bag[f"batch_{name}"].get_task("decide").params


def test_a_report_is_published_without_a_decision_and_never_after_a_failure(dag_bag: dict[str, DAG]) -> None:
    for name in BATCHES:
        assert dag_bag[f"batch_{name}"].get_task("publish").trigger_rule == "none_failed"
    assert dag_bag["detect_schema_drift"].get_task("tell").trigger_rule == "all_done"


def test_only_the_embedding_tasks_are_bounded_and_by_a_pool_that_is_made(dag_bag: dict[str, DAG]) -> None:
    pools = {(name, task.task_id): task.pool for name, dag in dag_bag.items() for task in dag.tasks}
    assert {place for place, pool in pools.items() if pool != "default_pool"} == {("ingest_documents", "ingest")}
    assert pools["ingest_documents", "ingest"] == EMBEDDING_POOL
    from nightshift_airflow.pools import POOLS

    assert EMBEDDING_POOL in POOLS


def test_a_batch_s_owner_is_its_file_s(dag_bag: dict[str, DAG]) -> None:
    assert {task.owner for task in dag_bag["batch_nightly_business_review"].tasks} == {"finance-analytics"}


def test_assets(dag_bag: dict[str, DAG]) -> None:
    outlets = {
        name: sorted(outlet.uri for task in dag.tasks for outlet in task.outlets) for name, dag in dag_bag.items()
    }
    assert outlets == {
        "ask_questions": [],
        # Airflow ends an address without a path with a slash.
        "detect_schema_drift": [f"{SCHEMA_ASSET}/"],
        "ingest_documents": [f"{DOCUMENTS_ASSET}/"],
        **{f"batch_{name}": [REPORTS_ASSET.format(batch=name)] for name in BATCHES},
    }


def _check(dag: DAG, given: dict[str, Any]) -> dict[str, Any]:
    params = copy.deepcopy(dag.params)
    params.update(given)
    return dict(params.validate())


@pytest.mark.parametrize(
    ("dag_id", "given"),
    [
        ("ask_questions", {}),
        ("ask_questions", {"questions": "What was revenue?\nWhy?", "publish": True, "run_date": "2026-07-01"}),
        ("ingest_documents", {"paths": ["/documents"], "prune": True}),
        ("batch_nightly_business_review", {"run_date": "2026-07-01"}),
    ],
)
def test_good_params_are_taken(dag_bag: dict[str, DAG], dag_id: str, given: dict[str, Any]) -> None:
    checked = _check(dag_bag[dag_id], given)
    assert {key: checked[key] for key in given} == given


@pytest.mark.parametrize(
    ("dag_id", "given"),
    [
        ("ask_questions", {"questions": ""}),
        ("ask_questions", {"questions": None}),
        ("ask_questions", {"questions": ["one", "two"]}),
        ("ask_questions", {"questions": "x" * 100_001}),
        ("ask_questions", {"publish": "yes"}),
        ("ask_questions", {"run_date": "first of July"}),
        ("ask_questions", {"run_date": 20260701}),
        ("ingest_documents", {"paths": "/documents"}),
        ("ingest_documents", {"paths": [""]}),
        ("ingest_documents", {"prune": 1}),
        ("batch_nightly_business_review", {"run_date": "2026-02-30"}),
    ],
)
def test_bad_params_are_refused(dag_bag: dict[str, DAG], dag_id: str, given: dict[str, Any]) -> None:
    from airflow.sdk.exceptions import ParamValidationError

    with pytest.raises(ParamValidationError):
        _check(dag_bag[dag_id], given)
