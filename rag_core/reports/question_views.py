"""One typed view a question: `reports.q_<question_id>`, with real columns of its result over all run dates.

A view's columns are only ever appended. A result column that disappears stays and is NULL from then on; one whose kind
changes gets a second column beside it. What stands in which view is kept in `nightshift.question_view`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any, Literal

import psycopg
from psycopg import sql

from rag_core.connectors.sql_files import statement, template
from rag_core.datamodel.base import Record
from rag_core.reports.bundle import AnsweredQuestion
from rag_core.reports.rows import clean_text, meanings_of

Kind = Literal["number", "date", "timestamp", "boolean", "text"]

# PostgreSQL cuts identifiers at this many bytes.
MAX_NAME = 63
_FIXED = {
    "run_date": "The date that relative times of the question refer to",
    "question_version": "Version of the question; a changed text is a new version",
    "row_number": "Row of the result, from 1; NULL where the answer has no result",
    "answer_text": "The answer as Markdown with citation markers",
}
_DECLARED: tuple[tuple[tuple[str, ...], Kind], ...] = (
    (("bool",), "boolean"),
    (("timestamp", "datetime"), "timestamp"),
    (("date",), "date"),
    (("int", "numeric", "decimal", "float", "double", "real", "number", "bigint", "smallint"), "number"),
)


class ViewColumn(Record):
    """A column of a view: `source_name` in the results, of one kind."""

    column_name: str
    source_name: str
    kind: Kind
    description: str


def column_kind(type_name: str, cells: Iterable[Any]) -> Kind:
    """The kind of a result column: that of its values where they agree, else that of its declared type."""
    kinds: set[Kind] = {_value_kind(cell) for cell in cells if cell is not None}
    if len(kinds) == 1:
        return kinds.pop()
    if kinds:
        return "text"
    lowered = type_name.lower()
    if lowered.endswith("[]") or lowered.startswith("interval"):
        return "text"
    return next((kind for prefixes, kind in _DECLARED if lowered.startswith(prefixes)), "text")


def _value_kind(value: Any) -> Kind:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, datetime):
        return "timestamp"
    if isinstance(value, date):
        return "date"
    return "text" if isinstance(value, str | bytes) or not hasattr(value, "__float__") else "number"


def safe_name(text: str, taken: Iterable[str], *, fallback: str) -> str:
    """A plain identifier for a text: lower-case letters, digits and underscores, unique among `taken`."""
    plain = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    if not plain:
        plain = fallback
    if plain[0].isdigit():
        plain = f"c_{plain}"
    if len(plain) > MAX_NAME:
        plain = f"{plain[: MAX_NAME - 9]}_{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"
    known = set(taken)
    name, number = plain, 2
    while name in known:
        suffix = f"_{number}"
        name, number = f"{plain[: MAX_NAME - len(suffix)]}{suffix}", number + 1
    return name


def append_columns(known: Sequence[ViewColumn], found: Sequence[tuple[str, Kind, str]]) -> list[ViewColumn]:
    """The columns that a view lacks for a result with these (name, kind, description), in the result's order."""
    columns = list(known)
    for source, kind, description in found:
        if any(column.source_name == source and column.kind == kind for column in columns):
            continue
        wanted = f"{source}_{kind}" if any(column.source_name == source for column in columns) else source
        taken = [*_FIXED, *(column.column_name for column in columns)]
        name = safe_name(wanted, taken, fallback=f"column_{len(columns) + 1}")
        columns.append(ViewColumn(column_name=name, source_name=source, kind=kind, description=description))
    return columns[len(known) :]


def result_columns(item: AnsweredQuestion) -> list[tuple[str, Kind, str]]:
    """Name, kind and description of each column of the answer's first result; nothing where it has none."""
    if not item.answer.sql:
        return []
    evidence = item.answer.sql[0]
    found: dict[str, tuple[str, Kind, str]] = {}
    for index, (column, meaning) in enumerate(zip(evidence.result.columns, meanings_of(evidence), strict=True)):
        name = clean_text(column.name)
        kind = column_kind(column.type, (row[index] for row in evidence.result.rows))
        label = f"{meaning.label} in {meaning.unit}" if meaning.unit else meaning.label
        found.setdefault(name, (name, kind, clean_text(label)))
    return list(found.values())


def publish_views(connection: psycopg.Connection, batch: str, items: Sequence[AnsweredQuestion]) -> list[str]:
    """Creates the views of these questions, or appends to them what their results have anew. Returns their names.

    Inside the caller's transaction. `CREATE OR REPLACE VIEW` keeps the grants; new views get the default ones.
    """
    if not items:
        return []
    names, columns = _read_known(connection, batch)
    changed: list[str] = []
    for item in items:
        question_id = item.question.question_id
        known = columns.get(names.get(question_id, ""), [])
        added = append_columns(known, result_columns(item))
        if question_id in names and not added:
            continue
        if not changed:
            # Names are unique among all batches: whoever adds one reads again what is there, and waits for the others.
            connection.execute(statement("reports/lock_question_views"))
        if question_id not in names:
            names[question_id] = _register(connection, batch, question_id)
        name = names[question_id]
        _add_columns(connection, name, added, offset=len(known))
        columns[name] = [*known, *added]
        connection.execute(view_statement(name, batch, question_id, columns[name]))
        for comment in comment_statements(name, item.question.text, columns[name]):
            connection.execute(comment)
        changed.append(name)
    return changed


def _read_known(connection: psycopg.Connection, batch: str) -> tuple[dict[str, str], dict[str, list[ViewColumn]]]:
    views = connection.execute(statement("reports/list_question_views")).fetchall()
    names = {question_id: name for owner, question_id, name in views if owner == batch}
    columns: dict[str, list[ViewColumn]] = {}
    for name, column, source, kind, text in connection.execute(
        statement("reports/list_question_view_columns"), {"batch": batch}
    ).fetchall():
        columns.setdefault(name, []).append(
            ViewColumn(column_name=column, source_name=source, kind=kind, description=text)
        )
    return names, columns


def _register(connection: psycopg.Connection, batch: str, question_id: str) -> str:
    taken = {row[0] for row in connection.execute(statement("reports/list_report_relations")).fetchall()}
    taken |= {row[2] for row in connection.execute(statement("reports/list_question_views")).fetchall()}
    name = safe_name(f"q_{question_id}", (), fallback="q")
    if name in taken:
        name = safe_name(f"q_{batch}__{question_id}", taken, fallback="q")
    connection.execute(
        statement("reports/insert_question_view"), {"view_name": name, "batch": batch, "question_id": question_id}
    )
    return name


def _add_columns(connection: psycopg.Connection, name: str, added: Sequence[ViewColumn], *, offset: int) -> None:
    for position, column in enumerate(added, start=offset + 1):
        connection.execute(
            statement("reports/insert_question_view_column"),
            {"view_name": name, "position": position, **column.model_dump()},
        )


def view_statement(name: str, batch: str, question_id: str, columns: Sequence[ViewColumn]) -> sql.Composed:
    """The statement that makes the view; every name and value is quoted by the driver."""
    return template("reports/create_question_view").format(
        view=sql.Identifier("reports", name),
        batch=sql.Literal(batch),
        question_id=sql.Literal(question_id),
        columns=sql.SQL("").join(
            sql.SQL(", {aggregate}(c.{value}) FILTER (WHERE c.column_name = {source}) AS {name}").format(
                aggregate=sql.SQL("bool_or" if column.kind == "boolean" else "max"),
                value=sql.Identifier(f"value_{column.kind}"),
                source=sql.Literal(column.source_name),
                name=sql.Identifier(column.column_name),
            )
            for column in columns
        ),
    )


def comment_statements(name: str, question: str, columns: Sequence[ViewColumn]) -> Iterable[sql.Composed]:
    """Comments on the view and on each of its columns, for BI tools to show."""
    view = sql.Identifier("reports", name)
    yield sql.SQL("COMMENT ON VIEW {} IS {}").format(view, sql.Literal(clean_text(question)))
    described = [*_FIXED.items(), *((column.column_name, column.description) for column in columns)]
    for column_name, text in described:
        yield sql.SQL("COMMENT ON COLUMN {} IS {}").format(
            sql.Identifier("reports", name, column_name), sql.Literal(text)
        )
