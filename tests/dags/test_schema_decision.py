"""The drift DAG and a batch that waits for a person, on a real Airflow with the sample warehouse."""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import psycopg
import pytest

from nightshift_airflow.rest import FINAL_STATES, AirflowClient, DagRunFailed

pytestmark = [
    pytest.mark.airflow,
    pytest.mark.integration,
    pytest.mark.slow,
    # Airflow outlives the call that starts it; it is found again by its process id and stopped at the end.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

BATCH = """\
title: Freight
description: Freight and net margin.
owner: finance-analytics
on_breaking_change: wait
questions:
  - {question_id: freight, text: "What was the freight cost by region last quarter?"}
  - {question_id: net_margin, text: "What was the net margin by region last quarter?"}
"""
# Airflow starts a process a task; on a busy machine that takes its time.
SECONDS = 600.0


class Airflow:
    """A running Airflow with a store and a warehouse of its own."""

    def __init__(self, home: Path) -> None:
        from nightshift_airflow.server import AirflowServer
        from rag_core.connectors.embedded import STORE_DATABASE, WAREHOUSE_DATABASE, EmbeddedPostgres
        from rag_core.provision import bring_up
        from rag_core.settings import load_settings

        self.home = home
        self.settings = load_settings()
        bring_up(self.settings)
        self.embedded = EmbeddedPostgres(self.settings.home)
        self.store_dsn, self.owner_dsn = self.embedded.dsn(STORE_DATABASE), self.embedded.dsn(WAREHOUSE_DATABASE)
        self.server = AirflowServer(self.settings)
        self.server.start()
        self.server.wait_until_healthy(SECONDS)
        self.client = AirflowClient(self.server.url, *self.server.credentials())
        self.client.wait_for_dags({"detect_schema_drift", "batch_freight"}, SECONDS)

    def stop(self) -> None:
        self.client.close()
        self.server.stop()
        self.embedded.stop()

    def start(self, dag_id: str) -> str:
        self.client.unpause(dag_id)
        return self.client.trigger(dag_id)

    def run(self, dag_id: str) -> str:
        run_id = self.start(dag_id)
        self.client.follow([(dag_id, run_id)], seconds=SECONDS)
        return run_id

    def decide(self, run_id: str, option: str, params: dict[str, str]) -> None:
        """Answers what a run asks, until it has ended.

        Nobody answers within a second. Airflow takes an answer that comes before it has heard that the task waits for a
        lost task, tries it again, and asks again.
        """
        deadline = time.monotonic() + SECONDS
        while self.client.progress("batch_freight", run_id).state not in FINAL_STATES:
            assert time.monotonic() < deadline, "the run did not end in time"
            time.sleep(5)
            for request in self.client.open_requests("batch_freight", run_id):
                self.client.decide(request, option, params)
        self.client.follow([("batch_freight", run_id)])

    def change(self, sql: str) -> None:
        with psycopg.connect(self.owner_dsn, autocommit=True) as connection:
            connection.execute(sql.encode())

    def store(self, sql: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.store_dsn) as connection:
            return connection.execute(sql.encode()).fetchall()

    def answers(self) -> dict[str, tuple[str, str]]:
        rows = self.store("SELECT question_id, status, answer FROM reports.answer_latest WHERE batch = 'freight'")
        return {name: (status, answer) for name, status, answer in rows}

    def tasks(self, dag_id: str, run_id: str) -> dict[str, str]:
        return {
            item["task_id"]: item["state"]
            for item in self.client._call("GET", f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances")["task_instances"]
        }


@pytest.fixture(scope="module")
def airflow() -> Iterator[Airflow]:
    home = Path(tempfile.mkdtemp(prefix="ns"))
    (home / "batches").mkdir()
    (home / "batches" / "freight.yaml").write_text(BATCH, encoding="utf-8")
    (home / "our_callbacks.py").write_text(
        "import json, pathlib\n"
        "def tell(context):\n"
        "    with pathlib.Path(__file__).with_name('alerts.jsonl').open('a') as file:\n"
        "        file.write(json.dumps({**context['alert'], 'run': context['run_id']}) + '\\n')\n"
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        "NIGHTSHIFT_HOME": str(home / "state"),
        "NIGHTSHIFT_AIRFLOW__PORT": str(port),
        "NIGHTSHIFT_BATCH__FOLDER": str(home / "batches"),
        "NIGHTSHIFT_ALERTS__CHANNELS": '["callback"]',
        "NIGHTSHIFT_ALERTS__CALLBACK": "our_callbacks:tell",
        "PYTHONPATH": str(home),
        "OMP_NUM_THREADS": "1",
    }
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    running = Airflow(home)
    try:
        yield running
    finally:
        running.stop()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        shutil.rmtree(home, ignore_errors=True)


def _wait(what: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(1)
    raise AssertionError("it did not happen in time")


def test_a_batch_waits_for_a_person_and_takes_the_decision_up_in_its_run(airflow: Airflow) -> None:
    airflow.run("detect_schema_drift")
    airflow.run("batch_freight")
    before = airflow.answers()
    assert {status for status, _ in before.values()} == {"answered"}
    airflow.change("""
        ALTER TABLE public.monthly_margins ADD haulage numeric(14, 2);
        UPDATE public.monthly_margins SET haulage = freight_cost;
        ALTER TABLE public.monthly_margins DROP freight_cost;
        ALTER TABLE public.monthly_margins RENAME net_margin TO net_profit;
    """)
    drift_run = airflow.run("detect_schema_drift")
    alerts = [json.loads(line) for line in (airflow.home / "alerts.jsonl").read_text().splitlines()]
    assert [(alert["owner"], alert["run"]) for alert in alerts] == [("finance-analytics", drift_run)]
    # Nothing proves what the dropped column became; that the new one holds the same values makes it likely.
    assert "column_renamed public.monthly_margins.freight_cost (freight_cost -> haulage)" in alerts[0]["text"]
    assert "freight" in alerts[0]["text"].partition("touches ")[2]

    run_id = airflow.start("batch_freight")
    (request,) = _wait(lambda: airflow.client.open_requests("batch_freight", run_id))
    ((event,),) = airflow.store(
        "SELECT event_id FROM nightshift.drift_event WHERE active AND object = 'public.monthly_margins.freight_cost'"
        " AND severity = 'breaking'"
    )
    assert request["subject"] == "Freight: the warehouse's schema changed"
    assert f"event {event}" in request["body"]
    assert "`freight`" in request["body"]
    assert "`net_margin`" not in request["body"]  # a proven rename needs nobody
    airflow.decide(run_id, "Use what replaced it", {"became": f"{event} = public.monthly_margins.haulage"})

    after = airflow.answers()
    assert {status for status, _ in after.values()} == {"answered"}
    assert "haulage has replaced it" in after["freight"][1]
    assert "net_profit has replaced it" in after["net_margin"][1]
    assert airflow.store("SELECT decision, actor, target FROM nightshift.drift_decision WHERE decision = 'map'") == [
        ("map", "admin", "public.monthly_margins.haulage")
    ]
    # The same drift is told once, and decided it asks nobody again.
    airflow.run("detect_schema_drift")
    assert len((airflow.home / "alerts.jsonl").read_text().splitlines()) == len(alerts)
    run_id = airflow.run("batch_freight")
    assert airflow.tasks("batch_freight", run_id)["decide"] == "skipped"


def test_tables_that_vanish_at_once_fail_the_drift_run_and_pause_nobody(airflow: Airflow) -> None:
    airflow.run("detect_schema_drift")
    airflow.change("""
        DROP SCHEMA ops CASCADE;
        DROP TABLE public.churn_events, public.headcount, public."SalesTarget", public.pii_raw CASCADE;
    """)
    run_id = airflow.start("detect_schema_drift")
    with pytest.raises(DagRunFailed):
        airflow.client.follow([("detect_schema_drift", run_id)], seconds=SECONDS)
    assert airflow.tasks("detect_schema_drift", run_id) == {"detect": "success", "repair": "success", "tell": "failed"}
    assert airflow.store("SELECT count(*) FROM nightshift.schema_snapshot WHERE status = 'held'") == [(1,)]
    airflow.run("batch_freight")
    assert {status for status, _ in airflow.answers().values()} == {"answered"}


def test_the_sample_s_date_is_what_the_questions_refer_to(airflow: Airflow) -> None:
    assert airflow.store("SELECT DISTINCT run_date FROM reports.answer_latest") == [(date(2026, 7, 1),)]
