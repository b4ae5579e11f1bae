"""What the commands print reaches people and pipes whole."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest
import typer
from rich.table import Table
from typer.testing import CliRunner

from rag_core.cli.config import register
from rag_core.cli.output import _WholeTables, emit
from rag_core.errors import ConfigurationError
from rag_core.settings import load_settings

LONG = "NIGHTSHIFT_" + "X" * 150


def _printed(*, terminal: bool) -> str:
    file = io.StringIO()
    console = _WholeTables(file=file, force_terminal=terminal, width=80)
    table = Table("Name", "Value")
    table.add_row(LONG, "y")
    console.print(table)
    assert console.width == 80
    return file.getvalue()


def test_a_table_in_a_pipe_is_as_wide_as_it_needs_to_be() -> None:
    assert LONG in _printed(terminal=False)


def test_a_long_word_on_a_terminal_goes_on_in_the_next_line() -> None:
    shown = _printed(terminal=True)
    assert "…" not in shown
    assert shown.count("X") == 150


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
@pytest.mark.parametrize("text", ["invoice \udcff", "Zürich 5 €", "🎉"])
def test_json_is_json_whatever_the_output_can_encode(monkeypatch: pytest.MonkeyPatch, encoding: str, text: str) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding=encoding))
    emit({"query": text}, as_json=True, render=lambda: None)
    assert json.loads(written.getvalue().decode(encoding)) == {"query": text}


def test_an_argument_that_is_not_utf8_is_shown_escaped() -> None:
    """The system hands its bytes over as lone surrogates, which no output can encode."""
    command = [sys.executable, "-c", "from rag_core.cli.main import run; run()", os.fsencode("search\udcff")]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"search\\udcff" in done.stderr
    assert b"Traceback" not in done.stderr


def test_every_setting_is_named_whole_in_a_pipe() -> None:
    app = typer.Typer()
    register(app)
    shown = CliRunner().invoke(app, ["config", "show"]).stdout
    for name in ("NIGHTSHIFT_LLM__PRICE_PER_MILLION_COMPLETION", "NIGHTSHIFT_WAREHOUSE__MAX_CONCURRENT_STATEMENTS"):
        assert name in shown
    assert "…" not in shown


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("NIGHTSHIFT_TODAY", "foo", "setting NIGHTSHIFT_TODAY: 'foo' is not a date of the form YYYY-MM-DD"),
        ("NIGHTSHIFT_TODAY", "2026-02-30", "setting NIGHTSHIFT_TODAY: '2026-02-30' is not a date"),
        ("NIGHTSHIFT_WAREHOUSE__TIMEZONE", "Mars/Base", "'Mars/Base' is not a time zone: use a name such as"),
    ],
)
def test_a_setting_that_means_nothing_is_refused_by_every_command(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError) as caught:
        load_settings(_env_file=None)
    assert message in str(caught.value)


def test_a_day_and_a_zone_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTSHIFT_TODAY", "2026-07-01")
    monkeypatch.setenv("NIGHTSHIFT_WAREHOUSE__TIMEZONE", "Europe/Stockholm")
    settings = load_settings(_env_file=None)
    assert (settings.today, settings.warehouse.timezone) == ("2026-07-01", "Europe/Stockholm")
