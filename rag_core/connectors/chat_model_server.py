"""Serves a model file on loopback by llama.cpp, so that the whole stack can be local.

By the wheel of the extra `local`, or by a `llama-server` that stands in the path.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path

from rag_core.errors import ConfigurationError, ServiceUnavailable

HOST = "127.0.0.1"
_MAGIC = b"GGUF"


def check_model_file(path: Path) -> Path:
    """The file; raises ConfigurationError where it is missing or no GGUF file."""
    try:
        with path.open("rb") as file:
            head = file.read(len(_MAGIC))
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror})") from error
    if head != _MAGIC:
        raise ConfigurationError(f"{path}: is no GGUF file")
    return path


def check_port(port: int) -> None:
    """Raises ConfigurationError where another process listens on the port."""
    with socket.socket() as probe:
        if probe.connect_ex((HOST, port)) == 0:
            raise ConfigurationError(f"another process listens on port {port}: choose another one with --port")


def serve_model(path: Path, *, port: int, context_tokens: int, alias: str, ready: Callable[[str], None]) -> None:
    """Serves the model until the process is stopped.

    Args:
        path: the GGUF file.
        port: on loopback; nobody else's machine reaches it.
        context_tokens: tokens of a prompt and its reply together.
        alias: the name that requests give for the model.
        ready: told the base URL as soon as the model has been loaded.

    Raises ConfigurationError where the file, the port or the extra `local` is missing, ServiceUnavailable where
    llama.cpp cannot load the model.
    """
    check_model_file(path)
    check_port(port)
    if importlib.util.find_spec("xllamacpp") is not None:
        run_library(path, port, context_tokens, alias, ready)
    else:
        binary = shutil.which("llama-server")
        if binary is None:
            raise ConfigurationError(
                "serving a model needs the extra `local` (pip install 'nightshift-analytics[local]') "
                "or a llama-server in the path"
            )
        ready(f"http://{HOST}:{port}/v1")
        arguments = ("--model", str(path), "--host", HOST, "--port", str(port), "--ctx-size", str(context_tokens))
        os.execv(binary, [binary, *arguments, "--parallel", "1", "--alias", alias])


def run_library(path: Path, port: int, context_tokens: int, alias: str, ready: Callable[[str], None]) -> None:
    """Serves by the wheel, in this process, until it is stopped."""
    import xllamacpp  # noqa: PLC0415 - heavy

    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.hostnames, parameters.port = str(path), [HOST], port
    parameters.n_ctx, parameters.n_parallel, parameters.model_alias = context_tokens, 1, {alias}
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise ServiceUnavailable(f"llama.cpp cannot serve {path.name}: {error}") from error
    ready(f"http://{HOST}:{port}/v1")
    try:
        while True:
            time.sleep(3600)
    finally:
        del server
