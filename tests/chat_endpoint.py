"""A stand-in of an OpenAI-compatible endpoint on loopback that replies by the output asked for, and counts requests."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from pydantic import BaseModel

Reply = BaseModel | str | tuple[int, dict[str, str]] | Callable[[str], Any]


class Asked(NamedTuple):
    """One request: when it came, the output's name, and all of its messages as one text."""

    at: float
    output: str
    text: str


class ChatEndpoint:
    """Replies to each request with what `replies` holds under the name of the output's schema.

    A reply is the output, a text, a status with headers, or a function of the messages' text that gives one of these.
    """

    def __init__(
        self, replies: Mapping[str, Reply], *, seconds: float = 0.0, tokens: tuple[int, int] = (100, 20)
    ) -> None:
        self.replies = replies
        self.asked: list[Asked] = []
        self._tokens = tokens
        self._lock = threading.Lock()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                time.sleep(seconds)
                status, headers, payload = endpoint.reply(body)
                text = json.dumps(payload).encode()
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def reply(self, body: Mapping[str, Any]) -> tuple[int, dict[str, str], Any]:
        """Status, headers and body of a reply."""
        output = body["response_format"]["json_schema"]["name"]
        text = "\n".join(str(message["content"]) for message in body["messages"])
        with self._lock:
            self.asked.append(Asked(time.monotonic(), output, text))
        given: Any = self.replies[output]
        if callable(given):
            given = given(text)
        if isinstance(given, tuple):
            return given[0], given[1], {"error": {"message": "no", "type": "error"}}
        content = given.model_dump_json() if isinstance(given, BaseModel) else given
        prompt, completion = self._tokens
        return (
            200,
            {},
            {
                "id": f"reply-{len(self.asked)}",
                "object": "chat.completion",
                "created": 1,
                "model": f"{body['model']}-2026",
                "choices": [
                    {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
                ],
                "usage": {
                    "prompt_tokens": prompt,
                    "completion_tokens": completion,
                    "total_tokens": prompt + completion,
                    "prompt_tokens_details": {"cached_tokens": prompt // 2},
                },
            },
        )


@contextmanager
def serve_chat(replies: Mapping[str, Reply], **more: Any) -> Iterator[ChatEndpoint]:
    """The endpoint while the block runs."""
    endpoint = ChatEndpoint(replies, **more)
    thread = threading.Thread(target=endpoint.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.server.shutdown()
        thread.join()
        endpoint.server.server_close()
