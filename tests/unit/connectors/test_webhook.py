"""Messages to a webhook: signed, tried again where that helps, and never sent elsewhere. Receivers are real servers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from rag_core.connectors.webhook import SIGNATURE_HEADER, post_json, sign_body, verify_signature
from rag_core.errors import ConfigurationError, ServiceUnavailable

SECRET = "not a real secret"


class Receiver:
    """Answers with the given codes in order, the last one for ever, and keeps what it got."""

    def __init__(self, *answers: tuple[int, dict[str, str]]) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        left = list(answers)
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver.got.append((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
                code, headers = left.pop(0) if len(left) > 1 else left[0]
                self.send_response(code)
                for name, value in {**headers, "Content-Length": "0"}.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Quiet: the test reads what was got."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook/token-in-path"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def receive() -> Iterator[Any]:
    made: list[Receiver] = []

    def make(*answers: tuple[int, dict[str, str]]) -> Receiver:
        made.append(Receiver(*answers))
        return made[-1]

    yield make
    for receiver in made:
        receiver.server.shutdown()
        receiver.server.server_close()


def test_a_message_arrives_signed(receive: Any) -> None:
    receiver = receive((200, {}))
    post_json(receiver.url, {"text": "Umsatz – 5 €"}, secret=SECRET)
    headers, body = receiver.got[0]
    assert json.loads(body) == {"text": "Umsatz – 5 €"}
    assert verify_signature(headers[SIGNATURE_HEADER], body, SECRET, now=time.time())
    assert not verify_signature(headers[SIGNATURE_HEADER], body + b" ", SECRET, now=time.time())
    assert not verify_signature(headers[SIGNATURE_HEADER], body, "another", now=time.time())
    assert not verify_signature(headers[SIGNATURE_HEADER], body, SECRET, now=time.time() + 3_600)


@pytest.mark.parametrize("header", ["", "t=,v1=", "t=x,v1=y", "v1=abc", "t=\u0661,v1=\u00e9"])
def test_a_signature_that_is_none_is_refused(header: str) -> None:
    assert not verify_signature(header, b"{}", SECRET, now=0.0)


def test_a_signature_tells_bodies_and_moments_apart() -> None:
    assert sign_body(b"a", SECRET, moment=1) != sign_body(b"a", SECRET, moment=2)
    assert sign_body(b"a", SECRET, moment=1) != sign_body(b"b", SECRET, moment=1)


def test_without_a_secret_nothing_is_signed(receive: Any) -> None:
    receiver = receive((204, {}))
    post_json(receiver.url, {})
    assert SIGNATURE_HEADER not in receiver.got[0][0]


def test_a_busy_receiver_is_asked_again_after_the_time_it_names(receive: Any) -> None:
    receiver = receive((429, {"Retry-After": "7"}), (503, {}), (200, {}))
    waits: list[float] = []
    post_json(receiver.url, {}, sleep=waits.append)
    assert len(receiver.got) == 3
    assert waits == [7.0, 2.0]


def test_a_refusal_is_not_repeated(receive: Any) -> None:
    receiver = receive((403, {}))
    with pytest.raises(ServiceUnavailable, match="answered 403") as refused:
        post_json(receiver.url, {}, sleep=lambda _: None)
    assert len(receiver.got) == 1
    assert "token-in-path" not in str(refused.value)


def test_a_redirect_is_not_followed(receive: Any) -> None:
    elsewhere = receive((200, {}))
    receiver = receive((307, {"Location": elsewhere.url}))
    with pytest.raises(ServiceUnavailable, match="307"):
        post_json(receiver.url, {}, sleep=lambda _: None)
    assert elsewhere.got == []


def test_a_receiver_that_is_gone_is_named_without_its_address(receive: Any) -> None:
    receiver = receive((200, {}))
    receiver.server.shutdown()
    receiver.server.server_close()
    with pytest.raises(ServiceUnavailable, match="ConnectError") as refused:
        post_json(receiver.url, {}, sleep=lambda _: None)
    assert "token" not in str(refused.value)


@pytest.mark.parametrize("url", ["", "ftp://a/b", "file:///etc/passwd", "https://", "not a url"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="http or https"):
        post_json(url, {})
