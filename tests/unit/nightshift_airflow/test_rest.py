"""The REST client against a server that answers as Airflow's API does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from nightshift_airflow.rest import AirflowClient, DagRunFailed
from rag_core.errors import ConfigurationError, ServiceUnavailable


class _Api(BaseHTTPRequestHandler):
    """A stand-in of the few routes that the client uses."""

    tokens: int
    states: list[str]
    calls: list[tuple[str, str, Any]]

    def _reply(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _body(self) -> Any:
        length = int(self.headers.get("Content-Length") or 0)
        return json.loads(self.rfile.read(length)) if length else None

    def _handle(self) -> None:
        server: Any = self.server
        body = self._body()
        server.calls.append((self.command, self.path, body))
        if self.path == "/auth/token":
            if body["password"] != "right":
                self._reply(401, {"detail": "no"})
                return
            server.tokens += 1
            self._reply(201, {"access_token": f"token{server.tokens}"})
        elif self.headers.get("Authorization") != f"Bearer token{server.tokens}" or server.expire:
            server.expire = False
            self._reply(401, {"detail": "expired"})
        elif self.path.endswith("/dagRuns"):
            if body["conf"].get("bad"):
                self._reply(400, {"detail": "bad is not allowed"})
            else:
                self._reply(200, {"dag_run_id": "manual__2026-07-01T00:00:00+00:00"})
        elif "/taskInstances" in self.path:
            self._reply(200, {"task_instances": [{"state": "success"}, {"state": None}, {"state": "success"}]})
        elif "/dagRuns/" in self.path:
            self._reply(200, {"state": server.states.pop(0)})
        elif self.path.startswith("/api/v2/dags?"):
            self._reply(200, {"dags": [{"dag_id": "one"}]})
        elif self.path == "/api/v2/importErrors":
            self._reply(200, {"import_errors": server.import_errors})
        else:
            self._reply(404, {"detail": "not found"})

    do_GET = do_POST = do_PATCH = _handle

    def log_message(self, *_: Any) -> None:
        """Keeps the test's output clean."""


@pytest.fixture
def api() -> Iterator[Any]:
    server: Any = HTTPServer(("127.0.0.1", 0), _Api)
    server.tokens, server.states, server.calls, server.expire, server.import_errors = 0, [], [], False, []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def client(api: Any) -> Iterator[AirflowClient]:
    made = AirflowClient(f"http://127.0.0.1:{api.server_port}", "admin", "right")
    yield made
    made.close()


def test_an_expired_token_is_renewed_once(api: Any, client: AirflowClient) -> None:
    assert client.dag_ids() == {"one"}
    api.expire = True
    assert client.dag_ids() == {"one"}
    assert api.tokens == 2


def test_run_ids_are_quoted_in_the_path(api: Any, client: AirflowClient) -> None:
    run_id = client.trigger("one", {"publish": True})
    api.states = ["running", "success"]
    seen = []
    client.follow([("one", run_id)], show=seen.append)
    assert [progress.state for progress in seen] == ["running", "success"]
    assert seen[0].tasks == {"success": 2, "waiting": 1}
    assert any("manual__2026-07-01T00%3A00%3A00%2B00%3A00" in path for _, path, _ in api.calls)


def test_a_failed_run_is_an_error(api: Any, client: AirflowClient) -> None:
    api.states = ["failed"]
    with pytest.raises(DagRunFailed, match="of one failed"):
        client.follow([("one", "r")])


def test_params_that_do_not_fit_are_said(client: AirflowClient) -> None:
    with pytest.raises(ConfigurationError, match="bad is not allowed"):
        client.trigger("one", {"bad": True})


def test_a_wrong_password_is_said_without_repeating_it(api: Any) -> None:
    made = AirflowClient(f"http://127.0.0.1:{api.server_port}", "admin", "geheim")
    with pytest.raises(ConfigurationError, match="refuses the login of admin") as caught:
        made.dag_ids()
    made.close()
    assert "geheim" not in str(caught.value)


def test_a_file_that_cannot_be_parsed_is_named(api: Any, client: AirflowClient) -> None:
    api.import_errors = [{"filename": "broken.py", "stack_trace": "SyntaxError"}]
    with pytest.raises(ConfigurationError, match=r"broken\.py"):
        client.wait_for_dags({"two"})


def test_no_server_is_a_service_that_is_unavailable() -> None:
    made = AirflowClient("http://127.0.0.1:9", "admin", "right")
    with pytest.raises(ServiceUnavailable, match="does not answer"):
        made.dag_ids()
    made.close()
