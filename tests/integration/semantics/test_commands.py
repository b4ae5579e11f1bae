"""`nightshift semantics ...` as it is typed, on PostgreSQL and on DuckDB."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from ruamel.yaml import YAML
from typer.testing import CliRunner

from rag_core.cli import semantics
from rag_core.errors import ConfigurationError
from rag_core.semantics.model import load_semantic_model

pytestmark = pytest.mark.integration
Command = Callable[..., tuple[int, Any]]


@pytest.fixture(params=["postgres", "duckdb"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The warehouse that the commands reach."""
    if request.param == "postgres":
        monkeypatch.setenv("NIGHTSHIFT_WAREHOUSE__DSN", request.getfixturevalue("reader_dsn"))
    else:
        monkeypatch.setenv("NIGHTSHIFT_WAREHOUSE__DSN", f"duckdb:///{request.getfixturevalue('duckdb_file')}")
    monkeypatch.setenv("NIGHTSHIFT_HOME", str(tmp_path / "home"))
    return str(request.param)


@pytest.fixture
def command(place: str) -> Command:
    """Runs a command with `--json`; gives the exit code and what it printed. Errors of ours come out as raised."""
    assert place
    app = typer.Typer()
    semantics.register(app)
    app.command("other")(lambda: None)  # with one group alone typer would leave its name out

    def call(*words: str) -> tuple[int, Any]:
        result = CliRunner().invoke(app, ["semantics", *words, "--json"])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, json.loads(result.stdout)

    return call


def test_validate_says_valid(command: Command) -> None:
    code, printed = command("validate")
    assert (code, printed["valid"]) == (0, True), printed["problems"]
    assert printed["metrics"] >= 50


def test_validate_names_what_is_missing(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, repo_root: Path
) -> None:
    text = (repo_root / "config" / "semantic_model.yaml").read_text(encoding="utf-8")
    path = tmp_path / "model.yaml"
    path.write_text(text.replace("avg(order_total)", "avg(order_totals)"), encoding="utf-8")
    monkeypatch.setenv("NIGHTSHIFT_WAREHOUSE__SEMANTIC_MODEL", str(path))
    code, printed = command("validate")
    assert (code, printed["valid"]) == (1, False)
    assert {problem["key"] for problem in printed["problems"] if problem["severity"] == "error"} == {
        "metrics.average_order_value"
    }


def test_suggest_drafts_what_questions_may_read(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "draft.yaml"
    code, printed = command("suggest", "--output", str(path))
    assert (code, printed["path"]) == (0, str(path))
    draft = load_semantic_model(path)
    assert len(draft.metrics) > 20
    assert "public.pii_raw" not in {entity.table for entity in draft.entities.values()}


def test_export_and_import_again(command: Command, tmp_path: Path, repo_root: Path) -> None:
    exported, back = tmp_path / "dbt.yml", tmp_path / "back.yaml"
    code, printed = command("export", "--dbt", "--output", str(exported))
    assert code == 0
    assert {"metrics.churn_rate", "metrics"} <= {note["key"] for note in printed["notes"]}
    code, printed = command("import", str(exported), "--output", str(back))
    assert (code, printed["valid"], printed["notes"]) == (0, True, [])
    ours = load_semantic_model(repo_root / "config" / "semantic_model.yaml")
    again = load_semantic_model(back)
    assert sorted(again.joins, key=str) == sorted(ours.joins, key=str)
    assert again.model_copy(update={"joins": ours.joins}) == ours


def test_import_checks_against_the_live_schema(command: Command, tmp_path: Path) -> None:
    document = {
        "semantic_models": [
            {
                "name": "orders",
                "model": "ref('orders')",
                "defaults": {"agg_time_dimension": "order_date"},
                "entities": [{"name": "order", "type": "primary", "expr": "order_id"}],
                "dimensions": [{"name": "order_date", "type": "time"}, {"name": "channel", "type": "categorical"}],
                "measures": [{"name": "total", "agg": "sum", "expr": "order_sum"}],
            },
            {"name": "parcels", "model": "ref('parcels')", "entities": [{"name": "parcel", "type": "primary"}]},
        ],
        "metrics": [{"name": "turnover", "label": "Turnover", "type": "simple", "type_params": {"measure": "total"}}],
    }
    path = tmp_path / "models.yml"
    with path.open("w", encoding="utf-8") as stream:
        YAML().dump(document, stream)
    code, printed = command("import", str(path))
    assert (code, printed["valid"]) == (1, False)
    errors = {problem["key"]: problem["message"] for problem in printed["problems"] if problem["severity"] == "error"}
    assert "order_sum" in errors["metrics.turnover"]
    assert "entities.parcels.table" in errors
    assert any(note["key"] == "semantic_models.parcels.model" for note in printed["notes"])
    assert "Turnover" in printed["model"]


def test_nothing_is_overwritten(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "there.yml"
    path.write_text("mine", encoding="utf-8")
    for words in (("export", "--dbt", "--output", str(path)), ("suggest", "--output", str(path))):
        with pytest.raises(ConfigurationError, match="exists"):
            command(*words)
    with pytest.raises(ConfigurationError, match="exists"):
        command("import", str(path), "--output", str(path))
    assert path.read_text(encoding="utf-8") == "mine"


def test_explain_says_what_is_matched_and_what_is_not(command: Command) -> None:
    code, printed = command("explain", "Sales by region last quarter", "--date", "2026-07-01")
    assert (code, printed["complete"]) == (0, True)
    assert printed["assumptions"] == ["'Sales' is taken as revenue"]
    code, printed = command("explain", "Sales of purple gateways by region last quarter", "--date", "2026-07-01")
    assert (code, printed["complete"], printed["unmatched"]) == (1, False, ["purple"])
    assert printed["spans"]
    assert "purple" in printed["reason"]
