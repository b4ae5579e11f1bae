"""`nightshift model`: a chat model on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag_core.cli.output import JsonOption, console, emit
from rag_core.connectors.chat_model_server import serve_model


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    model = typer.Typer(help="A chat model on this machine.", no_args_is_help=True)
    model.command("serve", help="Serve a GGUF file on loopback until it is stopped.")(serve)
    app.add_typer(model, name="model")


def serve(
    file: Annotated[Path, typer.Argument(help="The model, a GGUF file")],
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on loopback")] = 8089,
    context: Annotated[int, typer.Option(min=512, help="Tokens of a prompt and its reply together")] = 8192,
    name: Annotated[str | None, typer.Option(help="Name that requests give; else the file's")] = None,
    as_json: JsonOption = False,
) -> None:
    """Serves the model and says with which settings it is used."""
    alias = name or file.stem

    def ready(url: str) -> None:
        settings = {"NIGHTSHIFT_LLM__BASE_URL": url, "NIGHTSHIFT_LLM__MODEL": alias, "NIGHTSHIFT_LLM__API_KEY": "none"}

        def render() -> None:
            console.print(f"Serving {file.name} at {url}; stop it with Ctrl-C. Use it with", markup=False)
            for key, value in settings.items():
                console.print(f"{key}={value}", markup=False, highlight=False)

        emit({"url": url, "model": alias, "settings": settings}, as_json=as_json, render=render)

    serve_model(file, port=port, context_tokens=context, alias=alias, ready=ready)
