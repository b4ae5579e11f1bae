"""`nightshift batch new | validate | schema | run | list | diff | review | prune`: question batches."""

from __future__ import annotations

import sys
from datetime import date as Date
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from rag_core.batch.definition import batch_files, find_batch, load_batch, load_batches, read_batch
from rag_core.cli.output import JsonOption, console, emit, error_console
from rag_core.cli.person import person
from rag_core.connectors.yaml_files import first_of
from rag_core.datamodel.answer import Answer
from rag_core.datamodel.question import Batch
from rag_core.datamodel.report import BatchOutcome
from rag_core.errors import ConfigurationError, NightshiftError
from rag_core.reports.titles import count_words
from rag_core.wiring import Services, open_services

DateOption = Annotated[str | None, typer.Option("--date", help="Run date (YYYY-MM-DD).")]


def register(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    group = typer.Typer(help="Batches of standing questions.", no_args_is_help=True)
    group.command("run")(run_command)
    group.command("list")(list_command)
    group.command("validate")(validate_command)
    group.command("new")(new_command)
    group.command("diff")(diff_command)
    group.command("schema")(schema_command)
    group.command("prune")(prune_command)
    reviews = typer.Typer(help="Answers that checks kept back: list, release, reject.", no_args_is_help=True)
    reviews.command("list")(list_held_command)
    reviews.command("release")(release_command)
    reviews.command("reject")(reject_command)
    group.add_typer(reviews, name="review")
    app.add_typer(group, name="batch")


def _folder(services: Services) -> Path:
    return services.config_path(services.settings.batch.folder)


def run_command(
    name: Annotated[str, typer.Argument(help="Name of a batch, or the path of its file.")],
    date: Annotated[str | None, typer.Option(help="The date that relative times refer to (YYYY-MM-DD).")] = None,
    publish: Annotated[bool, typer.Option(help="Write the answers to the schema reports.")] = True,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the last run that was cut off.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Answer a batch, judge it, publish it and write its report. Exit code 1 where a question failed."""
    with open_services() as services:
        batch = find_batch(name, _folder(services))
        run_date = services.run_date(date)
        total = len(batch.questions)
        seen: list[str] = []

        def progress(question_id: str, answer: Answer) -> None:
            seen.append(question_id)
            error_console.print(f"[{len(seen)}/{total}] {question_id}: {answer.status}", markup=False)

        runner = services.batch_runner
        unfinished = runner.find_unfinished(batch, run_date) if resume else None
        if unfinished is not None:
            outcome = runner.resume(unfinished, progress=progress)
        else:
            outcome = runner.run(batch, run_date, publish=publish, progress=progress)
        services.copy_reports(outcome)
    emit(outcome, as_json=as_json, render=lambda: _render(outcome, pdf=batch.pdf))
    if outcome.failed or outcome.quarantined:
        raise typer.Exit(1)


def list_command(as_json: JsonOption = False) -> None:
    """List the batches of the configured folder."""
    with open_services() as services:
        batches = load_batches(_folder(services))
    columns = ("batch", "title", "owner", "schedule", "timezone")
    rows = [{**batch.model_dump(include=set(columns)), "questions": len(batch.questions)} for batch in batches]

    def render() -> None:
        table = Table("Batch", "Title", "Owner", "Schedule", "Time zone", "Questions")
        for row in rows:
            table.add_row(*(escape(str(row[key] or "")) for key in (*columns, "questions")))
        console.print(table)

    emit({"batches": rows}, as_json=as_json, render=render)


def validate_command(
    files: Annotated[list[Path] | None, typer.Argument(help="Batch files; none checks the configured folder.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Check batch files without running them. Exit code 2 where one is not valid.

    Columns that expectations name and results will not have are warned of, as far as they are known beforehand; where
    the store runs and no chat model is set up, also words of questions that no rule understands.
    """
    valid: list[dict[str, Any]] = []
    invalid: list[dict[str, Any]] = []
    with open_services() as services:
        for path in files or batch_files(_folder(services)):
            batch, problems = read_batch(path)
            if batch is None:
                invalid.append({"file": str(path), "error": first_of(problems), "problems": problems})
            else:
                warnings = _foreseen(services, batch)
                count = len(batch.questions)
                valid.append({"batch": batch.batch, "file": str(path), "questions": count, "warnings": warnings})

    def render() -> None:
        for entry in valid:
            console.print(f"valid: {entry['batch']} ({entry['questions']} questions)", highlight=False, markup=False)
            for warning in entry["warnings"]:
                text = f"{entry['file']}: warning: {warning}"
                error_console.print(text, style="yellow", markup=False, highlight=False, soft_wrap=True)
        for entry in invalid:
            for problem in entry["problems"]:
                error_console.print(str(problem), style="red", markup=False, highlight=False, soft_wrap=True)

    emit({"valid": valid, "invalid": invalid}, as_json=as_json, render=render)
    if invalid:
        raise typer.Exit(2)


def _foreseen(services: Services, batch: Batch) -> list[str]:
    """What is known to go wrong before anything is asked: columns that will not be there, words that nobody reads.

    Nothing is started for it; where the store does not run, less is known. With a chat model no word is beyond reading.
    """
    from rag_core.batch.columns import ColumnForecast, find_unknown_columns  # noqa: PLC0415 - heavy
    from rag_core.batch.reading import QuestionReader  # noqa: PLC0415 - heavy
    from rag_core.batch.wording import WordingForecast, find_unknown_words  # noqa: PLC0415 - heavy
    from rag_core.plans.store import PlanStore  # noqa: PLC0415
    from rag_core.provision import read_status  # noqa: PLC0415
    from rag_core.semantics.values import ValueIndex  # noqa: PLC0415 - heavy

    columns = any(question.headline or question.expectations for question in batch.questions)
    status = read_status(services.settings)
    known = status.running and status.migrated
    words = known and not services.settings.chat_model_configured
    if not (columns or words):
        return []
    try:
        values, plans = (services.values, PlanStore(services.store)) if known else (ValueIndex(), None)
        reader = QuestionReader(services.semantic_model, values, services.run_date(), plans)
        found: list[str] = []
        if columns:
            found += find_unknown_columns(batch, ColumnForecast(reader).of)
        if words:
            found += find_unknown_words(batch, WordingForecast(reader))
        return found
    except NightshiftError as error:
        return [f"the columns and words of its questions were not looked up: {error}"]


def new_command(
    name: Annotated[str, typer.Argument(help="Name of the batch: lower-case letters, digits and _.")],
    title: Annotated[str | None, typer.Option(help="Title of the report.")] = None,
    owner: Annotated[str, typer.Option(help="Who answers for the batch.")] = "nightshift",
    folder: Annotated[Path | None, typer.Option(help="Where to write it; else the configured folder.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a new batch file to start from."""
    from rag_core.batch.skeleton import write_skeleton  # noqa: PLC0415

    with open_services() as services:
        path = write_skeleton(folder or _folder(services), name, title=title, owner=owner)
    emit({"file": str(path)}, as_json=as_json, render=lambda: console.print(f"Written: {path}", markup=False))


def schema_command() -> None:
    """Print the JSON schema of a batch file."""
    from rag_core.batch.file import schema_text  # noqa: PLC0415

    sys.stdout.write(schema_text())


def diff_command(
    name: Annotated[str, typer.Argument(help="Name of a batch, or the path of its file.")],
    against: Annotated[Path | None, typer.Option(help="Another batch file; else the batch as it last ran.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a batch file changes."""
    from rag_core.batch.compare import BatchChange, compare_batches  # noqa: PLC0415
    from rag_core.batch.runner import last_definition  # noqa: PLC0415

    with open_services() as services:
        batch = find_batch(name, _folder(services))
        if against is not None:
            before, known = load_batch(against), str(against)
        else:
            ran = last_definition(services.store, batch.batch)
            if ran is None:
                raise ConfigurationError(f"the batch {batch.batch} has not run yet: there is nothing to compare with")
            before, known = ran[0], f"the run for {ran[1].isoformat()}"
    changes = compare_batches(before, batch)

    def describe(change: BatchChange) -> str:
        where = change.question_id or batch.batch
        if change.kind == "added":
            return f"+ {where}: {change.after}"
        if change.kind == "removed":
            return f"- {where}: {change.before}"
        note = " (a new version)" if change.kind == "text_changed" else ""
        return f"~ {where}.{change.field}{note}: {change.before} -> {change.after}"

    def render() -> None:
        console.print(f"{len(changes)} differences to {known}", markup=False, highlight=False)
        for change in changes:
            console.print(describe(change), markup=False, highlight=False, soft_wrap=True)

    emit({"batch": batch.batch, "against": known, "changes": changes}, as_json=as_json, render=render)


def list_held_command(
    batch: Annotated[str | None, typer.Argument(help="Only of this batch.")] = None,
    date: DateOption = None,
    as_json: JsonOption = False,
) -> None:
    """List answers that checks kept back, newest first."""
    from rag_core.batch.review import list_held_answers  # noqa: PLC0415

    with open_services() as services:
        held = list_held_answers(services.store, batch, services.run_date(date) if date else None)

    def render() -> None:
        if not held:
            console.print("No answer is kept back.")
            return
        table = Table("Batch", "Question", "Date", "Reason", "Decision", show_lines=True)
        for item in held:
            decision = f"{item.review} by {item.reviewed_by}" if item.review else ""
            cells = (item.batch, item.question_id, item.run_date.isoformat(), item.reason, decision)
            table.add_row(*(escape(cell) for cell in cells))
        console.print(table)

    emit({"held": held}, as_json=as_json, render=render)


BatchArgument = Annotated[str, typer.Argument(help="Name of the batch.")]
QuestionArgument = Annotated[str, typer.Argument(help="Id of the question.")]
ByOption = Annotated[str | None, typer.Option("--by", help="Who decides; else the user of this machine.")]
NoteOption = Annotated[str, typer.Option("--note", help="Why: it is kept with the decision.", show_default=False)]


def release_command(
    batch: BatchArgument,
    question_id: QuestionArgument,
    by: ByOption = None,
    note: NoteOption = "",
    date: DateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Publish an answer although checks kept it back."""
    _review("released", batch, question_id, by, note, date, as_json)


def reject_command(
    batch: BatchArgument,
    question_id: QuestionArgument,
    by: ByOption = None,
    note: NoteOption = "",
    date: DateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Confirm that an answer stays kept back."""
    _review("rejected", batch, question_id, by, note, date, as_json)


def _review(
    decision: str, batch: str, question_id: str, named: str | None, note: str, date: str | None, as_json: bool
) -> None:
    if not note.strip():
        raise ConfigurationError("say why: --note 'REASON' is kept with the decision")
    from rag_core.batch.review import review_answer  # noqa: PLC0415 - a wrong argument must not start anything

    by = person(named)
    with open_services() as services:
        run_date = services.run_date(date)
        review_answer(
            services.store,
            batch=batch,
            question_id=question_id,
            run_date=run_date,
            decision="released" if decision == "released" else "rejected",
            by=by,
            note=note,
        )
        if services.report_mirror is not None:
            services.report_mirror.copy(batch, run_date)
    done = {"batch": batch, "question_id": question_id, "run_date": run_date, "decision": decision, "by": by}
    text = f"{question_id} of {batch} for {run_date.isoformat()}: {decision} by {by}"
    emit(done, as_json=as_json, render=lambda: console.print(text, markup=False, highlight=False))


def prune_command(
    before: Annotated[str, typer.Option(help="Drop the months that lie wholly before this date (YYYY-MM-DD).")],
    by: Annotated[str, typer.Option("--by", help="Who does it.")] = "nightshift",
    as_json: JsonOption = False,
) -> None:
    """Drop old months of results. Audit events and reviews stay."""
    from rag_core.reports.retention import drop_months  # noqa: PLC0415

    try:
        day = Date.fromisoformat(before)
    except ValueError:
        raise ConfigurationError(f"not a date of the form YYYY-MM-DD: {before}") from None
    with open_services() as services, services.store.connection() as connection:
        dropped = drop_months(connection, day, actor=by)
    text = f"{len(dropped)} partitions dropped"
    emit({"dropped": dropped}, as_json=as_json, render=lambda: console.print(text, highlight=False))


def _render(outcome: BatchOutcome, *, pdf: bool) -> None:
    table = Table("Question", "Status", "State", "Answer", show_lines=True)
    for question in outcome.questions:
        text = question.reason if question.state == "quarantined" else question.answer.strip().split("\n\n")[0]
        shown = text if len(text) <= 300 else f"{text[:299]}…"
        table.add_row(question.question_id, question.status, question.state, escape(shown))
    console.print(table)
    console.print(
        f"{outcome.published} of {len(outcome.questions)} published, {outcome.quarantined} quarantined, "
        f"{outcome.failed} failed, {outcome.needs_model} {count_words('needs_model', outcome.needs_model)}."
    )
    for name, path in report_files(outcome, pdf=pdf).items():
        console.print(f"{name}: {path}", soft_wrap=True, highlight=False, markup=False)


def report_files(outcome: BatchOutcome, *, pdf: bool) -> dict[str, Path]:
    """The files of a run's report by what people call them; `pdf` where the batch wants one."""
    if outcome.report_path is None:
        return {}
    report = Path(outcome.report_path)
    files = {"Report": report, "Markdown": report.with_suffix(".md")}
    return files | {"PDF": report.with_suffix(".pdf")} if pdf else files
