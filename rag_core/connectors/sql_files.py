"""Our own SQL lives in files: `sql/queries/<area>/verb_object.sql`, one statement each."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import LiteralString

from psycopg import sql

from rag_core.errors import ConfigurationError


@cache
def files_root() -> Path:
    """Folder that holds `sql/` and `config/`: inside the installed package, or the checkout."""
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "_files", package.parent):
        if (candidate / "sql" / "migrations").is_dir():
            return candidate
    raise ConfigurationError("the folder sql/migrations is missing from this installation: install it again")


def literal(text: str) -> LiteralString:
    """Marks the text of a file of ours as a literal: the file is code, as fixed as a string in a module."""
    return text


@cache
def statement(name: str) -> LiteralString:
    """The statement of `sql/queries/<name>.sql`, e.g. `documents/insert_chunk`, parameters as psycopg wants them."""
    path = files_root() / "sql" / "queries" / f"{name}.sql"
    return literal(path.read_text(encoding="utf-8").strip().rstrip(";"))


@cache
def template(name: str) -> sql.SQL:
    """The same as a composable, for statements with `{identifiers}` to be formatted by psycopg."""
    return sql.SQL(statement(name))


@cache
def script(name: str) -> sql.SQL:
    """The statements of `sql/scripts/<name>.sql`, to be formatted with identifiers and run without parameters."""
    return sql.SQL(literal((files_root() / "sql" / "scripts" / f"{name}.sql").read_text(encoding="utf-8")))
