from __future__ import annotations

import importlib.util
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rag_core.cli.main import build_app
from rag_core.cli.strategies import to_contract
from rag_core.connectors.chat_model_server import serve_model
from rag_core.errors import ConfigurationError, ServiceUnavailable
from rag_core.plans.strategies import StrategyStats


def _serve(path: Path, port: int) -> None:
    serve_model(path, port=port, context_tokens=512, alias="m", ready=lambda url: None)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.gguf").write_text("hello", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="is no GGUF file"):
        _serve(tmp_path / "text.gguf", 1)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        _serve(tmp_path / "none.gguf", 1)


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"GGUF0000")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(ConfigurationError, match="--port"):
            _serve(tmp_path / "a.gguf", other.getsockname()[1])


@pytest.mark.skipif(importlib.util.find_spec("xllamacpp") is not None, reason="the extra `local` is installed")
def test_without_the_extra_the_command_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.gguf").write_bytes(b"GGUF0000")
    monkeypatch.setenv("PATH", str(tmp_path))
    result = CliRunner().invoke(build_app(), ["model", "serve", str(tmp_path / "a.gguf"), "--port", str(_free_port())])
    assert isinstance(result.exception, ConfigurationError)
    assert "extra `local`" in str(result.exception)


def test_a_llama_server_in_the_path_does_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("xllamacpp") is not None:
        pytest.skip("the extra `local` is installed and goes first")
    (tmp_path / "a.gguf").write_bytes(b"GGUF0000")
    (tmp_path / "llama-server").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "llama-server").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    started: list[Any] = []
    monkeypatch.setattr("os.execv", lambda binary, arguments: started.append(arguments))
    port = _free_port()
    _serve(tmp_path / "a.gguf", port)
    assert started[0][:3] == [str(tmp_path / "llama-server"), "--model", str(tmp_path / "a.gguf")]
    assert "127.0.0.1" in started[0]
    assert str(port) in started[0]


def test_a_class_is_shown_with_its_strategies() -> None:
    known = (
        StrategyStats(
            question_class="figures, one part, understood",
            strategy="metric",
            uses=10,
            score=7.5,
            model_calls=0,
            tokens=0,
            milliseconds=12.5,
        ),
    )
    shown = to_contract("figures, one part, understood", known)
    assert shown["strategies"][0]["success"] == 0.75
    assert shown["reflection"] == {"used": True, "tried": 0, "helped": 0}
    json.dumps(shown)


def test_a_file_that_llama_cpp_cannot_load_is_told_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    (tmp_path / "a.gguf").write_bytes(b"GGUF0000")
    with pytest.raises(ServiceUnavailable, match=r"cannot serve a\.gguf"):
        _serve(tmp_path / "a.gguf", _free_port())
