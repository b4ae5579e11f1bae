"""What the stand-ins of cloud warehouses share: an HTTP server on loopback, and statements that run in DuckDB."""

from __future__ import annotations

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import duckdb

# The shop of the conformance suite as DuckDB holds it for the stand-ins.
SHOP = """
CREATE SCHEMA shop;
CREATE TABLE shop.makers (maker_id INTEGER, maker_name VARCHAR);
CREATE TABLE shop.things (
    thing_id INTEGER, maker_id INTEGER, price DECIMAL(12, 2), feeling VARCHAR, made_at TIMESTAMPTZ, mixed_name VARCHAR
);
CREATE TABLE shop.numbers AS SELECT g::INTEGER AS n FROM generate_series(1, 100) AS s(g);
CREATE VIEW shop.dear AS SELECT thing_id, price FROM shop.things WHERE price > 100;
INSERT INTO shop.makers VALUES (1, 'one'), (2, 'two');
SET TimeZone = 'UTC';
INSERT INTO shop.things VALUES
(1, 1, 10.50, 'glad', '2026-03-01 23:30:00+00', 'a'), (2, 2, 200.00, NULL, NULL, 'b'), (3, 2, NULL, 'sad', NULL, 'c');
"""


class Statement:
    """One statement that runs on a thread and can be stopped."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, sql: str) -> None:
        self._cursor = cursor
        self.done = threading.Event()
        self.stopped = False
        self.description: list[Any] = []
        self.rows: list[tuple[Any, ...]] = []
        self.error: Exception | None = None
        threading.Thread(target=self._run, args=(sql,), daemon=True).start()

    def _run(self, sql: str) -> None:
        try:
            self._cursor.execute(sql)
            self.description = list(self._cursor.description or [])
            self.rows = self._cursor.fetchall()
        except duckdb.Error as error:
            self.error = error
            if sql.startswith("BEGIN"):
                # A script that fails takes its transaction with it.
                self._cursor.execute("ROLLBACK")
        finally:
            self.done.set()

    def stop(self) -> None:
        """Interrupts it."""
        self.stopped = True
        self._cursor.interrupt()


class Loopback:
    """A JSON service on 127.0.0.1 at a free port; `answer` says what it does."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str]] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._serve("GET")

            def do_POST(self) -> None:
                self._serve("POST")

            def _serve(self, method: str) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.headers.get("Content-Encoding") == "gzip":
                    raw = gzip.decompress(raw)
                parts = urlsplit(self.path)
                query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
                service.requests.append((method, parts.path))
                body = json.loads(raw) if raw[:1] in (b"{", b"[") else {}
                status, content = service.answer(method, parts.path, query, dict(self.headers), body)
                data = json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def answer(
        self, method: str, path: str, query: dict[str, str], headers: dict[str, str], body: dict[str, Any]
    ) -> tuple[int, dict[str, Any]]:
        """Status and content for one request."""
        raise NotImplementedError

    def close(self) -> None:
        """Stops serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
