"""The first page: each batch with its last run, what waits for a person, and what was asked by hand. And a run."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse
from starlette.responses import Response

from nightshift_airflow.defaults import sort_batch_files
from nightshift_airflow.page.auth import Reader
from nightshift_airflow.page.render import render, render_error
from nightshift_airflow.page.routes.parts import Page, RunId, permitted_run, readable
from nightshift_airflow.page.views import batch_cards, headline_of, question_badge, run_badge, run_counts, summary_of
from rag_core.batch.manual import MANUAL_BATCH
from rag_core.batch.records import count_open_work, list_question_batches, list_runs
from rag_core.batch.review import list_held_answers

router = APIRouter()

# The report is a document of its own with a script of its own: it gets an origin of its own, without our cookies.
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data:; frame-ancestors 'self'"
)


@router.get("/", response_class=HTMLResponse, summary="Batches with their last run, and what waits for a person")
def show_today(request: Request, person: Reader, page: Page) -> Response:
    """The first page."""
    good, broken = sort_batch_files(page.services.config_path(page.services.settings.batch.folder))
    runs = list_runs(page.store, limit=200)
    batches = readable(person, batch_cards(good, [run for run in runs if run.batch != MANUAL_BATCH], broken))
    # Of batches that have no file any more, what they left still waits.
    names = {MANUAL_BATCH, *(run.batch for run in runs), *chain(*list_question_batches(page.store).values())}
    shown = {card.last.run_id for card in batches if card.last is not None}
    earlier = [run for run in runs if run.batch != MANUAL_BATCH and run.run_id not in shown]
    return render(
        request,
        person,
        "today.html.j2",
        active="today",
        batches=batches,
        # The others have a card that says what is wrong, for those who may see the batch.
        broken=[file for file in broken if file.batch is None],
        work=count_open_work(
            page.store, page.services.run_date(), [name for name in names if person.may_read_batch(name)]
        ),
        earlier=readable(person, earlier)[:20],
        asked=readable(person, [run for run in runs if run.batch == MANUAL_BATCH])[:10],
        run_badge=run_badge,
        run_counts=run_counts,
    )


@router.get("/held", response_class=HTMLResponse, summary="Answers that checks kept back")
def show_held(request: Request, person: Reader, page: Page) -> Response:
    """Answers that wait for a decision, newest first."""
    held = readable(person, list_held_answers(page.store))
    newest = {(run.batch, run.run_date): run.run_id for run in reversed(list_runs(page.store, limit=500)) if run.stands}
    rows = [(item, newest.get((item.batch, item.run_date))) for item in held]
    return render(request, person, "held.html.j2", active="today", rows=rows)


@router.get("/runs/{run_id}", response_class=HTMLResponse, summary="A batch run with its questions")
def show_run(request: Request, person: Reader, page: Page, run_id: RunId) -> Response:
    """A run: each question with its state and its answer in a line."""
    run = permitted_run(page, person, run_id)
    return render(
        request,
        person,
        "run.html.j2",
        active="today",
        run=run,
        badge=run_badge(run.head),
        question_badge=question_badge,
        headline_of=headline_of,
        summary_of=summary_of,
        has_report=_report_of(page.services.settings.home, run.head.outcome.get("report_path")) is not None,
    )


@router.get("/runs/{run_id}/report", response_class=FileResponse, summary="The run's report as one HTML file")
def show_report(request: Request, person: Reader, page: Page, run_id: RunId) -> Response:
    """The report as it was written, in a sandbox of its own."""
    run = permitted_run(page, person, run_id)
    path = _report_of(page.services.settings.home, run.head.outcome.get("report_path"))
    if path is None:
        return render_error(request, 404, "The report of this run is not on this machine.")
    return FileResponse(path, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})


def _report_of(home: Path, recorded: object) -> Path | None:
    """The file of a report, where it lies in the folder of reports: the store must not name any other file."""
    if not isinstance(recorded, str):
        return None
    path = Path(recorded).resolve()
    return (
        path
        if path.suffix == ".html" and path.is_file() and path.is_relative_to((home / "reports").resolve())
        else None
    )
