"""`make demo`: the main job on the sample company, through a real Airflow, to a published and cited report."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from nightshift_airflow import demo_drift
from nightshift_airflow.defaults import read_batch_files
from nightshift_airflow.rest import AirflowClient, RunProgress
from nightshift_airflow.server import AirflowServer
from rag_core.connectors.embedded import STORE_DATABASE, EmbeddedPostgres
from rag_core.connectors.sql_files import statement
from rag_core.errors import NightshiftError
from rag_core.provision import BI_ROLE, bring_up, sample_documents_folder, take_down
from rag_core.settings import Settings, load_settings

console = Console()


class Steps:
    """The progress display: one line a step, with its state and its time. Plain lines where there is no terminal."""

    def __init__(self) -> None:
        self._progress = Progress(
            SpinnerColumn(finished_text="[green]✓[/green]"),
            TextColumn("{task.description}"),
            TextColumn("[dim]{task.fields[note]}[/dim]"),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )

    def __enter__(self) -> Steps:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    @contextmanager
    def step(self, title: str) -> Iterator[TaskID]:
        """One step; it is marked done when the block ends without an error."""
        started = time.monotonic()
        task = self._progress.add_task(title, total=1, note="")
        if not console.is_terminal:
            console.print(f"… {title}", highlight=False)
        yield task
        self._progress.update(task, completed=1)
        if not console.is_terminal:
            console.print(f"✓ {title} ({time.monotonic() - started:.0f} s)", highlight=False)

    def note(self, task: TaskID, text: str) -> None:
        """Says how far a step is."""
        self._progress.update(task, note=text)


def _describe(progress: RunProgress) -> str:
    counts = ", ".join(f"{count} {state}" for state, count in sorted(progress.tasks.items()))
    return f"{progress.state}: {counts}" if counts else progress.state


def _run_dags(steps: Steps, client: AirflowClient, title: str, dags: dict[str, dict[str, Any]]) -> None:
    with steps.step(title) as task:
        runs = []
        for dag_id, conf in dags.items():
            client.unpause(dag_id)
            runs.append((dag_id, client.trigger(dag_id, conf)))
        client.follow(runs, show=lambda progress: steps.note(task, f"{progress.dag_id} {_describe(progress)}"))


def run_demo(settings: Settings) -> None:
    """Runs the main job; raises NightshiftError with one line where a part of it fails."""
    from sample.build_documents import build_documents  # noqa: PLC0415 - only in a checkout

    airflow = AirflowServer(settings)
    batches = [f"batch_{head.batch}" for head in read_batch_files()]
    with Steps() as steps:
        with steps.step("PostgreSQL with pgvector, and Airflow's processes") as task:
            airflow.check_port()
            EmbeddedPostgres(settings.home).start()
            airflow.start()
            steps.note(task, "started")
        with steps.step("Store migrated, sample warehouse loaded"):
            bring_up(settings)
        if settings.embedded_warehouse and demo_drift.is_changed(settings):
            with steps.step("Sample warehouse put back: a demo was cut off"):
                demo_drift.put_back(settings)
        with steps.step("Sample documents built") as task:
            built = build_documents(sample_documents_folder(settings))
            steps.note(task, f"{len(built)} files")
        with steps.step("Airflow healthy"):
            airflow.wait_until_healthy()
        client = AirflowClient(airflow.url, *airflow.credentials())
        try:
            with steps.step("DAGs parsed"):
                client.wait_for_dags({"ingest_documents", "detect_schema_drift", "ask_questions", *batches})
            _run_dags(
                steps,
                client,
                "DAGs: ingest documents, detect schema drift",
                {"ingest_documents": {}, "detect_schema_drift": {}},
            )
            _run_dags(steps, client, "DAGs: question batches", {dag_id: {} for dag_id in batches})
            if settings.embedded_warehouse and f"batch_{demo_drift.BATCH}" in batches:
                _run_second_night(steps, client, settings)
        finally:
            client.close()


def _run_second_night(steps: Steps, client: AirflowClient, settings: Settings) -> None:
    """Changes the warehouse, lets the drift DAG find it, runs the batch again, and puts the sample back."""
    renamed = f"{demo_drift.RENAMED} is now {demo_drift.NEW_NAME}, {demo_drift.DROPPED} is gone"
    try:
        with steps.step(f"Warehouse changed: {renamed}"):
            demo_drift.change_sample(settings)
        _run_dags(steps, client, "DAG: detect schema drift", {"detect_schema_drift": {}})
        demo_drift.show_changes(settings, console)
        again = {f"batch_{demo_drift.BATCH}": {"run_date": demo_drift.SECOND_NIGHT}}
        _run_dags(steps, client, "DAG: the nightly batch again", again)
        demo_drift.show_answers(settings, console)
    finally:
        with steps.step("Sample warehouse put back") as task:
            report = demo_drift.put_back(settings)
            steps.note(task, f"{len(report.reverted)} events closed themselves")


def show_results(settings: Settings) -> None:
    """Prints the published answers, where the reports are and how to read the views."""
    dsn = EmbeddedPostgres(settings.home).dsn(STORE_DATABASE, BI_ROLE)
    with psycopg.connect(dsn) as connection:
        rows = connection.execute(statement("reports/list_latest_answers")).fetchall()
        reports = connection.execute(statement("reports/list_latest_reports")).fetchall()
    table = Table("Batch", "Question", "Status", "Answer", title="Published answers", show_lines=True)
    for batch, question, status, answer in rows:
        first = answer.strip().split("\n\n")[0]
        table.add_row(batch, escape(question), status, escape(first if len(first) <= 320 else first[:317] + "…"))
    console.print(table)
    for batch, path in reports:
        console.print(f"Report of {batch}: {path}", soft_wrap=True, highlight=False)
    console.print("See the result views with:", highlight=False)
    console.print(f'  psql "{dsn}" -c "TABLE reports.answer_latest"', soft_wrap=True, highlight=False, markup=False)


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit code of the contract."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="leave Airflow and the database running")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    settings: Settings | None = None
    keep = False
    try:
        settings = load_settings()
        run_demo(settings)
        show_results(settings)
        keep = options.keep
    except NightshiftError as error:
        Console(stderr=True).print(f"demo: {error}", style="red", markup=False, soft_wrap=True)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    finally:
        if settings is not None and not keep:
            with console.status("Stopping Airflow and the database"):
                AirflowServer(settings).stop()
                take_down(settings)
    if keep:
        server = AirflowServer(settings)
        username, password = server.credentials()
        console.print(f"Airflow: {server.url} (user {username}, password {password})", highlight=False, markup=False)
        console.print("Stop it with: make down", highlight=False)
    console.print(f"Done in {time.monotonic() - started:.0f} seconds.", highlight=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
