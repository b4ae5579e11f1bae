"""Changes of the warehouse's schema: whom they hurt, and what a person decides about them."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Path, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from nightshift_airflow.page.auth import DriftDecider, DriftReader
from nightshift_airflow.page.render import render
from nightshift_airflow.page.routes.parts import Page, see_other
from nightshift_airflow.page.services import PageServices
from nightshift_airflow.page.views import hurt_names
from rag_core.datamodel.drift import DriftEvent, EventState
from rag_core.errors import ConfigurationError
from rag_core.schema.decisions import accept_events, map_event, reject_events
from rag_core.schema.events import find_event, list_decisions, list_events
from rag_core.semantics.lineage import model_lineage

router = APIRouter()

STATES: tuple[EventState, ...] = ("open", "noted", "accepted", "rejected", "mapped", "reverted", "superseded")
SHOWN = 200
VANISHED = ("column_removed", "table_removed", "column_renamed", "table_renamed", "table_moved")

EventId = Annotated[int, Path(ge=1, le=2**62, description="Number of the event")]
Note = Annotated[str, Form(max_length=1_000, description="Why")]


@router.get("/drift", response_class=HTMLResponse, summary="Changes of the warehouse's schema")
def show_events(
    request: Request, person: DriftReader, page: Page, state: EventState | Literal["all"] = "open"
) -> Response:
    """The events of one state, the latest first; those that wait for a decision by default."""
    events = list_events(page.store, state=None if state == "all" else state, limit=SHOWN)
    return render(
        request,
        person,
        "drift.html.j2",
        active="drift",
        events=events,
        state=state,
        states=STATES,
        most=SHOWN,
        hurt_names=hurt_names,
    )


@router.get("/drift/{event_id}", response_class=HTMLResponse, summary="A change with whom it hurts")
def show_event(request: Request, person: DriftReader, page: Page, event_id: EventId) -> Response:
    """One event, whom it touches, what it may have become, and the decisions on it."""
    with page.store.connection() as connection:
        found = find_event(connection, str(event_id))
    decisions = [item for item in list_decisions(page.store) if item.event_id == event_id]
    return render(
        request,
        person,
        "event.html.j2",
        active="drift",
        event=found.event,
        holds=found.active,
        decisions=decisions,
        may_map=found.event.change.kind in VANISHED,
    )


@router.post("/drift/{event_id}/accept", summary="Accept a change")
def accept(request: Request, person: DriftDecider, page: Page, event_id: EventId, note: Note = "") -> Response:
    """Accepts the change under the user's name."""
    decide(page, event_id, "accept", by=person.name, note=note)
    return see_other(request, f"/drift/{event_id}", "accepted")


@router.post("/drift/{event_id}/reject", summary="Reject a change")
def reject(request: Request, person: DriftDecider, page: Page, event_id: EventId, note: Note = "") -> Response:
    """Rejects the change under the user's name."""
    decide(page, event_id, "reject", by=person.name, note=note)
    return see_other(request, f"/drift/{event_id}", "refused")


@router.post("/drift/{event_id}/map", summary="Say what something became that vanished")
def map_to(
    request: Request,
    person: DriftDecider,
    page: Page,
    event_id: EventId,
    target: Annotated[str, Form(max_length=400, description="schema.table.column or schema.table")] = "",
    note: Note = "",
) -> Response:
    """Records under the user's name what the column or table is called now."""
    decide(page, event_id, "map", by=person.name, note=note, target=target)
    return see_other(request, f"/drift/{event_id}", "mapped")


def decide(
    page: PageServices,
    event_id: int,
    decision: Literal["accept", "reject", "map"],
    *,
    by: str,
    note: str = "",
    target: str = "",
) -> DriftEvent:
    """Takes a decision with the lineage of the semantic model, as the command does."""
    lineage = model_lineage(page.build(lambda made: made.semantic_model))
    name = str(event_id)
    if decision == "map":
        if not target.strip():
            raise ConfigurationError("say what it became: schema.table.column or schema.table")
        return map_event(page.store, name, target.strip(), actor=by, note=note.strip(), lineage=lineage)
    take = accept_events if decision == "accept" else reject_events
    return take(page.store, [name], actor=by, note=note.strip(), lineage=lineage)[0]
