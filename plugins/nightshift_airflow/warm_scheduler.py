"""Airflow's scheduler with the heavy libraries loaded: `python -m nightshift_airflow.warm_scheduler ARGUMENTS`.

The LocalExecutor's workers and their tasks are forks of the scheduler. What is imported here is in memory once and
there at once in each task, where otherwise each would import for seconds: on a batch of a few questions that is most
of its processor time. Only imports: no model is loaded, no thread started and no connection opened before the fork.
"""

from __future__ import annotations

import importlib
import sys

from rag_core.quality.validate import load_library

# What the bodies of the tasks import. Docling is not among them: it runs in a process of its own.
MODULES = (
    "sentence_transformers",
    "ingestion.pipeline",
    "nightshift_airflow.context",
    "nightshift_airflow.drift",
    "nightshift_airflow.notices",
    "rag_core.batch.runner",
    "rag_core.graph.build",
)


def load_modules() -> None:
    """Imports all that tasks need. Raises ImportError where the installation is broken: so would each task."""
    load_library()
    for name in MODULES:
        importlib.import_module(name)


def main() -> None:
    """Loads the libraries and goes on as `airflow scheduler`."""
    from airflow.__main__ import main as run_airflow  # noqa: PLC0415 - heavy

    load_modules()
    sys.argv = ["airflow", "scheduler", *sys.argv[1:]]
    run_airflow()


if __name__ == "__main__":
    main()
