"""Around every request of the page: a bound on what is sent in, and headers that say what a browser may do."""

from __future__ import annotations

import logging
from collections.abc import Callable, MutableMapping
from typing import Any

from fastapi import HTTPException, status
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

logger = logging.getLogger(__name__)

# A form holds a question or a reason: a few thousand characters.
MAX_BODY_BYTES = 200_000
TOO_LARGE = f"What was sent is too large: at most {MAX_BODY_BYTES:,} bytes are taken."

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


class SafetyHeaders:
    """Sets the headers that a route has not set itself, and ends a request whose body is too large or that failed.

    `tell` makes the answer to a request that failed, from the status code and one line.
    """

    def __init__(self, app: ASGIApp, tell: Callable[[Request, int, str], Response]) -> None:
        self._app = app
        self._tell = tell

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
                raise HTTPException(status.HTTP_413_CONTENT_TOO_LARGE, TOO_LARGE)
            return message

        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdecimal() and int(announced) > MAX_BODY_BYTES:
            reply = self._tell(Request(scope), status.HTTP_413_CONTENT_TOO_LARGE, TOO_LARGE)
            await reply(scope, receive, send_guarded)
            return
        try:
            await self._app(scope, receive_bounded, send_guarded)
        except Exception:
            logger.exception("%s %s failed", scope["method"], scope["path"])
            if started:
                raise
            reply = self._tell(
                Request(scope), status.HTTP_500_INTERNAL_SERVER_ERROR, "Something went wrong here; the log says what."
            )
            await reply(scope, receive, send_guarded)
