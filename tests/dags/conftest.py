"""DAG files load with an Airflow home of their own, and with the repository's batch files unless a test says so."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from airflow.sdk import DAG

ROOT = Path(__file__).resolve().parents[2]
PROBE = Path(__file__).with_name("load_dag_file.py")

Load = Callable[..., dict[str, Any]]


def _environment(home: Path, **extra: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AIRFLOW", "NIGHTSHIFT_"))}
    return {
        **kept,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(ROOT / "plugins"),
        # No database is there: whoever takes it while a DAG file loads is seen, or fails.
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/none/airflow.db",
        **extra,
    }


@pytest.fixture
def load_dag_file(tmp_path: Path) -> Load:
    """Loads one DAG file in a new process; see `load_dag_file.py` for what it tells."""

    def load(path: Path, *, batches: Path | None = None) -> dict[str, Any]:
        extra = {"NIGHTSHIFT_BATCH__FOLDER": str(batches)} if batches is not None else {}
        done = subprocess.run(
            [sys.executable, str(PROBE), str(path)],
            env=_environment(tmp_path / "airflow", **extra),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return told

    return load


@pytest.fixture(scope="session")
def dag_bag() -> Iterator[dict[str, DAG]]:
    """Every DAG of the repository as Airflow's own DagBag collects them; no file may fail."""
    home = tempfile.mkdtemp(prefix="nsaf")
    if "airflow" not in sys.modules:  # a test that came before has set up its own Airflow otherwise
        os.environ.update({k: v for k, v in _environment(Path(home)).items() if k.startswith("AIRFLOW")})
    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag(ROOT / "dags")
    assert bag.import_errors == {}
    yield dict(bag.dags)
    shutil.rmtree(home, ignore_errors=True)
