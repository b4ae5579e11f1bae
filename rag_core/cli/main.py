"""The command `nightshift`: joins the commands and turns errors into one line and an exit code."""

from __future__ import annotations

import io
import logging
import os
import sys
from importlib import import_module
from importlib.metadata import entry_points

import typer
from rich.logging import RichHandler

from rag_core.cli.output import error_console
from rag_core.errors import NightshiftError

# In the order in which `nightshift --help` shows them.
COMMANDS = (
    "service",
    "config",
    "search",
    "sql",
    "schema",
    "semantics",
    "ask",
    "batch",
    "plans",
    "strategies",
    "model",
    "drift",
    "audit",
    "eval",
)


# Typer carries a Click of its own, whose base of usage errors has no public name.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


def build_app() -> typer.Typer:
    """The command line with every command of this package and of the packages above it."""
    app = typer.Typer(
        name="nightshift",
        help="Answers standing questions from your warehouse and your documents, validated and cited.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in COMMANDS:
        import_module(f"rag_core.cli.{name}").register(app)
    for entry in sorted(entry_points(group="nightshift.commands"), key=lambda point: point.name):
        entry.load()(app)
    return app


def _configure_output() -> None:
    """What an output cannot encode (an argument that is not UTF-8, few letters) is escaped and ends no command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _configure_logging() -> None:
    handler = RichHandler(console=error_console, show_path=False, rich_tracebacks=False)
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[handler], force=True)
    logging.getLogger("rag_core").setLevel(logging.INFO)
    logging.getLogger("ingestion").setLevel(logging.INFO)
    # What it warns of, a connection that was lost, ends the command with a line of our own.
    logging.getLogger("psycopg").setLevel(logging.ERROR)
    # Models come from installed packages; a hub must never be asked behind the user's back.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def run() -> None:
    """Entry point. Exit codes: 0 done, 1 done but something failed, 2 wrong usage or settings, 3 unreachable."""
    _configure_output()
    _configure_logging()
    try:
        result = build_app()(standalone_mode=False)
    except typer.Exit as stop:
        sys.exit(stop.exit_code)
    except _UsageError as error:
        error_console.print(f"nightshift: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)
    except typer.Abort:
        sys.exit(130)
    except NightshiftError as error:
        error_console.print(f"nightshift: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(error.exit_code)
    sys.exit(result if isinstance(result, int) else 0)
