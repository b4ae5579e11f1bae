"""The page in real headless Chromium, inside the Airflow that `nightshift airflow start` starts."""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from rag_core.settings import Settings, load_settings
from tests.chromium import CONTRAST, Chromium, find_chromium
from tests.integration.batch.scripted import ScriptedOrchestrator, make_batch, result_evidence, scripted_answer

if TYPE_CHECKING:
    from nightshift_airflow.server import AirflowServer

pytestmark = [
    pytest.mark.integration,
    pytest.mark.airflow,
    pytest.mark.browser,
    # Airflow's parent outlives the object that started it, as it does on a developer's machine.
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

FRAME = "document.querySelector('iframe[title=\"Nightshift\"]').contentDocument"
ENTRY = 'a[href$="plugin/nightshift"]'
QUESTION = "What was total revenue in 2025?"
PASSWORD = "a password of a test"


@pytest.fixture(scope="module")
def settings() -> Iterator[Settings]:
    """A home of its own with the sample company loaded, a plan, and a run of a batch."""
    if find_chromium() is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    from rag_core.provision import bring_up, take_down

    home = Path(tempfile.mkdtemp(prefix="nsb"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    wanted = load_settings(home=home, airflow={"port": port, "password": PASSWORD}, today="2026-07-01")
    before = {name: os.environ.get(name) for name in ("NIGHTSHIFT_HOME", "NIGHTSHIFT_TODAY", "NIGHTSHIFT_AIRFLOW")}
    os.environ["NIGHTSHIFT_HOME"], os.environ["NIGHTSHIFT_TODAY"] = str(home), "2026-07-01"
    try:
        bring_up(wanted)
        _fill(wanted)
        yield wanted
    finally:
        take_down(wanted)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        shutil.rmtree(home, ignore_errors=True)


def _fill(settings: Settings) -> None:
    from rag_core.batch.runner import BatchRunner
    from rag_core.datamodel.plan import MetricQuery, Plan, SqlStep
    from rag_core.datamodel.question import Question
    from rag_core.plans.fingerprint import question_key
    from rag_core.plans.store import KeptPlan, PlanStore
    from rag_core.wiring import open_services

    answer = scripted_answer(
        result_evidence({"month": ("text", ["May", "June"]), "revenue": ("numeric", [Decimal(4), Decimal(5)])})
    )
    questions = [Question(question_id="revenue", text="What was revenue by month?", title="Revenue by month")]
    step = SqlStep(step_id="s1", task="Revenue", metric_query=MetricQuery(metrics=("revenue",)))
    plan = Plan(plan_id="plan_of_a_test", question=QUESTION, run_date=date(2026, 7, 1), query_type="sql",
                strategy="metric", steps=(step,))  # fmt: skip
    with open_services(settings) as services:
        runner = BatchRunner(
            store=services.store,
            orchestrator=lambda *_: cast(Any, ScriptedOrchestrator({"revenue": answer})),
            reports_folder=settings.home / "reports",
        )
        runner.run(make_batch("nightly_business_review", questions), date(2026, 7, 1))
        PlanStore(services.store).save(
            KeptPlan(
                plan_id=plan.plan_id,
                question_key=question_key("another question"),
                question="Another question?",
                strategy="metric",
                plan=plan,
                statements={"s1": "SELECT 1"},
                fingerprints={},
            )
        )


@pytest.fixture(scope="module")
def airflow(settings: Settings) -> Iterator[AirflowServer]:
    """Airflow with all its processes, healthy."""
    from nightshift_airflow.server import AirflowServer

    server = AirflowServer(settings)
    server.start()
    try:
        server.wait_until_healthy(400)
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def browser(airflow: AirflowServer) -> Iterator[Chromium]:
    """A browser in which the administrator has logged in through Airflow's own form."""
    with Chromium() as chromium:
        chromium.open(f"{airflow.url}/")
        chromium.wait_for("document.querySelector('input[name=username]') !== null", 120)
        for name, text in zip(("username", "password"), airflow.credentials(), strict=True):
            chromium.run(f"document.querySelector('input[name={name}]').focus()")
            chromium.type(text)
        chromium.run("document.querySelector('button[type=submit]').click()")
        chromium.wait_for(f"document.querySelector('{ENTRY}') !== null", 120)
        yield chromium


def _follow(browser: Chromium, selector: str, words: str) -> None:
    """Clicks the first element in the frame that says these words."""
    script = (
        f"(() => {{ const all = [...{FRAME}.querySelectorAll({json.dumps(selector)})];"
        f" const found = all.find(e => e.textContent.includes({json.dumps(words)})); if (found) found.click();"
        " return Boolean(found) })()"
    )
    browser.wait_for(script)


def _says(browser: Chromium, words: str, seconds: float = 90) -> None:
    browser.wait_for(f"{FRAME}.body.innerText.includes({json.dumps(words)})", seconds)


def test_log_in_open_answer_approve_ask_see(browser: Chromium, airflow: AirflowServer) -> None:
    # From Airflow's navigation to the page in its frame.
    assert "Nightshift" in browser.run(f"document.querySelector('{ENTRY}').textContent")
    browser.run(f"document.querySelector('{ENTRY}').click()")
    browser.wait_for(f"{FRAME}.readyState === 'complete' && {FRAME}.body.innerText.includes('Batches')", 120)
    assert browser.run("location.pathname").startswith("/plugin/nightshift")
    # An answer of the night, with its evidence.
    _follow(browser, ".card a", "Nightly business review")
    _says(browser, "Revenue by month")
    _follow(browser, ".answers a", "Revenue by month")
    _says(browser, "How this was answered")
    assert browser.run(f"{FRAME}.querySelectorAll('#q-revenue-S1 tbody tr').length") == 2
    # The chart is drawn and nothing was refused by the page's own policy.
    browser.wait_for(f"[...{FRAME}.images].every(i => i.complete && i.naturalWidth > 0)")
    # A plan is approved.
    _follow(browser, "nav a", "Plans")
    _follow(browser, "nav.tabs a", "asked by hand")  # no batch asks it
    _follow(browser, "table a", "Another question?")
    _says(browser, "What it rests on")
    _follow(browser, "button", "Approve")
    _says(browser, "The plan is approved")
    # A question is asked with the keyboard alone, and its answer seen.
    _follow(browser, "nav a", "Ask")
    browser.wait_for(f"{FRAME}.querySelector('#question') !== null")
    browser.run(f"{FRAME}.querySelector('#question').focus()")
    browser.type(QUESTION)
    browser.run(f"{FRAME}.querySelector('form.ask button').focus()")
    browser.press("Enter", 13, "\r")
    _says(browser, "How this was answered", 300)
    assert "EUR" in browser.run(f"{FRAME}.querySelector('.body').innerText")
    refused = [
        event
        for event in browser.events
        if event["method"] == "Log.entryAdded" and "Content Security Policy" in event["params"]["entry"]["text"]
    ]
    assert refused == []
    assert _states(airflow.settings) == ("approved", "admin")


def _states(settings: Settings) -> tuple[str, str]:
    from rag_core.plans.store import PlanStore
    from rag_core.reports.audit import read_events
    from rag_core.wiring import open_services

    with open_services(settings) as services:
        state = PlanStore(services.store).get("plan_of_a_test").state
        with services.store.connection() as connection:
            (actor,) = {event.actor for event in read_events(connection) if event.action == "plan.approved"}
    return state, actor


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("path", ["/", "/plans", "/drift", "/documents", "/ask", "/plans/plan_of_a_test"])
def test_nothing_runs_over_the_edge(browser: Chromium, airflow: AirflowServer, path: str, width: int) -> None:
    browser.resize(width, 800, phone=width < 500)
    browser.open(f"{airflow.url}/nightshift{path}")
    browser.wait_for("document.querySelector('h1') !== null")
    assert browser.run("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground(browser: Chromium, airflow: AirflowServer, scheme: str) -> None:
    """Every text has the contrast of 4.5 that WCAG asks for (AA)."""
    browser.resize(1280, 900)
    browser.prefer(scheme)
    for path in ("/", "/plans/plan_of_a_test", "/ask", "/documents"):
        browser.open(f"{airflow.url}/nightshift{path}")
        assert browser.run(CONTRAST) == [], path


def test_it_works_without_javascript(browser: Chromium, airflow: AirflowServer) -> None:
    browser.without_script()
    try:
        browser.open(f"{airflow.url}/nightshift/plans/plan_of_a_test")
        assert "Another question?" in browser.text()
        assert browser.run("document.forms.length") >= 2
    finally:
        browser.without_script(False)
