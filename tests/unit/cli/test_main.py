"""The command's own promises: wrong usage is one line and exit code 2, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = str(Path(sys.executable).parent / "nightshift")


def _run(tmp_path: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NIGHTSHIFT_HOME": str(tmp_path / "home"), **variables}
    return subprocess.run(
        [COMMAND, *arguments], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("ask",), "question"),
        (("ask", "--nonsense", "x"), "--nonsense"),
        (("no-such-command",), "no-such-command"),
        (("search", "x", "--top", "many"), "many"),
    ],
)
def test_wrong_usage_is_one_line(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    done = _run(tmp_path, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "home").exists()


def test_a_wrong_setting_is_named_and_its_value_is_not(tmp_path: Path) -> None:
    done = _run(tmp_path, "status", NIGHTSHIFT_AIRFLOW__PORT="geheim")
    assert done.returncode == 2
    assert "NIGHTSHIFT_AIRFLOW__PORT" in done.stderr
    assert "geheim" not in done.stderr


def test_an_empty_variable_is_no_value(tmp_path: Path) -> None:
    done = _run(tmp_path, "status", "--json", NIGHTSHIFT_AIRFLOW__PORT="")
    assert done.returncode == 3
    assert '"running": false' in done.stdout


def test_a_store_that_does_not_answer_ends_with_three(tmp_path: Path) -> None:
    dsn = "postgresql://ana:geheim@127.0.0.1:1/x"
    done = _run(tmp_path, "documents", "list", NIGHTSHIFT_STORE__DSN=dsn)
    assert done.returncode == 3
    assert "Connection refused" in done.stderr
    assert "geheim" not in done.stderr
    assert "Traceback" not in done.stderr
