"""Protection of forms against requests that another site makes a browser send.

A nonce in a cookie that is sent to this site only, and in each form its signature for the user who is signed in. Beside
it the browser's own word counts: a request that it says comes from elsewhere is refused.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from urllib.parse import urlsplit

from airflow.api_fastapi.auth.tokens import get_signing_key
from fastapi import HTTPException, Request, Response, status

COOKIE = "nightshift_csrf"
FIELD = "csrf_token"
HEADER = "x-csrf-token"


def find_nonce(request: Request) -> str:
    """The browser's nonce; a new one where it has none yet."""
    return request.cookies.get(COOKIE) or secrets.token_urlsafe(32)


def sign(nonce: str, user: str) -> str:
    """What a form must carry for this nonce and user."""
    key = str(get_signing_key("api", "secret_key")).encode()
    return hmac.new(key, f"nightshift\n{nonce}\n{user}".encode(), hashlib.sha256).hexdigest()


def keep_nonce(request: Request, response: Response, nonce: str) -> None:
    """Sends the nonce to the browser where it does not have it."""
    if request.cookies.get(COOKIE) != nonce:
        response.set_cookie(
            COOKIE,
            nonce,
            path=request.scope.get("root_path") or "/",
            httponly=True,
            secure=request.url.scheme == "https",
            samesite="strict",
        )


async def check_csrf(request: Request, user: str) -> None:
    """Refuses a request that no form of this page sent; a program with a token and without cookies needs no form."""
    if not _same_site(request):
        raise HTTPException(status.HTTP_403_FORBIDDEN, "The request comes from another site.")
    bearer = request.headers.get("authorization", "").lower().startswith("bearer ")
    if bearer and not request.cookies:
        return
    given = request.headers.get(HEADER)
    if given is None and request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        value = (await request.form()).get(FIELD)
        given = value if isinstance(value, str) else None
    nonce = request.cookies.get(COOKIE, "")
    if not nonce or not given or not hmac.compare_digest(given.encode(), sign(nonce, user).encode()):
        raise HTTPException(
            status.HTTP_403_FORBIDDEN, "The form is out of date or was not sent from this page. Load it again."
        )


def _same_site(request: Request) -> bool:
    site = request.headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return False
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")
