"""The audit trail and the decisions that it records."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal

import psycopg
import pytest

from rag_core.batch.review import list_held_answers, review_answer
from rag_core.batch.runner import BatchRunner
from rag_core.connectors.store import Store
from rag_core.datamodel.question import Question
from rag_core.errors import ConfigurationError
from rag_core.reports.audit import append_event, event_hash, read_events, verify_chain
from tests.integration.batch.scripted import (
    RUN_DATE,
    ScriptedOrchestrator,
    make_batch,
    result_evidence,
    scripted_answer,
)

pytestmark = pytest.mark.integration

MakeRunner = Callable[[ScriptedOrchestrator], BatchRunner]


def _held(make_runner: MakeRunner, batch: str, value: str = "NaN") -> BatchRunner:
    evidence = result_evidence({"revenue": ("numeric", [Decimal(value), Decimal(5)])})
    runner = make_runner(ScriptedOrchestrator({batch: scripted_answer(evidence)}))
    runner.run(make_batch(batch, [Question(question_id=batch, text="What?")]), RUN_DATE)
    return runner


def _state(connection: psycopg.Connection, batch: str) -> tuple[object, ...] | None:
    return connection.execute(
        "SELECT a.state, a.review, a.reviewed_by, r.published, r.quarantined FROM reports.fact_answer AS a"
        " JOIN reports.dim_run AS r USING (batch, run_date) WHERE batch = %s",
        (batch,),
    ).fetchone()


def test_every_event_is_chained_and_the_database_and_we_agree(store: Store) -> None:
    with store.connection() as connection:
        append_event(connection, actor="Zoë 🌙", action="test", target="x", detail={"b": 1, "a": "ü;:'"})
        append_event(connection, actor="", action="test", target="y", detail={})
        events = read_events(connection)
    assert [event.hash for event in events] == [event_hash(event) for event in events]
    verdict = verify_chain(events)
    assert (verdict.intact, verdict.events, verdict.head) == (True, len(events), events[-1].hash)


def test_events_can_be_neither_changed_nor_removed(store: Store, connection: psycopg.Connection) -> None:
    with store.connection() as writing:
        append_event(writing, actor="a", action="test", target="x", detail={})
    for change in (
        "UPDATE reports.audit_event SET actor = 'b'",
        "DELETE FROM reports.audit_event",
        "TRUNCATE reports.audit_event",
    ):
        with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
            connection.execute(change)


def test_tampering_shows(store: Store) -> None:
    with store.connection() as connection:
        for name in ("x", "y", "z"):
            append_event(connection, actor="a", action="test", target=name, detail={})
        events = read_events(connection)
    assert verify_chain(events, known_head=events[-2].hash).intact
    assert not verify_chain(events[:-1], known_head=events[-1].hash).intact
    changed = [*events[:-2], events[-2].model_copy(update={"actor": "b"}), events[-1]]
    assert verify_chain(changed).broken_at == len(events) - 1
    later = [*events[:-2], events[-2].model_copy(update={"happened_at": datetime(2020, 1, 1, tzinfo=UTC)}), events[-1]]
    assert verify_chain(later).reason == f"event {len(events) - 1} was changed"
    assert verify_chain([*events[:-2], events[-1]]).reason == f"event {len(events) - 1} is missing"
    forged = events[-2].model_copy(update={"actor": "b"})
    forged = forged.model_copy(update={"hash": event_hash(forged)})
    assert "does not follow" in verify_chain([*events[:-2], forged, events[-1]]).reason


def test_a_released_answer_is_published_and_stays_released(
    make_runner: MakeRunner, store: Store, connection: psycopg.Connection
) -> None:
    runner = _held(make_runner, "released")
    assert _state(connection, "released") == ("quarantined", None, None, 0, 1)
    (held,) = list_held_answers(store, "released")
    assert "no number is NaN or infinite" in held.reason
    review_answer(
        store,
        batch="released",
        question_id="released",
        run_date=RUN_DATE,
        decision="released",
        by="Ada",
        note="NaN is a known gap",
    )
    assert _state(connection, "released") == ("published", "released", "Ada", 1, 0)
    assert list_held_answers(store, "released") == []
    assert connection.execute("SELECT revenue FROM reports.q_released ORDER BY row_number").fetchall() == [
        (None,),
        (Decimal(5),),
    ]
    runner.run(make_batch("released", [Question(question_id="released", text="What?")]), RUN_DATE)
    assert _state(connection, "released") == ("published", "released", "Ada", 1, 0)
    _held(make_runner, "released", "Infinity")
    assert _state(connection, "released") == ("quarantined", None, None, 0, 1)
    events = connection.execute(
        "SELECT actor, action, object FROM reports.audit_event WHERE object LIKE 'released/%'"
    ).fetchall()
    assert events == [("Ada", "answer.released", "released/released@2026-07-01")]


def test_a_rejected_answer_stays_kept_back(
    make_runner: MakeRunner, store: Store, connection: psycopg.Connection
) -> None:
    _held(make_runner, "rejected")
    decide = {"batch": "rejected", "question_id": "rejected", "run_date": RUN_DATE, "by": "Ada", "note": "wrong join"}
    review_answer(store, decision="rejected", **decide)  # type: ignore[arg-type]
    assert _state(connection, "rejected") == ("quarantined", "rejected", "Ada", 0, 1)


def test_only_answers_that_were_kept_back_are_reviewed(make_runner: MakeRunner, store: Store) -> None:
    _held(make_runner, "fine", "4")
    wanted = {"question_id": "fine", "run_date": RUN_DATE, "decision": "released"}
    with pytest.raises(ConfigurationError, match="the answer to fine is published"):
        review_answer(store, batch="fine", by="Ada", note="x", **wanted)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="there is no answer to fine of nowhere"):
        review_answer(store, batch="nowhere", by="Ada", note="x", **wanted)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="--by"):
        review_answer(store, batch="fine", by=" ", note="x", **wanted)  # type: ignore[arg-type]
