"""Output of the commands: one JSON object on stdout, or text for people; logs and progress go to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

from rag_core.datamodel.query import cell_to_json

# Columns of a table in a pipe; what is wider wraps.
WIDEST = 10_000

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else there.")]


class _WholeTables(Console):
    """Cuts no cell of a table: what stands there is copied, or read by another program.

    On a terminal a word that is wider than its column goes on in the next line; where no terminal sets a width, as in
    a pipe, a table is as wide as it needs to be.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        """Prints as any console of Rich."""
        if len(objects) != 1 or not isinstance(objects[0], Table):
            super().print(*objects, **options)
            return
        (table,) = objects
        for column in table.columns:
            column.overflow = "fold"
        before = self.width
        if not self.is_terminal:
            self.width = max(before, self.measure(table, options=self.options.update(max_width=WIDEST)).maximum)
        try:
            super().print(table, **options)
        finally:
            self.width = before


console = _WholeTables()
error_console = Console(stderr=True)


def to_json(value: Any) -> Any:
    """A value of ours as JSON values; loses no digit (see `cell_to_json`)."""
    if isinstance(value, BaseModel):
        return to_json(value.model_dump(mode="python"))
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(item) for item in value]
    return cell_to_json(value)


def _json_line(value: Any, encoding: str) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        # An argument or a name that is not UTF-8, or an output with few letters: escaped it is JSON all the same.
        text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return text + "\n"


def emit(value: Any, *, as_json: bool, render: Callable[[], None]) -> None:
    """Prints `value` as JSON, or calls `render` to print it for people."""
    if as_json:
        sys.stdout.write(_json_line(to_json(value), sys.stdout.encoding or "utf-8"))
        sys.stdout.flush()
    else:
        render()
