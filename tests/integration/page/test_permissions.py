"""What Airflow lets a person read of single DAGs keeps batches, documents and schema changes apart."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from nightshift_airflow.page.plugin import PREFIX
from rag_core.batch.records import count_open_work, list_question_batches
from rag_core.batch.runner import BatchRunner
from rag_core.datamodel.plan import Plan
from rag_core.datamodel.question import Batch, Expectation, Question
from rag_core.plans.fingerprint import question_key
from rag_core.plans.store import KeptPlan, PlanStore
from tests.integration.batch.scripted import RUN_DATE, result_evidence, scripted_answer
from tests.page_html import check_page

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

    from rag_core.connectors.store import Store

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

Login = Callable[[str | None], "TestClient"]
OPEN, CLOSED, BOTH, ONCE = "open to all", "closed to some", "asked by both", "asked once"


def _plan(name: str, question_id: str | None) -> KeptPlan:
    plan = Plan(
        plan_id="perm_" + name.replace(" ", "_"), question=name, run_date=RUN_DATE, query_type="none", strategy="metric"
    )
    return KeptPlan(
        plan_id=plan.plan_id, question_key=question_key(name), question=name, question_id=question_id,
        strategy="metric", plan=plan, fingerprints={},
    )  # fmt: skip


@pytest.fixture
def plans(runner: Callable[[dict[str, Any]], BatchRunner], page_store: Store) -> dict[str, str]:
    """A plan of each kind, its question asked by the batches `perm_open`, `perm_closed`, both, or none."""
    held = result_evidence({"n": ("numeric", [Decimal(5)])})
    names = ("perm_a", "perm_b", "perm_c")
    run = runner({name: scripted_answer(held) for name in names})
    wrong = (Expectation(kind="bounds", column="n", max=1),)
    for batch, asked in (("perm_open", ("perm_a", "perm_c")), ("perm_closed", ("perm_b", "perm_c"))):
        questions = tuple(Question(question_id=name, text=f"{name} of {batch}?", expectations=wrong) for name in asked)
        run.run(Batch(batch=batch, title=batch, owner="o", questions=questions), RUN_DATE)
    store = PlanStore(page_store)
    kept = [_plan(OPEN, "perm_a"), _plan(CLOSED, "perm_b"), _plan(BOTH, "perm_c"), _plan(ONCE, None)]
    for plan in kept:
        store.save(plan)
    return {plan.question: plan.plan_id for plan in kept}


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch, airflow_app: Any) -> Callable[..., None]:
    """Takes rights on some DAGs away: the simple auth manager, the only one here, knows none on single DAGs."""
    from airflow.api_fastapi.app import get_auth_manager

    manager = get_auth_manager()
    permitted = manager.is_authorized_dag

    def make(*dag_ids: str) -> None:
        def narrower(*, details: Any = None, **rest: Any) -> bool:
            closed = details is not None and details.id in dag_ids
            return not closed and bool(permitted(details=details, **rest))

        monkeypatch.setattr(manager, "is_authorized_dag", narrower)

    return make


def test_plans_are_kept_apart_by_the_batches_that_ask(
    plans: dict[str, str], log_in: Login, refuse: Callable[..., None]
) -> None:
    ada = log_in("ada")
    shown = check_page(ada.get(f"{PREFIX}/plans").text).text
    assert all(name in shown for name in (OPEN, CLOSED, BOTH))
    assert ONCE not in shown
    assert ONCE in check_page(ada.get(f"{PREFIX}/plans?state=once").text).text
    refuse("batch_perm_closed")
    shown = check_page(ada.get(f"{PREFIX}/plans").text).text
    assert OPEN in shown
    assert CLOSED not in shown
    assert BOTH not in shown
    listed = {plan["question"] for plan in ada.get(f"{PREFIX}/api/plans").json()["plans"]}
    assert {OPEN, ONCE} <= listed
    assert not {CLOSED, BOTH} & listed
    headers = {"Authorization": f"Bearer {ada.cookies['_token']}"}
    for name, code in ((OPEN, 200), (CLOSED, 403), (BOTH, 403), (ONCE, 200)):
        assert ada.get(f"{PREFIX}/plans/{plans[name]}").status_code == code
        assert ada.get(f"{PREFIX}/api/plans/{plans[name]}").status_code == code
        if code == 403:
            for deed in ("approve", "reject", "replan"):
                path = f"/plans/{plans[name]}/{deed}"
                program = log_in(None)
                assert program.post(f"{PREFIX}/api{path}", headers=headers).status_code == 403
                assert program.post(f"{PREFIX}{path}", headers=headers).status_code == 403
    refuse("ask_questions")
    assert ada.get(f"{PREFIX}/plans/{plans[ONCE]}").status_code == 403


@pytest.mark.parametrize(
    ("dag_id", "paths"),
    [
        ("ingest_documents", ("/documents", "/documents/x", "/search?q=a", "/api/documents", "/api/search?q=a")),
        ("detect_schema_drift", ("/drift", "/drift/1", "/api/drift")),
    ],
)
def test_documents_and_schema_changes_need_the_right_to_read_their_dag(
    log_in: Login, refuse: Callable[..., None], dag_id: str, paths: tuple[str, ...]
) -> None:
    ada = log_in("ada")
    assert f'href="/nightshift{paths[0]}"' in ada.get(f"{PREFIX}/").text
    refuse(dag_id)
    assert {path: ada.get(PREFIX + path).status_code for path in paths} == dict.fromkeys(paths, 403)
    today = ada.get(f"{PREFIX}/")
    assert today.status_code == 200
    assert f'href="/nightshift{paths[0]}"' not in today.text


def test_only_plans_of_standing_questions_wait_for_somebody(plans: dict[str, str], page_store: Store) -> None:
    homes = list_question_batches(page_store)
    assert homes["perm_c"] == {"perm_open", "perm_closed"}
    every = sorted({batch for batches in homes.values() for batch in batches})
    today = date(2026, 7, 1)
    all_work = count_open_work(page_store, today, every)
    fewer = count_open_work(page_store, today, [batch for batch in every if batch != "perm_closed"])
    assert all_work.draft_plans - fewer.draft_plans == 2
    assert all_work.held_answers - fewer.held_answers == 2
    before = all_work.draft_plans
    PlanStore(page_store).save(_plan("another asked once", None))
    assert count_open_work(page_store, today, every).draft_plans == before
