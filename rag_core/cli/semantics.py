"""`nightshift semantics`: checks and drafts the semantic model, and shows how a question is read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from rag_core.cli.output import JsonOption, console, emit
from rag_core.cli.semantics_dbt import export, import_
from rag_core.connectors.base import Warehouse
from rag_core.datamodel.plan import MetricQuery
from rag_core.errors import ConfigurationError, QueryFault
from rag_core.schema.visible import visible_catalog
from rag_core.semantics.compile import CompiledQuery, compile_query
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.match import Match, Matcher
from rag_core.semantics.paths import SemanticError
from rag_core.semantics.suggest import suggest_model
from rag_core.semantics.validate import Problem, validate_model
from rag_core.semantics.values import Guard
from rag_core.wiring import open_services

DateOption = Annotated[str | None, typer.Option("--date", help="Date that relative times refer to (YYYY-MM-DD).")]


def validate(
    plan: Annotated[bool, typer.Option(help="Also let the warehouse plan each metric's statement.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Check the semantic model against the live warehouse: tables, columns, types, join keys, double meanings."""
    with open_services() as services:
        model = services.semantic_model
        problems = list(validate_model(model, services.catalog_cache.current()))
        if plan:
            problems.extend(_unplannable(model, services.warehouse, services.guard))
        path = services.config_path(services.settings.warehouse.semantic_model)
    errors = [problem for problem in problems if problem.severity == "error"]
    body: dict[str, Any] = {
        "model": str(path),
        "valid": not errors,
        "metrics": len(model.metrics),
        "dimensions": len(model.dimensions),
        "verified_queries": len(model.verified_queries),
        "problems": problems,
    }
    emit(body, as_json=as_json, render=lambda: _render_problems(body, problems))
    if errors:
        raise typer.Exit(1)


def suggest(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; stdout unless given.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Draft a semantic model from the tables and columns that the policy lets questions read."""
    with open_services() as services:
        catalog = visible_catalog(services.guard.policy, services.catalog_cache.current())
        text = suggest_model(catalog, dialect=services.warehouse.dialect)
    if output is None:
        emit({"model": text}, as_json=as_json, render=lambda: typer.echo(text, nl=False))
        return
    if output.exists():
        raise ConfigurationError(f"{output} exists: name another file, or remove it first")
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"cannot write {output}: {error.strerror}") from error
    emit({"path": str(output)}, as_json=as_json, render=lambda: console.print(f"Draft written to {output}"))


def explain(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question in plain English.")],
    date: DateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how a question is read: what is matched, what is not, and the SQL. Nothing of it is run."""
    with open_services() as services:
        model = services.semantic_model
        match = Matcher(model, services.values).match(question, services.run_date(date))
        compiled = _compiled(match, model, services.warehouse.dialect)
        sql = compiled.sql if compiled is not None else None
        if match.verified is not None:
            sql = match.verified.to_dialect(model.dialect, services.warehouse.dialect)
    body = {
        "question": question,
        "complete": match.complete,
        "confidence": match.confidence,
        "description": compiled.description if compiled is not None else match.reason,
        "reason": match.reason,
        "spans": match.spans,
        "unmatched": match.unmatched,
        "ambiguous": match.ambiguous,
        "assumptions": match.assumptions,
        "query": match.query,
        "verified": match.verified.name if match.verified is not None else None,
        "sql": sql,
        "tables": compiled.tables if compiled is not None else (),
    }
    emit(body, as_json=as_json, render=lambda: _render_match(match, compiled, sql))
    if not match.complete:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    group = typer.Typer(name="semantics", help="Governed metrics: check, draft, explain, dbt.", no_args_is_help=True)
    group.command("validate")(validate)
    group.command("suggest")(suggest)
    group.command("explain")(explain)
    group.command("import")(import_)
    group.command("export")(export)
    app.add_typer(group)


def _unplannable(model: SemanticModel, warehouse: Warehouse, guard: Guard) -> list[Problem]:
    """Metrics whose statement the guard refuses or the warehouse cannot plan."""
    found = []
    for name in model.metrics:
        try:
            compiled = compile_query(MetricQuery(metrics=(name,)), model, warehouse.dialect)
        except SemanticError:
            continue  # a rate over customers needs a period; its parts are planned by themselves
        verdict = guard.check(compiled.sql)
        message = verdict.message
        if verdict.query is not None:
            try:
                warehouse.explain(verdict.query)
            except QueryFault as fault:
                message = fault.message
            else:
                continue
        found.append(Problem(severity="error", key=f"metrics.{name}", message=message))
    return found


def _compiled(match: Match, model: SemanticModel, dialect: str) -> CompiledQuery | None:
    return compile_query(match.query, model, dialect) if match.query is not None else None


def _render_problems(body: dict[str, Any], problems: list[Problem]) -> None:
    for problem in problems:
        style = "red" if problem.severity == "error" else "yellow"
        console.print(
            f"{problem.severity}: {problem.key}: {problem.message}", style=style, markup=False, highlight=False
        )
    state = "valid" if body["valid"] else "not valid"
    console.print(
        f"{body['model']}: {state}; {body['metrics']} metrics, {body['dimensions']} dimensions, "
        f"{body['verified_queries']} verified queries, {len(problems)} problems",
        markup=False,
        highlight=False,
    )


def _render_match(match: Match, compiled: CompiledQuery | None, sql: str | None) -> None:
    table = Table("words", "read as", box=None)
    for span in match.spans:
        table.add_row(span.text, span.meaning)
    for word in match.unmatched:
        table.add_row(word, "not understood", style="red")
    console.print(table)
    if compiled is not None:
        console.print(compiled.description, markup=False, highlight=False)
    for assumption in match.assumptions:
        console.print(f"assumed: {assumption}", markup=False, highlight=False)
    for item in match.ambiguous:
        console.print(f"unclear: {item.question}", style="yellow", markup=False, highlight=False)
    if match.reason and not match.ambiguous and not match.complete:
        console.print(match.reason, style="yellow", markup=False, highlight=False)
    if sql is not None:
        if not match.complete:
            console.print("only this part would be answered:", style="yellow")
        console.print(sql, markup=False, highlight=False)
