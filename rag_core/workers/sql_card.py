"""What a model is told of the schema: all of it in few words where that fits, else the card of the question. Pure.

The whole schema is the same for every question, so that an endpoint reads it once and keeps it; what only one question
needs, the values it names, comes after it.
"""

from __future__ import annotations

from collections.abc import Iterable

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.policy.names import name_rules
from rag_core.schema.card import CHARACTERS_PER_TOKEN, DEFAULT_TOKENS, build_card
from rag_core.schema.card_choice import score_tables
from rag_core.schema.joins import Join
from rag_core.schema.knowledge import Known

# Columns with so few values are told with them; longer lists are looked at for what a question names.
FEW, SHORT = 5, 16
MOST_NAMED = 8
_TYPES = (("character varying", "varchar"), (" without time zone", ""), ("timestamp with time zone", "timestamptz"))


def describe_schema(task: str, catalog: Catalog, known: Known, *, tokens: int = DEFAULT_TOKENS) -> tuple[str, str]:
    """The schema's text, and the values that the task names, empty for none.

    Args:
        task: what is asked.
        catalog: the tables that questions may see.
        known: values and joins.
        tokens: what the text may take.
    """
    named = _named_values(task, catalog, known)
    for comments in (True, False):
        text = _whole(catalog, known, comments=comments)
        if len(text) <= tokens * CHARACTERS_PER_TOKEN:
            return text, named
    return build_card(task, catalog, tokens=tokens, values=known.values, joins=known.joins), named


def _whole(catalog: Catalog, known: Known, *, comments: bool) -> str:
    tables = sorted((item for item in catalog.tables if item.readable), key=lambda item: item.qualified_name)
    lines = [_table(table, catalog, known, comments=comments) for table in tables]
    joins = list(dict.fromkeys(_joins(tables, catalog, known.joins)))
    if joins:
        lines += ["Joins:", *joins]
    return "\n".join(lines)


def _table(table: CatalogTable, catalog: Catalog, known: Known, *, comments: bool) -> str:
    columns = [_column(table, column, catalog, known, comments=comments) for column in table.columns if column.readable]
    head = f" -- {_line(table.comment, 100)}" if comments and table.comment else ""
    return f"{_written(table, catalog)}({', '.join(columns)}){head}"


def _column(table: CatalogTable, column: CatalogColumn, catalog: Catalog, known: Known, *, comments: bool) -> str:
    kind = column.type
    for long, short in _TYPES:
        kind = kind.replace(long, short)
    text = f"{name_rules(catalog.dialect).written(column.name)} {kind.split('(')[0]}"
    values = column.enum_labels or known.values.get(f"{table.qualified_name}.{column.name}", ())
    if values and len(values) <= FEW and all(len(value) <= SHORT for value in values):
        return f"{text} [{'|'.join(_line(value, SHORT) for value in sorted(values))}]"
    return f"{text} ({_line(column.comment, 60)})" if comments and column.comment else text


def _joins(tables: Iterable[CatalogTable], catalog: Catalog, joins: Iterable[Join]) -> Iterable[str]:
    names = {table.qualified_name: _written(table, catalog) for table in tables}
    pairs = [(t.qualified_name, k.columns, k.target, k.target_columns) for t in tables for k in t.foreign_keys]
    pairs += [
        (join.left_table, join.left_columns, join.right_table, join.right_columns)
        for join in joins
        if join.status == "usable"
    ]
    for left, ours, right, theirs in pairs:
        if left in names and right in names:
            yield " AND ".join(f"{names[left]}.{a} = {names[right]}.{b}" for a, b in zip(ours, theirs, strict=False))


def _written(table: CatalogTable, catalog: Catalog) -> str:
    """The table's name as short as a statement may write it."""
    rules = name_rules(catalog.dialect)
    if table.schema_name in catalog.search_path and sum(item.name == table.name for item in catalog.tables) == 1:
        return rules.written(table.name)
    return f"{rules.written(table.schema_name)}.{rules.written(table.name)}"


def _named_values(task: str, catalog: Catalog, known: Known) -> str:
    """Known values that stand in the task, with the columns that hold them."""
    found = []
    for scored in score_tables(task, [table for table in catalog.tables if table.readable], known.values):
        for column, values in scored.values.items():
            found += [f"{_written(scored.table, catalog)}.{column} = '{_line(value, 40)}'" for value in values]
    return "; ".join(found[:MOST_NAMED])


def _line(text: str, length: int) -> str:
    flat = " ".join(text.split()).replace("<<<", "<<").replace(">>>", ">>")
    return flat if len(flat) <= length else flat[: length - 3].rstrip() + "..."
