from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from rag_core.connectors.webhook import SIGNATURE_HEADER, verify_signature
from rag_core.datamodel.answer import Answer
from rag_core.errors import ConfigurationError
from rag_core.graph.nodes import Nodes
from rag_core.graph.submission import Submissions
from tests.question_world import WordSearch, open_world

JULY = date(2026, 7, 1)
SECRET = "a secret of this test"
QUESTION = "What was revenue last quarter?"


class Receiver:
    """Takes messages on loopback; answers with the statuses given, then 200."""

    def __init__(self) -> None:
        self.got: list[tuple[str, bytes]] = []
        self.statuses: list[int] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append((self.headers[SIGNATURE_HEADER], body))
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/answers"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def test_the_answer_arrives_signed(tmp_path: Path, receiver: Receiver) -> None:
    with Submissions(open_world(tmp_path), secret=SECRET) as submissions:
        ticket = submissions.submit(QUESTION, run_date=JULY, webhook=receiver.url)
        answer = ticket.wait(60)
    assert answer is not None
    assert (ticket.state, ticket.delivered) == ("done", True)
    ((signature, body),) = receiver.got
    assert verify_signature(signature, body, SECRET, now=time.time())
    assert not verify_signature(signature, body + b" ", SECRET, now=time.time())
    assert not verify_signature(signature, body, "another", now=time.time())
    message = json.loads(body)
    assert (message["ticket_id"], message["state"]) == (ticket.ticket_id, "done")
    assert Answer.model_validate(message["answer"]) == answer


def test_a_receiver_that_refuses_is_told_and_the_answer_stays(tmp_path: Path, receiver: Receiver) -> None:
    receiver.statuses = [400]
    with Submissions(open_world(tmp_path), secret=SECRET) as submissions:
        ticket = submissions.submit(QUESTION, run_date=JULY, webhook=receiver.url)
        assert ticket.wait(60) is not None
        assert ticket.delivered is False
        assert submissions.get(ticket.ticket_id).answer is not None


def test_nothing_is_sent_unsigned(tmp_path: Path, receiver: Receiver) -> None:
    with Submissions(open_world(tmp_path)) as submissions:
        with pytest.raises(ConfigurationError, match="secret"):
            submissions.submit(QUESTION, run_date=JULY, webhook=receiver.url)
        with pytest.raises(ConfigurationError, match="URL"):
            submissions.submit(QUESTION, run_date=JULY, webhook="file:///etc/passwd")
        with pytest.raises(ConfigurationError, match="no question"):
            submissions.get("nothing")


class WaitingSearch(WordSearch):
    """A search that tells when it was asked, and waits to be let go on."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.release = threading.Event(), threading.Event()

    def search(self, query: str, **more: Any) -> Any:
        self.reached.set()
        assert self.release.wait(60)
        return super().search(query, **more)


def test_a_running_question_stops_before_its_next_node(
    tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, later = WaitingSearch(), []
    synthesize = Nodes.synthesize
    monkeypatch.setattr(Nodes, "synthesize", lambda self, state: later.append(1) or synthesize(self, state))
    with Submissions(open_world(tmp_path, search=search), secret=SECRET, workers=1) as submissions:
        running = submissions.submit("When did the dock workers stop work?", run_date=JULY, webhook=receiver.url)
        waiting = submissions.submit(QUESTION, run_date=JULY)
        assert search.reached.wait(60)
        assert submissions.cancel(running.ticket_id)
        assert submissions.cancel(waiting.ticket_id)
        search.release.set()
        assert running.wait(60) is None
        assert waiting.wait(60) is None
        assert not submissions.cancel(running.ticket_id)
    assert (running.state, waiting.state) == ("cancelled", "cancelled")
    assert later == []
    message = json.loads(receiver.got[0][1])
    assert (message["state"], message["answer"]) == ("cancelled", None)


def test_the_orchestrators_own_answer_says_that_it_was_cancelled(tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    answer = open_world(tmp_path).answer(QUESTION, run_date=JULY, cancel=cancel)
    assert answer.status == "failed"
    assert "cancelled" in answer.text
