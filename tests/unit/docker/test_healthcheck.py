"""The health check against a server that answers as Airflow's does."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "docker" / "healthcheck.py"
HEALTHY: dict[str, Any] = {
    "metadatabase": {"status": "healthy"},
    "scheduler": {"status": "healthy", "latest_scheduler_heartbeat": "2026-11-30T22:00:00+00:00"},
    "triggerer": {"status": "healthy"},
    "dag_processor": {"status": "healthy"},
}


class _Airflow(BaseHTTPRequestHandler):
    report: Any = HEALTHY

    def do_GET(self) -> None:
        assert self.path == "/api/v2/monitor/health"
        body = json.dumps(self.report).encode() if not isinstance(self.report, bytes) else self.report
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on the test's output."""


@pytest.fixture
def airflow() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Airflow)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        _Airflow.report = HEALTHY


def _check(*arguments: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-I", str(SCRIPT), *arguments], capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


@pytest.mark.parametrize("component", ["api-server", "scheduler", "dag-processor", "triggerer"])
def test_healthy(airflow: str, component: str) -> None:
    assert _check(component, airflow) == (0, f"{component}: healthy")


@pytest.mark.parametrize(
    ("component", "key"),
    [("api-server", "metadatabase"), ("scheduler", "scheduler"), ("dag-processor", "dag_processor")],
)
@pytest.mark.parametrize("state", [{"status": "unhealthy"}, {"status": None}, None])
def test_a_part_that_is_ill_is_not_hidden_by_the_others(airflow: str, component: str, key: str, state: Any) -> None:
    _Airflow.report = {**HEALTHY, key: state}
    assert _check(component, airflow)[0] == 1
    assert _check("triggerer", airflow)[0] == 0


def test_an_answer_that_is_no_json(airflow: str) -> None:
    _Airflow.report = b"<html>"
    assert _check("scheduler", airflow) == (1, "scheduler: the api-server does not answer (JSONDecodeError)")


def test_no_answer() -> None:
    assert _check("scheduler", "http://127.0.0.1:9") == (1, "scheduler: the api-server does not answer (URLError)")


def test_usage() -> None:
    assert _check("postgres")[0] == 2
