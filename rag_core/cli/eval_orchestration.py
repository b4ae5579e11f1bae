"""`nightshift eval orchestration`: whole questions, by the orchestrator and by two baselines, scored by rules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_core.cli.output import JsonOption, emit, error_console
from rag_core.errors import ConfigurationError

if TYPE_CHECKING:
    from rag_core.evaluation.systems import System
    from rag_core.wiring import Services

SYSTEMS = ("standard_rag", "flat_agent", "hierarchical", "without_metrics")


def register(group: typer.Typer) -> None:
    """Adds the command to `nightshift eval`."""

    @group.command("orchestration")
    def _orchestration(
        set_name: Annotated[str, typer.Option("--set", help="sample.")] = "sample",
        system: Annotated[list[str] | None, typer.Option(help="Only this system; may be given again.")] = None,
        limit: Annotated[int, typer.Option(help="At most so many questions of each tier; 0 for all.")] = 0,
        out: Annotated[Path | None, typer.Option(help="File of scores; a run goes on where it stopped.")] = None,
        markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
        json: JsonOption = False,
    ) -> None:
        """Answer composed questions with several systems and score them by rules; no model judges."""
        rows = run_sample(set_name, system or list(SYSTEMS), limit, out)
        emit({"set": set_name, "rows": rows}, as_json=json, render=lambda: _render(rows))
        _ = markdown  # the table for people is Markdown already


def _render(rows: list[dict[str, Any]]) -> None:
    from rag_core.evaluation.runs import to_markdown  # noqa: PLC0415 - heavy

    typer.echo(to_markdown(rows))


def run_sample(set_name: str, systems: list[str], limit: int, out: Path | None) -> list[dict[str, object]]:
    """Rows of figures by system and tier. Raises ConfigurationError for a set or a system that is none."""
    from rag_core.evaluation.questions import SIZES, compose_questions  # noqa: PLC0415 - heavy
    from rag_core.evaluation.runs import run_questions, summarise  # noqa: PLC0415 - heavy
    from rag_core.wiring import open_services  # noqa: PLC0415 - heavy
    from sample.facts import load_facts  # noqa: PLC0415 - reads files

    if set_name != "sample":
        raise ConfigurationError(f"no such set: {set_name}; there is sample")
    unknown = [name for name in systems if name not in SYSTEMS]
    if unknown:
        raise ConfigurationError(f"no such system: {unknown[0]}; there are {', '.join(SYSTEMS)}")
    questions = compose_questions(load_facts())
    if limit:
        questions = [one for tier in SIZES for one in [q for q in questions if q.tier == tier][:limit]]

    def progress(number: int, total: int) -> None:
        if number % 20 == 0 or number == total:
            error_console.print(f"{number} of {total}")

    with open_services() as services:
        path = out or services.settings.home / "evaluation" / "orchestration-sample.jsonl"
        built = build_systems(services)
        scores = run_questions(questions, {name: built[name] for name in systems}, path, progress=progress)
    return summarise(scores)


def build_systems(services: Services) -> dict[str, System]:
    """The systems over one set of services; no plan is kept, so that every question is planned anew."""
    from rag_core.evaluation.systems import Baselines  # noqa: PLC0415 - heavy
    from rag_core.graph.build import Orchestrator  # noqa: PLC0415 - langgraph
    from rag_core.workers.sql_worker import SqlWorker  # noqa: PLC0415 - heavy

    day = services.run_date()
    parts: dict[str, Any] = {
        "warehouse": services.warehouse,
        "guard": services.guard,
        "catalog_cache": services.catalog_cache,
        "values": services.values,
        "search": services.search,
        "chat_model": services.chat_model,
        "router_model": services.router_model,
        "embedder": services.embedder,
    }
    bare = services.semantic_model.model_copy(
        update={"metrics": {}, "verified_queries": {}, "ambiguous": {}, "readings": {}}
    )
    whole = Orchestrator(semantic_model=services.semantic_model, **parts)
    without = Orchestrator(semantic_model=bare, **parts)
    worker = SqlWorker(
        warehouse=services.warehouse,
        guard=services.guard,
        catalog=services.catalog_cache.current(),
        semantic_model=services.semantic_model,
        chat_model=None,
    )
    baselines = Baselines(
        search=services.search,
        warehouse=services.warehouse,
        guard=services.guard,
        semantic_model=services.semantic_model,
        values=services.values,
        worker=worker,
        run_date=day,
    )
    return {
        "standard_rag": baselines.standard_rag,
        "flat_agent": baselines.flat_agent,
        "hierarchical": lambda question: whole.answer(question, run_date=day),
        "without_metrics": lambda question: without.answer(question, run_date=day),
    }
