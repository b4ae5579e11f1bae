"""A form that asks one question now."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from nightshift_airflow.page.asking import ask
from nightshift_airflow.page.auth import Asker, Reader
from nightshift_airflow.page.render import render
from nightshift_airflow.page.routes.parts import Page, readable, see_other
from nightshift_airflow.page.views import run_badge
from rag_core.batch.manual import MANUAL_BATCH, MAX_QUESTION_CHARACTERS
from rag_core.batch.records import list_runs
from rag_core.errors import NightshiftError, ServiceUnavailable

router = APIRouter()


@router.get("/ask", response_class=HTMLResponse, summary="The form that asks a question")
def show_form(request: Request, person: Reader, page: Page) -> Response:
    """An empty form, and what was asked last."""
    return _form(request, person, page)


@router.post("/ask", summary="Ask one question now")
def take_question(
    request: Request,
    person: Asker,
    page: Page,
    question: Annotated[str, Form(description="The question, in plain words")] = "",
    run_date: Annotated[str, Form(max_length=20, description="Day that relative times refer to (YYYY-MM-DD)")] = "",
) -> Response:
    """Takes the question and leads to the page of its answer, which waits for it."""
    try:
        run_id, question_id = ask(page, question, by=person.name, run_date=run_date)
    except NightshiftError as error:
        code = 503 if isinstance(error, ServiceUnavailable) else 400
        return _form(request, person, page, question=question, run_date=run_date, problem=str(error), code=code)
    return see_other(request, f"/runs/{run_id}/questions/{question_id}")


def _form(
    request: Request,
    person: Reader,
    page: Page,
    *,
    question: str = "",
    run_date: str = "",
    problem: str = "",
    code: int = 200,
) -> Response:
    asked = readable(person, list_runs(page.store, batch=MANUAL_BATCH, limit=10))
    return render(
        request,
        person,
        "ask.html.j2",
        active="ask",
        code=code,
        question=question[: 2 * MAX_QUESTION_CHARACTERS],
        run_date=run_date,
        problem=problem,
        most=MAX_QUESTION_CHARACTERS,
        today=page.services.run_date(),
        asked=asked,
        run_badge=run_badge,
    )
