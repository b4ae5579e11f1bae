"""Traces the names of a statement to tables and columns. Pure."""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from rag_core.datamodel.catalog import Catalog
from rag_core.errors import NightshiftError
from rag_core.policy.names import NameRules
from rag_core.schema.renames import Renames


class RepairFault(NightshiftError):
    """A statement that cannot be rewritten for certain; the message says why."""


class Origin(NamedTuple):
    """A column of a table, under its earlier names."""

    table: str
    column: str


class Resolver:
    """Tells what a name means in a scope.

    Args:
        rules: how the dialect compares names.
        renames: what is looked for, by names as `rules` compares them.
        catalog: the schema before the renames, None where it is not known.
        search_path: schemas of tables that are named without one.
    """

    def __init__(
        self, rules: NameRules, renames: Renames, catalog: Catalog | None, search_path: tuple[str, ...]
    ) -> None:
        self._rules = rules
        self._renames = renames
        self._path = tuple(rules.catalog_key(schema_name) for schema_name in search_path)
        self._known = {
            rules.catalog_key(table.qualified_name): frozenset(rules.catalog_key(item.name) for item in table.columns)
            for table in (catalog.tables if catalog is not None else ())
        }
        self._touched = {table for table, _ in renames.columns}

    def key(self, identifier: exp.Expr) -> str:
        """An identifier as names are compared."""
        return self._rules.identifier_key(identifier)

    def output_name(self, projection: exp.Expr) -> str:
        """The name that an item of a SELECT list gives its column, empty where it has none."""
        if isinstance(projection, exp.Alias):
            return self._rules.identifier_key(projection.args["alias"])
        return self._rules.identifier_key(projection.this) if isinstance(projection, exp.Column) else ""

    def origin(self, scope: Scope, column: exp.Column) -> Origin | None:
        """The table's column that a name means; None where it is a result's own column."""
        name = self._rules.identifier_key(column.this)
        qualifier = column.args.get("table")
        here: Scope | None = scope
        unsure = False
        while here is not None:
            if qualifier is not None:
                wanted = self._rules.identifier_key(qualifier)
                for alias, (_, source) in here.selected_sources.items():
                    if self.fold_alias(here, alias) == wanted:
                        return self.through(source, name)
            else:
                found, known = self._bare(here, name)
                if known and unsure and self.is_renamed(found):
                    raise RepairFault(f"column {name} cannot be traced to one table without the schema")
                if known:
                    return found
                unsure = unsure or any(self.holds(item, name) is None for _, item in here.selected_sources.values())
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
        """Whether it is a column that has another name now."""
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
        return None if table is None else self.holds_in_table(table, name)

    def holds_in_table(self, table: str, name: str) -> bool | None:
        """Whether a table has a column of this name; None where the schema is not known."""
        if (table, name) in self._renames.columns:
            return True
        known = self._known.get(table)
        return name in known if known is not None else None

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
        name = self._rules.identifier_key(node.this)
        if node.args.get("db") is not None:
            return f"{self._rules.identifier_key(node.args['db'])}.{name}"
        for schema_name in self._path:
            full = f"{schema_name}.{name}"
            if full in self._known or full in self._renames.tables or full in self._touched:
                return full
        return f"{self._path[0]}.{name}" if self._path else name

    def fold_alias(self, scope: Scope, alias: str) -> str:
        """A source's name, as names are compared."""
        node, _ = scope.selected_sources[alias]
        identifier = node.args.get("alias")
        identifier = identifier.this if isinstance(identifier, exp.TableAlias) else None
        if identifier is None and isinstance(node, exp.Table):
            identifier = node.this
        return self._rules.identifier_key(identifier) if isinstance(identifier, exp.Identifier) else alias

    def column_aliases(self, scope: Scope) -> list[str] | None:
        """The names that a subquery's alias gives its columns, None where it gives none."""
        parent = scope.expression.parent
        alias = parent.args.get("alias") if isinstance(parent, exp.CTE | exp.Subquery) else None
        if isinstance(alias, exp.TableAlias) and alias.args.get("columns"):
            return [self._rules.identifier_key(column) for column in alias.args["columns"]]
        return None

    def outputs(self, scope: Scope) -> set[str]:
        """The names of a SELECT's columns, without those of a star."""
        inner = scope.set_operation_scopes[0] if scope.set_operation_scopes else scope
        query = inner.expression
        return (
            {self.output_name(item) or item.alias_or_name for item in query.selects}
            if isinstance(query, exp.Query)
            else set()
        )

    def has_star(self, scope: Scope) -> bool:
        """Whether a SELECT hands on columns without naming them."""
        inner = scope.set_operation_scopes[0] if scope.set_operation_scopes else scope
        query = inner.expression
        return isinstance(query, exp.Query) and any(item.is_star for item in query.selects)
