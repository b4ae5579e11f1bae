"""Pages from templates. Everything that is put into one is escaped."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from airflow.api_fastapi.app import get_auth_manager
from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from nightshift_airflow.page.auth import Person
from nightshift_airflow.page.csrf import FIELD, find_nonce, keep_nonce, sign
from rag_core.reports.markup import plain_excerpt
from rag_core.reports.numbers import format_value
from rag_core.reports.rows import clean_text, headings_below
from rag_core.reports.titles import STATE_TITLES, STATUS_TITLES, VERDICT_TITLES

FOLDER = Path(__file__).parent
# Characters that no HTML document may hold; every other one is escaped where it means something.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")
# What was done, by the word that a redirect carries: no text of a request is ever shown as a message.
DONE = {
    "approved": "The plan is approved: it is replayed from now on.",
    "rejected": "The plan is retired: its question is planned anew next time.",
    "replanned": "The question was planned anew.",
    "released": "The answer is published.",
    "kept": "The answer stays kept back.",
    "accepted": "The change is accepted: later checks compare with it.",
    "refused": "The change is rejected and stays on record until it is undone.",
    "mapped": "The mapping is recorded.",
    "retrying": "The document is being processed again. Load this page anew to see how it ends.",
}
_TITLES = {401: "Please log in", 403: "Not permitted", 404: "Not found", 503: "Not available"}


def base_of(request: Request) -> str:
    """The path that the page is mounted at, as the browser sees it."""
    return str(request.scope.get("root_path", "")).rstrip("/")


def render(
    request: Request, person: Person, name: str, *, active: str = "", code: int = 200, **values: Any
) -> HTMLResponse:
    """A page of this template. `active` is the entry of the navigation that it belongs to."""
    nonce = find_nonce(request)
    text = (
        _environment()
        .get_template(name)
        .render(
            base=base_of(request),
            person=person,
            active=active,
            csrf=Markup('<input type="hidden" name="{}" value="{}">').format(FIELD, sign(nonce, person.name)),
            done=DONE.get(request.query_params.get("done", ""), ""),
            version=assets_version(),
            **values,
        )
    )
    response = HTMLResponse(_clean(text), status_code=code)
    keep_nonce(request, response, nonce)
    return response


def render_error(request: Request, code: int, message: str) -> Response:
    """An error as a page that names nothing but the error; it is shown to people who are not logged in, too."""
    login = ""
    if code == 401:
        target = str(request.url) if request.method == "GET" else f"{request.url.scheme}://{request.url.netloc}/"
        login = get_auth_manager().get_url_login(next_url=target)
    text = (
        _environment()
        .get_template("error.html.j2")
        .render(
            base=base_of(request),
            title=_TITLES.get(code, "That did not work"),
            message=message,
            login=login,
            version=assets_version(),
        )
    )
    return HTMLResponse(_clean(text), status_code=code)


@cache
def assets_version() -> str:
    """A short fingerprint of style and script, so that a browser fetches new ones."""
    digest = hashlib.sha256()
    for path in sorted((FOLDER / "static").iterdir()):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:10]


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", clean_text(text))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        value=format_value,
        when=_when,
        day=_day,
        words=_words,
        sentence=_sentence,
        part=_part,
        duration=_duration,
        short=_short,
        excerpt=plain_excerpt,
        headings=headings_below,
    )
    environment.globals.update(
        status_titles=STATUS_TITLES, state_titles=STATE_TITLES, verdict_titles=VERDICT_TITLES, query=urlencode
    )
    return environment


def _when(moment: datetime | None) -> Markup:
    if moment is None:
        return Markup("–")
    utc = moment.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        utc.strftime("%Y-%m-%dT%H:%M:%SZ"), utc.strftime("%-d %b %Y, %H:%M UTC")
    )


def _day(day: date | None) -> Markup:
    if day is None:
        return Markup("–")
    return Markup('<time datetime="{}">{}</time>').format(day.isoformat(), f"{day.day} {day:%b %Y}")


def _words(name: str) -> str:
    """A name of code as words: `column_removed` is "column removed"."""
    return str(name).replace("_", " ")


def _sentence(text: str) -> str:
    """The text with a capital at its beginning; names in it keep theirs."""
    return text[:1].upper() + text[1:]


def _part(text: str) -> str:
    """A text as one part of a path."""
    return quote(str(text), safe="")


def _duration(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min"


def _short(text: str, length: int = 200) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= length else f"{line[: length - 1].rsplit(' ', 1)[0]}…"
