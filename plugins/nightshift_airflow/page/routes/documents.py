"""The documents of the index: their states, one of them, search, and another try."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from ingestion.config import load_rules
from ingestion.listing import count_states, list_document_page, read_document
from ingestion.retry import find_retry_target
from ingestion.spelling import spell
from nightshift_airflow.page.auth import DocumentReader, DocumentRetrier
from nightshift_airflow.page.render import render
from nightshift_airflow.page.routes.parts import Page, see_other
from nightshift_airflow.page.services import PageServices
from rag_core.datamodel.evidence import SearchOutcome
from rag_core.errors import ConfigurationError
from rag_core.reports.audit import append_event

router = APIRouter()

PAGE_SIZE = 50
MAX_SEARCH_CHARACTERS = 500
MAX_SHOWN_CHARACTERS = 200_000

Words = Annotated[str, Query(max_length=200, description="Words in title or path")]
PageNumber = Annotated[int, Query(alias="page", ge=1, le=100_000)]


@router.get("/documents", response_class=HTMLResponse, summary="Documents with their state")
def show_documents(
    request: Request,
    person: DocumentReader,
    page: Page,
    state: Annotated[str, Query(max_length=40)] = "",
    words: Words = "",
    number: PageNumber = 1,
) -> Response:
    """A page of the documents, of one state and with certain words in title or path where given."""
    counts = count_states(page.store, words)
    total = counts.get(state, 0) if state else sum(counts.values())
    found = list_document_page(
        page.store, state=state or None, words=words, limit=PAGE_SIZE, offset=(number - 1) * PAGE_SIZE
    )
    return render(
        request,
        person,
        "documents.html.j2",
        active="documents",
        documents=found,
        counts=counts,
        every=sum(counts.values()),
        state=state,
        words=words,
        number=number,
        pages=max(1, -(-total // PAGE_SIZE)),
        total=total,
    )


@router.get("/search", response_class=HTMLResponse, summary="Search the documents")
def show_search(
    request: Request, person: DocumentReader, page: Page, q: str = "", kind: Annotated[str, Query(max_length=60)] = ""
) -> Response:
    """The best passages for a text in plain words."""
    problem, outcome = "", None
    try:
        outcome = search(page, q, kind) if q.strip() else None
    except ConfigurationError as error:
        problem = str(error)
    return render(
        request,
        person,
        "search.html.j2",
        active="documents",
        code=400 if problem else 200,
        q=q[:MAX_SEARCH_CHARACTERS],
        outcome=outcome,
        problem=problem,
    )


@router.get("/documents/{document_id}", response_class=HTMLResponse, summary="A document")
def show_document(request: Request, person: DocumentReader, page: Page, document_id: str) -> Response:
    """One document: state, metadata with where each value came from, and its text as it was read."""
    found = read_document(page.store, document_id)
    return render(
        request,
        person,
        "document.html.j2",
        active="documents",
        document=found,
        text=found["enriched"][:MAX_SHOWN_CHARACTERS],
        cut=len(found["enriched"]) > MAX_SHOWN_CHARACTERS,
        busy=page.is_waiting(f"document {document_id}"),
    )


@router.post("/documents/{document_id}/retry", summary="Process a document again")
def retry(request: Request, person: DocumentRetrier, page: Page, document_id: str) -> Response:
    """Has the document converted and indexed again in the background."""
    retry_document(page, document_id, by=person.name)
    return see_other(request, f"/documents/{document_id}", "retrying")


def search(page: PageServices, text: str, kind: str = "") -> SearchOutcome:
    """The passages for a text; raises ConfigurationError where it is no search."""
    if len(text) > MAX_SEARCH_CHARACTERS:
        raise ConfigurationError(
            f"a search may have at most {MAX_SEARCH_CHARACTERS} characters, this has {len(text):,}"
        )
    found = page.build(lambda made: made.search)
    return found.search(text, filters={"document_type": kind} if kind else None)


def retry_document(page: PageServices, document_id: str, *, by: str) -> None:
    """Takes a document in for another try. Raises ConfigurationError where it is unknown or its file is gone."""
    target = find_retry_target(page.store, document_id)
    detail = {"path": spell(target.prefix)}
    services = page.services

    def work() -> None:
        from ingestion.pipeline import ingest  # noqa: PLC0415 - heavy

        embedder = page.build(lambda made: made.embedder)
        rules = load_rules(services.config_path(services.settings.ingestion.config))
        ingest(page.store, embedder, [], rules=rules, retry=target)

    page.submit(f"document {document_id}", work)
    with page.store.connection() as connection:
        append_event(connection, actor=by, action="document.retried", target=document_id, detail=detail)
