"""Decisions taken on the page: done by the library, recorded under the name that Airflow knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import psycopg
import pytest

from nightshift_airflow.page.plugin import PREFIX
from rag_core.datamodel.drift import Lineage
from rag_core.datamodel.plan import MetricQuery, Plan, SqlStep
from rag_core.datamodel.question import Batch, Expectation, Question
from rag_core.plans.fingerprint import question_key
from rag_core.plans.store import KeptPlan, PlanStore, Replaced
from rag_core.reports.audit import read_events, verify_chain
from tests.integration.batch.scripted import RUN_DATE, result_evidence, scripted_answer
from tests.page_html import check_page

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

    from nightshift_airflow.page.services import PageServices
    from rag_core.batch.runner import BatchRunner
    from rag_core.connectors.base import Embedder
    from rag_core.connectors.store import Store
    from rag_core.datamodel.answer import Answer
    from rag_core.wiring import Services

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

Login = Callable[[str | None], "TestClient"]
Send = Callable[..., Any]
NOTE = "Checked with <b>Zoë</b> 東京"


@pytest.fixture
def last_events(page_store: Store) -> Callable[[int], list[tuple[str, str, str]]]:
    """Who did what to what, by the last events of the audit trail, whose chain holds."""

    def read(count: int) -> list[tuple[str, str, str]]:
        with page_store.connection() as connection:
            events = read_events(connection)
        assert verify_chain(events).intact
        return [(event.actor, event.action, event.object) for event in events[-count:]]

    return read


@pytest.fixture
def held(runner: Callable[[dict[str, Any]], BatchRunner], request: pytest.FixtureRequest) -> str:
    """Path of an answer that a check kept back."""
    answer = scripted_answer(result_evidence({"n": ("numeric", [Decimal(5)])}))
    question = Question(
        question_id="a", text="How many?", expectations=(Expectation(kind="bounds", column="n", max=1),)
    )
    batch = Batch(batch=request.node.name[:60], title="Held", owner="t", questions=(question,))
    outcome = runner({"a": answer}).run(batch, RUN_DATE)
    assert outcome.quarantined == 1
    return f"{PREFIX}/runs/{outcome.run_id}/questions/a"


def test_an_answer_is_released_under_the_user_s_name(
    held: str, log_in: Login, send_form: Send, last_events: Callable[[int], list[tuple[str, str, str]]]
) -> None:
    browser = log_in("uli")
    assert send_form(browser, held, f"{held}/review", decision="released", note=" ").status_code == 400
    reply = send_form(browser, held, f"{held}/review", decision="released", note=NOTE)
    assert (reply.status_code, reply.headers["location"]) == (303, f"{held}?done=released")
    page = check_page(browser.get(f"{held}?done=released").text)
    assert "Released by uli" in page.text
    assert NOTE in page.text
    assert "The answer is published." in page.text
    ((actor, action, target),) = last_events(1)
    assert (actor, action) == ("uli", "answer.released")
    assert target.endswith("/a@2026-07-01")


def test_an_answer_stays_kept_back(held: str, log_in: Login, send_form: Send) -> None:
    browser = log_in("ada")
    assert send_form(browser, held, f"{held}/review", decision="burnt", note="x").status_code == 400
    assert send_form(browser, held, f"{held}/review", decision="rejected", note="Wrong").status_code == 303
    assert "Rejected by ada: Wrong" in check_page(browser.get(held).text).text


def _plan(plan_id: str, question: str, sql: str, *, tables: tuple[str, ...] = ("public.orders",)) -> KeptPlan:
    step = SqlStep(step_id="s1", task="Revenue", metric_query=MetricQuery(metrics=("revenue",)))
    return KeptPlan(
        plan_id=plan_id,
        question_key=question_key(question),
        question=question,
        strategy="metric",
        plan=Plan(
            plan_id=plan_id, question=question, run_date=RUN_DATE, query_type="sql", complexity="simple",
            strategy="metric", steps=(step,),
        ),
        statements={"s1": sql},
        tables=tables,
        columns=("public.orders.total",),
        fingerprints={"semantic_model": sql},
    )  # fmt: skip


def test_a_plan_is_approved_and_rejected(
    page_store: Store,
    log_in: Login,
    send_form: Send,
    last_events: Callable[[int], list[tuple[str, str, str]]],
) -> None:
    plans = PlanStore(page_store)
    plans.save(_plan("plan_first", "What <i>was</i> it?", "SELECT sum(total)\nFROM public.orders"))
    path, browser = f"{PREFIX}/plans/plan_first", log_in("uli")
    assert send_form(browser, path, f"{path}/approve").headers["location"] == f"{path}?done=approved"
    assert plans.get("plan_first").state == "approved"
    reply = send_form(browser, path, f"{path}/reject", reason=NOTE)
    assert reply.status_code == 303
    kept = plans.get("plan_first")
    assert (kept.state, kept.reason) == ("retired", NOTE)
    assert last_events(2) == [("uli", "plan.approved", "plan_first"), ("uli", "plan.rejected", "plan_first")]
    assert NOTE in check_page(browser.get(path).text).text
    assert send_form(browser, path, f"{PREFIX}/plans/none/approve").status_code == 400


class _Replanner:
    """An orchestrator that plans a question anew as a real one would: by keeping another plan."""

    def __init__(self, plans: PlanStore, new: KeptPlan | None) -> None:
        self._plans = plans
        self._new = new

    def answer(self, question: str, *, run_date: date, **_: Any) -> Answer:
        """Keeps the new plan, where there is one."""
        assert run_date == RUN_DATE
        if self._new is not None:
            self._plans.save(self._new)
        return scripted_answer(question=question)


def test_a_question_is_planned_anew_and_the_difference_shown(
    page_store: Store,
    services: Services,
    log_in: Login,
    send_form: Send,
    last_events: Callable[[int], list[tuple[str, str, str]]],
) -> None:
    plans = PlanStore(page_store)
    question = "What was revenue?"
    plans.save(_plan("plan_old", question, "SELECT sum(total)\nFROM public.orders"))
    old = plans.get("plan_old")
    new = _plan("plan_new", question, "SELECT sum(net)\nFROM public.orders").model_copy(
        update={
            "answer": "It was 5 <b>EUR</b>.",
            "replaces": Replaced(
                plan_id="plan_old", approved=True, statements=old.statements, fingerprints=old.fingerprints,
                answer="It was 6 EUR.",
            ),
        }
    )  # fmt: skip
    services.__dict__["orchestrator"] = _Replanner(plans, new)
    path, browser = f"{PREFIX}/plans/plan_old", log_in("ada")
    assert send_form(browser, path, f"{path}/replan").headers["location"] == f"{PREFIX}/plans/plan_new?done=replanned"
    page = check_page(browser.get(f"{PREFIX}/plans/plan_new").text)
    assert "Difference to the plan before" in page.text
    assert "- SELECT sum(total)" in page.text
    assert "+ SELECT sum(net)" in page.text
    assert "+ It was 5 <b>EUR</b>." in page.text
    assert "What it rests on changed: semantic model." in page.text
    assert (page.elements["ins"], page.elements["del"]) == (2, 2)
    assert last_events(1) == [("ada", "plan.replanned", "plan_old")]
    services.__dict__["orchestrator"] = _Replanner(plans, None)
    assert send_form(browser, f"{PREFIX}/plans/plan_new", f"{PREFIX}/plans/plan_new/replan").status_code == 303
    assert plans.get("plan_new").state == "stale"


@pytest.fixture
def events(page_store: Store, tmp_path: Path) -> Iterator[dict[str, int]]:
    """Numbers of open events by object: columns of a small warehouse that vanished, appeared and changed."""
    from rag_core.connectors.duckdb import DuckDBWarehouse
    from rag_core.schema.drift import detect_drift

    path = tmp_path / "company.duckdb"
    lineage = [
        Lineage(kind="metric", id="revenue", tables=("main.orders",), columns=("main.orders.total",), owner="Ann")
    ]
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER, total DECIMAL(10, 2), day DATE, note VARCHAR)")
    detect_drift(DuckDBWarehouse(str(path)), page_store, lineage=lineage)
    with duckdb.connect(str(path)) as connection:
        connection.execute("ALTER TABLE orders DROP COLUMN total")
        connection.execute("ALTER TABLE orders ADD COLUMN receipts BLOB")
        connection.execute("ALTER TABLE orders ALTER note TYPE INTEGER")
        connection.execute("ALTER TABLE orders DROP COLUMN day")
    detect_drift(DuckDBWarehouse(str(path)), page_store, lineage=lineage)
    from rag_core.schema.events import list_events

    found = {event.change.object: event.event_id for event in reversed(list_events(page_store, state="open"))}
    assert {"main.orders.total", "main.orders.day", "main.orders.note"} <= set(found)
    yield found
    with psycopg.connect(page_store.dsn) as cleaning:
        cleaning.execute("UPDATE nightshift.drift_event SET state = 'reverted' WHERE state = 'open'")


def test_a_change_names_whom_it_hurts_and_is_decided(
    events: dict[str, int], page_store: Store, log_in: Login, send_form: Send
) -> None:
    from rag_core.schema.events import list_decisions

    browser = log_in("uli")
    listed = check_page(browser.get(f"{PREFIX}/drift").text).text
    assert "Column removed: main.orders.total" in listed
    assert "Hurts revenue" in listed
    path = f"{PREFIX}/drift/{events['main.orders.total']}"
    page = check_page(browser.get(path).text)
    for words in ("breaks", "Ann", "metric", "Nobody has decided yet"):
        assert words in page.text, words
    assert send_form(browser, path, f"{path}/map", target="main.orders.nowhere").status_code == 400
    assert send_form(browser, path, f"{path}/map", target=" ").status_code == 400
    assert send_form(browser, path, f"{path}/map", target="main.orders.receipts", note=NOTE).status_code == 303
    changed, gone = (f"{PREFIX}/drift/{events[f'main.orders.{name}']}" for name in ("note", "day"))
    assert send_form(browser, changed, f"{changed}/accept", note=NOTE).status_code == 303
    assert send_form(browser, gone, f"{gone}/reject", note=NOTE).status_code == 303
    decisions = {
        item.event_id: (item.decision, item.actor, item.note)
        for item in list_decisions(page_store)
        if item.decision in ("accept", "reject", "map") and item.note == NOTE
    }
    assert decisions[events["main.orders.total"]] == ("map", "uli", NOTE)
    assert decisions[events["main.orders.note"]] == ("accept", "uli", NOTE)
    assert decisions[events["main.orders.day"]] == ("reject", "uli", NOTE)
    assert f"by uli: {NOTE}" in check_page(browser.get(changed).text).text
    assert send_form(browser, f"{PREFIX}/ask", f"{PREFIX}/drift/999999999/accept").status_code == 400


def test_a_document_is_processed_again(
    page_store: Store,
    page_services: PageServices,
    services: Services,
    embedder: Embedder,
    tmp_path: Path,
    log_in: Login,
    send_form: Send,
    last_events: Callable[[int], list[tuple[str, str, str]]],
    repo_root: Path,
) -> None:
    from ingestion.config import load_rules
    from ingestion.listing import list_documents
    from ingestion.pipeline import ingest

    services.__dict__["embedder"] = embedder
    (tmp_path / "disk.md").write_text(
        "# Full disk 東京\n\nDelete old logs of the store, 3 < 5 & more.\n", encoding="utf-8"
    )
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing of it")
    ingest(page_store, embedder, [tmp_path], rules=load_rules(repo_root / "config" / "ingestion.yaml"))
    documents = {each["path"]: each for each in list_documents(page_store)}
    browser = log_in("uli")
    listed = check_page(browser.get(f"{PREFIX}/documents?words=DISK").text).text
    assert "Full disk 東京" in listed
    assert "broken.pdf" not in listed
    broken = documents["broken.pdf"]
    assert broken["state"] != "ok"
    assert "broken.pdf" in browser.get(f"{PREFIX}/documents?state={broken['state']}").text
    # Mended by hand, then tried again.
    (tmp_path / "broken.pdf").unlink()
    path = f"{PREFIX}/documents/{broken['document_id']}"
    reply = send_form(browser, path, f"{path}/retry")
    assert reply.status_code == 400
    assert "does not exist any more" in reply.text
    good = f"{PREFIX}/documents/{documents['disk.md']['document_id']}"
    before = documents["disk.md"]["indexed_at"]
    assert send_form(browser, good, f"{good}/retry").headers["location"] == f"{good}?done=retrying"
    page_services.wait(lambda: None)
    after = {each["path"]: each for each in list_documents(page_store)}["disk.md"]
    assert after["state"] == "ok"
    assert after["indexed_at"] > before
    assert last_events(1) == [("uli", "document.retried", documents["disk.md"]["document_id"])]
    shown = check_page(browser.get(good).text).text
    assert "Delete old logs of the store, 3 < 5 & more." in shown
    found = check_page(browser.get(f"{PREFIX}/search?q=what+to+do+when+the+disk+is+full+of+logs").text).text
    assert "Full disk 東京" in found
