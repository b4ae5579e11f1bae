"""The pool that bounds the embedding tasks: made by Airflow's own start, kept as an operator left it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nightshift_airflow.defaults import EMBEDDING_POOL, EMBEDDING_SLOTS

pytestmark = [pytest.mark.airflow, pytest.mark.slow]

# Everything in a process of its own: Airflow reads its configuration when it is imported. A Job is what the scheduler,
# the triggerer and the dag-processor make of themselves when they start.
SCRIPT = """
import json
from airflow import settings
from airflow.models.base import Base
import airflow.models
airflow.models.import_all_models()
Base.metadata.create_all(settings.engine)
from sqlalchemy import select, update
from airflow.jobs.job import Job
from airflow.models.pool import Pool
from airflow.utils.session import create_session
from airflow.listeners.listener import get_listener_manager

def pools():
    with create_session() as session:
        return {pool.pool: pool.slots for pool in session.scalars(select(Pool))}

told = {"before": pools()}
class Task:
    pass
get_listener_manager().hook.on_starting(component=Task())
told["task"] = pools()
Job()
told["started"] = pools()
with create_session() as session:
    session.execute(update(Pool).values(slots=7))
Job()
told["again"] = pools()
print(json.dumps(told))
"""


def run(home: Path, root: Path) -> dict[str, Any]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AIRFLOW", "NIGHTSHIFT_"))}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={
            **kept,
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__CORE__PLUGINS_FOLDER": str(root / "plugins"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow.db",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def test_a_starting_airflow_makes_the_pool_and_leaves_it_as_an_operator_sets_it(
    tmp_path: Path, repo_root: Path
) -> None:
    told = run(tmp_path, repo_root)
    assert told["before"] == {}
    assert told["task"] == {}
    assert told["started"] == {EMBEDDING_POOL: EMBEDDING_SLOTS}
    assert told["again"] == {EMBEDDING_POOL: 7}
