"""A local stand-in of BigQuery's REST API, as far as the adapter uses it: jobs, their results, datasets.

Statements are translated to DuckDB and really run; the tables of INFORMATION_SCHEMA are made for the tests' dataset.
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import duckdb
import sqlglot

TYPES = {"INTEGER": "INTEGER", "BIGINT": "INTEGER", "HUGEINT": "INTEGER", "VARCHAR": "STRING", "DOUBLE": "FLOAT",
         "BOOLEAN": "BOOLEAN", "DATE": "DATE"}  # fmt: skip


class StandIn:
    """Serves one dataset `shop` of the project `acme` on loopback."""

    def __init__(self, schema: str) -> None:
        self.database = duckdb.connect(":memory:")
        self.database.execute(schema)
        self.jobs: dict[str, dict[str, Any]] = {}
        self.cancelled: list[str] = []
        self.slow_seconds = 0.0
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(*stand_in.get(urlsplit(self.path).path))

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length) or b"{}")
                self._answer(*stand_in.post(urlsplit(self.path).path, body))

            def _answer(self, status: int, content: dict[str, Any]) -> None:
                data = json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self.database.close()

    def get(self, path: str) -> tuple[int, dict[str, Any]]:
        """Datasets, a job's state, or its rows."""
        parts = path.strip("/").split("/")
        if parts[-1] == "datasets":
            reference = {"datasetId": "shop", "projectId": "acme"}
            return 200, {"datasets": [{"id": "acme:shop", "datasetReference": reference}]}
        job = self.jobs[parts[-1]]
        if "queries" in parts:
            if time.monotonic() < job["ready"]:
                time.sleep(0.05)
                return 200, {"jobReference": job["resource"]["jobReference"], "jobComplete": False}
            return 200, job["result"]
        if time.monotonic() >= job["ready"]:
            job["resource"]["status"]["state"] = "DONE"
        return 200, job["resource"]

    def post(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """A new job, or the end of one."""
        parts = path.strip("/").split("/")
        if parts[-1] == "cancel":
            self.cancelled.append(parts[-2])
            return 200, {"job": self.jobs[parts[-2]]["resource"]}
        query = body["configuration"]["query"]
        dry = body["configuration"].get("dryRun", False)
        identity = body.get("jobReference", {}).get("jobId", f"job{len(self.jobs)}")
        reference = {"projectId": "acme", "jobId": identity, "location": "EU"}
        try:
            fields, rows = self._run(query["query"], dry=dry)
        except duckdb.Error as error:
            return self._refusal(str(error))
        resource = {
            "id": f"acme:EU.{identity}",
            "jobReference": reference,
            "configuration": body["configuration"],
            "status": {"state": "DONE" if dry else "RUNNING"},
            "statistics": {"totalBytesProcessed": "2048", "query": {"totalBytesProcessed": "2048"}},
        }
        result = {
            "jobReference": reference,
            "jobComplete": True,
            "schema": {"fields": fields},
            "totalRows": str(len(rows)),
            "rows": [{"f": [{"v": _cell(cell)} for cell in row]} for row in rows],
        }
        self.jobs[identity] = {"resource": resource, "result": result, "ready": time.monotonic() + self.slow_seconds}
        return 200, resource

    def _run(self, text: str, *, dry: bool) -> tuple[list[dict[str, Any]], list[tuple[Any, ...]]]:
        local = text.replace("`acme`.`shop`.INFORMATION_SCHEMA.", "meta.").replace("`acme.shop.", "`shop.")
        translated = sqlglot.transpile(local, read="bigquery", write="duckdb")
        cursor = self.database.cursor()
        cursor.execute(("EXPLAIN " if dry else "") + translated[0])
        fields = [
            {"name": item[0], "type": "NUMERIC" if str(item[1]).startswith("DECIMAL") else TYPES[str(item[1])],
             "mode": "NULLABLE"}
            for item in cursor.description
        ]  # fmt: skip
        return fields, cursor.fetchall()

    def _refusal(self, message: str) -> tuple[int, dict[str, Any]]:
        words = message
        if "Referenced column" in message:
            words = "Unrecognized name: nope at [1:8]"
        elif "Table with name" in message:
            words = "Not found: Table acme:shop.nope was not found in location EU"
        elif "Parser Error" in message:
            words = "Syntax error: Unexpected keyword WHERE at [1:13]"
        error = {"reason": "invalidQuery", "message": words, "location": "query"}
        return 400, {"error": {"code": 400, "message": words, "errors": [error], "status": "INVALID_ARGUMENT"}}


def _cell(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
