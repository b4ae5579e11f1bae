"""What several routes need: the services of this process, and the way back after a form."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Path, Request
from fastapi.responses import RedirectResponse

from nightshift_airflow.page.auth import Person, refuse
from nightshift_airflow.page.render import base_of
from nightshift_airflow.page.services import PageServices
from rag_core.batch.records import AnswerRecord, RunRecord, read_answer, read_run

RunId = Annotated[UUID, Path(description="Id of a run")]
QuestionId = Annotated[str, Path(description="Id of a question of the run", max_length=63)]


def _services(request: Request) -> PageServices:
    found: PageServices = request.app.state.services
    return found


Page = Annotated[PageServices, Depends(_services)]


def see_other(request: Request, path: str, done: str = "") -> RedirectResponse:
    """Sends the browser to a page of ours after a form, so that loading it again sends nothing twice."""
    return RedirectResponse(f"{base_of(request)}{path}{f'?done={done}' if done else ''}", status_code=303)


def permitted_run(page: PageServices, person: Person, run_id: UUID) -> RunRecord:
    """A run, where this person may read its batch."""
    found = read_run(page.store, str(run_id))
    if not person.may_read_batch(found.head.batch):
        refuse()
    return found


def permitted_answer(page: PageServices, person: Person, run_id: UUID, question_id: str) -> AnswerRecord:
    """One question of a run, where this person may read its batch."""
    found = read_answer(page.store, str(run_id), question_id)
    if not person.may_read_batch(found.head.batch):
        refuse()
    return found


def readable(person: Person, items: Any) -> list[Any]:
    """Of runs or cards, those whose batch this person may read. Each batch is asked for once."""
    known: dict[str, bool] = {}
    for item in items:
        if item.batch not in known:
            known[item.batch] = person.may_read_batch(item.batch)
    return [item for item in items if known[item.batch]]
