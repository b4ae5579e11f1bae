"""The page inside the real Airflow application, over a real store; three people log in with their passwords."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from rag_core.batch.runner import BatchRunner
from rag_core.settings import load_settings
from tests.integration.batch.scripted import ScriptedOrchestrator

if TYPE_CHECKING:
    from fastapi import FastAPI
    from fastapi.testclient import TestClient
    from httpx2 import Response

    from nightshift_airflow.page.services import PageServices
    from rag_core.connectors.embedded import EmbeddedPostgres
    from rag_core.connectors.store import Store
    from rag_core.wiring import Services

PEOPLE = {"ada": "admin", "uli": "user", "vera": "viewer"}
PASSWORD = "a password of a test"


@pytest.fixture(scope="session")
def airflow_home(pg_server: EmbeddedPostgres) -> Iterator[Path]:
    """An Airflow of this session: metadata on PostgreSQL, the simple auth manager, the repository's plugins."""
    from nightshift_airflow.server import airflow_environment

    home = Path(tempfile.mkdtemp(prefix="nsap"))
    settings = load_settings(home=home)
    pg_server.ensure_database("airflow_page")
    keys = {"fernet": "", "jwt": "a secret of a test, " * 4, "session": "another secret of a test, " * 4}
    wanted = airflow_environment(settings, pg_server.dsn("airflow_page"), keys)
    wanted["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS"] = ",".join(f"{name}:{role}" for name, role in PEOPLE.items())
    wanted["AIRFLOW__API__BASE_URL"] = "http://testserver"
    before = {name: os.environ.get(name) for name in wanted if name.startswith("AIRFLOW")}
    os.environ.update({name: wanted[name] for name in before})
    passwords = Path(wanted["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE"])
    passwords.parent.mkdir(parents=True, exist_ok=True)
    passwords.write_text(json.dumps(dict.fromkeys(PEOPLE, PASSWORD)))
    from airflow import settings as airflow_settings

    # Another test of this process may have opened an Airflow of its own.
    airflow_settings.configure_vars()
    airflow_settings.configure_orm()
    from airflow.utils.db import initdb

    initdb()
    yield home
    airflow_settings.dispose_orm()
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    airflow_settings.configure_vars()
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def page_store(create_store: Callable[[str], str]) -> Iterator[Store]:
    """A store of the page's own: other tests count what lies in the session's."""
    from rag_core.connectors.store import Store

    opened = Store(create_store("page_test"))
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def page_services(page_store: Store, airflow_home: Path) -> PageServices:
    """The page's services over that store; a test puts in what else it needs."""
    from nightshift_airflow.page.services import PageServices
    from rag_core.wiring import Services

    services = Services(load_settings(home=airflow_home, today="2026-07-01"))
    services.__dict__["store"] = page_store
    return PageServices(lambda: services)


@pytest.fixture
def services(page_services: PageServices) -> Iterator[Services]:
    """The same; what a test puts into it is taken out again."""
    before = dict(page_services.services.__dict__)
    # What a test has put in is not read anew from outside.
    page_services._built_at = time.monotonic()
    yield page_services.services
    page_services.services.__dict__.clear()
    page_services.services.__dict__.update(before)


@pytest.fixture(scope="session")
def airflow_app(airflow_home: Path, page_services: PageServices) -> FastAPI:
    """Airflow's whole application with our plugin, as the api-server builds it."""
    from airflow import plugins_manager
    from airflow.api_fastapi.app import create_app, purge_cached_app

    from nightshift_airflow.page.app import create_page
    from nightshift_airflow.page.plugin import LazyPage

    purge_cached_app()
    plugins_manager._get_plugins.cache_clear()
    with warnings.catch_warnings():
        # What Airflow imports and what it finds in our folder of plugins is not ours to mend.
        warnings.simplefilter("ignore")
        app = create_app(apps="core")
    page = next(route.app for route in app.routes if getattr(route, "path", "") == "/nightshift")
    assert repr(page) == repr(LazyPage())
    cast(Any, page)._page = create_page(page_services)
    return app


Login = Callable[[str | None], "TestClient"]


@pytest.fixture(scope="session")
def log_in(airflow_app: FastAPI) -> Login:
    """A browser of one of the three, or of nobody, with the cookie that Airflow gives."""
    from fastapi.testclient import TestClient

    tokens: dict[str, str] = {}

    def make(name: str | None) -> TestClient:
        client = TestClient(airflow_app, base_url="http://testserver", follow_redirects=False)
        if name is not None:
            if name not in tokens:
                reply = client.post("/auth/token", json={"username": name, "password": PASSWORD})
                assert reply.status_code == 201, reply.text
                tokens[name] = reply.json()["access_token"]
            client.cookies.set("_token", tokens[name])
        return client

    return make


MakeRunner = Callable[[Mapping[str, Any]], BatchRunner]


@pytest.fixture
def runner(page_store: Store, airflow_home: Path) -> MakeRunner:
    """A runner that answers from a table and writes its reports where the page looks for them."""

    def make(answers: Mapping[str, Any]) -> BatchRunner:
        return BatchRunner(
            store=page_store,
            orchestrator=lambda *_: cast(Any, ScriptedOrchestrator(answers)),
            reports_folder=airflow_home / "reports",
        )

    return make


Send = Callable[..., "Response"]


@pytest.fixture
def send_form() -> Send:
    """Fills in a form of a page as a browser does: with the token that the page gave it."""

    def send(browser: TestClient, page: str, action: str, **fields: str) -> Response:
        token = re.search(r'name="csrf_token" value="([0-9a-f]{64})"', browser.get(page).text)
        assert token is not None, f"{page} shows no form"
        return browser.post(action, data={"csrf_token": token[1], **fields}, headers={"Origin": "http://testserver"})

    return send
