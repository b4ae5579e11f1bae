"""Around every request of the page: a bound on what is sent in, and headers that say what a browser may do."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# A form holds a question or a reason: a few thousand characters.
MAX_BODY_BYTES = 200_000

HEADERS = {
    # Nothing is loaded but the page's own style, script and pictures; only Airflow itself may show it in a frame.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; "
        "frame-ancestors 'self'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "SAMEORIGIN",
    "Cache-Control": "no-store",
}


class _TooLarge(Exception):
    pass


class SafetyHeaders:
    """Sets the headers that a route has not set itself, and ends a request whose body is too large or that failed."""

    def __init__(self, app: ASGIApp, on_fault: Callable[[Request, Exception], Response]) -> None:
        self._app = app
        self._on_fault = on_fault

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False
        taken = 0

        async def receive_bounded() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > MAX_BODY_BYTES:
                raise _TooLarge
            return message

        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            announced = Headers(scope=scope).get("content-length", "0")
            if announced.isdecimal() and int(announced) > MAX_BODY_BYTES:
                raise _TooLarge
            await self._app(scope, receive_bounded, send_guarded)
        except _TooLarge:
            if started:
                raise
            text = f"What was sent is too large: at most {MAX_BODY_BYTES:,} bytes are taken.\n"
            await PlainTextResponse(text, status_code=413)(scope, receive, send_guarded)
        except Exception as error:
            reply = self._on_fault(Request(scope), error)
            if started:
                raise
            await reply(scope, receive, send_guarded)
