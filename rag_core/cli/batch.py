"""`nightshift batch run | list | validate`: question batches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from rag_core.batch.definition import find_batch, load_batches
from rag_core.cli.output import JsonOption, console, emit, error_console
from rag_core.datamodel.answer import Answer
from rag_core.datamodel.report import BatchOutcome
from rag_core.wiring import open_services


def register(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    group = typer.Typer(help="Batches of standing questions.", no_args_is_help=True)
    app.add_typer(group, name="batch")

    @group.command("run")
    def run_batch(
        name: Annotated[str, typer.Argument(help="Name of a batch, or the path of its file.")],
        date: Annotated[str | None, typer.Option(help="The date that relative times refer to (YYYY-MM-DD).")] = None,
        publish: Annotated[bool, typer.Option(help="Write the answers to the schema reports.")] = True,
        as_json: JsonOption = False,
    ) -> None:
        """Answer a batch, judge it, publish it and write its report. Exit code 1 where a question failed."""
        with open_services() as services:
            batch = find_batch(name, services.config_path(services.settings.batch.folder))
            run_date = services.run_date(date)
            total = len(batch.questions)
            seen: list[str] = []

            def progress(question_id: str, answer: Answer) -> None:
                seen.append(question_id)
                error_console.print(f"[{len(seen)}/{total}] {question_id}: {answer.status}", markup=False)

            outcome = services.batch_runner.run(batch, run_date, publish=publish, progress=progress)
        emit(outcome, as_json=as_json, render=lambda: _render(outcome))
        if outcome.failed or outcome.quarantined:
            raise typer.Exit(1)

    @group.command("list")
    def list_batches(as_json: JsonOption = False) -> None:
        """List the batches of the configured folder."""
        with open_services() as services:
            batches = load_batches(services.config_path(services.settings.batch.folder))
        rows = [
            {
                "batch": batch.batch,
                "title": batch.title,
                "owner": batch.owner,
                "schedule": batch.schedule,
                "timezone": batch.timezone,
                "questions": len(batch.questions),
            }
            for batch in batches
        ]

        def render() -> None:
            table = Table("Batch", "Title", "Owner", "Schedule", "Questions")
            for row in rows:
                table.add_row(*(str(row[key] or "") for key in ("batch", "title", "owner", "schedule", "questions")))
            console.print(table)

        emit({"batches": rows}, as_json=as_json, render=render)

    @group.command()
    def validate(
        files: Annotated[list[Path] | None, typer.Argument(help="Batch files; none checks the configured folder.")] = None,
        as_json: JsonOption = False,
    ) -> None:
        """Check batch files without running them."""
        with open_services() as services:
            folder = services.config_path(services.settings.batch.folder)
            batches = [find_batch(str(file), folder) for file in files] if files else list(load_batches(folder))
        names = [batch.batch for batch in batches]
        emit({"valid": names}, as_json=as_json, render=lambda: console.print(f"Valid: {', '.join(names)}"))


def _render(outcome: BatchOutcome) -> None:
    table = Table("Question", "Status", "State", "Answer", show_lines=True)
    for question in outcome.questions:
        first = question.answer.strip().split("\n\n")[0]
        table.add_row(question.question_id, question.status, question.state, escape(first[:300]))
    console.print(table)
    console.print(
        f"{outcome.published} published, {outcome.quarantined} quarantined, {outcome.failed} failed, "
        f"{outcome.needs_model} need a model."
    )
    console.print(f"Report: {outcome.report_path}", soft_wrap=True, highlight=False)
