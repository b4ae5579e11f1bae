"""Style, script and pictures of the page, and its description for programs. Behind the login like everything else."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import FileResponse
from starlette.responses import Response

from nightshift_airflow.page.render import FOLDER, base_of

router = APIRouter()

_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FILES = {path.name: path for path in sorted((FOLDER / "static").iterdir()) if path.suffix in _KINDS}


@router.get("/static/{name}", response_class=FileResponse, include_in_schema=False)
def send_file(name: str) -> Response:
    """One of the page's own files; its address changes with its content, so that a browser may keep it."""
    path = _FILES.get(name)
    if path is None:
        raise HTTPException(404, "There is no such file.")
    headers = {"Cache-Control": "private, max-age=86400"}
    return FileResponse(path, media_type=_KINDS[path.suffix], headers=headers)


@router.get("/openapi.json", include_in_schema=False)
def describe(request: Request) -> dict[str, Any]:
    """The description of all routes in OpenAPI's form."""
    app = request.app
    found = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        servers=[{"url": base_of(request) or "/"}],
    )
    return found
