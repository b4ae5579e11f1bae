"""Columns that are a table's key although no constraint says so. Pure, but for the look-up of values it is given.

A name tells which table a key belongs to, and values tell whether it is one: a column such as `aid` stands in many
tables, and is the key of `author`, where no value stands twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable, UniqueKey
from rag_core.schema.words import name_tokens

# Tells whether no value of (table, column) stands twice in a bounded sample; None where it cannot tell.
Uniqueness = Callable[[str, str], bool | None]

INFERRED = "(inferred)"
GENERIC = frozenset({"id", "identifier", "key", "code", "number", "name", "uuid", "guid"})
_KEY_WORDS = frozenset({"id", "identifier", "key", "code", "number", "uuid", "guid", "symbol"})
_KEY_ENDS = ("id", "code", "key", "no", "nr")
_PREFIXES = frozenset(
    {"dimension", "dim", "fact", "fct", "tbl", "table", "stg", "raw", "ref", "lookup", "lkp", "d", "f", "t"}
)
_TABLES = frozenset({"table", "partitioned_table", "foreign_table"})


def noun(table: CatalogTable) -> tuple[str, ...]:
    """The words that a table is named with, without prefixes such as `dim_`."""
    words = name_tokens(table.name)
    while len(words) > 1 and words[0] in _PREFIXES:
        words = words[1:]
    return words


def is_key_name(name: str) -> bool:
    """Whether a column's name is one that keys have, such as `order_id`, `airportCode` or `pid`."""
    words = name_tokens(name)
    return bool(words) and (words[-1] in _KEY_WORDS or (len(name) <= 12 and name.lower().endswith(_KEY_ENDS)))


def with_inferred_keys(catalog: Catalog, unique: Uniqueness | None) -> Catalog:
    """The catalog with a unique key for tables that declare none, where name and values agree on it."""
    if unique is None:
        return catalog
    declared = {key.columns[0] for table in catalog.tables for key in table.keys if len(key.columns) == 1}
    owners: defaultdict[str, list[tuple[float, CatalogTable]]] = defaultdict(list)
    for table in catalog.tables:
        if table.keys or table.kind not in _TABLES or not table.readable or _is_link(table):
            continue
        for column in table.columns:
            score = _ownership(table, column)
            if score > 0 and (column.name not in declared or _is_generic(column.name)):
                owners[column.name if not _is_generic(column.name) else table.qualified_name].append((score, table))
                if _is_generic(column.name):
                    owners[table.qualified_name] = [(score, table)]
    keys: dict[str, str] = {}
    for name, candidates in owners.items():
        best = max(score for score, _ in candidates)
        for score, table in candidates:
            column_name = _generic_column(table) if name == table.qualified_name else name
            if score == best and table.qualified_name not in keys and unique(table.qualified_name, column_name):
                keys[table.qualified_name] = column_name
    return catalog.model_copy(
        update={
            "tables": tuple(
                table.model_copy(
                    update={"keys": (UniqueKey(name=INFERRED, columns=(keys[table.qualified_name],), primary=False),)}
                )
                if table.qualified_name in keys
                else table
                for table in catalog.tables
            )
        }
    )


def _is_generic(name: str) -> bool:
    return set(name_tokens(name)) <= GENERIC


def _generic_column(table: CatalogTable) -> str:
    return next(column.name for column in table.columns if _is_generic(column.name))


def _is_link(table: CatalogTable) -> bool:
    """Whether a table only links others: every column of it is a reference."""
    return len(table.columns) > 1 and all(is_key_name(column.name) for column in table.columns)


def _ownership(table: CatalogTable, column: CatalogColumn) -> float:
    """How much a column's name is that of its own table's key, 0 for not at all."""
    if not column.readable or not is_key_name(column.name):
        return 0.0
    words, own = name_tokens(column.name), noun(table)
    first = 0.25 if column is table.columns[0] else 0.0
    if set(words) <= GENERIC:
        return 2.0 + first if words != ("name",) else 0.0
    if set(own) <= set(words):
        # course_id is the key of course before it is that of course_offering, whose name it does not hold whole.
        return 3.0 + first - 0.1 * (len(words) - len(own))
    initials = "".join(word[0] for word in own)
    if column.name.lower() in (initials + "id", own[0][0] + "id"):
        return 2.5 + first
    if any(word.startswith(part[:3]) and len(part) >= 3 for word in own for part in words if part not in GENERIC):
        return 2.0 + first
    return 1.0 if first else 0.0
