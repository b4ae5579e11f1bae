"""What the pages show of a run: every text escaped, every link leading somewhere, every part there."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nightshift_airflow.page.plugin import PREFIX
from rag_core.batch.runner import BatchRunner
from rag_core.datamodel.answer import TraceEntry
from rag_core.datamodel.evidence import ColumnMeaning, Finding
from rag_core.datamodel.question import Batch, Expectation, Question
from rag_core.datamodel.report import BatchOutcome
from tests.integration.batch.scripted import (
    RUN_DATE,
    passage,
    result_evidence,
    scripted_answer,
)
from tests.page_html import check_html, check_page

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

    from rag_core.connectors.embedded import EmbeddedPostgres
    from rag_core.wiring import Services

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

Login = Callable[[str | None], "TestClient"]
EVIL = (
    "<script>alert(1)</script><img src=x onerror=alert(2)></td></table></main><svg/onload=alert(3)>\"'&amp;`'; "
    "DROP TABLE x;-- Zürich 東京 🌙"
)


@pytest.fixture
def evil_run(runner: Callable[[dict[str, Any]], BatchRunner]) -> BatchOutcome:
    """A run in which every text is an attack: one answer published, one kept back, one failed."""
    result = result_evidence(
        {EVIL: ("text", [EVIL, "b"]), "n": ("numeric", [Decimal(5), Decimal(7)])},
        meanings=[
            ColumnMeaning(name=EVIL, label=EVIL, unit=EVIL, role="dimension"),
            ColumnMeaning(name="n", label="N", unit="EUR", role="metric"),
        ],
    ).model_copy(update={"task": EVIL, "sql": f"SELECT 1 -- {EVIL}"})
    parts: dict[str, Any] = {
        "text": f"It was {EVIL} [S1] and [D1] but [S9].\n\n| a | n |\n| --- | ---: |\n| {EVIL.replace('|', '')} | 5 |",
        "documents": [passage(f"{EVIL} It rose.", title=EVIL, path=f"{EVIL}.md", quotes=("It rose.",))],
        "findings": (Finding(code="x", severity="warning", message=EVIL),),
        "explanation": EVIL,
        "plan_id": f"plan/{EVIL}",
        "trace": (
            TraceEntry(node="planner", started_at="2026-07-01T00:00:00Z", ms=12.5, detail={EVIL: EVIL, "steps": 2}),
        ),
    }
    answer = scripted_answer(result, **parts)
    failed = scripted_answer(status="failed", text=EVIL)
    batch = Batch(
        batch="evil_page",
        title=EVIL,
        description=EVIL,
        owner=EVIL[:90],
        questions=(
            Question(question_id="good", text=EVIL, title=EVIL),
            Question(
                question_id="held",
                text=f"Held? {EVIL}",
                expectations=(Expectation(kind="bounds", column="n", max=1, severity="critical"),),
            ),
            Question(question_id="bad", text=f"Bad? {EVIL}"),
        ),
    )
    run = runner({"good": answer, "held": answer, "bad": failed})
    run.run(batch, date(2026, 6, 30))
    return run.run(batch, RUN_DATE)


def _harmless(text: str) -> None:
    page = check_page(text)
    assert page.elements["script"] <= 1  # the page's own
    assert page.elements["img"] <= 1  # the chart
    assert page.elements["svg"] <= 1  # the sparkline
    for _, name, value in page.attributes:
        if name in ("href", "src", "action", "formaction"):
            assert re.match(r"^(/|#|$)", value), value
            assert not value.startswith("//"), value


def test_everything_is_escaped(evil_run: BatchOutcome, log_in: Login) -> None:
    browser = log_in("ada")
    run = f"{PREFIX}/runs/{evil_run.run_id}"
    for path in (
        f"{PREFIX}/", f"{PREFIX}/held", run, f"{run}/questions/good", f"{run}/questions/held", f"{run}/questions/bad",
        f"{PREFIX}/plans", f"{PREFIX}/drift?state=all", f"{PREFIX}/documents", f"{PREFIX}/ask",
    ):  # fmt: skip
        reply = browser.get(path)
        assert reply.status_code == 200, path
        _harmless(reply.text)
    for path in ("/plans", "/drift", "/documents", "/runs", "/search"):
        reply = browser.get(f"{PREFIX}{path}/{'%3Cscript%3Ealert(1)%3C%2Fscript%3E'}")
        assert reply.status_code in (400, 404), path
        assert "<script>alert" not in reply.text


def test_an_answer_shows_all_that_it_rests_on(evil_run: BatchOutcome, log_in: Login) -> None:
    reply = log_in("vera").get(f"{PREFIX}/runs/{evil_run.run_id}/questions/good")
    page = check_page(reply.text)
    for part in ("Evidence", "Checks", "How this was answered", "Trace of 1 steps", "SQL that was run", "History"):
        assert part in page.text, part
    assert "DROP TABLE x;-- Zürich 東京 🌙" in page.text
    # A citation leads to its evidence, and one that is not there is no link.
    assert {"q-good-S1", "q-good-D1"} <= set(page.ids)
    assert ("a", "href", "#q-good-S1") in page.attributes
    assert "[S9]" in page.text
    assert "It rose." in page.text
    assert page.elements["mark"] == 1
    # The alignment of a Markdown table is a class: the page's policy forbids styles in attributes.
    assert ("td", "class", "number") in page.attributes


def test_history_shows_the_run_before(evil_run: BatchOutcome, log_in: Login) -> None:
    page = check_page(log_in("ada").get(f"{PREFIX}/runs/{evil_run.run_id}/questions/good").text)
    assert "30 Jun 2026" in page.text


def test_the_chart_is_a_picture_of_its_own(evil_run: BatchOutcome, log_in: Login) -> None:
    browser = log_in("ada")
    path = f"{PREFIX}/runs/{evil_run.run_id}/questions/good/charts"
    reply = browser.get(f"{path}/S1.svg")
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("image/svg+xml")
    assert "<script" not in reply.text
    assert browser.get(f"{path}/S7.svg").status_code == 404


def test_a_run_names_what_became_of_each_question(evil_run: BatchOutcome, log_in: Login) -> None:
    page = check_page(log_in("ada").get(f"{PREFIX}/runs/{evil_run.run_id}").text)
    for words in ("Kept back", "Failed", "Answered", "Open the report"):
        assert words in page.text, words


def test_the_report_opens_in_a_sandbox(evil_run: BatchOutcome, log_in: Login) -> None:
    reply = log_in("vera").get(f"{PREFIX}/runs/{evil_run.run_id}/report")
    assert reply.status_code == 200
    assert reply.text.startswith("<!doctype html>")
    policy = reply.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts;")
    assert "allow-same-origin" not in policy


def test_the_store_can_name_no_other_file_as_a_report(airflow_home: Path, tmp_path: Path) -> None:
    from nightshift_airflow.page.routes.today import _report_of

    outside = tmp_path / "secret.html"
    outside.write_text("secret")
    inside = airflow_home / "reports" / "x.html"
    inside.parent.mkdir(exist_ok=True)
    inside.write_text("report")
    assert _report_of(airflow_home, str(inside)) == inside.resolve()
    for name in (str(outside), f"{airflow_home}/reports/../airflow.cfg", f"{inside.parent}/gone.html", None, 5):
        assert _report_of(airflow_home, name) is None


def test_a_run_that_another_replaced_says_so(runner: Callable[[dict[str, Any]], BatchRunner], log_in: Login) -> None:
    answer = scripted_answer(result_evidence({"n": ("numeric", [Decimal(5)])}))
    batch = Batch(
        batch="twice_page", title="Twice", owner="t", questions=(Question(question_id="a", text="How many?"),)
    )
    first, second = (runner({"a": answer}).run(batch, RUN_DATE) for _ in range(2))
    assert "took this one's place" in log_in("ada").get(f"{PREFIX}/runs/{first.run_id}").text.replace("&#39;", "'")
    assert "place" not in log_in("ada").get(f"{PREFIX}/runs/{second.run_id}").text


def test_json_is_the_command_line_s(evil_run: BatchOutcome, log_in: Login) -> None:
    browser = log_in("vera")
    run = browser.get(f"{PREFIX}/api/runs/{evil_run.run_id}").json()
    assert [item["state"] for item in run["questions"]] == ["published", "quarantined", "failed"]
    answer = browser.get(f"{PREFIX}/api/runs/{evil_run.run_id}/questions/good").json()
    assert answer["state"] == "published"
    assert answer["pending"] is False
    assert answer["answer"]["sql"][0]["rows"] == [[EVIL, "5"], ["b", "7"]]
    assert evil_run.run_id in {item["run_id"] for item in browser.get(f"{PREFIX}/api/runs").json()["runs"]}
    for path in ("/api/runs/nonsense", "/api/plans/none", "/api/documents/none", "/api/drift?limit=0"):
        reply = browser.get(PREFIX + path)
        assert reply.status_code in (400, 404), path
        assert set(reply.json()) == {"detail"}, path


def test_the_description_names_every_route(log_in: Login) -> None:
    described = log_in("vera").get(f"{PREFIX}/openapi.json").json()
    assert described["openapi"].startswith("3.")
    assert described["servers"] == [{"url": PREFIX}]
    assert {"/", "/ask", "/api/ask", "/plans/{plan_id}/approve", "/api/runs/{run_id}"} <= set(described["paths"])
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
            assert operation["security"], (method, path)


def test_every_page_that_a_link_leads_to_is_html_as_the_standard_has_it(
    evil_run: BatchOutcome, services: Services, log_in: Login
) -> None:
    """From the first page on, by every link and form that is followed with GET; each kind of page is met."""
    browser = log_in("ada")
    pending, seen, kinds = [f"{PREFIX}/", f"{PREFIX}/search?q=revenue", f"{PREFIX}/documents?words=zzz"], set(), set()
    while pending and len(seen) < 150:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        reply = browser.get(path)
        # The plan and the documents that the answers of this module name are made up: their pages say so.
        made_up = path.startswith((f"{PREFIX}/plans/plan%2F", f"{PREFIX}/documents/doc"))
        assert reply.status_code in ((200, 404) if made_up else (200,)), path
        if not reply.headers["content-type"].startswith("text/html"):
            continue
        kinds.add(re.sub(r"/[^/?]*[\d%][^/?]*", "/x", path.removeprefix(PREFIX).split("?")[0]))
        if path.endswith("/report"):
            check_html(reply.text)
            continue
        page = check_page(reply.text)
        pending += [
            unescape(value)
            for tag, name, value in page.attributes
            if (tag, name) == ("a", "href") and value.startswith(PREFIX)
        ]
    assert {"/", "/plans", "/drift", "/documents", "/ask", "/held", "/search", "/runs/x", "/runs/x/report"} <= kinds
    assert any(kind.startswith("/runs/x/questions/") for kind in kinds)


def test_bad_values_get_one_line(services: Services, log_in: Login) -> None:
    browser = log_in("ada")
    for path in (
        "/runs/1", "/runs/00000000-0000-0000-0000-000000000000", "/drift/0", "/drift/999999999",
        "/drift/99999999999999999999", "/drift?state=none", "/plans?state=none", "/plans/%00", "/documents/%00",
        "/documents?page=0", "/documents?words=%00", f"/documents?words={'x' * 300}", f"/search?q={'x' * 600}",
        "/nowhere", "/static/..%2fapp.py",
    ):  # fmt: skip
        reply = browser.get(PREFIX + path)
        assert reply.status_code in (400, 404), path
        assert "Traceback" not in reply.text
        check_page(reply.text)


def test_a_body_of_fifty_megabytes_is_not_read(log_in: Login) -> None:
    browser = log_in("ada")
    assert browser.post(f"{PREFIX}/ask", content=b"question=" + b"x" * 1_000_000).status_code == 413

    def pieces() -> Any:
        for _ in range(50):
            yield b"x" * 1_000_000

    form = {"content-type": "application/x-www-form-urlencoded"}
    assert browser.post(f"{PREFIX}/ask", content=pieces(), headers=form).status_code == 413


def test_a_store_that_is_gone_is_one_line(services: Services, log_in: Login) -> None:
    from rag_core.connectors.store import Store

    services.__dict__["store"] = Store("postgresql://nobody@127.0.0.1:9/none", wait_seconds=1)
    for path in ("/", "/plans", "/drift", "/documents", "/held"):
        reply = log_in("ada").get(PREFIX + path)
        assert reply.status_code == 503, path
        check_page(reply.text)
        assert "NIGHTSHIFT_STORE__DSN" in reply.text


def test_a_store_of_another_version_is_one_line(services: Services, pg_server: EmbeddedPostgres, log_in: Login) -> None:
    from rag_core.connectors.store import Store

    pg_server.ensure_database("page_empty")
    empty = Store(pg_server.dsn("page_empty"))
    services.__dict__["store"] = empty
    try:
        for path in ("/", "/plans", "/drift", "/documents"):
            reply = log_in("ada").get(PREFIX + path)
            assert reply.status_code == 503, path
            assert "run `nightshift up`" in check_page(reply.text).text
    finally:
        empty.close()


def test_a_batch_whose_file_is_broken_says_so_on_the_first_page(
    services: Services, log_in: Login, tmp_path: Path
) -> None:
    head = 'title: Orders\nowner: ann\nschedule: "{}"\nquestions:\n  - {{question_id: a, text: What is it?}}\n'
    (tmp_path / "sound.yaml").write_text(head.format("0 5 * * *"), encoding="utf-8")
    (tmp_path / "torn.yaml").write_text(head.format("0 5 * *"), encoding="utf-8")
    settings = services.settings
    batch = settings.batch.model_copy(update={"folder": tmp_path})
    services.settings = settings.model_copy(update={"batch": batch})
    try:
        page = log_in("ada").get(f"{PREFIX}/").text
    finally:
        services.settings = settings
    check_html(page)
    broken = page[page.index("<h3>torn</h3>") :].partition("</li>")[0]
    assert "Broken" in broken
    assert "torn.yaml: schedule: a schedule has five fields" in unescape(broken)
    assert "Has not run yet" not in broken
    sound = page[page.index("<h3>Orders</h3>") :].partition("</li>")[0]
    assert "Has not run yet" in sound
    assert "Broken" not in sound
