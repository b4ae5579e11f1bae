"""A question asked on the page: taken in at once, answered in the background, refused in one line."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from nightshift_airflow.page.plugin import PREFIX
from rag_core.errors import ServiceUnavailable
from rag_core.reports.audit import read_events
from tests.integration.batch.scripted import RUN_DATE, result_evidence, scripted_answer
from tests.page_html import check_page

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

    from nightshift_airflow.page.services import PageServices
    from rag_core.connectors.store import Store
    from rag_core.datamodel.answer import Answer
    from rag_core.wiring import Services

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

Login = Callable[[str | None], "TestClient"]
Send = Callable[..., Any]
QUESTION = "How many <b>orders</b> were there in Zürich 東京?'; DROP TABLE nightshift.plan; --"


class _Answerer:
    """An orchestrator that waits until it may answer."""

    def __init__(self, error: Exception | None = None) -> None:
        self.may_answer = threading.Event()
        self.asked: list[tuple[str, date]] = []
        self._error = error

    def answer(self, question: str, *, run_date: date, **ids: Any) -> Answer:
        """Five of it, or the error."""
        assert self.may_answer.wait(60)
        self.asked.append((question, run_date))
        if self._error is not None:
            raise self._error
        evidence = result_evidence({"n": ("numeric", [Decimal(5)])})
        wanted = {name: ids[name] for name in ("question_id", "run_id")}
        return scripted_answer(evidence, question=question, run_date=run_date, text="There were 5. [S1]", **wanted)


def test_a_question_is_answered(
    services: Services, page_services: PageServices, page_store: Store, log_in: Login, send_form: Send
) -> None:
    answerer = _Answerer()
    services.__dict__["orchestrator"] = answerer
    browser = log_in("uli")
    reply = send_form(browser, f"{PREFIX}/ask", f"{PREFIX}/ask", question=f"  {QUESTION}\n ", run_date="")
    assert reply.status_code == 303
    path = reply.headers["location"]
    waiting = browser.get(path)
    assert 'http-equiv="refresh"' in waiting.text
    assert "Being answered" in check_page(waiting.text).text
    as_json = browser.get(path.replace(PREFIX, f"{PREFIX}/api"))
    assert (as_json.status_code, as_json.json()["pending"], as_json.json()["answer"]) == (202, True, None)
    answerer.may_answer.set()
    page_services.wait(lambda: None)
    assert answerer.asked == [(QUESTION, RUN_DATE)]
    page = check_page(browser.get(path).text)
    assert "There were 5." in page.text
    assert QUESTION in page.text
    assert "Asked by hand by uli" in page.text
    assert page.elements["b"] < 20  # its own; the question's is text
    assert QUESTION[:40] in check_page(browser.get(f"{PREFIX}/ask").text).text
    with page_store.connection() as connection:
        last = read_events(connection)[-1]
        (published,) = connection.execute(
            "SELECT count(*) FROM reports.fact_answer WHERE batch = 'manual'"
        ).fetchone() or (1,)
    assert (last.actor, last.action) == ("uli", "question.asked")
    assert published == 0


@pytest.mark.parametrize(
    ("question", "run_date", "told"),
    [
        ("x" * 10_000, "", "Question 1 has 10000 characters; 3 to 2000 are allowed"),
        (" \n ", "", "The question is empty"),
        ("?", "", "Question 1 has 1 characters"),
        ("How many orders\x00?", "", "Question 1: "),
        ("How many orders?", "tomorrow", "Not a date of the form YYYY-MM-DD"),
        ("How many orders?", "2026-13-45", "Not a date of the form YYYY-MM-DD"),
    ],
)
def test_what_is_no_question_is_refused_in_one_line(
    log_in: Login, send_form: Send, question: str, run_date: str, told: str
) -> None:
    reply = send_form(log_in("ada"), f"{PREFIX}/ask", f"{PREFIX}/ask", question=question, run_date=run_date)
    assert reply.status_code == 400
    page = check_page(reply.text)
    assert told in page.text
    if question.strip():
        # What was written is not lost.
        assert question[:3].replace("\x00", "") in "".join(page.words)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ServiceUnavailable("the warehouse cannot be reached"), "the warehouse cannot be reached"),
        (ValueError("secret detail"), "the question could not be answered (ValueError)"),
    ],
)
def test_a_question_that_fails_says_why(
    services: Services, page_services: PageServices, log_in: Login, send_form: Send, error: Exception, told: str
) -> None:
    answerer = _Answerer(error)
    answerer.may_answer.set()
    services.__dict__["orchestrator"] = answerer
    browser = log_in("ada")
    path = send_form(browser, f"{PREFIX}/ask", f"{PREFIX}/ask", question="How many are there?").headers["location"]
    page_services.wait(lambda: None)
    text = browser.get(path).text
    assert told in check_page(text).text
    assert "secret detail" not in text
    assert 'http-equiv="refresh"' not in text


def test_too_many_questions_at_once_are_turned_away(
    services: Services, page_services: PageServices, log_in: Login, send_form: Send
) -> None:
    from nightshift_airflow.page.services import MAX_WAITING

    answerer = _Answerer()
    services.__dict__["orchestrator"] = answerer
    browser = log_in("ada")
    try:
        codes = [
            send_form(browser, f"{PREFIX}/ask", f"{PREFIX}/ask", question=f"How many of {number}?").status_code
            for number in range(MAX_WAITING + 1)
        ]
    finally:
        answerer.may_answer.set()
        page_services.wait(lambda: None)
    assert codes == [303] * MAX_WAITING + [503]
    assert len(answerer.asked) == MAX_WAITING
