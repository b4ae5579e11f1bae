"""The batch commands that need no service."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from rag_core.batch.file import schema_text
from rag_core.cli.batch import register, report_files
from rag_core.datamodel.report import BatchOutcome
from rag_core.errors import ConfigurationError

GOOD = "title: T\nowner: o\nquestions:\n  - {question_id: a, text: What is it?}\n"


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()
    register(app)
    return app


def test_validate_tells_of_every_file(app: typer.Typer, tmp_path: Path) -> None:
    good, bad, worse = (tmp_path / f"{name}.yaml" for name in ("good", "bad", "worse"))
    good.write_text(GOOD, encoding="utf-8")
    bad.write_text(GOOD + "schedule: daily\n", encoding="utf-8")
    worse.write_text("{", encoding="utf-8")
    done = CliRunner().invoke(app, ["batch", "validate", str(good), str(bad), str(worse), "--json"])
    assert done.exit_code == 2
    found = json.loads(done.stdout)
    assert [entry["batch"] for entry in found["valid"]] == ["good"]
    assert [Path(entry["file"]).name for entry in found["invalid"]] == ["bad.yaml", "worse.yaml"]
    assert "five fields" in found["invalid"][0]["error"]


def test_validate_without_files_checks_the_configured_folder(app: typer.Typer) -> None:
    done = CliRunner().invoke(app, ["batch", "validate", "--json"])
    assert done.exit_code == 0
    assert {"nightly_business_review", "weekly_operations_review"} <= {
        entry["batch"] for entry in json.loads(done.stdout)["valid"]
    }


def test_a_new_file_is_written_and_valid(app: typer.Typer, tmp_path: Path) -> None:
    folder = tmp_path / "batches"
    done = CliRunner().invoke(app, ["batch", "new", "mine", "--folder", str(folder), "--owner", "me", "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout) == {"file": str(folder / "mine.yaml")}
    assert CliRunner().invoke(app, ["batch", "validate", str(folder / "mine.yaml")]).exit_code == 0


def test_the_difference_to_another_file(app: typer.Typer, tmp_path: Path) -> None:
    before, after = tmp_path / "before.yaml", tmp_path / "after.yaml"
    before.write_text(GOOD, encoding="utf-8")
    after.write_text(GOOD.replace("What is it?", "What was it?"), encoding="utf-8")
    done = CliRunner().invoke(app, ["batch", "diff", str(after), "--against", str(before), "--json"])
    assert done.exit_code == 0
    (change,) = json.loads(done.stdout)["changes"]
    assert (change["kind"], change["before"], change["after"]) == ("text_changed", "What is it?", "What was it?")


def test_a_review_says_what_it_lacks_in_plain_words(app: typer.Typer) -> None:
    for decision in ("release", "reject"):
        done = CliRunner().invoke(app, ["batch", "review", decision, "some_batch", "some_question"])
        assert isinstance(done.exception, ConfigurationError)
        assert str(done.exception) == "say why: --note 'REASON' is kept with the decision"


@pytest.mark.parametrize(("pdf", "named"), [(False, ["Report", "Markdown"]), (True, ["Report", "Markdown", "PDF"])])
def test_every_file_of_a_report_is_named(pdf: bool, named: list[str]) -> None:
    counts = {"published": 0, "quarantined": 0, "failed": 0, "needs_model": 0}
    outcome = BatchOutcome(
        run_id="r", batch="b", run_date=date(2026, 7, 1), questions=(), report_path="/r/b/2026-07-01.html", **counts
    )
    files = report_files(outcome, pdf=pdf)
    assert list(files) == named
    assert {path.stem for path in files.values()} == {"2026-07-01"}


def test_the_schema_is_printed(app: typer.Typer) -> None:
    assert CliRunner().invoke(app, ["batch", "schema"]).stdout == schema_text()
