"""Which tables and columns a statement reads. Pure."""

from __future__ import annotations

from typing import NamedTuple

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from rag_core.datamodel.catalog import Catalog
from rag_core.policy.names import name_rules
from rag_core.schema.renames import Renames
from rag_core.schema.resolve import Resolver


class Reads(NamedTuple):
    """`schema.table` and `schema.table.column` in order of the text; `starred` are tables read with `*`."""

    tables: tuple[str, ...]
    columns: tuple[str, ...]
    starred: tuple[str, ...]


def read_names(
    sql: str, dialect: str, *, catalog: Catalog | None = None, search_path: tuple[str, ...] = ("public",)
) -> Reads:
    """The tables and columns of a statement, as the dialect compares names.

    Without a catalog a bare column belongs to the only table of its SELECT; where there are several tables it counts
    for each of them, so that rather too much than too little is found.

    Raises ValueError where the statement cannot be read.
    """
    try:
        tree = sqlglot.parse_one(sql, dialect=dialect)
        scopes = traverse_scope(tree)
    except SqlglotError as error:
        raise ValueError(f"the statement cannot be read: {str(error).splitlines()[0]}") from error
    resolver = Resolver(name_rules(dialect), Renames({}, {}), catalog, search_path)
    tables: list[str] = []
    columns: list[str] = []
    starred: list[str] = []
    for scope in scopes:
        sources = [source for _, source in scope.selected_sources.values()]
        own = [name for name in (resolver.table_name(item) for item in sources if not isinstance(item, Scope)) if name]
        tables += own
        if resolver.has_star(scope):
            starred += own
        for column in scope.find_all(exp.Column):
            if not isinstance(column.this, exp.Star):
                columns += _owners(resolver, scope, column)
    return Reads(tuple(dict.fromkeys(tables)), tuple(dict.fromkeys(columns)), tuple(dict.fromkeys(starred)))


def _owners(resolver: Resolver, scope: Scope, column: exp.Column) -> list[str]:
    origin = resolver.origin(scope, column)
    if origin is not None:
        return [f"{origin.table}.{origin.column}"]
    if column.table:
        return []
    name = resolver.key(column.this)
    here: Scope | None = scope
    while here is not None:
        sources = [source for _, source in here.selected_sources.values()]
        if any(resolver.holds(source, name) for source in sources):
            return []
        unsure = [
            table
            for table in (resolver.table_name(item) for item in sources if not isinstance(item, Scope))
            if table and resolver.holds_in_table(table, name) is None
        ]
        if unsure:
            return [f"{table}.{name}" for table in unsure]
        here = here.parent
    return []
