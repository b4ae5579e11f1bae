"""`nightshift eval retrieval`: figures of search over collections with known answers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import psycopg
import typer
from psycopg import sql
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ingestion.config import load_rules
from rag_core.cli.output import JsonOption, console, emit, error_console
from rag_core.connectors.migrations import migrate
from rag_core.connectors.sql_files import files_root
from rag_core.connectors.store import Store
from rag_core.errors import ConfigurationError
from rag_core.wiring import Services, open_services

if TYPE_CHECKING:
    from ingestion.evaluation import NullResult


def retrieval_command(
    collection: Annotated[str, typer.Option("--set", help="scifact, devops, sample, musique, hotpotqa or 2wiki.")],
    data: Annotated[Path, typer.Option("--data", help="Folder with scifact, devops and multihop.")] = Path(
        "../shared/data"
    ),
    legs: Annotated[
        str, typer.Option("--legs", help="Of bm25, dense, hybrid, hybrid+classification, with commas.")
    ] = "bm25,dense,hybrid,hybrid+classification",
    split: Annotated[str, typer.Option("--split", help="SciFact's judgements: test or train.")] = "test",
    show_missed: Annotated[bool, typer.Option("--show-missed", help="Name the queries that were missed.")] = False,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Store the limits of the null signal that fit this collection best.")
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure retrieval on a collection, indexed in a database of its own."""
    from ingestion import evaluation  # noqa: PLC0415 - heavy
    from rag_core.retrieval.search import HybridSearch  # noqa: PLC0415 - heavy

    wanted = [leg.strip() for leg in legs.split(",") if leg.strip()]
    unknown = sorted(set(wanted) - set(evaluation.LEGS))
    if unknown or not wanted:
        raise ConfigurationError(f"--legs takes {', '.join(evaluation.LEGS)}, not {legs!r}")
    loaded = evaluation.load_collection(collection, data=data, repository=files_root(), split=split)
    with open_services() as services:
        rules = load_rules(services.config_path(services.settings.ingestion.config))
        store = Store(ensure_database(services, f"nightshift_eval_{collection}"))
        try:
            with _progress() as bar:
                task = bar.add_task(f"Indexing {collection}", total=None)
                evaluation.index_collection(
                    store,
                    services.embedder,
                    loaded,
                    rules=rules,
                    on_progress=lambda done, total: bar.update(task, completed=done, total=total),
                )
                results = []
                for leg in wanted:
                    task = bar.add_task(f"Asking {leg}", total=None)

                    def report(done: int, total: int, current: int = task) -> None:
                        bar.update(current, completed=done, total=total)  # type: ignore[arg-type]

                    results.append(evaluation.run_queries(store, services.embedder, loaded, leg, on_query=report))
                search = HybridSearch(store, services.embedder)
                null = evaluation.judge_null_signal(search, loaded, evaluation.read_foreign(files_root()))
                if calibrate:
                    _store_limits(services, store, collection, null)
        finally:
            store.close()
    table = evaluation.markdown_table(collection, results)

    def render() -> None:
        console.print(table, markup=False, highlight=False, soft_wrap=True)
        console.print(
            f"Null signal: {null.answered:.1%} of {null.questions} questions answered, "
            f"{null.refused:.1%} of {null.foreign} foreign ones refused",
            markup=False,
            highlight=False,
        )
        if show_missed:
            for result in results:
                for query in result.missed:
                    console.print(f"{result.leg} missed {query}", markup=False, highlight=False)

    figures = {result.leg: {**asdict(result.measured), "missed": result.missed} for result in results}
    emit(
        {
            "set": collection,
            "split": split,
            "figures": figures,
            "null_signal": asdict(null),
            **({"markdown": table} if markdown else {}),
        },
        as_json=as_json,
        render=render,
    )


def run_text_set(name: str, data: Path, **how: Any) -> list[dict[str, object]]:
    """Rows of figures of a set of tables and texts; see `ingestion.hybrid_evaluation.run_set`."""
    from ingestion.hybrid_evaluation import run_set  # noqa: PLC0415 - heavy

    return run_set(name, data, **how)


def _store_limits(services: Services, store: Store, collection: str, null: NullResult) -> None:
    from ingestion.evaluation import save_limits  # noqa: PLC0415 - heavy

    basis = {"set": collection, "answered": null.best_answered, "refused": null.best_refused}
    for each in (store, services.store):
        save_limits(each, services.embedder.model_id, null.best, basis)


def ensure_database(services: Services, name: str) -> str:
    """URL of a migrated database of this name on the store's server; made where it is missing.

    Raises ConfigurationError where the store's role may not create one.
    """
    try:
        with psycopg.connect(services.store_dsn, autocommit=True) as connection:
            exists = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone()
            if exists is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
            dsn = psycopg.conninfo.make_conninfo(services.store_dsn, dbname=name)
    except psycopg.errors.InsufficientPrivilege:
        raise ConfigurationError(
            f"the evaluation needs the database {name} on the store's server: create it, or give the role CREATEDB"
        ) from None
    migrate(dsn)
    return dsn


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=error_console, transient=True)
