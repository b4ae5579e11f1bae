"""A small client of Airflow's REST API: trigger a DAG and follow its run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from rag_core.errors import ConfigurationError, NightshiftError, ServiceUnavailable

FINAL_STATES = frozenset({"success", "failed"})


class DagRunFailed(NightshiftError):
    """A DAG run ended in the state failed."""


@dataclass(frozen=True)
class RunProgress:
    """State of a DAG run and how many of its task instances are in each state."""

    dag_id: str
    run_id: str
    state: str
    tasks: dict[str, int]


class AirflowClient:
    """Talks to one Airflow as one user. The token is fetched with the first call and renewed when it expires."""

    def __init__(self, url: str, username: str, password: str) -> None:
        self._url = url
        self._login = {"username": username, "password": password}
        # An Airflow whose tasks keep all cores busy answers late; one that is not there is known at once.
        self._http = httpx.Client(base_url=url, timeout=httpx.Timeout(120, connect=10))
        self._token: str | None = None

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def _call(self, method: str, path: str, **arguments: Any) -> Any:
        for attempt in (1, 2):
            if self._token is None:
                self._token = self._fetch_token()
            try:
                reply = self._http.request(
                    method, f"/api/v2{path}", headers={"Authorization": f"Bearer {self._token}"}, **arguments
                )
            except httpx.HTTPError as error:
                raise ServiceUnavailable(f"Airflow at {self._url} does not answer ({type(error).__name__})") from error
            if reply.status_code == httpx.codes.UNAUTHORIZED and attempt == 1:
                self._token = None
                continue
            if reply.status_code == httpx.codes.BAD_REQUEST:
                raise ConfigurationError(f"Airflow refuses the request: {reply.json().get('detail')}")
            if reply.is_error:
                raise ServiceUnavailable(f"Airflow answers {reply.status_code} to {method} {path}")
            return reply.json() if reply.content else None
        raise ServiceUnavailable("Airflow does not accept its own token")

    def _fetch_token(self) -> str:
        try:
            reply = self._http.post("/auth/token", json=self._login)
        except httpx.HTTPError as error:
            raise ServiceUnavailable(f"Airflow at {self._url} does not answer ({type(error).__name__})") from error
        if reply.status_code not in (httpx.codes.OK, httpx.codes.CREATED):
            raise ConfigurationError(f"Airflow at {self._url} refuses the login of {self._login['username']}")
        token: str = reply.json()["access_token"]
        return token

    def dag_ids(self) -> set[str]:
        """Ids of the DAGs that Airflow has parsed."""
        reply = self._call("GET", "/dags", params={"limit": 200, "exclude_stale": True})
        return {dag["dag_id"] for dag in reply["dags"]}

    def import_errors(self) -> list[str]:
        """One text a DAG file that could not be parsed."""
        return [
            f"{item['filename']}: {item['stack_trace']}" for item in self._call("GET", "/importErrors")["import_errors"]
        ]

    def wait_for_dags(self, wanted: set[str], seconds: float = 120.0) -> None:
        """Returns when every wanted DAG is parsed; raises ServiceUnavailable with the missing ones otherwise."""
        deadline = time.monotonic() + seconds
        missing = wanted - self.dag_ids()
        while missing:
            errors = self.import_errors()
            if errors:
                raise ConfigurationError(f"a DAG file cannot be parsed: {errors[0]}")
            if time.monotonic() > deadline:
                raise ServiceUnavailable(f"Airflow has not parsed {', '.join(sorted(missing))}")
            time.sleep(1)
            missing = wanted - self.dag_ids()

    def unpause(self, dag_id: str) -> None:
        """Lets the DAG's runs start."""
        self._call("PATCH", f"/dags/{quote(dag_id, safe='')}", json={"is_paused": False})

    def trigger(self, dag_id: str, conf: dict[str, Any] | None = None) -> str:
        """Starts a run; returns its id. Raises ConfigurationError where `conf` does not fit the DAG's params."""
        body = {"logical_date": None, "conf": conf or {}}
        run: str = self._call("POST", f"/dags/{quote(dag_id, safe='')}/dagRuns", json=body)["dag_run_id"]
        return run

    def progress(self, dag_id: str, run_id: str) -> RunProgress:
        """State of one run."""
        path = f"/dags/{quote(dag_id, safe='')}/dagRuns/{quote(run_id, safe='')}"
        state = self._call("GET", path)["state"]
        counts: dict[str, int] = {}
        for item in self._call("GET", f"{path}/taskInstances", params={"limit": 200})["task_instances"]:
            key = item["state"] or "waiting"
            counts[key] = counts.get(key, 0) + 1
        return RunProgress(dag_id, run_id, state, counts)

    def open_requests(self, dag_id: str, run_id: str) -> list[dict[str, Any]]:
        """What a run asks of a person and has no answer to yet: `task_instance`, `subject`, `body`, `options`."""
        path = f"/dags/{quote(dag_id, safe='')}/dagRuns/{quote(run_id, safe='')}/hitlDetails"
        found: list[dict[str, Any]] = self._call("GET", path, params={"response_received": False})["hitl_details"]
        return found

    def decide(self, request: dict[str, Any], option: str, params: dict[str, Any] | None = None) -> None:
        """Answers a request of `open_requests` with one of its options and values for its form."""
        task = request["task_instance"]
        path = "/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/{map_index}/hitlDetails".format(
            **{name: quote(str(task[name]), safe="") for name in ("dag_id", "dag_run_id", "task_id", "map_index")}
        )
        self._call("PATCH", path, json={"chosen_options": [option], "params_input": params or {}})

    def follow(
        self,
        runs: list[tuple[str, str]],
        *,
        seconds: float = 600.0,
        show: Callable[[RunProgress], None] = lambda _progress: None,
    ) -> None:
        """Returns when every run (DAG id, run id) has succeeded.

        Raises DagRunFailed at the first that failed, ServiceUnavailable when the time is over.
        """
        deadline = time.monotonic() + seconds
        open_runs = list(runs)
        while open_runs:
            still_open = []
            for dag_id, run_id in open_runs:
                progress = self.progress(dag_id, run_id)
                show(progress)
                if progress.state == "failed":
                    raise DagRunFailed(f"the run {run_id} of {dag_id} failed: see its tasks' logs in Airflow")
                if progress.state not in FINAL_STATES:
                    still_open.append((dag_id, run_id))
            open_runs = still_open
            if open_runs:
                if time.monotonic() > deadline:
                    raise ServiceUnavailable(f"{open_runs[0][0]} did not end within {seconds:.0f} seconds")
                time.sleep(0.7)
