"""A schema card: the tables that matter for a question, compact, within a budget of tokens, in a stable order. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable

DEFAULT_TOKENS = 1_800
MIN_TABLES = 3
# English and SQL of code models: a little under four characters a token.
CHARACTERS_PER_TOKEN = 3.4
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_STOP = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at by did do does each for from had has have how in is it its many me much of on or our
        over per show that the their there they this to was we were what when where which who with""",
    )
)


def name_words(text: str) -> list[str]:
    """Words of a name or sentence in lower case, plural endings taken off, so that `OrderLines` meets `order line`."""
    return [_singular(part.lower()) for part in _PARTS.findall(text) if part.lower() not in _STOP]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def score_tables(
    question: str, tables: Sequence[CatalogTable], values: Mapping[str, Iterable[str]] | None = None
) -> list[tuple[float, CatalogTable]]:
    """Each table with its score for the question, best first, ties by name.

    A word that few tables know weighs more; in the table's name it counts three times, in a column's name twice, in a
    comment once. `values` are known values by `schema.table.column`; one that stands in the question counts four.
    """
    wanted = Counter(name_words(question))
    holders: Counter[str] = Counter()
    fields = []
    for table in tables:
        name = set(name_words(table.name))
        columns = {word for column in table.columns for word in name_words(column.name)}
        comments = set(name_words(" ".join([table.comment or "", *(column.comment or "" for column in table.columns)])))
        labels = {word for column in table.columns for label in column.enum_labels for word in name_words(label)}
        fields.append((name, columns, comments | labels))
        holders.update(name | columns | comments | labels)
    lowered = f" {' '.join(name_words(question))} "
    scored = []
    for table, (name, columns, comments) in zip(tables, fields, strict=True):
        score = 0.0
        for word in wanted:
            weight = math.log(1 + len(tables) / (1 + holders[word]))
            score += weight * (3 * (word in name) + 2 * (word in columns) + (word in comments))
        for path, known in sorted((values or {}).items()):
            if path.rsplit(".", 1)[0] == table.qualified_name:
                score += 4 * sum(1 for value in known if f" {' '.join(name_words(value))} " in lowered)
        scored.append((round(score, 6), table))
    return sorted(scored, key=lambda pair: (-pair[0], pair[1].qualified_name))


def build_card(
    question: str,
    catalog: Catalog,
    *,
    tokens: int = DEFAULT_TOKENS,
    values: Mapping[str, Iterable[str]] | None = None,
) -> str:
    """Markdown-like text of the best tables with columns, types, short comments, known values and joins.

    The best tables come in until the budget is used, and the tables that join two chosen ones with them; at least three
    stand on the card, without comments where the budget is tight. Tables are listed by name, so that the same set gives
    the same text whatever their scores.
    """
    readable = [table for table in catalog.tables if table.readable]
    scored = score_tables(question, readable, values)
    budget = tokens * CHARACTERS_PER_TOKEN
    chosen: list[CatalogTable] = []
    used = 0.0
    for score, table in scored:
        if len(chosen) >= MIN_TABLES and score <= 0:
            break
        size = len(_render(table, values, comments=True))
        if used + size > budget:
            if len(chosen) >= MIN_TABLES:
                continue
            size = len(_render(table, values, comments=False))
        chosen.append(table)
        used += size
    chosen += _bridges(chosen, readable)
    chosen.sort(key=lambda table: table.qualified_name)
    comments = used <= budget
    lines = [_render(table, values, comments=comments) for table in chosen]
    joins = _joins(chosen)
    if joins:
        lines.append("Joins:\n" + "\n".join(f"- {join}" for join in joins))
    return "\n".join(lines)


def _bridges(chosen: Sequence[CatalogTable], tables: Sequence[CatalogTable]) -> list[CatalogTable]:
    """Tables that link two chosen ones which nothing links directly."""
    names = {table.qualified_name for table in chosen}
    found = []
    for table in tables:
        if table.qualified_name in names:
            continue
        targets = {key.target for key in table.foreign_keys} & names
        sources = {
            other.qualified_name
            for other in chosen
            if any(k.target == table.qualified_name for k in other.foreign_keys)
        }
        linked = targets | sources
        if len(linked) >= 2 and sources and targets:
            found.append(table)
    return found


def _quote(name: str) -> str:
    return name if re.fullmatch(r"[a-z_][a-z0-9_]*", name) else f'"{name}"'


def _render(table: CatalogTable, values: Mapping[str, Iterable[str]] | None, *, comments: bool) -> str:
    head = f"{_quote(table.schema_name)}.{_quote(table.name)}"
    if comments and table.comment:
        head += f" -- {_one_line(table.comment, 110)}"
    primary = {column for key in table.keys if key.primary for column in key.columns}
    lines = [head]
    for column in table.columns:
        if column.readable:
            lines.append("  " + _column(table, column, column.name in primary, values, comments=comments))
    return "\n".join(lines)


def _column(
    table: CatalogTable,
    column: CatalogColumn,
    primary: bool,
    values: Mapping[str, Iterable[str]] | None,
    *,
    comments: bool,
) -> str:
    text = f"{_quote(column.name)} {column.type}" + (" PK" if primary else "")
    known = list(column.enum_labels) or sorted((values or {}).get(f"{table.qualified_name}.{column.name}", ()))
    notes = []
    if comments and column.comment:
        notes.append(_one_line(column.comment, 90))
    if known:
        shown = ", ".join(repr(_one_line(value, 30)) for value in known[:8])
        notes.append(f"values {shown}{', ...' if len(known) > 8 else ''}")
    return text + (f" -- {'; '.join(notes)}" if notes else "")


def _joins(tables: Sequence[CatalogTable]) -> list[str]:
    names = {table.qualified_name for table in tables}
    joins = []
    for table in tables:
        for key in table.foreign_keys:
            if key.target in names:
                pairs = zip(key.columns, key.target_columns, strict=False)
                joins.append(" AND ".join(f"{table.qualified_name}.{a} = {key.target}.{b}" for a, b in pairs))
    return joins


def _one_line(text: str, length: int) -> str:
    flat = " ".join(text.split()).replace("<<<", "<<").replace(">>>", ">>")
    return flat if len(flat) <= length else flat[: length - 3].rstrip() + "..."
