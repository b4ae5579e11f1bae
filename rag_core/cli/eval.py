"""`nightshift eval`: the group of commands that measure; each kind of evaluation adds its own."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import typer

# Kinds whose command lives in this package, as `rag_core/cli/eval_<kind>.py` with `register(group)`. Retrieval is
# measured by `ingestion`, which can index the collections, and joins through `eval_group`.
KINDS = ("sql", "routing", "orchestration")


def register(app: typer.Typer) -> None:
    """Adds the group to the command line."""
    group = typer.Typer(help="Measure retrieval, SQL, routing and orchestration.", no_args_is_help=True)
    app.add_typer(group, name="eval")

    @group.callback()
    def _group() -> None:
        """Measure retrieval, SQL, routing and orchestration."""

    for kind in KINDS:
        if find_spec(f"rag_core.cli.eval_{kind}") is not None:
            import_module(f"rag_core.cli.eval_{kind}").register(group)


def eval_group(app: typer.Typer) -> typer.Typer:
    """The group that `register` added, for packages above this one; made where it is missing."""
    for info in app.registered_groups:
        if info.name == "eval" and info.typer_instance is not None:
            return info.typer_instance
    register(app)
    return eval_group(app)
