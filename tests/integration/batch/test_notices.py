"""People are told of a run once, by mail and by webhook, with what was published and nothing that was kept back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from rag_core.batch.notices import Notice, read_notice, tell
from rag_core.batch.runner import BatchRunner
from rag_core.connectors.store import Store
from rag_core.datamodel.question import Batch, Expectation, Notification, Question
from rag_core.errors import ConfigurationError, ServiceUnavailable
from tests.integration.batch.scripted import RUN_DATE, ScriptedOrchestrator, result_evidence, scripted_answer

pytestmark = pytest.mark.integration

MakeRunner = Callable[[ScriptedOrchestrator], BatchRunner]
BOTH = Notification(email=("finance@example.com",), webhook=True)


def _run(make_runner: MakeRunner, name: str, notify: Notification, *, limit: int = 1_000_000) -> str:
    evidence = result_evidence({"revenue": ("numeric", [Decimal("4711.5")])})
    orchestrator = ScriptedOrchestrator(
        {"revenue": scripted_answer(evidence, text="Revenue was <b>4,711.50</b> EUR. [S1]\n\nMore of it.")}
    )
    bound = Expectation(kind="bounds", column="revenue", max=limit)
    question = Question(question_id="revenue", title="Umsatz in Köln", text="What was revenue?", expectations=(bound,))
    batch = Batch(batch=name, title="Morning review", owner="finance", notify=notify, questions=(question,))
    return make_runner(orchestrator).run(batch, RUN_DATE).run_id


def test_each_channel_takes_the_message_once(make_runner: MakeRunner, store: Store) -> None:
    run_id = _run(make_runner, "told_once", BOTH)
    got: list[tuple[str, Notice]] = []
    channels = {name: (lambda notice, name=name: got.append((name, notice))) for name in ("email", "webhook")}
    assert tell(store, run_id, channels) == ("email", "webhook")
    assert tell(store, run_id, channels) == ()
    assert [name for name, _ in got] == ["email", "webhook"]
    summary = got[0][1].summary
    assert summary.subject == "Morning review, 2026-07-01: 1 published"
    assert "Umsatz in Köln" in summary.text()
    assert "Revenue was <b>4,711.50</b> EUR." in summary.text()
    assert "&lt;b&gt;4,711.50" in summary.html()
    assert got[1][1].payload()["questions"][0]["question_id"] == "revenue"


def test_a_channel_that_fails_is_tried_again_and_the_others_are_not(make_runner: MakeRunner, store: Store) -> None:
    run_id = _run(make_runner, "told_again", BOTH)
    got: list[str] = []

    def broken(_: Notice) -> None:
        raise ServiceUnavailable("the mail server is gone")

    with pytest.raises(ServiceUnavailable, match="mail server is gone"):
        tell(store, run_id, {"email": broken, "webhook": lambda _: got.append("webhook")})
    again = tell(store, run_id, {name: (lambda _, name=name: got.append(name)) for name in ("email", "webhook")})
    assert again == ("email",)
    assert got == ["webhook", "email"]


def test_two_that_tell_at_once_tell_once(make_runner: MakeRunner, store: Store) -> None:
    run_id = _run(make_runner, "told_at_once", Notification(webhook=True))
    got: list[str] = []
    entered, leave = threading.Event(), threading.Event()

    def slow(_: Notice) -> None:
        entered.set()
        assert leave.wait(20)
        got.append("first")

    first = threading.Thread(target=tell, args=(store, run_id, {"webhook": slow}))
    first.start()
    assert entered.wait(20)
    second = threading.Thread(target=tell, args=(store, run_id, {"webhook": lambda _: got.append("second")}))
    second.start()
    leave.set()
    for thread in (first, second):
        thread.join(20)
    assert got == ["first"]


def test_only_trouble_is_told_where_the_batch_wants_it_so(make_runner: MakeRunner, store: Store) -> None:
    quiet = Notification(webhook=True, when="trouble")
    got: list[Notice] = []
    channels: Any = {"webhook": got.append}
    assert tell(store, _run(make_runner, "no_trouble", quiet), channels) == ()
    assert tell(store, _run(make_runner, "in_trouble", quiet, limit=10), channels) == ("webhook",)
    said = got[0].summary.text() + got[0].summary.html() + str(got[0].payload())
    assert "Kept back" in said
    assert "Revenue was" not in said


def test_a_run_that_has_not_ended_is_not_told(make_runner: MakeRunner, store: Store) -> None:
    batch = Batch(
        batch="unended", title="T", owner="o", questions=(Question(question_id="revenue", text="What was revenue?"),)
    )
    started = make_runner(ScriptedOrchestrator({})).start(batch, RUN_DATE)
    with pytest.raises(ConfigurationError, match="has not ended"):
        read_notice(store, started.run_id)
