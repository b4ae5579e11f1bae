"""Tests that a list names, so that a list of cases cannot name one that is gone."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def require_tests(names: Iterable[str]) -> None:
    """Asserts that each `package.module:test` beneath this folder is a test that exists."""
    for name in names:
        module, test = name.split(":")
        assert (FOLDER / f"{module.replace('.', '/')}.py").is_file(), name
        assert callable(getattr(import_module(f"tests.{module}"), test)), name
