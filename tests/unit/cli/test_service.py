"""What `down` and `status` say where nothing runs."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from rag_core.cli.service import register


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> typer.Typer:
    """The commands in a home of their own, in which nothing was ever started."""
    for name in ("NIGHTSHIFT_STORE__DSN", "NIGHTSHIFT_WAREHOUSE__DSN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NIGHTSHIFT_HOME", str(tmp_path / "home"))
    app = typer.Typer()
    register(app)
    return app


def test_a_server_that_was_stopped_is_no_fault_of_down(app: typer.Typer) -> None:
    done = CliRunner().invoke(app, ["down"])
    assert done.exit_code == 0
    assert [line.split(maxsplit=1) for line in done.stdout.splitlines()] == [
        ["Store", "embedded (stopped)"],
        ["Warehouse", "embedded (stopped)"],
        ["Airflow", "not running"],
    ]


def test_status_still_says_why_the_store_does_not_answer(app: typer.Typer) -> None:
    done = CliRunner().invoke(app, ["status"])
    assert done.exit_code == 3
    assert done.stdout.splitlines()[-1] == "the embedded server is not running"


def test_down_still_tells_of_a_store_that_it_cannot_reach(app: typer.Typer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTSHIFT_STORE__DSN", "postgresql://someone@127.0.0.1:1/nothing")
    done = CliRunner().invoke(app, ["down"])
    assert done.exit_code == 0
    reason = done.stdout[done.stdout.index("Airflow") :].splitlines()[1:]
    assert "127.0.0.1" in " ".join(reason)
