"""`nightshift eval sql`: statements that a chat model writes, bare and repaired, scored by execution match."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rag_core.cli.output import JsonOption, emit, error_console
from rag_core.errors import ConfigurationError

SYSTEMS = ("single_shot", "repaired", "worker", "grammar", "candidates")
# Statements drawn at most where the first one is doubtful.
CANDIDATES = 3


def register(group: typer.Typer) -> None:
    """Adds the command to `nightshift eval`."""

    @group.command("sql")
    def _sql(
        set_name: Annotated[str, typer.Option("--set", help="defog.")] = "defog",
        data: Annotated[Path, typer.Option(help="Folder of the data sets.")] = Path("../shared/data"),
        sample: Annotated[int, typer.Option(help="So many answerable questions, by category; 0 for all.")] = 0,
        unanswerable: Annotated[int, typer.Option(help="So many questions without an answer; -1 for all.")] = -1,
        seed: Annotated[int, typer.Option(help="Another number draws another sample.")] = 0,
        system: Annotated[list[str] | None, typer.Option(help="Only this system; may be given again.")] = None,
        resume: Annotated[bool, typer.Option("--resume/--anew", help="Go on with the file of scores.")] = True,
        out: Annotated[Path | None, typer.Option(help="File of scores, by default in the home.")] = None,
        markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
        json: JsonOption = False,
    ) -> None:
        """Execution match of a chat model's SQL.

        One call with the whole schema, its statement repaired; the worker with its own prompt, under a grammar, and
        with several statements where the first is doubtful.
        """
        rows = run_set(
            set_name, data, sample=sample, unanswerable=unanswerable, seed=seed, systems=system or list(SYSTEMS),
            out=out, resume=resume,
        )  # fmt: skip
        emit({"set": set_name, "rows": rows}, as_json=json, render=lambda: _render(rows))
        _ = markdown  # the table for people is Markdown already


def _render(rows: list[dict[str, Any]]) -> None:
    from rag_core.evaluation.runs import to_markdown  # noqa: PLC0415 - heavy

    typer.echo(to_markdown(rows))


def run_set(
    set_name: str,
    data: Path,
    *,
    sample: int,
    unanswerable: int,
    seed: int,
    systems: list[str],
    out: Path | None,
    resume: bool,
) -> list[dict[str, object]]:
    """One row of figures a system.

    Raises ConfigurationError for a set or a system that is none, for missing data, and where no chat model is set.
    """
    from rag_core.connectors.embedded import EmbeddedPostgres  # noqa: PLC0415 - heavy
    from rag_core.evaluation import sql_questions as sets  # noqa: PLC0415
    from rag_core.evaluation.sql_databases import EvalDatabase, load_database, open_database  # noqa: PLC0415 - heavy
    from rag_core.evaluation.sql_runs import run_sql_questions, summarise_sql  # noqa: PLC0415 - heavy
    from rag_core.evaluation.sql_systems import (  # noqa: PLC0415 - heavy
        KeptReplies,
        repaired_shot,
        single_shot,
        sql_worker,
    )
    from rag_core.wiring import open_services  # noqa: PLC0415 - heavy

    if set_name != "defog":
        raise ConfigurationError(f"no such set: {set_name}; there is defog")
    unknown = [name for name in systems if name not in SYSTEMS]
    if unknown:
        raise ConfigurationError(f"no such system: {unknown[0]}; there are {', '.join(SYSTEMS)}")
    folder = data / "defog"
    if not (folder / "questions").is_dir():
        raise ConfigurationError(f"no data of the set defog in {data}: pass --data")
    questions = sets.sample_questions(sets.read_questions(folder / "questions"), sample, seed=seed)
    if unanswerable:
        foreign = sets.read_unanswerable(folder / "questions")
        questions += sets.sample_questions(foreign, max(unanswerable, 0), seed=seed)
    with open_services() as services:
        model = services.chat_model
        if model is None:
            raise ConfigurationError("eval sql needs a chat model; set NIGHTSHIFT_LLM__BASE_URL and __MODEL")
        day = services.run_date() if services.settings.today else _today()
        server = EmbeddedPostgres(services.settings.home)
        server.start()
        path = out or services.settings.home / "evaluation" / "sql-defog.jsonl"
        if not resume:
            # What the model replied stays: the same prompt is not paid for twice.
            path.unlink(missing_ok=True)

        def opened(name: str) -> EvalDatabase:
            return open_database(load_database(server, name, folder / "db" / f"{name}.sql"))

        kept = KeptReplies(model, path.with_name(f"{path.stem}-replies.jsonl"))
        makers = {
            "single_shot": lambda database: single_shot(database, kept),
            "repaired": lambda database: repaired_shot(database, kept, day),
            "worker": lambda database: sql_worker(database, kept, day, grammar=False),
            "grammar": lambda database: sql_worker(database, kept, day, grammar=True),
            "candidates": lambda database: sql_worker(database, kept, day, grammar=True, candidates=CANDIDATES),
        }
        scores = run_sql_questions(
            questions, opened, {name: makers[name] for name in systems}, path, progress=_show_progress
        )
    return summarise_sql(scores)


def _today() -> Any:
    from datetime import UTC, datetime  # noqa: PLC0415

    return datetime.now(UTC).date()  # the rows are dated by the day of loading


def _show_progress(number: int, total: int) -> None:
    if number % 5 == 0 or number == total:
        error_console.print(f"{number} of {total}")
