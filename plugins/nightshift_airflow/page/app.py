"""The page as a FastAPI application: every route behind Airflow's login, every answer with its safety headers."""

from __future__ import annotations

import psycopg
from fastapi import Depends, FastAPI, Request, Response, status
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from nightshift_airflow.page.auth import find_reader
from nightshift_airflow.page.guard import SafetyHeaders
from nightshift_airflow.page.render import render_error
from nightshift_airflow.page.routes import answers, api, asking, assets, documents, drift, plans, today
from nightshift_airflow.page.services import PageServices
from rag_core.connectors.store import connection_problem
from rag_core.errors import ConfigurationError, NightshiftError, ServiceUnavailable

DESCRIPTION = """The night's answers and the decisions that wait for a person. A program sends Airflow's token as
`Authorization: Bearer …`; the pages themselves take the session of the browser."""


# What a store lacks that was not migrated to this version.
OTHER_VERSION = (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn, psycopg.errors.UndefinedFunction)


def create_page(services: PageServices | None = None) -> FastAPI:
    """The page. Nothing is opened before the first request."""
    page = FastAPI(
        title="Nightshift",
        version="1",
        description=DESCRIPTION,
        # Its description is behind the login as well, and its viewers would load scripts from elsewhere.
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        dependencies=[Depends(find_reader)],
    )
    page.state.services = services or PageServices()
    for part in (today, answers, plans, drift, documents, asking, assets):
        page.include_router(part.router)
    page.include_router(api.router, prefix="/api")
    page.add_middleware(SafetyHeaders, tell=tell)
    page.add_exception_handler(HTTPException, _told)
    page.add_exception_handler(RequestValidationError, _not_understood)
    page.add_exception_handler(NightshiftError, _failed)
    page.add_exception_handler(psycopg.Error, _failed)
    return page


def tell(request: Request, code: int, message: str) -> Response:
    """An error as the asking program or person can read it: one line."""
    path = request.url.path.removeprefix(request.scope.get("root_path", ""))
    if path.startswith("/api/") or path == "/openapi.json":
        return JSONResponse({"detail": message}, status_code=code)
    return render_error(request, code, message)


def _told(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return tell(request, error.status_code, str(error.detail))


def _not_understood(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    name = str(first["loc"][-1])
    return tell(request, status.HTTP_400_BAD_REQUEST, f"{name}: {first['msg']}")


def _failed(request: Request, error: Exception) -> Response:
    if isinstance(error, psycopg.OperationalError):
        error = connection_problem(error, what="store")
    if isinstance(error, ServiceUnavailable):
        return tell(request, status.HTTP_503_SERVICE_UNAVAILABLE, str(error))
    if isinstance(error, ConfigurationError):
        missing = request.method == "GET" and str(error).startswith("there is no")
        return tell(request, status.HTTP_404_NOT_FOUND if missing else status.HTTP_400_BAD_REQUEST, str(error))
    if isinstance(error, OTHER_VERSION):
        return tell(
            request, status.HTTP_503_SERVICE_UNAVAILABLE, "The store is of another version: run `nightshift up`."
        )
    if isinstance(error, psycopg.DataError):
        return tell(request, status.HTTP_400_BAD_REQUEST, "The database does not take this value.")
    raise error
