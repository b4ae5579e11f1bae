"""The gold statements of defog's questions, and what they read, as the guard resolves it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.evaluation.sql_questions import read_gold
from rag_core.policy.sql_guard import SqlGuard

_FOLDING: dict[str, Callable[[str], str]] = {"postgres": str.lower, "snowflake": str.upper, "bigquery": str}


class GoldQuestion(NamedTuple):
    """A question with every statement that answers it."""

    database: str
    text: str
    statements: tuple[str, ...]


class Reading(NamedTuple):
    """What a statement reads: tables, columns, and pairs of columns that it joins on."""

    tables: frozenset[str]
    columns: frozenset[str]
    joins: frozenset[tuple[str, str]]


def questions(folder: Path) -> list[GoldQuestion]:
    """The questions with gold SQL for PostgreSQL, each text once a database."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for path in sorted((folder / "questions").glob("*.csv")):
        if "bigquery" in path.name or "snowflake" in path.name:
            continue
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row.get("query"):
                    key = row["db_name"], row["question"]
                    found.setdefault(key, {}).update(dict.fromkeys(read_gold(row["query"])))
    return [GoldQuestion(database, text, tuple(sql)) for (database, text), sql in sorted(found.items()) if sql]


def readings(question: GoldQuestion, guard: SqlGuard) -> list[Reading]:
    """What each statement of a question reads; statements that the guard refuses are left out."""
    found = []
    for sql in question.statements:
        query = guard.check(sql).query
        if query is not None:
            found.append(Reading(frozenset(query.tables), frozenset(query.columns), frozenset(query.joins)))
    return found


def statements(folder: Path, dialect: str) -> list[tuple[str, str]]:
    """Database and gold statement in a dialect, each once."""
    found: dict[tuple[str, str], None] = {}
    for path in sorted((folder / "questions").glob("*.csv")):
        written_in = next((name for name in ("bigquery", "snowflake") if name in path.name), "postgres")
        if written_in != dialect:
            continue
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                found.update(dict.fromkeys((row["db_name"], sql) for sql in read_gold(row["query"])))
    return list(found)


def described(folder: Path, database: str, dialect: str) -> Catalog:
    """The catalog that the descriptions beside the data tell of, spelled as the dialect does."""
    fold = _FOLDING[dialect]
    home = {"bigquery": database, "snowflake": "PUBLIC"}.get(dialect, "public")
    tables = json.loads((folder / "db" / f"{database}.json").read_text(encoding="utf-8"))["table_metadata"]
    return Catalog(
        dialect=dialect,
        database=database,
        taken_at=datetime(2026, 7, 1, tzinfo=UTC),
        search_path=(fold(home),),
        tables=tuple(
            CatalogTable(
                schema_name=fold(name.rpartition(".")[0] or home),
                name=fold(name.rpartition(".")[2]),
                columns=tuple(
                    CatalogColumn(name=fold(column["column_name"]), type=column["data_type"]) for column in columns
                ),
            )
            for name, columns in tables.items()
        ),
    )
