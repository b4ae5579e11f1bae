"""`nightshift ingest` and `nightshift documents`: the document index from the command line."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, get_args

import psycopg
import typer
from rich.table import Table

from ingestion.config import IngestionRules, load_rules
from ingestion.documents import DocumentState
from ingestion.eval_cli import retrieval_command, run_text_set
from ingestion.export_names import export_names, write_export
from ingestion.listing import list_documents
from ingestion.progress import IngestProgress
from ingestion.retry import find_retry_target
from ingestion.scope import Root
from rag_core.cli.eval import eval_group
from rag_core.cli.eval_orchestration import add_text_set
from rag_core.cli.output import JsonOption, console, emit, error_console
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import connection_problem
from rag_core.errors import ConfigurationError
from rag_core.evaluation.hybrid_questions import SETS as TEXT_SETS
from rag_core.provision import sample_documents_folder
from rag_core.wiring import Services, open_services


def register(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    app.command("ingest")(ingest_command)
    group = typer.Typer(help="The documents of the index.", no_args_is_help=True)
    group.command("list")(list_command)
    group.command("retry")(retry_command)
    group.command("export")(export_command)
    app.add_typer(group, name="documents")
    eval_group(app).command("retrieval")(retrieval_command)
    for name in TEXT_SETS:
        add_text_set(name, run_text_set)


def ingest_command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH...",
            help="Folders or files; else those of NIGHTSHIFT_INGESTION__SOURCES, or the sample company's.",
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", help="Name of the source; the folder's own name where none is given.")
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove documents whose files are gone, after a complete listing.")
    ] = False,
    max_delete: Annotated[
        float, typer.Option("--max-delete", min=0.0, max=1.0, help="Largest share of documents that --prune removes.")
    ] = 0.2,
    as_json: JsonOption = False,
) -> None:
    """Bring the index up to date with files. Unchanged files cost nothing."""
    with open_services() as services:
        wanted = paths or list(services.settings.ingestion.sources) or _sample_documents(services)
        _ingest(services, wanted, source=source, prune=prune, max_delete=max_delete, as_json=as_json)


def _sample_documents(services: Services) -> list[Path]:
    """The sample company's documents, built where they are missing; none where a warehouse of your own is asked."""
    if not services.settings.embedded_warehouse:
        return []
    folder = sample_documents_folder(services.settings)
    if not folder.is_dir():
        try:
            from sample.build_documents import build_documents  # noqa: PLC0415 - only in a checkout
        except ModuleNotFoundError:
            return []
        build_documents(folder)
    return [folder]


def list_command(
    state: Annotated[str | None, typer.Option("--state", help="Only documents in this state.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the documents with their state."""
    states = get_args(DocumentState)
    if state is not None and state not in states:
        raise ConfigurationError(f"there is no state {state!r}: use {', '.join(states)}")
    with open_services() as services:
        documents = list_documents(services.store, state)

    def render() -> None:
        table = Table("State", "Type", "Title", "Source", "Path", "Chunks", "Reason")
        for each in documents:
            reason = f"{each['stage']}: {each['reason']}" if each["reason"] else ""
            if each["kept_from"]:
                reason += f"; what was published of it at {each['kept_from']:%Y-%m-%d %H:%M} still answers"
            cells = (each["state"], each["document_type"], each["title"], each["source"], each["path"])
            table.add_row(*(str(cell or "") for cell in cells), str(each["chunks"]), reason)
        console.print(table)

    emit({"documents": documents}, as_json=as_json, render=render)


def retry_command(
    document_id: Annotated[str, typer.Argument(help="Id of the document, as `documents list --json` shows it.")],
    as_json: JsonOption = False,
) -> None:
    """Process one document again, whatever its state: a locked one with NIGHTSHIFT_INGESTION__PASSWORDS, say."""
    with open_services() as services:
        target = find_retry_target(services.store, document_id)
        _ingest(services, [], retry=target, as_json=as_json)


def export_command(
    target: Annotated[Path, typer.Argument(help="Folder to write to.")],
    document_id: Annotated[str | None, typer.Option("--id", help="Only this document.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the documents as Markdown with their enriched frontmatter."""
    with open_services() as services, services.store.connection() as connection:
        listed = connection.execute(statement("documents/list_enriched")).fetchall()
        rows = connection.execute(statement("documents/select_enriched"), {"document_id": document_id}).fetchall()
    if document_id is not None and not rows:
        raise ConfigurationError(f"there is no document {document_id!r} with text")
    # Of all documents, so that a single one is written where all are and never over another.
    names = export_names(listed)
    written: list[str] = []
    failed: list[dict[str, str]] = []
    for key, _, path, enriched in rows:
        try:
            write_export(target, names[key], enriched)
        except (OSError, ConfigurationError) as error:
            told = error.strerror if isinstance(error, OSError) else str(error)
            failed.append({"path": path, "error": told or type(error).__name__})
        else:
            written.append(names[key].as_posix())

    def render() -> None:
        console.print(f"{len(written)} files written below {target}", markup=False)
        for each in failed:
            console.print(f"  {each['path']}: {each['error']}", markup=False)

    emit({"written": len(written), "files": written, "failed": failed}, as_json=as_json, render=render)
    if failed:
        raise typer.Exit(1)


def _ingest(
    services: Services,
    paths: list[Path],
    *,
    source: str | None = None,
    prune: bool = False,
    max_delete: float = 0.2,
    retry: Root | None = None,
    as_json: bool,
) -> None:
    from ingestion.pipeline import Progress as Report  # noqa: PLC0415 - heavy
    from ingestion.pipeline import ingest  # noqa: PLC0415 - heavy

    rules: IngestionRules = load_rules(services.config_path(services.settings.ingestion.config))
    with IngestProgress(error_console) as bar:

        def report(progress: Report) -> None:
            note = f"{progress.embeddings} embeddings" if progress.what == "documents" else "published"
            bar.update(progress.what, progress.done, progress.total, note)

        def report_build(done: int, total: int) -> None:
            bar.update("chunks", done, total, "for the index of the new embedding model")

        try:
            outcome = ingest(
                services.store,
                services.embedder,
                paths,
                rules=rules,
                source=source,
                prune=prune,
                max_delete_share=max_delete,
                retry=retry,
                chat_model=services.chat_model,
                passwords=services.settings.ingestion.passwords,
                on_progress=report,
                on_build=report_build,
            )
        except psycopg.OperationalError as error:
            raise connection_problem(error, what="store; what was done is kept, run the command again") from error

    def render() -> None:
        counts = ", ".join(f"{count} {name}" for name, count in outcome.documents.items())
        work = f"{outcome.chunks} chunks, {outcome.embeddings_computed} embeddings computed"
        console.print(f"{counts}; {work}", markup=False)
        for note in outcome.notes:
            console.print(note, markup=False)
        for each in outcome.documents_failed:
            kept = "; what was published of it before still answers" if each.kept else ""
            console.print(f"  {each.path}: {each.state} ({each.stage}) {each.error}{kept}", markup=False)
        if outcome.prune_refused:
            console.print(outcome.prune_refused, markup=False)

    emit(asdict(outcome), as_json=as_json, render=render)
    if outcome.failed:
        raise typer.Exit(1)
