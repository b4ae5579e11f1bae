"""The same as JSON, for programs: the objects of the command line's contract."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query
from fastapi.responses import JSONResponse

from ingestion.listing import list_document_page, read_document
from nightshift_airflow.page.asking import ask, is_pending
from nightshift_airflow.page.auth import (
    Asker,
    DocumentReader,
    DocumentRetrier,
    DriftDecider,
    DriftReader,
    PlanDecider,
    Reader,
)
from nightshift_airflow.page.routes import documents, drift, plans
from nightshift_airflow.page.routes.parts import Page, QuestionId, RunId, permitted_answer, permitted_run, readable
from rag_core.batch.plan_review import approve_plan, reject_plan
from rag_core.batch.records import list_question_batches, list_runs
from rag_core.cli.ask import to_contract as answer_contract
from rag_core.cli.output import to_json
from rag_core.cli.plans import to_contract as plan_contract
from rag_core.cli.search import describe_outcome
from rag_core.datamodel.drift import EventState
from rag_core.plans.store import PlanState, PlanStore
from rag_core.schema.events import list_decisions, list_events

router = APIRouter(tags=["JSON"])

Limit = Annotated[int, Query(ge=1, le=500)]
Reason = Annotated[str, Body(embed=True, max_length=1_000, description="Why")]


def _json(value: Any, code: int = 200) -> JSONResponse:
    return JSONResponse(to_json(value), status_code=code)


@router.get("/runs", summary="Batch runs, newest first")
def get_runs(
    person: Reader, page: Page, batch: str | None = None, run_date: date | None = None, limit: Limit = 50
) -> JSONResponse:
    """The runs that this user may read."""
    return _json({"runs": readable(person, list_runs(page.store, batch=batch, run_date=run_date, limit=limit))})


@router.get("/runs/{run_id}", summary="A batch run with its questions")
def get_run(person: Reader, page: Page, run_id: RunId) -> JSONResponse:
    """A run with the state of each question."""
    return _json(permitted_run(page, person, run_id))


@router.get("/runs/{run_id}/questions/{question_id}", summary="An answer with all that it rests on")
def get_answer(person: Reader, page: Page, run_id: RunId, question_id: QuestionId) -> JSONResponse:
    """The answer as `nightshift ask --json` prints it, with checks, state and history; 202 while it is awaited."""
    record = permitted_answer(page, person, run_id, question_id)
    pending = is_pending(page, record, datetime.now(UTC))
    content = {
        **record.model_dump(mode="python", exclude={"answer"}),
        "pending": pending,
        "answer": answer_contract(record.answer) if record.answer is not None else None,
    }
    return _json(content, 202 if pending else 200)


@router.post("/ask", summary="Ask one question now", status_code=202)
def post_question(
    person: Asker,
    page: Page,
    question: Annotated[str, Body(description="The question, in plain words")],
    run_date: Annotated[str | None, Body(max_length=20, description="YYYY-MM-DD")] = None,
) -> JSONResponse:
    """Takes a question; its answer is read from the run that is named."""
    run_id, question_id = ask(page, question, by=person.name, run_date=run_date)
    return _json({"run_id": run_id, "question_id": question_id}, 202)


@router.get("/plans", summary="Kept plans")
def get_plans(person: Reader, page: Page, state: PlanState | None = None) -> JSONResponse:
    """The plans as `nightshift plans list --json` prints them."""
    found = plans.permitted_plans(page, person, list_question_batches(page.store))
    return _json({"plans": [plan_contract(plan) for plan in found if state is None or plan.state == state]})


@router.get("/plans/{plan_id}", summary="A plan with its last runs")
def get_plan(person: Reader, page: Page, plan_id: str) -> JSONResponse:
    """The plan as `nightshift plans show --json` prints it."""
    plan = plans.permitted_plan(page, person, plan_id)
    return _json(plan_contract(plan, tuple(PlanStore(page.store).runs(plan_id))))


@router.post("/plans/{plan_id}/approve", summary="Approve a plan for replay")
def post_approval(person: PlanDecider, page: Page, plan_id: str) -> JSONResponse:
    """Approves the plan under the user's name."""
    plans.permitted_plan(page, person, plan_id)
    return _json(plan_contract(approve_plan(page.store, plan_id, by=person.name)))


@router.post("/plans/{plan_id}/reject", summary="Retire a plan")
def post_rejection(person: PlanDecider, page: Page, plan_id: str, reason: Reason = "rejected") -> JSONResponse:
    """Retires the plan under the user's name."""
    plans.permitted_plan(page, person, plan_id)
    return _json(plan_contract(reject_plan(page.store, plan_id, by=person.name, reason=reason)))


@router.post("/plans/{plan_id}/replan", summary="Plan the question anew")
def post_replan(person: PlanDecider, page: Page, plan_id: str) -> JSONResponse:
    """Plans the question anew; old and new plan side by side."""
    plans.permitted_plan(page, person, plan_id)
    done = plans.replan_now(page, plan_id, by=person.name)
    new = plan_contract(done.after) if done.after is not None else None
    return _json({"old": plan_contract(done.before), "new": new, "same_sql": done.same_sql})


@router.get("/drift", summary="Changes of the warehouse's schema, with the decisions on them")
def get_events(person: DriftReader, page: Page, state: EventState | None = None, limit: Limit = 100) -> JSONResponse:
    """Events and decisions as `nightshift drift history --json` prints them."""
    events = list_events(page.store, state=state, limit=limit)
    return _json({"events": events, "decisions": list_decisions(page.store, limit=limit)})


@router.post("/drift/{event_id}/{decision}", summary="Accept, reject or map a change")
def post_decision(
    person: DriftDecider,
    page: Page,
    event_id: drift.EventId,
    decision: Literal["accept", "reject", "map"],
    note: Annotated[str, Body(max_length=1_000, description="Why")] = "",
    target: Annotated[str, Body(max_length=400, description="What it became, for map")] = "",
) -> JSONResponse:
    """Takes the decision under the user's name."""
    event = drift.decide(page, event_id, decision, by=person.name, note=note, target=target)
    return _json({"events": [event]})


@router.get("/documents", summary="Documents with their state")
def get_documents(
    person: DocumentReader,
    page: Page,
    state: str | None = None,
    words: documents.Words = "",
    limit: Limit = 100,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> JSONResponse:
    """A page of the documents in the order of source and path."""
    found = list_document_page(page.store, state=state, words=words, limit=limit, offset=offset)
    return _json({"documents": found})


@router.get("/documents/{document_id}", summary="A document")
def get_document(person: DocumentReader, page: Page, document_id: str) -> JSONResponse:
    """One document with its metadata and its text."""
    return _json(read_document(page.store, document_id))


@router.post("/documents/{document_id}/retry", summary="Process a document again", status_code=202)
def post_retry(person: DocumentRetrier, page: Page, document_id: str) -> JSONResponse:
    """Has the document converted and indexed again in the background."""
    documents.retry_document(page, document_id, by=person.name)
    return _json({"document_id": document_id}, 202)


@router.get("/search", summary="Search the documents")
def get_passages(person: DocumentReader, page: Page, q: str, document_type: str = "") -> JSONResponse:
    """The passages as `nightshift search --json` prints them."""
    return _json(describe_outcome(documents.search(page, q, document_type)))
