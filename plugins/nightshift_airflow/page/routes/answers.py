"""An answer with all that it rests on, and the decision on one that was kept back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from nightshift_airflow.page.asking import is_pending
from nightshift_airflow.page.auth import Reader, Reviewer, refuse
from nightshift_airflow.page.render import render, render_error
from nightshift_airflow.page.routes.parts import Page, QuestionId, RunId, permitted_answer, see_other
from nightshift_airflow.page.views import answer_view, find_chart
from rag_core.batch.review import review_answer
from rag_core.errors import ConfigurationError
from rag_core.reports.charts import draw_chart

router = APIRouter()

NOTE_CHARACTERS = 1_000
# A drawing brings its own style and nothing else.
CHART_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@router.get(
    "/runs/{run_id}/questions/{question_id}",
    response_class=HTMLResponse,
    summary="An answer with evidence, SQL, checks, trace and history",
)
def show_answer(request: Request, person: Reader, page: Page, run_id: RunId, question_id: QuestionId) -> Response:
    """An answer and how it came about; a page that loads itself again while there is none yet."""
    record = permitted_answer(page, person, run_id, question_id)
    if record.answer is None:
        pending = is_pending(page, record, datetime.now(UTC))
        return render(request, person, "waiting.html.j2", active="ask", record=record, pending=pending)
    return render(
        request,
        person,
        "answer.html.j2",
        active="today",
        record=record,
        item=answer_view(record),
        may_review=record.head.stands and record.state == "quarantined" and person.may_review(record.head.batch),
    )


@router.get("/runs/{run_id}/questions/{question_id}/charts/{marker}.svg", summary="The chart of a result")
def show_chart(
    request: Request, person: Reader, page: Page, run_id: RunId, question_id: QuestionId, marker: str
) -> Response:
    """The chart of one piece of evidence as SVG, chosen from its shape."""
    spec = find_chart(permitted_answer(page, person, run_id, question_id), marker)
    if spec is None:
        return render_error(request, 404, "There is nothing to be drawn for this result.")
    headers = {"Cache-Control": "private, max-age=3600", "Content-Security-Policy": CHART_POLICY}
    return Response(draw_chart(spec), media_type="image/svg+xml", headers=headers)


@router.post("/runs/{run_id}/questions/{question_id}/review", summary="Release or reject an answer that was kept back")
def review(
    request: Request,
    person: Reviewer,
    page: Page,
    run_id: RunId,
    question_id: QuestionId,
    decision: Annotated[str, Form(description="released or rejected")],
    note: Annotated[str, Form(max_length=NOTE_CHARACTERS, description="Why")] = "",
) -> Response:
    """Records the decision under the user's name."""
    record = permitted_answer(page, person, run_id, question_id)
    if not person.may_review(record.head.batch):
        refuse()
    if not record.head.stands:
        raise ConfigurationError("another run took this one's place: decide on its answer")
    if decision not in ("released", "rejected"):
        raise ConfigurationError("a decision is released or rejected")
    if not note.strip():
        raise ConfigurationError("a decision needs its reason: say in a few words why")
    review_answer(
        page.store,
        batch=record.head.batch,
        question_id=question_id,
        run_date=record.head.run_date,
        decision="released" if decision == "released" else "rejected",
        by=person.name,
        note=note,
    )
    done = "released" if decision == "released" else "kept"
    return see_other(request, f"/runs/{run_id}/questions/{question_id}", done)
