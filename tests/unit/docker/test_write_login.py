"""The login file of Airflow's simple auth manager."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[3] / "docker" / "write_login.py"


def _write(target: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NIGHTSHIFT_")}
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(target)],
        env={**kept, **environment},
        cwd=target.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_login_is_written_for_the_owner_only(tmp_path: Path) -> None:
    target = tmp_path / "passwords.json"
    done = _write(target, NIGHTSHIFT_AIRFLOW__USERNAME="ada", NIGHTSHIFT_AIRFLOW__PASSWORD="p'ss\"wörd")

    assert done.returncode == 0, done.stderr
    assert json.loads(target.read_text(encoding="utf-8")) == {"ada": "p'ss\"wörd"}
    assert target.stat().st_mode & 0o777 == 0o600
    assert done.stdout + done.stderr == ""


def test_no_password_is_refused(tmp_path: Path) -> None:
    done = _write(tmp_path / "passwords.json")
    assert (done.returncode, done.stderr) == (2, "login: set NIGHTSHIFT_AIRFLOW__PASSWORD\n")
    assert not (tmp_path / "passwords.json").exists()
