"""Alerts go once an event, one an owner, over a real socket."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from rag_core.connectors.webhook import SIGNATURE_HEADER, verify_signature
from rag_core.datamodel.drift import Lineage
from rag_core.errors import ConfigurationError, ServiceUnavailable
from rag_core.schema.alerts import Alert, MailServer, callback, mail, send_alerts, webhook
from rag_core.settings import AlertSettings, NotifySettings, Settings
from rag_core.wiring import Services
from tests.integration.schema.conftest import Playground
from tests.smtp_server import serve_mail

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
        self.raw: list[tuple[str, bytes]] = []
        self.status = 200


class _Handler(BaseHTTPRequestHandler):
    server: _Inbox

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.messages.append(json.loads(body))
        self.server.raw.append((self.headers.get(SIGNATURE_HEADER, ""), body))
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


def _url(inbox: _Inbox) -> str:
    return f"http://127.0.0.1:{inbox.server_port}/"


def _owners(sent: Sequence[tuple[str, Alert]]) -> list[str]:
    return [alert.owner for _, alert in sent]


def test_each_owner_is_told_once(drifted: Playground, inbox: _Inbox) -> None:
    channels = {"webhook": webhook(_url(inbox))}
    assert _owners(send_alerts(drifted.store, channels)) == ["Finance", "Platform", "unowned"]
    assert [len(message["event_ids"]) for message in inbox.messages] == [2, 1, 1]
    assert {message["event"] for message in inbox.messages} == {"schema.drift"}
    assert "column_removed public.t.a" in inbox.messages[0]["text"]
    assert "touches margin" in inbox.messages[0]["text"]
    drifted.check(lineage=LINEAGE)
    assert send_alerts(drifted.store, channels) == ()
    assert len(inbox.messages) == 3


def test_the_webhook_is_signed(drifted: Playground, inbox: _Inbox) -> None:
    send_alerts(drifted.store, {"webhook": webhook(_url(inbox), secret="a shared secret")})
    assert len(inbox.raw) == 3
    for header, body in inbox.raw:
        assert verify_signature(header, body, "a shared secret", now=time.time())
        assert not verify_signature(header, body + b" ", "a shared secret", now=time.time())


def test_what_could_not_be_sent_is_sent_next_time_and_nothing_twice(drifted: Playground, inbox: _Inbox) -> None:
    told: list[str] = []

    def broken(alert: Alert) -> None:
        if alert.owner == "Platform":
            raise ServiceUnavailable("no answer")
        told.append(alert.owner)

    with pytest.raises(ServiceUnavailable, match="no answer"):
        send_alerts(drifted.store, {"chat": broken})
    assert told == ["Finance", "unowned"]  # the others are told all the same
    sent = send_alerts(drifted.store, {"chat": lambda alert: told.append(alert.owner)})
    assert _owners(sent) == ["Platform"]
    assert told == ["Finance", "unowned", "Platform"]


def test_a_channel_that_fails_does_not_repeat_the_other(drifted: Playground, inbox: _Inbox) -> None:
    told: list[str] = []
    inbox.status = 500
    channels = {"webhook": webhook(_url(inbox), attempts=1), "chat": lambda alert: told.append(alert.owner)}
    with pytest.raises(ServiceUnavailable, match="webhook"):
        send_alerts(drifted.store, channels)
    inbox.status = 200
    inbox.messages.clear()
    assert {channel for channel, _ in send_alerts(drifted.store, channels)} == {"webhook"}
    assert told == ["Finance", "Platform", "unowned"]
    assert len(inbox.messages) == 3
    # A channel that is added later says nothing of the past.
    assert send_alerts(drifted.store, {**channels, "more": lambda alert: told.append(alert.owner)}) == ()


def test_two_at_once_do_not_tell_twice(drifted: Playground) -> None:
    told: list[str] = []
    channels = {"chat": lambda alert: told.append(alert.owner)}
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: send_alerts(drifted.store, channels), range(4)))
    assert sorted(told) == ["Finance", "Platform", "unowned"]


def test_mail_goes_to_the_owner_s_addresses(drifted: Playground) -> None:
    with serve_mail() as server:
        channel = mail(
            MailServer("127.0.0.1", "drift@example.org", port=server.port),
            default=["data@example.org"],
            by_owner={"Finance": ["ada@example.org", "bo@example.org"]},
        )
        send_alerts(drifted.store, {"mail": channel})
    assert server.recipients == [["ada@example.org", "bo@example.org"], ["data@example.org"], ["data@example.org"]]
    subjects = [str(message["Subject"]) for message in server.mails]
    assert subjects[0] == "Warehouse schema: 2 changes for Finance, 2 of them breaking"
    assert "column_removed public.t.a" in server.mails[0].get_content()


def test_mail_that_the_server_refuses_is_sent_next_time(drifted: Playground) -> None:
    with serve_mail() as server:
        server.refused = {"ada@example.org"}
        channel = mail(
            MailServer("127.0.0.1", "drift@example.org", port=server.port),
            default=["data@example.org"],
            by_owner={"Finance": ["ada@example.org"]},
        )
        with pytest.raises(ServiceUnavailable, match="refused the message"):
            send_alerts(drifted.store, {"mail": channel})
        server.refused = set()
        assert _owners(send_alerts(drifted.store, {"mail": channel})) == ["Finance"]


def test_mail_without_an_address_or_a_server_says_so(drifted: Playground) -> None:
    with pytest.raises(ConfigurationError, match="no mail address for Finance"):
        send_alerts(drifted.store, {"mail": mail(MailServer("127.0.0.1", "drift@example.org"))})
    nowhere = mail(MailServer("127.0.0.1", "drift@example.org", port=1), default=["data@example.org"])
    with pytest.raises(ServiceUnavailable):
        send_alerts(drifted.store, {"mail": nowhere})


def test_a_name_of_the_warehouse_makes_no_header(playground: Playground) -> None:
    """Owners and columns are data: a line break in one must not become another header."""
    playground.run("CREATE TABLE t (id int, a int)")
    playground.check()
    playground.run("ALTER TABLE t DROP a")
    owner = "Finance\nBcc: eve@example.org"
    playground.check(lineage=[Lineage(kind="metric", id="m", columns=("public.t.a",), owner=owner)])
    with serve_mail() as server:
        channel = mail(MailServer("127.0.0.1", "drift@example.org", port=server.port), default=["data@example.org"])
        send_alerts(playground.store, {"mail": channel})
    assert server.recipients == [["data@example.org"]]
    assert server.mails[0]["Bcc"] is None


def test_callback_gets_the_alert_with_the_context(
    drifted: Playground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "our_callbacks.py").write_text("seen = []\ntell = seen.append\ndef break_(context):\n    1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ServiceUnavailable, match="callback for drift alerts failed"):
        send_alerts(drifted.store, {"callback": callback("our_callbacks:break_")})
    send_alerts(drifted.store, {"callback": callback("our_callbacks:tell", {"run_id": "manual"})})
    from our_callbacks import seen  # type: ignore[import-not-found]

    assert [context["alert"]["owner"] for context in seen] == ["Finance", "Platform", "unowned"]
    assert {context["run_id"] for context in seen} == {"manual"}
    for name in ("our_callbacks:nothing", "no_such_module:tell", "our_callbacks", "our_callbacks:seen"):
        with pytest.raises(ConfigurationError, match="callback"):
            callback(name)


def test_settings_name_the_channels(playground: Playground, tmp_path: Path) -> None:
    def channels(**alerts: Any) -> list[str]:
        settings = Settings(alerts=AlertSettings(**alerts), notify=notify, _env_file=None)  # type: ignore[call-arg]
        return list(Services(settings).alert_channels())

    notify = NotifySettings()
    assert channels() == []
    assert channels(channels=["mail"], mail_host="127.0.0.1") == ["mail"]
    for name, setting in (("mail", "MAIL_HOST"), ("webhook", "WEBHOOK_URL"), ("callback", "CALLBACK")):
        with pytest.raises(ConfigurationError, match=setting):
            channels(channels=[name])
    notify = NotifySettings(webhook_url=SecretStr("https://example.org/hook"))
    assert channels(channels=["webhook", "mail"], mail_host="127.0.0.1") == ["webhook", "mail"]
