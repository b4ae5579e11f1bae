"""Posts JSON to a webhook, signed so that the receiver can tell who sent it and when."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from rag_core.errors import ConfigurationError, ServiceUnavailable

SIGNATURE_HEADER = "X-Nightshift-Signature"
TIMEOUT_SECONDS = 15.0
ATTEMPTS = 3
# A receiver refuses what is older, so that a recorded message cannot be sent again.
TOLERANCE_SECONDS = 300
_RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
_LONGEST_WAIT_SECONDS = 30.0


def sign_body(body: bytes, secret: str, *, moment: int) -> str:
    """`t=<Unix seconds>,v1=<HMAC-SHA256 in hex over "<t>.<body>">`."""
    digest = hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={moment},v1={digest}"


def verify_signature(
    header: str, body: bytes, secret: str, *, now: float, tolerance: float = TOLERANCE_SECONDS
) -> bool:
    """Whether `header` is ours for this body and not older than `tolerance` seconds."""
    fields = dict(part.split("=", 1) for part in header.split(",") if "=" in part)
    moment = fields.get("t", "")
    if not (moment.isascii() and moment.isdigit()) or abs(now - int(moment)) > tolerance:
        return False
    return hmac.compare_digest(sign_body(body, secret, moment=int(moment)).encode(), header.encode())


def post_json(
    url: str,
    payload: Mapping[str, Any],
    *,
    secret: str | None = None,
    attempts: int = ATTEMPTS,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Posts one message; 429, 5xx and lost connections are tried again, waiting as Retry-After says.

    Redirects are not followed: they would carry the message to where nobody sent it. Messages never hold the URL,
    whose path may be a secret. Raises ConfigurationError where the URL is none, ServiceUnavailable where the receiver
    does not take the message.
    """
    check_url(url)
    body = json.dumps(payload, ensure_ascii=False).encode("utf-8", "backslashreplace")
    reason = ""
    with httpx.Client(timeout=TIMEOUT_SECONDS, follow_redirects=False) as client:
        for attempt in range(1, attempts + 1):
            headers = {"Content-Type": "application/json; charset=utf-8"}
            if secret:
                headers[SIGNATURE_HEADER] = sign_body(body, secret, moment=int(time.time()))
            wait = float(2 ** (attempt - 1))
            try:
                response = client.post(url, content=body, headers=headers)
            except httpx.HTTPError as error:
                reason = type(error).__name__
            else:
                if response.is_success:
                    return
                reason = f"it answered {response.status_code}"
                if response.status_code not in _RETRIED:
                    break
                wait = _retry_after(response, wait)
            if attempt < attempts:
                sleep(min(wait, _LONGEST_WAIT_SECONDS))
    raise ServiceUnavailable(f"the webhook did not take the message: {reason}")


def check_url(url: str) -> None:
    """Raises ConfigurationError where the text is no http or https URL."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        parsed = None
    if parsed is None or parsed.scheme not in ("http", "https") or not parsed.host:
        raise ConfigurationError("the webhook must be an http or https URL")


def _retry_after(response: httpx.Response, otherwise: float) -> float:
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else otherwise
