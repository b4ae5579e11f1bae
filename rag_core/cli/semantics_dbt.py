"""`nightshift semantics import | export`: one definition of the figures for dbt and for Nightshift."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from rag_core.cli.output import JsonOption, console, emit
from rag_core.errors import ConfigurationError
from rag_core.semantics.dbt_export import export_dbt
from rag_core.semantics.dbt_files import Note, read_project
from rag_core.semantics.dbt_import import import_dbt
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.model import check_model
from rag_core.semantics.validate import Problem, validate_model
from rag_core.wiring import open_services

OutputOption = Annotated[Path | None, typer.Option("--output", "-o", help="File to write; stdout unless given.")]
HEADER = """\
# yaml-language-server: $schema=schemas/semantic_model.schema.json
# Made from dbt semantic models by `nightshift semantics import`. Add synonyms, units and values, then run
# `nightshift semantics validate`.
"""


def import_(
    source: Annotated[
        Path, typer.Argument(metavar="FILE|DIR", help="A YAML file of dbt, or the folder of its models.")
    ],
    output: OutputOption = None,
    schema: Annotated[str | None, typer.Option(help="Schema of tables that stand in several.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a semantic model of dbt semantic models and metrics, checked against the live warehouse."""
    _unwritten(output)
    project = read_project(source)
    with open_services() as services:
        catalog, dialect = services.catalog_cache.current(), services.warehouse.dialect
    made = import_dbt(project, catalog=catalog, dialect=dialect, schema=schema)
    try:
        model = SemanticModel.model_validate(made.document)
        check_model(model)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(f"{source}: {place}: {first['msg'].removeprefix('Value error, ')}") from None
    problems = validate_model(model, catalog)
    errors = [problem for problem in problems if problem.severity == "error"]
    text = HEADER + _yaml(made.document)
    if output is not None:
        _write(output, text)
    body: dict[str, Any] = {
        "path": str(output) if output is not None else None,
        "model": text if output is None else None,
        "entities": len(model.entities),
        "metrics": len(model.metrics),
        "dimensions": len(model.dimensions),
        "notes": made.notes,
        "valid": not errors,
        "problems": problems,
    }
    emit(body, as_json=as_json, render=lambda: _render(text if output is None else "", body, made.notes, problems))
    if errors:
        raise typer.Exit(1)


def export(
    dbt: Annotated[bool, typer.Option("--dbt", help="As dbt semantic models and metrics.")] = False,
    output: OutputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the semantic model for another tool; what that tool cannot calculate is named."""
    if not dbt:
        raise typer.BadParameter("say for which tool: --dbt")
    _unwritten(output)
    with open_services() as services:
        made = export_dbt(services.semantic_model)
    if output is not None:
        _write(output, made.text)
    body: dict[str, Any] = {
        "path": str(output) if output is not None else None,
        "document": made.text if output is None else None,
        "semantic_models": len(made.document["semantic_models"]),
        "metrics": len(made.document["metrics"]),
        "notes": made.notes,
    }
    emit(body, as_json=as_json, render=lambda: _render(made.text if output is None else "", body, made.notes, ()))


def _unwritten(output: Path | None) -> None:
    if output is not None and output.exists():
        raise ConfigurationError(f"{output} exists: name another file, or remove it first")


def _write(output: Path, text: str) -> None:
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"cannot write {output}: {error.strerror}") from error


def _yaml(document: dict[str, Any]) -> str:
    from ruamel.yaml import YAML  # noqa: PLC0415 - heavy

    stream = io.StringIO()
    yaml = YAML()
    yaml.width = 120
    yaml.dump(document, stream)
    return stream.getvalue()


def _render(text: str, body: dict[str, Any], notes: tuple[Note, ...], problems: tuple[Problem, ...]) -> None:
    """The text alone on stdout, so that it can be redirected; what is to be known on stderr."""
    if text:
        typer.echo(text, nl=False)
    for note in notes:
        typer.echo(f"note: {note.key}: {note.message}", err=True)
    for problem in problems:
        typer.echo(f"{problem.severity}: {problem.key}: {problem.message}", err=True)
    if body["path"]:
        console.print(f"{body['metrics']} metrics written to {body['path']}", markup=False, highlight=False)
