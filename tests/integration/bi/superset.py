"""A throwaway Apache Superset on loopback, its metadata in one file, and what tests need of its REST API."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx

SECONDS = 600.0
CONFIG = """\
SECRET_KEY = {key!r}
SQLALCHEMY_DATABASE_URI = {metadata!r}
# Scripts log in by token on loopback; there is no browser whose session could be misused.
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
"""


class Superset:
    """Set up in `home`, started, and stopped by its own process id."""

    def __init__(self, environment: Path, home: Path) -> None:
        self._command = environment / "bin" / "superset"
        self._home = home
        self._password = secrets.token_urlsafe(16)
        config = home / "superset_config.py"
        metadata = f"sqlite:///{home / 'superset.db'}"
        config.write_text(CONFIG.format(key=secrets.token_urlsafe(42), metadata=metadata), encoding="utf-8")
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}
        self._environment = {**kept, "SUPERSET_HOME": str(home), "SUPERSET_CONFIG_PATH": str(config)}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self.api = httpx.Client(base_url=f"http://127.0.0.1:{self._port}", timeout=120)

    def start(self) -> None:
        """Makes the metadata and the administrator, starts the server and logs in."""
        user = ["--username", "admin", "--firstname", "A", "--lastname", "B", "--email", "admin@example.com"]
        self._run("db", "upgrade")
        self._run("fab", "create-admin", *user, "--password", self._password)
        self._run("init")
        with (self._home / "superset.log").open("wb") as log:
            self._process = subprocess.Popen(
                [self._command, "run", "--host", "127.0.0.1", "--port", str(self._port), "--with-threads"],
                env=self._environment,
                cwd=self._home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._wait_until_healthy()
        login = {"username": "admin", "password": self._password, "provider": "db", "refresh": False}
        token = self.post("/api/v1/security/login", login)["access_token"]
        self.api.headers["Authorization"] = f"Bearer {token}"

    def stop(self) -> None:
        """Ends the server and what it started."""
        self.api.close()
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGTERM)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait(20)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The reply to a request that must succeed."""
        reply = self.api.post(path, json=body)
        assert reply.is_success, f"{path}: {reply.status_code} {reply.text[:2000]}"
        answer: dict[str, Any] = reply.json()
        return answer

    def get(self, path: str, **params: str) -> dict[str, Any]:
        """The reply to a request that must succeed."""
        reply = self.api.get(path, params=params)
        assert reply.is_success, f"{path}: {reply.status_code} {reply.text[:2000]}"
        answer: dict[str, Any] = reply.json()
        return answer

    def query(self, dataset: int, **query: Any) -> list[dict[str, Any]]:
        """The rows of a chart's query over a dataset."""
        return self._rows(self.post("/api/v1/chart/data", query_context(dataset, **query)))

    def saved_query(self, chart: int) -> list[dict[str, Any]]:
        """The rows that a saved chart shows."""
        return self._rows(self.get(f"/api/v1/chart/{chart}/data/"))

    def _rows(self, reply: dict[str, Any]) -> list[dict[str, Any]]:
        (result,) = reply["result"]
        assert result["error"] is None
        rows: list[dict[str, Any]] = result["data"]
        return rows

    def _run(self, *arguments: str) -> None:
        done = subprocess.run(
            [self._command, *arguments],
            env=self._environment,
            cwd=self._home,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        assert done.returncode == 0, f"superset {arguments[0]} failed: {done.stderr[-2000:]}"

    def _wait_until_healthy(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            assert self._process.poll() is None, (self._home / "superset.log").read_text()[-2000:]
            try:
                if self.api.get("/health").is_success:
                    return
            except httpx.HTTPError:
                pass
            time.sleep(0.5)
        raise AssertionError("Superset did not become healthy")


def query_context(dataset: int, **query: Any) -> dict[str, Any]:
    """What Superset keeps of a chart's query."""
    return {
        "datasource": {"id": dataset, "type": "table"},
        "queries": [{"row_limit": 1000, **query}],
        "result_format": "json",
        "result_type": "full",
    }
