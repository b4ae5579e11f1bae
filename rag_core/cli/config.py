"""`nightshift config show`: the settings in force, secrets masked, and where each came from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import typer
from dotenv import dotenv_values
from pydantic import BaseModel, SecretStr
from rich.markup import escape
from rich.table import Table

from rag_core.cli.output import JsonOption, console, emit
from rag_core.connectors.dsn import masked_dsn
from rag_core.settings import Settings, load_settings


def _flatten(value: BaseModel, prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in type(value).model_fields:
        item = getattr(value, name)
        if isinstance(item, BaseModel):
            found |= _flatten(item, f"{prefix}{name}__")
        else:
            found[f"{prefix}{name}"] = item
    return found


def _shown(name: str, value: Any) -> Any:
    if isinstance(value, SecretStr):
        return masked_dsn(value.get_secret_value()) if name.endswith("dsn") else "***"
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, list):
        return [str(item) for item in value]
    return value


def describe_settings(
    settings: Settings, environment: dict[str, str], dotenv: dict[str, str | None]
) -> list[dict[str, Any]]:
    """One row a setting: its variable, its value with secrets masked, and its source."""
    rows = []
    for name, value in _flatten(settings).items():
        variable = "OPENAI_API_KEY" if name == "openai_api_key" else f"NIGHTSHIFT_{name.upper()}"
        source = "environment" if variable in environment else ".env" if variable in dotenv else "default"
        rows.append({"setting": variable, "value": _shown(name, value), "source": source})
    return rows


def register(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    group = typer.Typer(help="The settings in force.", no_args_is_help=True)
    app.add_typer(group, name="config")

    @group.callback()
    def _group() -> None:
        """The settings in force."""

    @group.command()
    def show(as_json: JsonOption = False) -> None:
        """Print every setting with secrets masked and where it came from."""
        rows = describe_settings(load_settings(), dict(os.environ), dotenv_values(".env"))

        def render() -> None:
            table = Table("Setting", "Value", "From")
            for row in rows:
                table.add_row(row["setting"], "" if row["value"] is None else escape(str(row["value"])), row["source"])
            console.print(table)

        emit({"settings": rows}, as_json=as_json, render=render)
