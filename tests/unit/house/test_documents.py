"""README and CONTRIBUTING name only what exists: commands, settings, targets, files, views."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
import typer

from rag_core.batch.dates import DATE_NAMES
from rag_core.batch.file import BatchFile, QuestionEntry
from rag_core.cli.main import build_app
from rag_core.datamodel.question import Budget, ChartKind, ExpectationKind
from tests.unit.house.source import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BATCHES = (ROOT / "docs" / "batches.md").read_text(encoding="utf-8")
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
TEXTS = (README, CONTRIBUTING, BATCHES, OPERATIONS)
EXAMPLE = (ROOT / ".env.example").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def commands() -> dict[str, set[str]]:
    """Every command with its options."""
    found: dict[str, set[str]] = {}

    def walk(command: Any, path: list[str]) -> None:
        if hasattr(command, "commands"):
            for name, inner in command.commands.items():
                walk(inner, [*path, name])
        else:
            found[" ".join(path)] = {option for parameter in command.params for option in parameter.opts}

    walk(typer.main.get_command(build_app()), [])
    return found


def _named(text: str) -> list[list[str]]:
    code = re.findall(r"```(?:sh)?\n(.*?)```", text, flags=re.DOTALL) + re.findall(r"`([^`\n]+)`", text)
    lines = [line for block in code for line in block.splitlines()]
    return [
        match[1].split()
        for line in lines
        if (match := re.search(r"(?:^|\s)nightshift ((?:[a-z]+ ?).*)$", line.strip()))
    ]


def test_every_command_that_is_named_exists(commands: dict[str, set[str]]) -> None:
    named = [words for text in TEXTS for words in _named(text)]
    assert len(named) > 20
    for words in named:
        name = next((" ".join(words[:n]) for n in (3, 2, 1) if " ".join(words[:n]) in commands), None)
        assert name is not None, words
        options = {word for word in words if word.startswith("--")}
        assert options <= commands[name], words


def test_every_command_is_in_the_readme(commands: dict[str, set[str]]) -> None:
    development = {"eval", "model"}
    wanted = [name for name in commands if name.split()[0] not in development]
    assert [name for name in wanted if f"`nightshift {name}`" not in README] == []


def test_every_setting_that_is_named_exists() -> None:
    known = set(re.findall(r"[A-Z][A-Z0-9_]+(?==)", EXAMPLE))
    named = set(re.findall(r"\b(?:NIGHTSHIFT|OPENAI|AIRFLOW|BI|DOCUMENTS|CONFIG|POSTGRES)_[A-Z0-9_]+\b", README))
    assert named <= known
    own = {name for name in known if name.startswith("NIGHTSHIFT_")}
    groups = {name for name in own if "_LLM__" not in name and "BATCH_SIZE" not in name}
    assert groups <= named, "a setting that the README does not explain"


def test_every_target_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert set(re.findall(r"(?:^|`|\s)make ([a-z-]+)", "".join(TEXTS))) - {"and"} <= targets


def test_every_link_leads_somewhere() -> None:
    for text in TEXTS:
        for target in re.findall(r"(?<!!)\[[^\]]*\]\(([^)#]+)\)", text):
            assert target.startswith("http") or (ROOT / target).exists(), target


def test_every_path_of_the_code_exists() -> None:
    pattern = r"`((?:rag_core|ingestion|plugins|config|sql|tests|docker|sample|dags|docs|bench)/[A-Za-z0-9_./-]*)`"
    for path in set(re.findall(pattern, "".join(TEXTS))):
        if "NAME" not in path and "AREA" not in path and not path.startswith("config/my_"):
            assert (ROOT / path).exists(), path


def test_every_view_exists() -> None:
    migrations = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "sql" / "migrations").glob("*.sql"))
    views = set(re.findall(r"CREATE (?:OR REPLACE )?VIEW (reports\.\w+)", migrations))
    named = set(re.findall(r"\b(reports\.[a-z_]+)\b", README))
    assert named <= views
    assert {"reports.answer_latest", "reports.answer_history", "reports.run_summary"} <= named


def test_no_sentence_sells_anything() -> None:
    words = ("seamless", "powerful", "blazing", "cutting-edge", "effortless", "revolution", "world-class", "robust")
    text = ("".join(TEXTS)).lower()
    assert [word for word in (*words, "leverag", "unlock", "delight", "game chang") if word in text] == []


def test_every_field_of_a_batch_file_is_described() -> None:
    cells = set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in BATCHES.splitlines() if line[:1] == "|")))
    fields = {*BatchFile.model_fields, *QuestionEntry.model_fields} - {"batch"}
    assert cells == fields | set(get_args(ExpectationKind))
    assert set(DATE_NAMES) | set(get_args(ChartKind)) | set(Budget.model_fields) <= set(re.findall(r"`(\w+)`", BATCHES))
