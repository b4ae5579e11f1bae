"""`nightshift eval orchestration`: whole questions, by the orchestrator and by two baselines, scored by rules.

With a chat model all systems ask it; without one the baselines quote, and are named so.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_core.cli.output import JsonOption, emit, error_console
from rag_core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rag_core.connectors.base import ChatModel
    from rag_core.evaluation.model_baselines import ModelBaselines
    from rag_core.evaluation.runs import System
    from rag_core.evaluation.systems import Baselines
    from rag_core.wiring import Services

BASELINES = ("standard_rag", "flat_agent")
SYSTEMS = (*BASELINES, "hierarchical")
EXTRACTIVE = "_extractive"
# What the hierarchical system can be run without, beside itself as it is.
PARTS = ("decomposition", "reflection", "metrics")
# Sets over texts that must be indexed first, which a package above this one can: it adds them when it registers.
TEXT_SETS: dict[str, Callable[..., list[dict[str, object]]]] = {}


def add_text_set(name: str, run: Callable[..., list[dict[str, object]]]) -> None:
    """Adds a set to `--set`; `run(name, data, *, sample, seed, out, progress)` gives its rows of figures."""
    TEXT_SETS[name] = run


def register(group: typer.Typer) -> None:
    """Adds the command to `nightshift eval`."""

    @group.command("orchestration")
    def _orchestration(
        set_name: Annotated[str, typer.Option("--set", help="sample, ottqa or tatqa.")] = "sample",
        system: Annotated[list[str] | None, typer.Option(help="Only this system; may be given again.")] = None,
        without: Annotated[
            list[str] | None,
            typer.Option(help=f"Also the hierarchical system without {', '.join(PARTS)} or all; may be given again."),
        ] = None,
        limit: Annotated[int, typer.Option(help="So many questions of each tier, evenly spaced; 0 for all.")] = 0,
        data: Annotated[Path, typer.Option(help="Folder of ottqa and tatqa.")] = Path("../shared/data"),
        sample: Annotated[int, typer.Option(help="So many questions of ottqa or tatqa; 0 for all.")] = 0,
        seed: Annotated[int, typer.Option(help="Another number draws another sample of them.")] = 0,
        faults: Annotated[bool, typer.Option("--faults", help="Planted schema mismatches, 100 or --limit.")] = False,
        out: Annotated[Path | None, typer.Option(help="File of scores; a run goes on where it stopped.")] = None,
        markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
        json: JsonOption = False,
    ) -> None:
        """Answer questions that need warehouse and documents and score the answers by rules; no model judges."""
        if set_name in TEXT_SETS:
            if system or without or limit or faults:
                raise ConfigurationError(f"{set_name} takes --sample and --seed, and is asked of the whole system")
            rows = TEXT_SETS[set_name](set_name, data, sample=sample, seed=seed, out=out, progress=_show_part)
        else:
            names = name_systems(system, without)
            rows = run_planted(limit or 100, out) if faults else run_sample(set_name, names, limit, out)
        emit({"set": set_name, "rows": rows}, as_json=json, render=lambda: _render(rows))
        _ = markdown  # the table for people is Markdown already


def _render(rows: list[dict[str, Any]]) -> None:
    from rag_core.evaluation.runs import to_markdown  # noqa: PLC0415 - heavy

    typer.echo(to_markdown(rows))


def name_systems(systems: list[str] | None, without: list[str] | None) -> list[str]:
    """The systems of a run. With `without` alone it is the hierarchical one beside itself without each of these parts.

    Raises ConfigurationError for a part that is none.
    """
    wanted = list(dict.fromkeys(part for name in without or [] for part in (PARTS if name == "all" else (name,))))
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        raise ConfigurationError(f"nothing to leave out is called {unknown[0]}; there are {', '.join(PARTS)}, all")
    chosen = systems or (["hierarchical"] if wanted else list(SYSTEMS))
    return list(dict.fromkeys([*chosen, *(f"without_{name}" for name in wanted)]))


def run_sample(set_name: str, systems: list[str], limit: int, out: Path | None) -> list[dict[str, object]]:
    """Rows of figures by system and tier. Raises ConfigurationError for a set or a system that is none."""
    from rag_core.evaluation.questions import compose_questions, draw_evenly  # noqa: PLC0415 - heavy
    from rag_core.evaluation.runs import run_questions, summarise  # noqa: PLC0415 - heavy
    from rag_core.wiring import open_services  # noqa: PLC0415 - heavy
    from sample.facts import load_facts  # noqa: PLC0415 - reads files

    if set_name != "sample":
        raise ConfigurationError(f"no such set: {set_name}; there are {', '.join(('sample', *TEXT_SETS))}")
    known = (*SYSTEMS, *(f"without_{name}" for name in PARTS))
    unknown = [name for name in systems if name not in known]
    if unknown:
        raise ConfigurationError(f"no such system: {unknown[0]}; there are {', '.join(known)}")
    questions = compose_questions(load_facts())
    if limit:
        questions = draw_evenly(questions, limit)

    with open_services() as services:
        path = out or services.settings.home / "evaluation" / "orchestration-sample.jsonl"
        model = services.chat_model.model_id if services.chat_model is not None else ""
        built = build_systems(services, systems)
        scores = run_questions(questions, built, path, model=model, progress=_show_progress)
    return summarise(scores)


def run_planted(size: int, out: Path | None) -> list[dict[str, object]]:
    """Rows of outcomes by kind of planted fault, in copies of the sample warehouse; no chat model is asked."""
    from rag_core.connectors.embedded import EmbeddedPostgres  # noqa: PLC0415 - heavy
    from rag_core.connectors.store import Store  # noqa: PLC0415 - heavy
    from rag_core.evaluation import fault_runs as runs  # noqa: PLC0415 - heavy
    from rag_core.evaluation.faults import plant_faults, summarise_faults  # noqa: PLC0415 - heavy
    from rag_core.evaluation.stores import fresh_store  # noqa: PLC0415 - heavy
    from rag_core.wiring import SAMPLE_AS_OF, open_services  # noqa: PLC0415 - heavy
    from sample.facts import load_facts  # noqa: PLC0415 - reads files
    from sample.warehouse.load import load_warehouse  # noqa: PLC0415 - heavy

    with open_services() as services:
        server = EmbeddedPostgres(services.settings.home)
        server.start()
        original = "eval_fault_original"
        server.ensure_database(original)
        load_warehouse(server.dsn(original))
        setting = runs.FaultSetting(
            server=server,
            original=original,
            store=Store(fresh_store(server, "eval_fault_store")),
            policy=services.policy,
            semantic_model=services.semantic_model,
            run_date=SAMPLE_AS_OF,
        )
        path = out or services.settings.home / "evaluation" / "faults.jsonl"
    try:
        asked = [str(fact["question"]) for fact in load_facts()["warehouse"] if "question" in fact]
        standing = runs.find_standing(setting, asked, size)
        # More than needed: not every fault is let in by the database.
        cases = plant_faults(standing, runs.read_original(setting), 4 * size)
        scores = runs.run_faults(setting, cases, path, size, progress=_show_progress)
    finally:
        setting.store.close()
    for score in scores:
        if score.outcome == "wrong":
            error_console.print(f"wrong: {score.case_id}, {score.planted}: {score.told}")
    return summarise_faults(scores)


def _show_part(part: str, number: int, total: int) -> None:
    if number % (10 if part == "questions" else 500) == 0 or number == total:
        error_console.print(f"{number} of {total} {part}")


def _show_progress(number: int, total: int) -> None:
    if number % 10 == 0 or number == total:
        error_console.print(f"{number} of {total}")


def build_systems(services: Services, names: list[str]) -> dict[str, System]:
    """These systems by the names that they are reported under; no plan is kept, so every question is planned anew.

    Without metrics the same questions go to the documents and, with a chat model, to SQL that it writes; the values of
    the dimensions are the same for both.
    """
    from rag_core.graph.build import Orchestrator  # noqa: PLC0415 - langgraph

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
        "question_seconds": services.settings.batch.question_seconds,
    }
    whole = services.semantic_model
    bare = whole.model_copy(update={"metrics": {}, "verified_queries": {}, "ambiguous": {}, "readings": {}})
    changes: dict[str, dict[str, Any]] = {
        "hierarchical": {},
        "without_decomposition": {"decompose": False},
        "without_reflection": {"max_retries": 0},
        "without_metrics": {"semantic_model": bare},
    }

    def orchestrated(name: str) -> System:
        made = Orchestrator(**{"semantic_model": whole, **parts, **changes[name]})
        return lambda question: made.answer(question, run_date=day)

    built = {name: orchestrated(name) for name in names if name in changes}
    if services.chat_model is not None:
        asked = _model_baselines(services, services.chat_model)
        named: dict[str, System] = {"standard_rag": asked.standard_rag, "flat_agent": asked.flat_agent}
        return {name: built.get(name) or named[name] for name in names}
    quoting = _extractive_baselines(services)
    named = {"standard_rag": quoting.standard_rag, "flat_agent": quoting.flat_agent}
    return {name if name in built else f"{name}{EXTRACTIVE}": built.get(name) or named[name] for name in names}


def _model_baselines(services: Services, model: ChatModel) -> ModelBaselines:
    """The baselines that ask the chat model, with the schema card that the orchestrator's SQL worker has."""
    from rag_core.evaluation.model_baselines import ModelBaselines  # noqa: PLC0415 - heavy
    from rag_core.schema.knowledge import SchemaKnowledge  # noqa: PLC0415 - heavy
    from rag_core.schema.visible import visible_catalog  # noqa: PLC0415 - heavy

    catalog = visible_catalog(services.guard.policy, services.catalog_cache.current())
    knowledge = SchemaKnowledge(services.warehouse, None, policy=lambda: services.guard.policy)
    return ModelBaselines(
        model=model,
        search=services.search,
        warehouse=services.warehouse,
        guard=services.guard,
        catalog=catalog,
        known=knowledge.known(catalog, services.guard.check),
        run_date=services.run_date(),
    )


def _extractive_baselines(services: Services) -> Baselines:
    from rag_core.evaluation.systems import Baselines  # noqa: PLC0415 - heavy
    from rag_core.workers.sql_worker import SqlWorker  # noqa: PLC0415 - heavy

    worker = SqlWorker(
        warehouse=services.warehouse,
        guard=services.guard,
        catalog=services.catalog_cache.current(),
        semantic_model=services.semantic_model,
        chat_model=None,
    )
    return Baselines(
        search=services.search,
        warehouse=services.warehouse,
        guard=services.guard,
        semantic_model=services.semantic_model,
        values=services.values,
        worker=worker,
        run_date=services.run_date(),
    )
