"""`nightshift strategies`: which way questions are answered, and what was learned of it."""

from __future__ import annotations

from typing import Any

import typer
from rich.table import Table

from rag_core.cli.output import JsonOption, console, emit
from rag_core.plans.strategies import MIN_GAIN, MIN_USES, StrategyStats, StrategyStore, reflection_helps

RULES = (
    "a kept plan whose fingerprints hold is replayed",
    "parts that depend on one another are cut by code where it understands them",
    "figures and documents that are understood need no model",
    "a model, where one is configured, is asked for the rest",
)


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    strategies = typer.Typer(help="Strategies of answering, and what was learned of them.", no_args_is_help=True)
    strategies.command("show", help="The rules, and the table that `auto` learns from.")(show)
    app.add_typer(strategies, name="strategies")


def show(as_json: JsonOption = False) -> None:
    """Prints the rules and the table."""
    from rag_core.wiring import open_services  # noqa: PLC0415

    with open_services() as services:
        known = StrategyStore(services.store).summarise()
    value = {
        "rules": RULES,
        "learning": (
            f"where the usual way and another one were used {MIN_USES} times in a class of questions, the other is "
            f"taken if its share of good outcomes is {MIN_GAIN:.0%} higher, or no lower at fewer model calls"
        ),
        "classes": [to_contract(name, known) for name in sorted({item.question_class for item in known})],
    }
    emit(value, as_json=as_json, render=lambda: _render(value["learning"], known))


def to_contract(name: str, known: tuple[StrategyStats, ...]) -> dict[str, Any]:
    """A class of questions with its strategies."""
    found = [item for item in known if item.question_class == name]
    return {
        "question_class": name,
        "reflection": {
            "used": reflection_helps(name, known),
            "tried": sum(item.reflected for item in found),
            "helped": sum(item.reflection_helped for item in found),
        },
        "candidates": {
            "tried": sum(item.drawn for item in found),
            "helped": sum(item.drawing_helped for item in found),
        },
        "strategies": [
            {
                "strategy": item.strategy,
                "uses": item.uses,
                "success": round(item.success, 4),
                "model_calls": item.model_calls,
                "tokens": item.tokens,
                "cost_usd": item.cost_usd,
                "milliseconds": item.milliseconds,
                "enough": item.uses >= MIN_USES,
            }
            for item in found
        ],
    }


def _render(learning: Any, known: tuple[StrategyStats, ...]) -> None:
    console.print("`auto` takes the first of these that fits:", markup=False)
    for number, rule in enumerate(RULES, start=1):
        console.print(f"  {number}. {rule}", markup=False, highlight=False)
    console.print(f"It learns: {learning}.", markup=False, highlight=False)
    table = Table("Class of questions", "Strategy", "Uses", "Good", "Calls", "Tokens", "USD", "ms", box=None)
    for item in known:
        cost = "" if item.cost_usd is None else f"{item.cost_usd:.4f}"
        table.add_row(
            item.question_class,
            item.strategy,
            str(item.uses),
            f"{item.success:.0%}",
            f"{item.model_calls:.1f}",
            f"{item.tokens:.0f}",
            cost,
            f"{item.milliseconds:.0f}",
        )
    console.print(table if known else "Nothing was answered yet.")
