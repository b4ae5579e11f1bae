"""Traces the names of a statement to tables and columns. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from rag_core.datamodel.catalog import Catalog
from rag_core.errors import NightshiftError
from rag_core.schema.renames import Renames

_PLAIN = re.compile(r"^[a-z_][a-z0-9_]*$")
# Reserved words of PostgreSQL (appendix C); quoting one too many does no harm.
_RESERVED_WORDS = """
all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column
concurrently constraint create cross current_date current_role current_time current_timestamp current_user default
deferrable desc distinct do else end except false fetch for foreign freeze from full grant group having ilike in
initially inner intersect into is isnull join lateral leading left like limit localtime localtimestamp natural not
notnull null offset on only or order outer overlaps placing primary references returning right select session_user
similar some symmetric table tablesample then to trailing true union unique user using variadic verbose when where
window with
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())


class RepairFault(NightshiftError):
    """A statement that cannot be rewritten for certain; the message says why."""


class Origin(NamedTuple):
    """A column of a table, under its earlier names."""

    table: str
    column: str


def quote_name(name: str, dialect: str) -> str:
    """The name as SQL of the dialect: bare where that means the same, quoted otherwise."""
    folded_lower = dialect in ("postgres", "redshift", "duckdb", "bigquery")
    plain = name if folded_lower else name.lower() if name.isupper() else ""
    if plain and _PLAIN.match(plain) and plain not in _RESERVED:
        return name
    return exp.to_identifier(name, quoted=True).sql(dialect=dialect)


def fold_name(identifier: exp.Expression | str | None, dialect: str) -> str:
    """An identifier as the catalog spells it: bare names are folded as the dialect folds them."""
    if identifier is None or isinstance(identifier, str):
        return identifier or ""
    if identifier.args.get("quoted"):
        return identifier.name
    return identifier.name.upper() if dialect == "snowflake" else identifier.name.lower()


class Resolver:
    """Tells what a name means in a scope.

    Args:
        dialect: sqlglot's name of the dialect, for how bare names are folded.
        renames: what is looked for; the names are those before the renames.
        catalog: the schema before the renames, None where it is not known.
        search_path: schemas of tables that are named without one.
    """

    def __init__(self, dialect: str, renames: Renames, catalog: Catalog | None, search_path: tuple[str, ...]) -> None:
        self._dialect = dialect
        self._renames = renames
        self._catalog = catalog
        self._path = search_path
        self._touched = {table for table, _ in renames.columns}

    def output_name(self, projection: exp.Expr) -> str:
        if isinstance(projection, exp.Alias):
            return fold_name(projection.args["alias"], self._dialect)
        return fold_name(projection.this, self._dialect) if isinstance(projection, exp.Column) else ""

    def origin(self, scope: Scope, column: exp.Column) -> Origin | None:
        """The table's column that a name means; None where it is a result's own column."""
        name = fold_name(column.this, self._dialect)
        qualifier = column.args.get("table")
        here: Scope | None = scope
        while here is not None:
            if qualifier is not None:
                wanted = fold_name(qualifier, self._dialect)
                for alias, (_, source) in here.selected_sources.items():
                    if self.fold_alias(here, alias) == wanted:
                        return self.through(source, name)
            else:
                found, known = self._bare(here, name)
                if known:
                    return found
            here = here.parent
        return None

    def _bare(self, scope: Scope, name: str) -> tuple[Origin | None, bool]:
        """Looks a bare name up in one scope: what it means, and whether it was found there."""
        holders: list[Origin | None] = []
        unsure = False
        for _, source in scope.selected_sources.values():
            holds = self.holds(source, name)
            if holds is None:
                unsure = True
            elif holds:
                holders.append(self.through(source, name))
        sources = len(scope.selected_sources)
        if not unsure or len(holders) == sources:
            distinct = list(dict.fromkeys(holders))
            if len(distinct) > 1 and any(self.is_renamed(origin) for origin in distinct):
                raise RepairFault(f"column {name} may belong to several tables")
            return (distinct[0], True) if distinct else (None, False)
        options = [
            self.through(source, name)
            for _, source in scope.selected_sources.values()
            if self.holds(source, name) is not False
        ]
        if not any(self.is_renamed(option) for option in options):
            return (None, bool(holders))
        if sources == 1 and scope.parent is None:
            return options[0], True
        if len(options) == 1 and scope.parent is None:
            return options[0], True
        raise RepairFault(f"column {name} cannot be traced to one table without the schema")

    def is_renamed(self, origin: Origin | None) -> bool:
        return origin is not None and (origin.table, origin.column) in self._renames.columns

    def holds(self, source: exp.Expr | Scope, name: str) -> bool | None:
        """Whether a source has a column of this name; None where that is not known."""
        if isinstance(source, Scope):
            named = self.column_aliases(source)
            if named is not None:
                return name in named
            outputs = self.outputs(source)
            if name in outputs:
                return True
            return None if self.has_star(source) else False
        table = self.table_name(source)
        if table is None:
            return None
        if (table, name) in self._renames.columns:
            return True
        known = self._catalog.table(table) if self._catalog is not None else None
        return known.column(name) is not None if known is not None else None

    def through(self, source: exp.Expr | Scope, name: str) -> Origin | None:
        """Follows a name into a source: to a table's column, or to nothing where a SELECT gives it the name."""
        if not isinstance(source, Scope):
            table = self.table_name(source)
            return Origin(table, name) if table is not None else None
        if self.column_aliases(source) is not None or name in self.outputs(source):
            return None
        inner = source.set_operation_scopes[0] if source.set_operation_scopes else source
        if not self.has_star(inner):
            return None
        found = [self.through(item, name) for _, item in inner.selected_sources.values()]
        renamed = [origin for origin in found if self.is_renamed(origin)]
        return renamed[0] if len(renamed) == 1 else None

    def table_name(self, node: exp.Expr) -> str | None:
        """`schema.table` of a table in FROM, as the catalog spells it; None for functions and values."""
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            return None
        name = fold_name(node.this, self._dialect)
        if node.args.get("db") is not None:
            return f"{fold_name(node.args['db'], self._dialect)}.{name}"
        for schema_name in self._path:
            full = f"{schema_name}.{name}"
            known = self._catalog is not None and self._catalog.table(full) is not None
            if known or full in self._renames.tables or full in self._touched:
                return full
        return f"{self._path[0]}.{name}" if self._path else name

    def split(self, table: str) -> tuple[str, str]:
        known = self._catalog.table(table) if self._catalog is not None else None
        if known is not None:
            return known.schema_name, known.name
        schema_name, _, name = table.partition(".")
        return schema_name, name

    def fold_alias(self, scope: Scope, alias: str) -> str:
        node, _ = scope.selected_sources[alias]
        identifier = node.args.get("alias")
        identifier = identifier.this if isinstance(identifier, exp.TableAlias) else None
        if identifier is None and isinstance(node, exp.Table):
            identifier = node.this
        return fold_name(identifier, self._dialect) if isinstance(identifier, exp.Identifier) else alias

    def column_aliases(self, scope: Scope) -> list[str] | None:
        parent = scope.expression.parent
        alias = parent.args.get("alias") if isinstance(parent, exp.CTE | exp.Subquery) else None
        if isinstance(alias, exp.TableAlias) and alias.args.get("columns"):
            return [fold_name(column, self._dialect) for column in alias.args["columns"]]
        return None

    def outputs(self, scope: Scope) -> set[str]:
        inner = scope.set_operation_scopes[0] if scope.set_operation_scopes else scope
        query = inner.expression
        return (
            {self.output_name(item) or item.alias_or_name for item in query.selects}
            if isinstance(query, exp.Query)
            else set()
        )

    def has_star(self, scope: Scope) -> bool:
        inner = scope.set_operation_scopes[0] if scope.set_operation_scopes else scope
        query = inner.expression
        return isinstance(query, exp.Query) and any(item.is_star for item in query.selects)
