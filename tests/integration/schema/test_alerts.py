"""Alerts go once an event, one an owner, over a real socket."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from rag_core.datamodel.drift import Lineage
from rag_core.errors import ServiceUnavailable
from rag_core.schema.alerts import Alert, send_alerts, webhook
from tests.integration.schema.conftest import Playground

pytestmark = pytest.mark.integration

LINEAGE = [
    Lineage(kind="metric", id="margin", tables=("public.t",), columns=("public.t.a", "public.t.b"), owner="Finance"),
    Lineage(kind="metric", id="load", tables=("public.t",), columns=("public.t.b",), owner="Platform"),
]


class _Inbox(HTTPServer):
    """A web server that keeps what is posted to it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.messages: list[dict[str, Any]] = []
        self.status = 200


class _Handler(BaseHTTPRequestHandler):
    server: _Inbox

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.messages.append(json.loads(body))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def inbox() -> Iterator[_Inbox]:
    server = _Inbox()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def drifted(playground: Playground) -> Playground:
    playground.run("CREATE TABLE t (id int, a int, b int, c int)")
    playground.check()
    playground.run("ALTER TABLE t DROP a, DROP b, DROP c, ADD d int")
    playground.check(lineage=LINEAGE)
    return playground


def test_each_owner_is_told_once(drifted: Playground, inbox: _Inbox) -> None:
    send = webhook(f"http://127.0.0.1:{inbox.server_port}/")
    assert [alert.owner for alert in send_alerts(drifted.store, send)] == ["Finance", "Platform", "unowned"]
    assert [len(message["event_ids"]) for message in inbox.messages] == [2, 1, 1]
    assert "column_removed public.t.a" in inbox.messages[0]["text"]
    assert "touches margin" in inbox.messages[0]["text"]
    drifted.check(lineage=LINEAGE)
    assert send_alerts(drifted.store, send) == ()
    assert len(inbox.messages) == 3


def test_what_could_not_be_sent_is_sent_next_time(drifted: Playground, inbox: _Inbox) -> None:
    told: list[str] = []

    def broken(alert: Alert) -> None:
        if alert.owner == "Platform":
            raise ServiceUnavailable("no answer")
        told.append(alert.owner)

    with pytest.raises(ServiceUnavailable):
        send_alerts(drifted.store, broken)
    assert told == ["Finance"]
    inbox.status = 503
    with pytest.raises(ServiceUnavailable, match="webhook"):
        send_alerts(drifted.store, webhook(f"http://127.0.0.1:{inbox.server_port}/"))
    inbox.status = 200
    sent = send_alerts(drifted.store, webhook(f"http://127.0.0.1:{inbox.server_port}/"))
    assert [alert.owner for alert in sent] == ["Finance", "Platform", "unowned"]
    # The event on `a` was told to its only owner before the channel broke; the one on `b` waits for both its owners.
    assert [len(alert.event_ids) for alert in sent] == [1, 1, 1]
