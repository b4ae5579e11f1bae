"""`nightshift eval routing`: which source a question is sent to, against where its answer is known to stand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_core.cli.output import JsonOption, emit, error_console
from rag_core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rag_core.connectors.base import ChatModel


def register(group: typer.Typer) -> None:
    """Adds the command to `nightshift eval`."""

    @group.command("routing")
    def _routing(
        set_name: Annotated[str, typer.Option("--set", help="tatqa.")] = "tatqa",
        data: Annotated[Path, typer.Option(help="Folder of the data sets.")] = Path("../shared/data"),
        sample: Annotated[int, typer.Option(help="So many questions at even distances; 0 for all.")] = 0,
        model: Annotated[bool, typer.Option("--model", help="By the configured chat model, not by the rules.")] = False,
        markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
        json: JsonOption = False,
    ) -> None:
        """Accuracy of routing by gold route: by the rules, or by the router of the configured chat model."""
        from rag_core.evaluation.routing import measure_routes, read_routes, route_by_words  # noqa: PLC0415 - heavy
        from rag_core.evaluation.runs import to_markdown  # noqa: PLC0415 - heavy

        if set_name != "tatqa":
            raise ConfigurationError(f"no such set: {set_name}; there is tatqa")
        questions = read_routes(data / "tatqa_hybrid" / "dev_questions.jsonl", sample=sample)
        router = _router() if model else route_by_words

        def progress(number: int, total: int) -> None:
            if model and (number % 20 == 0 or number == total):
                error_console.print(f"{number} of {total}")

        rows = measure_routes(questions, router, progress=progress)
        emit({"set": set_name, "rows": rows}, as_json=json, render=lambda: typer.echo(to_markdown(rows)))
        _ = markdown  # the table for people is Markdown already


def _router() -> Callable[[str], str]:
    from rag_core.wiring import open_services  # noqa: PLC0415 - heavy

    with open_services() as services:
        chat_model = services.router_model or services.chat_model
    if chat_model is None:
        raise ConfigurationError("--model needs a chat model; set NIGHTSHIFT_LLM__BASE_URL and NIGHTSHIFT_LLM__MODEL")
    return route_by_model(chat_model)


def route_by_model(chat_model: ChatModel) -> Callable[[str], str]:
    """A route by the planner's own prompt; a reply that cannot be read asks both sources, as the planner does."""
    from rag_core.errors import ModelFault  # noqa: PLC0415
    from rag_core.prompts.loader import fence, load_prompt  # noqa: PLC0415
    from rag_core.workers.planner import Route  # noqa: PLC0415 - heavy

    names = {"sql_worker": "sql", "vector_worker": "vector", "both": "hybrid"}
    prompt = load_prompt("plan_question")

    def route(question: str) -> str:
        values = {
            "run_date": "2020-12-31",
            "tables": "the tables of a company's financial report",
            "question": fence("question", question),
        }
        try:
            reply, _ = chat_model.complete(prompt.system, prompt.render(values), Route)
        except ModelFault:
            return "hybrid"
        return names[reply.next_worker]

    return route
