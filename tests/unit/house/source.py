"""The repository's own Python and SQL files, as the house tests read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LIBRARIES = ("rag_core", "ingestion", "plugins")


@dataclass(frozen=True)
class Module:
    """A Python file. `name` is its path below the repository, with slashes."""

    name: str
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        """Number of lines."""
        return len(self.text.splitlines())


@cache
def modules(*folders: str) -> tuple[Module, ...]:
    """All Python files below the folders (the libraries where none is named), in order of their paths."""
    found = []
    for folder in folders or LIBRARIES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            found.append(Module(path.relative_to(ROOT).as_posix(), text, ast.parse(text)))
    return tuple(found)


def calls(tree: ast.AST, *names: str) -> Iterator[ast.Call]:
    """Calls of functions or methods of these names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None)
            if name in names:
                yield node
