"""200 questions by replay, through the library and through Airflow: `python bench/dags/load.py [--repeat 2]`.

Starts an Airflow of its own (LocalExecutor, as `nightshift airflow start` does) with a store and the sample warehouse
in a temporary folder. A first run through the library makes the plans; then the batch is replayed in turn by the
command `nightshift batch run` and by its DAG, each time for another run date, so that both publish for the first
time. The time of a DAG run is from the trigger until the REST API calls it a success. Prints a Markdown table with
the load of the machine (one-minute average) beside each figure: both of a pair meet about the same load, a figure
alone says little.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import psutil
import psycopg

from nightshift_airflow.defaults import QUESTIONS_A_GROUP
from nightshift_airflow.rest import AirflowClient
from nightshift_airflow.server import AirflowServer
from rag_core.connectors.embedded import STORE_DATABASE, EmbeddedPostgres
from rag_core.provision import bring_up
from rag_core.settings import load_settings

BATCH = """\
title: Load
owner: bench
questions:
  - question_id: revenue_{region}_{year}_{month}
    text: What was revenue of {region} in {month} {year}?
    for_each: &months
      region: [Nordics, DACH, UK and Ireland, Iberia, Benelux]
      year: [2025]
      month: [January, February, March, April, May, June, July, August, September, October, November, December]
  - question_id: orders_{region}_{year}_{month}
    text: How many orders were there in {region} in {month} {year}?
    for_each: *months
  - question_id: older_{region}_{year}_{month}
    text: What was revenue of {region} in {month} {year}?
    for_each: {<<: *months, year: [2024]}
  - question_id: quarters_{region}_{quarter}
    text: How many orders were there in {region} in {quarter} 2025?
    for_each:
      region: [Nordics, DACH, UK and Ireland, Iberia, Benelux]
      quarter: [Q1, Q2, Q3, Q4]
"""
QUESTIONS = 200
DAG = "batch_load"
SECONDS = 1800.0
FIRST_DAY = date(2026, 6, 1)
OUTCOME = (
    "SELECT count(*) FILTER (WHERE state = 'published'), count(*) FILTER (WHERE strategy = 'replay'),"
    " coalesce(sum(model_calls), 0)::bigint FROM reports.fact_answer WHERE batch = 'load' AND run_date = %s"
)
TASKS = (
    "SELECT task_id, count(*), min(start_date), max(end_date), sum(duration) FROM task_instance WHERE run_id = %s"
    " AND start_date IS NOT NULL GROUP BY task_id ORDER BY min(start_date)"
)


def main() -> int:
    """Prints the table; returns 1 where a run did not publish every question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=2, help="pairs of runs")
    options = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="nsload"))
    (home / "batches").mkdir()
    (home / "batches" / "load.yaml").write_text(BATCH, encoding="utf-8")
    os.environ.update(
        NIGHTSHIFT_HOME=str(home / "state"),
        NIGHTSHIFT_AIRFLOW__PORT=str(_free_port()),
        NIGHTSHIFT_BATCH__FOLDER=str(home / "batches"),
    )
    settings = load_settings()
    server, embedded = AirflowServer(settings), EmbeddedPostgres(settings.home)
    try:
        bring_up(settings)
        server.start()
        server.wait_until_healthy(SECONDS)
        client = AirflowClient(server.url, *server.credentials())
        try:
            return _compare(client, embedded, options.repeat)
        finally:
            client.close()
    finally:
        server.stop()
        embedded.stop()
        shutil.rmtree(home, ignore_errors=True)


def _compare(client: AirflowClient, embedded: EmbeddedPostgres, pairs: int) -> int:
    client.wait_for_dags({DAG}, SECONDS)
    client.unpause(DAG)
    days = iter(FIRST_DAY + timedelta(days=number) for number in range(2 * pairs + 1))
    cores = psutil.cpu_count() or 0
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {cores} cores, groups of {QUESTIONS_A_GROUP} questions")
    print("| run | seconds | published | by replay | model calls | load before | load after |")
    print("|---|---|---|---|---|---|---|")
    complete, overheads = True, []
    complete &= _row("library, making the plans", *_library(day := next(days)), _outcome(embedded, day))
    for _ in range(pairs):
        library = _library(day := next(days))
        complete &= _row("library", *library, _outcome(embedded, day))
        dag_run, *through_airflow = _airflow(client, day := next(days))
        complete &= _row("Airflow", *through_airflow, _outcome(embedded, day))
        overheads.append(through_airflow[0] - library[0])
        _tell_tasks(embedded, dag_run)
    print("Airflow over the library: " + ", ".join(f"{seconds:+.1f} s" for seconds in overheads) + " (bound: 60 s)")
    return 0 if complete else 1


def _library(day: date) -> tuple[float, float, float]:
    """Seconds of the command, from its start to its end, and the load before and after."""
    before, started = os.getloadavg()[0], time.perf_counter()
    command = [
        Path(sys.executable).with_name("nightshift"),
        "batch",
        "run",
        "load",
        "--date",
        day.isoformat(),
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode:
        sys.stderr.write(done.stderr[-2000:])
    else:
        json.loads(done.stdout)
    return seconds, before, os.getloadavg()[0]


def _airflow(client: AirflowClient, day: date) -> tuple[str, float, float, float]:
    before, started = os.getloadavg()[0], time.perf_counter()
    run = client.trigger(DAG, {"run_date": day.isoformat()})
    client.follow([(DAG, run)], seconds=SECONDS)
    return run, time.perf_counter() - started, before, os.getloadavg()[0]


def _outcome(embedded: EmbeddedPostgres, day: date) -> tuple[int, int, int]:
    """Answers published, answers by replay and calls of a chat model of one run date."""
    with psycopg.connect(embedded.dsn(STORE_DATABASE)) as connection:
        row = connection.execute(OUTCOME, (day,)).fetchone()
    assert row is not None
    return int(row[0]), int(row[1]), int(row[2])


def _row(name: str, seconds: float, before: float, after: float, outcome: tuple[int, int, int]) -> bool:
    published, replayed, calls = outcome
    print(f"| {name} | {seconds:.1f} | {published} | {replayed} | {calls} | {before:.1f} | {after:.1f} |", flush=True)
    return published == QUESTIONS


def _tell_tasks(embedded: EmbeddedPostgres, dag_run: str) -> None:
    """Where a DAG run's time went, on standard error."""
    with psycopg.connect(embedded.dsn("airflow")) as connection:
        rows = connection.execute(TASKS, (dag_run,)).fetchall()
    first = min(row[2] for row in rows)
    for task_id, count, started, ended, seconds in rows:
        begin, end = (started - first).total_seconds(), (ended - first).total_seconds()
        sys.stderr.write(f"{task_id}: {count} instances, {begin:.1f} to {end:.1f} s, {seconds:.1f} s together\n")
    sys.stderr.flush()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


if __name__ == "__main__":
    sys.exit(main())
