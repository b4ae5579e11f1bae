"""What Airflow must know of the page: where it is mounted, and the entry in the navigation.

Airflow's scheduler and workers load this too, so the page itself is built with the first request.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from airflow.configuration import conf
from airflow.plugins_manager import AirflowPlugin

PREFIX = "/nightshift"
# A picture of a moon in Airflow's navigation, in the colour of its text in the light and in the dark.
ICON = "/static/moon.svg"
ICON_DARK = "/static/moon-dark.svg"

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class LazyPage:
    """An ASGI application that builds the page when it is first asked for something."""

    def __init__(self) -> None:
        self._page: Callable[[Scope, Receive, Send], Awaitable[None]] | None = None
        self._lock = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands the request to the page."""
        if self._page is None:
            with self._lock:
                if self._page is None:
                    from nightshift_airflow.page.app import create_page  # noqa: PLC0415 - only the api-server pays

                    self._page = create_page()
        await self._page(scope, receive, send)

    def __repr__(self) -> str:
        return "Nightshift's page"


def _from_root(path: str) -> str:
    """A path of the page as a browser must ask for it: Airflow may itself live below a path."""
    return f"{urlsplit(conf.get('api', 'base_url', fallback='')).path.rstrip('/')}{PREFIX}{path}"


class NightshiftPlugin(AirflowPlugin):  # type: ignore[misc]  # Airflow's classes are untyped
    """The page, mounted behind Airflow's login, and its place in the navigation."""

    name = "nightshift"
    fastapi_apps = [{"app": LazyPage(), "url_prefix": PREFIX, "name": "Nightshift"}]
    external_views = [
        {
            "name": "Nightshift",
            "href": _from_root("/"),
            "url_route": "nightshift",
            "destination": "nav",
            "nav_top_level": True,
            "icon": _from_root(ICON),
            "icon_dark_mode": _from_root(ICON_DARK),
        }
    ]
