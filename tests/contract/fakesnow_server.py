"""Runs fakesnow as a server, in an environment of its own: `python fakesnow_server.py SCHEMA.sql` prints the port.

Two things that the driver wants are added over fakesnow's own: a master token at login, and an address for the result
of a statement by its id, which a client asks for after an asynchronous one. This file imports nothing of the project.
"""

from __future__ import annotations

import base64
import json
import socket
import sys
from pathlib import Path

import fakesnow.server as served
import uvicorn
from fakesnow.arrow import to_ipc, to_sf
from fakesnow.rowtype import describe_as_rowtype
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


async def log_in(request: Request) -> JSONResponse:
    """fakesnow's answer with the fields that newer drivers insist on."""
    answer = json.loads((await served.login_request(request)).body)
    answer["data"] |= {"masterToken": answer["data"]["token"], "validityInSeconds": 3600, "sessionId": 1,
                       "masterValidityInSeconds": 14400}  # fmt: skip
    return JSONResponse(answer)


async def result_of(request: Request) -> JSONResponse:
    """The rows of a statement that has run."""
    connection = served.to_conn(served.to_token(request))
    identity = request.path_params["sfqid"]
    table = connection.results_cache[identity][0]
    cursor = connection.cursor()
    _, _, cursor._last_sql, cursor._last_params, _ = connection.results_cache[identity]
    rowtype = describe_as_rowtype(cursor._describe_last_sql())
    return JSONResponse(
        {
            "data": {
                "parameters": [{"name": "TIMEZONE", "value": "Etc/UTC"}],
                "rowtype": rowtype,
                "queryResultFormat": "arrow",
                "rowsetBase64": base64.b64encode(to_ipc(to_sf(table, rowtype))).decode(),
                "total": table.num_rows,
                "queryId": identity,
                "statementTypeId": 4096,
            },
            "success": True,
        }
    )


def main() -> None:
    """Loads the schema, prints the port and serves."""
    connection = served.shared_fs.connect("DB1", "SHOP")
    for statement in Path(sys.argv[1]).read_text(encoding="utf-8").split(";"):
        if statement.strip():
            connection.cursor().execute(statement)
    served.app.router.routes.insert(0, Route("/session/v1/login-request", log_in, methods=["POST"]))
    # Newer drivers write the address of a statement's state with two slashes.
    served.app.router.routes.append(Route("/monitoring/queries//{sfqid}", served.monitoring_query, methods=["GET"]))
    served.app.router.routes.append(Route("/queries/{sfqid}/result", result_of, methods=["GET"]))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    print(port, flush=True)  # noqa: T201 - the port is what the caller waits for
    uvicorn.run(served.app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main()
