"""Runs that are killed or lose their connections: what is published is whole, and the run goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from rag_core.batch.runner import BatchRunner
from rag_core.connectors.embedded import EmbeddedPostgres
from rag_core.connectors.store import Store
from rag_core.datamodel.answer import Answer
from rag_core.errors import ServiceUnavailable
from tests.integration.batch.conftest import MakeRunner
from tests.integration.batch.scripted import (
    REVENUE,
    RUN_DATE,
    ScriptedOrchestrator,
    ask_about,
    make_batch,
    published_rows,
    scripted_answer,
)

pytestmark = pytest.mark.integration


def test_a_killed_process_goes_on_where_it_stopped(
    make_runner: MakeRunner, store_dsn: str, repo_root: Path, tmp_path: Path, connection: psycopg.Connection
) -> None:
    orchestrator = ScriptedOrchestrator({name: scripted_answer(REVENUE) for name in ("a", "b", "c")})
    runner = make_runner(orchestrator)
    batch = make_batch("killed", ask_about("a", "b", "c"))
    run = runner.start(batch, RUN_DATE)
    command = [sys.executable, "-m", "tests.integration.batch.killed_run", store_dsn, run.run_id, str(tmp_path), "b"]
    died = subprocess.run(command, cwd=repo_root, capture_output=True, text=True, timeout=120, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert connection.execute("SELECT count(*) FROM reports.fact_answer WHERE batch = 'killed'").fetchone() == (0,)
    assert runner.find_unfinished(batch, RUN_DATE) == run.run_id
    outcome = runner.resume(run.run_id)
    assert orchestrator.asked == ["b", "c"]
    assert outcome.published == 3
    assert runner.find_unfinished(batch, RUN_DATE) is None


def test_a_process_killed_while_publishing_leaves_no_half_of_a_batch(
    make_runner: MakeRunner, store_dsn: str, repo_root: Path, tmp_path: Path, connection: psycopg.Connection
) -> None:
    good = scripted_answer(REVENUE)
    runner = make_runner(ScriptedOrchestrator(dict.fromkeys(("a", "b", "c"), good)))
    batch = make_batch("half_published", ask_about("a", "b", "c"))
    runner.run(batch, RUN_DATE)
    before = published_rows(connection, "half_published")
    run = runner.start(batch, RUN_DATE)
    command = [sys.executable, "-m", "tests.integration.batch.killed_run"]
    died = subprocess.run(
        [*command, store_dsn, run.run_id, str(tmp_path / "died"), "publishing"],
        cwd=repo_root,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert published_rows(connection, "half_published") == before
    published = connection.execute("SELECT run_id::text FROM reports.dim_run WHERE batch = 'half_published'").fetchone()
    assert published is not None
    assert published[0] != run.run_id
    assert runner.finish(run.run_id).published == 3


def _cut_connections(connection: psycopg.Connection) -> None:
    connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


def test_connections_that_are_cut_on_the_way_are_made_anew(
    make_runner: MakeRunner, connection: psycopg.Connection
) -> None:
    def cut() -> Answer:
        _cut_connections(connection)
        return scripted_answer(REVENUE)

    runner = make_runner(ScriptedOrchestrator({"a": cut, "b": scripted_answer(REVENUE)}))
    assert runner.run(make_batch("cut", ask_about("a", "b")), RUN_DATE).published == 2


def test_a_store_that_is_lost_on_the_way_is_told_and_the_run_goes_on(
    connection: psycopg.Connection, pg_server: EmbeddedPostgres, store_dsn: str, tmp_path: Path
) -> None:
    database = connection.info.dbname

    def allow_connections(allowed: bool) -> None:
        with psycopg.connect(pg_server.dsn("postgres"), autocommit=True) as admin:
            admin.execute(
                sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}").format(sql.Identifier(database), sql.Literal(allowed))
            )

    def lose_the_store() -> Answer:
        allow_connections(False)
        _cut_connections(connection)
        return scripted_answer(REVENUE)

    batch = make_batch("lost", ask_about("a", "b"))
    scripted: Any = ScriptedOrchestrator({"a": scripted_answer(REVENUE), "b": lose_the_store})
    try:
        with (
            closing(Store(store_dsn, wait_seconds=1)) as store,
            pytest.raises(ServiceUnavailable, match=r"the store gave no connection|--resume"),
        ):
            BatchRunner(store=store, orchestrator=lambda _: scripted, reports_folder=tmp_path).run(batch, RUN_DATE)
    finally:
        allow_connections(True)
    again: Any = ScriptedOrchestrator({"b": scripted_answer(REVENUE)})
    with closing(Store(store_dsn)) as store:  # as a process that starts again has it
        runner = BatchRunner(store=store, orchestrator=lambda _: again, reports_folder=tmp_path)
        run_id = runner.find_unfinished(batch, RUN_DATE)
        assert run_id is not None
        assert runner.resume(run_id).published == 2
    assert again.asked == ["b"]
