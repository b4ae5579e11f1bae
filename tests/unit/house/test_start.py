"""`nightshift --help` is quick: no command's heavy library is imported before it runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HEAVY = (
    "torch", "transformers", "sentence_transformers", "docling", "docling_core", "docling_parse", "great_expectations",
    "pandas", "numpy", "scipy", "sklearn", "langgraph", "langchain_core", "langchain_openai", "openai", "altair",
    "vl_convert", "airflow", "duckdb", "snowflake", "google.cloud", "redshift_connector",
)  # fmt: skip
PROBE = """
import contextlib, io, json, sys
from rag_core.cli.main import run
sys.argv = ["nightshift", *{arguments!r}]
with contextlib.suppress(SystemExit):
    run()
sys.stderr.write(json.dumps(sorted(sys.modules)))
"""


def _modules_after(tmp_path: Path, *arguments: str) -> tuple[str, list[str]]:
    import json

    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(arguments=list(arguments))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, json.loads(done.stderr.splitlines()[-1])


def test_help_imports_no_heavy_library(tmp_path: Path) -> None:
    shown, loaded = _modules_after(tmp_path, "--help")

    for command in ("up", "ingest", "search", "ask", "batch", "drift", "airflow"):
        assert command in shown
    assert [name for name in loaded if name in HEAVY or name.startswith(tuple(f"{heavy}." for heavy in HEAVY))] == []


def test_config_show_imports_no_heavy_library(tmp_path: Path) -> None:
    shown, loaded = _modules_after(tmp_path, "config", "show", "--json")

    assert '"NIGHTSHIFT_STORE__DSN"' in shown
    assert [name for name in loaded if name in HEAVY] == []
