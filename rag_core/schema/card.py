"""A schema card: the tables that matter for a question, compact, within a budget of tokens, in a stable order. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.schema.card_choice import Chosen, Links, choose, score_tables
from rag_core.schema.joins import Join

DEFAULT_TOKENS = 1_800
# English and SQL of code models: a little under four characters a token.
CHARACTERS_PER_TOKEN = 3.4
_TRIES = 6
_SHORT_TYPES = (
    ("character varying", "varchar"),
    ("timestamp without time zone", "timestamp"),
    ("timestamp with time zone", "timestamptz"),
    ("time without time zone", "time"),
    ("double precision", "float8"),
)


def build_card(
    question: str,
    catalog: Catalog,
    *,
    tokens: int = DEFAULT_TOKENS,
    values: Mapping[str, Iterable[str]] | None = None,
    joins: Iterable[Join] = (),
) -> str:
    """Markdown-like text of the tables and columns that matter, with types, short comments, known values and joins.

    Where the budget is tight, columns that nothing speaks for are left out, and a table says that it has more; the same
    question always gives the same text, tables by name and columns in their own order. Besides the declared joins only
    usable ones of `joins` are told.
    """
    readable = [table for table in catalog.tables if table.readable]
    inferred = [join for join in joins if join.status == "usable" and join.source == "inferred"]
    scored = score_tables(question, readable, values)
    links = _links(readable, inferred)
    budget = tokens * CHARACTERS_PER_TOKEN
    whole = sum(_size(table, column, comments=True) for table in readable for column in (None, *table.columns))
    comments = whole <= budget
    schemas = {table.schema_name for table in readable}
    short = len(schemas) == 1 and schemas <= set(catalog.search_path)

    def within(part: float) -> str:
        chosen = choose(scored, links, part, partial(_size, comments=comments))
        return _text(chosen, inferred, values, comments=comments, short=short)

    best = within(budget)
    if len(best) <= budget:
        return best
    # What joins and values take is known only when the tables are, so that the part of the columns is searched for.
    best, low, high = within(0), 0.0, budget
    for _ in range(_TRIES):
        middle = (low + high) / 2
        text = within(middle)
        if len(text) <= budget:
            best, low = text, middle
        else:
            high = middle
    return best


def _text(
    chosen: Sequence[Chosen],
    inferred: Sequence[Join],
    values: Mapping[str, Iterable[str]] | None,
    *,
    comments: bool,
    short: bool,
) -> str:
    ordered = sorted(chosen, key=lambda item: item.table.qualified_name)
    lines = [_render(item, values, comments=comments) for item in ordered]
    told = _joins([item.table for item in ordered], inferred, short=short)
    if told:
        lines.append("Joins:\n" + "\n".join(f"- {join}" for join in told))
    return "\n".join(lines)


def _links(tables: Sequence[CatalogTable], joins: Sequence[Join]) -> Links:
    found: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    pairs = [(t.qualified_name, k.columns, k.target, k.target_columns) for t in tables for k in t.foreign_keys]
    pairs += [(join.left_table, join.left_columns, join.right_table, join.right_columns) for join in joins]
    for left, left_columns, right, right_columns in pairs:
        found[left][right].update(left_columns)
        found[right][left].update(right_columns)
    return {table: {other: frozenset(columns) for other, columns in others.items()} for table, others in found.items()}


def _quote(name: str) -> str:
    return name if re.fullmatch(r"[a-z_][a-z0-9_]*", name) else f'"{name}"'


def _head(table: CatalogTable, *, comments: bool) -> str:
    head = f"{_quote(table.schema_name)}.{_quote(table.name)}"
    if comments and table.comment:
        head += f" -- {_one_line(table.comment, 110)}"
    return head


def _size(table: CatalogTable, column: CatalogColumn | None, *, comments: bool) -> int:
    """Characters of a line of the card, without values."""
    if column is None:
        return len(_head(table, comments=comments)) + 1
    return len(_column(column, primary=False, values=(), held=(), comments=comments)) + 3


def _render(item: Chosen, values: Mapping[str, Iterable[str]] | None, *, comments: bool) -> str:
    primary = {column for key in item.table.keys if key.primary for column in key.columns}
    lines = [_head(item.table, comments=comments)]
    for column in item.columns:
        known = (values or {}).get(f"{item.table.qualified_name}.{column.name}", ()) if comments else ()
        lines.append(
            "  "
            + _column(
                column,
                primary=column.name in primary,
                values=list(column.enum_labels) or sorted(known),
                held=item.values.get(column.name, ()),
                comments=comments,
            )
        )
    left = sum(column.readable for column in item.table.columns) - len(item.columns)
    return "\n".join(lines) + (f"\n  ... {left} more" if left else "")


def _column(column: CatalogColumn, *, primary: bool, values: Sequence[str], held: Sequence[str], comments: bool) -> str:
    kind = column.type
    for long, short in _SHORT_TYPES:
        kind = kind.replace(long, short)
    text = f"{_quote(column.name)} {kind}" + (" PK" if primary else "")
    notes = []
    if comments and column.comment:
        notes.append(_one_line(column.comment, 90))
    # What the question names comes first, so that it is spelt as the column spells it.
    listed = [*held, *(value for value in values if value not in held)]
    most = 8 if comments else max(2, len(held[:4]))
    if listed:
        shown = ", ".join(repr(_one_line(value, 30)) for value in listed[:most])
        notes.append(f"values {shown}{', ...' if len(listed) > most else ''}")
    return text + (f" -- {'; '.join(notes)}" if notes else "")


def _joins(tables: Sequence[CatalogTable], inferred: Sequence[Join], *, short: bool) -> list[str]:
    """The joins between the tables; without the schema's name where there is one schema, which names find anyway."""
    names = {table.qualified_name: table.name if short else table.qualified_name for table in tables}
    known = [(t.qualified_name, k.columns, k.target, k.target_columns) for t in tables for k in t.foreign_keys]
    known += [(join.left_table, join.left_columns, join.right_table, join.right_columns) for join in inferred]
    return [
        " AND ".join(f"{names[left]}.{a} = {names[right]}.{b}" for a, b in zip(ours, theirs, strict=False))
        for left, ours, right, theirs in known
        if left in names and right in names
    ]


def _one_line(text: str, length: int) -> str:
    flat = " ".join(text.split()).replace("<<<", "<<").replace(">>>", ">>")
    return flat if len(flat) <= length else flat[: length - 3].rstrip() + "..."
