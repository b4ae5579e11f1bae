"""`nightshift batch validate` over the sample's warehouse: which questions no rule understands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from rag_core.cli.batch import register

pytestmark = pytest.mark.integration


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store_dsn: str, reader_dsn: str) -> typer.Typer:
    """The commands over a migrated store and the sample's warehouse, without a chat model."""
    monkeypatch.setenv("NIGHTSHIFT_STORE__DSN", store_dsn)
    monkeypatch.setenv("NIGHTSHIFT_WAREHOUSE__DSN", reader_dsn)
    monkeypatch.setenv("NIGHTSHIFT_HOME", str(tmp_path / "home"))
    app = typer.Typer()
    register(app)
    return app


def _warnings(app: typer.Typer, *files: Path) -> dict[str, list[str]]:
    done = CliRunner().invoke(app, ["batch", "validate", *map(str, files), "--json"])
    assert done.exit_code == 0, done.output
    found: list[dict[str, Any]] = json.loads(done.stdout)["valid"]
    return {entry["batch"]: entry["warnings"] for entry in found}


def test_the_batches_of_the_sample_are_understood(app: typer.Typer) -> None:
    assert _warnings(app) == {"nightly_business_review": [], "weekly_operations_review": []}


def test_a_word_that_nobody_knows_is_warned_of_until_there_is_a_model(
    app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "title: T\nowner: o\nquestions:\n"
        "  - {question_id: a, text: What was the grosso profitability by region last quarter?}\n"
        "  - {question_id: b, text: What was revenue in DACH last quarter?}\n"
        "  - {question_id: c, text: What does the refund policy say about late orders?}\n",
        encoding="utf-8",
    )
    told = "question a: not understood without a chat model: 'grosso' (did you mean gross?)"
    assert _warnings(app, path) == {"mine": [told]}
    monkeypatch.setenv("NIGHTSHIFT_LLM__MODEL", "some-model")
    assert _warnings(app, path) == {"mine": []}
