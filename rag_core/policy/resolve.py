"""Resolves a statement: which table and column each name means, and whether it may be seen.

The resolver follows SQL's own visibility rules (WITH, subqueries, LATERAL, aliases, NATURAL and USING). It does not
judge grouping, types or ambiguity of aliases: the database's EXPLAIN does. What it cannot place it refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import Protocol

from sqlglot import exp

from rag_core.datamodel.catalog import CatalogTable
from rag_core.policy.access import Access, TableAccess
from rag_core.policy.expressions import ExpressionReader, listed
from rag_core.policy.lineage import Lineage
from rag_core.policy.refusal import Refusal
from rag_core.policy.scope import ColumnReader, Output, Parts, Scope, Source, derived_source

# Snowflake lets a WITH item name itself without the word RECURSIVE.
_IMPLICIT_RECURSION = frozenset({"snowflake"})
_LATERAL_SUBQUERIES = frozenset({"duckdb"})


class TableCheck(Protocol):
    """A further judgement of a table that is read."""

    def check(self, table: CatalogTable) -> None:
        """Raises Refusal where the table must not be read."""
        ...


class Resolver:
    """Resolves one statement; `check_attribute` judges a name after a point that no column is known for.

    After `resolve`, `tables` and `columns` are what the statement reads, as the catalog spells it; `places` are the
    table nodes with their tables, for rewriting; `joined` are pairs of columns joined by USING or NATURAL. `lineage`
    tells what expressions are made of, `merged` the same of both sides of what USING, NATURAL, INTERSECT and EXCEPT
    compare.
    """

    def __init__(
        self, access: Access, views: TableCheck | None, check_attribute: Callable[[str], None] = lambda name: None
    ) -> None:
        self._access = access
        self._views = views
        self._rules = access.rules
        self._dialect = access.rules.dialect
        self._names = ColumnReader(access, check_attribute)
        self._expressions = ExpressionReader(self._names, self)
        self.tables: dict[str, None] = {}
        self.places: list[tuple[exp.Table, TableAccess]] = []
        self.joined: list[tuple[str, str]] = []
        self.merged: list[tuple[Parts, Parts]] = []
        self._outputs: dict[int, Output] = {}

    @property
    def lineage(self) -> Lineage:
        """What expressions of the resolved statement are made of."""
        return Lineage(self._names.bound, self._outputs)

    @property
    def meanings(self) -> dict[int, str]:
        """The catalog column that a column node of the statement is, by the node's id."""
        return self._names.meanings

    @property
    def columns(self) -> dict[str, None]:
        """Catalog columns that are read, in order of their first use."""
        return self._names.columns

    @property
    def replaced_columns(self) -> list[exp.Column]:
        """Column nodes that name a schema although their table becomes a subquery."""
        return self._names.replaced_columns

    def resolve(self, tree: exp.Expr) -> None:
        """Resolves every table and column of the tree. Raises Refusal."""
        self.query(tree, {}, None)
        for node in tree.find_all(exp.Table, exp.Column):
            if id(node) not in self._names.seen:
                raise Refusal("unsupported", f"{node.sql(dialect=self._dialect)} stands where it cannot be checked")

    # ------------------------------------------------------------------ queries

    def query(self, node: exp.Expr, ctes: Mapping[str, Source], parent: Scope | None) -> Output:
        """Resolves a query with the common table expressions in sight; returns its output columns."""
        output = self._outputs[id(node)] = self._query(node, ctes, parent)
        return output

    def _query(self, node: exp.Expr, ctes: Mapping[str, Source], parent: Scope | None) -> Output:
        visible = self._with(node, ctes, parent)
        if isinstance(node, exp.Select):
            return self._select(node, visible, parent)
        if isinstance(node, exp.SetOperation):
            output, other = self.query(node.this, visible, parent), self.query(node.expression, visible, parent)
            if isinstance(node, (exp.Intersect, exp.Except)):
                self.merged.extend(zip(output.parts, other.parts, strict=False))
            both = [one + more for one, more in zip_longest(output.parts, other.parts, fillvalue=())]
            output = Output(output.names, output.open, both, output.rest + other.rest)
            self._modifiers(node, Scope(visible, parent, [derived_source("", output)], frozenset(output.names)))
            return output
        if isinstance(node, exp.Subquery):
            output = self.query(node.this, visible, parent)
            self._modifiers(node, Scope(visible, parent, [derived_source("", output)], frozenset(output.names)))
            return output
        if isinstance(node, exp.Values):
            scope = Scope(visible, parent)
            for row in node.expressions:
                self._expressions.read(row, scope)
            rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions]
            return Output([], True, [tuple(values) for values in zip(*rows, strict=False)])
        if isinstance(node, exp.Table):
            scope = Scope(visible, parent)
            self.item(node, scope)
            columns = [(source, key) for source in scope.sources for key in source.columns]
            return Output([key for _, key in columns], True, [(column,) for column in columns])
        raise Refusal("unsupported", f"{node.key.upper()} is not a query that can be checked")

    def _with(self, node: exp.Expr, ctes: Mapping[str, Source], parent: Scope | None) -> Mapping[str, Source]:
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        visible = dict(ctes)
        for cte in clause.expressions:
            key = self._rules.identifier_key(cte.args["alias"].this)
            renamed = self._alias_columns(cte.args["alias"])
            inner: Mapping[str, Source] = visible
            itself = Source(key, dict.fromkeys(renamed), open=True)
            if clause.recursive or self._dialect in _IMPLICIT_RECURSION:
                inner = {**visible, key: itself}
            output = self.query(cte.this, inner, parent)
            visible[key] = derived_source(key, output, renamed, opened=clause.args.get("search") is not None)
            itself.parts.update(visible[key].parts)
        search = clause.args.get("search")
        if search is not None:
            for column in search.find_all(exp.Column):
                self._names.seen.add(id(column))
        return visible

    def _select(self, node: exp.Select, ctes: Mapping[str, Source], parent: Scope | None) -> Output:
        scope = Scope(ctes, parent)
        if node.args.get("from_") is not None:
            self.item(node.args["from_"].this, scope)
        for lateral in node.args.get("laterals") or ():
            self.item(lateral, scope)
        for join in node.args.get("joins") or ():
            self._join(join, scope)
        scope.aliases = frozenset(
            self._rules.identifier_key(projection.args["alias"])
            for projection in node.expressions
            if isinstance(projection, exp.Alias) and isinstance(projection.args.get("alias"), exp.Identifier)
        )
        output = Output([])
        for projection in node.expressions:
            self._projection(projection, scope, output)
        self._modifiers(node, scope)
        return output

    def _modifiers(self, node: exp.Expr, scope: Scope) -> None:
        """Everything of a query besides its sources and its projections."""
        skipped = {"with_", "from_", "joins", "laterals", "expressions", "this", "expression", "alias", "pivots"}
        for name, value in node.args.items():
            if name in skipped:
                continue
            for item in value if isinstance(value, list) else (value,):
                if isinstance(item, exp.Expr):
                    self._expressions.read(item, scope, aliases_first=name in ("order", "distinct"))

    def _projection(self, node: exp.Expr, scope: Scope, output: Output) -> None:
        self._expressions.read(node, scope)
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
            wanted = self._rules.identifier_key(node.args["table"]) if node.args.get("table") is not None else None
            for source in scope.sources:
                if wanted is None or source.key == wanted:
                    output.names.extend(source.columns)
                    output.parts.extend(((source, key),) for key in source.columns)
                    output.open |= source.open
                    output.rest += source.rest
            if node.find(exp.Alias) is not None:
                output.open = True
            return
        output.parts.append((node,))
        if isinstance(node, exp.Alias) and isinstance(node.args.get("alias"), exp.Identifier):
            output.names.append(self._rules.identifier_key(node.args["alias"]))
        elif isinstance(node, exp.Column):
            output.names.append(self._rules.identifier_key(node.this))
        else:
            # The database invents the name (PostgreSQL: the function's, or ?column?); EXPLAIN judges its use.
            output.names.append("")
            output.open = True

    # ------------------------------------------------------------------ FROM

    def item(self, node: exp.Expr, scope: Scope) -> None:
        """Adds an item of a FROM list to the scope."""
        alias = node.args.get("alias")
        if isinstance(node, exp.Table):
            self._table(node, scope)
        elif isinstance(node, exp.Subquery) and _is_nested_join(node.this):
            self._nested_join(node, scope)
        elif isinstance(node, exp.Subquery):
            outer = scope if self._dialect in _LATERAL_SUBQUERIES else scope.parent
            output = self.query(node, scope.ctes, outer)
            scope.sources.append(self._aliased(alias, output, node))
        elif isinstance(node, exp.Lateral):
            self._lateral(node, scope)
        elif isinstance(node, exp.Values):
            output = self.query(node, scope.ctes, scope)
            scope.sources.append(self._aliased(alias, output, node))
        else:
            for name, value in node.args.items():
                for part in listed(value) if name not in ("alias", "offset", "joins", "pivots") else ():
                    if isinstance(part, exp.Expr):
                        self._expressions.read(part, scope)
            scope.sources.append(self._aliased(alias, Output([], True, rest=(node,)), node))
        for join in node.args.get("joins") or ():
            self._join(join, scope)

    def _nested_join(self, node: exp.Subquery, scope: Scope) -> None:
        """`(a JOIN b ON ...) [AS j]`: without an alias its tables stay visible, with one only the alias is."""
        inner = Scope(scope.ctes, scope.parent)
        self.item(node.this, inner)
        alias = node.args.get("alias")
        if alias is None:
            for source in inner.sources:
                scope.sources.append(source)
            scope.merged |= inner.merged
        else:
            columns = [(source, key) for source in inner.sources for key in source.columns]
            output = Output(
                [key for _, key in columns],
                any(source.open for source in inner.sources),
                [(column,) for column in columns],
            )
            scope.sources.append(self._aliased(alias, output, node))
            for source in inner.sources:
                self._names.touch_all(source)

    def _lateral(self, node: exp.Lateral, scope: Scope) -> None:
        inner = node.this
        if isinstance(inner, (exp.Subquery, exp.Select, exp.SetOperation)):
            output = self.query(inner, scope.ctes, scope)
        else:
            self._expressions.read(inner, scope)
            output = Output([], True, rest=(inner,))
        scope.sources.append(self._aliased(node.args.get("alias"), output, node))

    def _table(self, node: exp.Table, scope: Scope) -> None:
        self._names.seen.add(id(node))
        alias = node.args.get("alias")
        if node.args.get("rows_from"):
            for item in node.args["rows_from"]:
                self._names.seen.add(id(item))
                # unnest() is a node of its own here.
                self._expressions.read(item.this if isinstance(item, exp.Table) else item, scope)
            scope.sources.append(self._aliased(alias, Output([], True, rest=tuple(node.args["rows_from"])), node))
            return
        if isinstance(node.this, exp.Values):
            scope.sources.append(self._aliased(alias, self.query(node.this, scope.ctes, scope), node))
            return
        if not isinstance(node.this, exp.Identifier):
            if not isinstance(node.this, exp.Func):
                raise Refusal("unknown_table", f"{node.sql(dialect=self._dialect)} is not a table of the catalog")
            self._expressions.read(node.this, scope)
            scope.sources.append(self._aliased(alias, Output([], True, rest=(node.this,)), node))
            return
        for name in ("sample", "pivots"):
            for item in listed(node.args.get(name)):
                self._pivot(item, scope)
        source = self._named_table(node, scope)
        renamed = self._alias_columns(alias)
        if renamed:
            names = dict(zip(source.columns, renamed, strict=False))
            source.columns = {names.get(key, key): value for key, value in source.columns.items()}
            source.parts = {names.get(key, key): made for key, made in source.parts.items()}
        if alias is not None and alias.this is not None:
            source.key = self._rules.identifier_key(alias.this)
            source.schema = None
        source.open |= bool(node.args.get("pivots"))
        if node.args.get("pivots"):
            self._names.touch_all(source)
        scope.sources.append(source)

    def _pivot(self, node: exp.Expr, scope: Scope) -> None:
        # A pivot's names mean columns of its table, all of which count as read; its functions were scanned already.
        for column in node.find_all(exp.Column):
            self._names.seen.add(id(column))
        if isinstance(node, exp.Pivot) and node.find(exp.Select, exp.Table) is not None:
            raise Refusal("unsupported", "a query inside PIVOT cannot be checked")

    def _named_table(self, node: exp.Table, scope: Scope) -> Source:
        key = self._rules.identifier_key(node.this)
        schema, database = node.args.get("db"), node.args.get("catalog")
        if schema is None:
            cte = scope.ctes.get(key)
            if cte is not None:
                # The parts of one that reads itself are not known yet.
                return Source(key, dict(cte.columns), cte.open, parts=cte.parts, rest=cte.rest)
        schema_key = self._rules.identifier_key(schema) if schema is not None else None
        database_key = self._rules.identifier_key(database) if database is not None else None
        try:
            table = self._access.find(key, schema_key, database_key)
        except Refusal as refusal:
            raise self._with_columns(refusal, node) if refusal.code == "quoting" else refusal from None
        access = self._access.allow(table)
        if self._views is not None:
            self._views.check(table)
        self.tables[table.qualified_name] = None
        self.places.append((node, access))
        self._names.hidden.update(access.hidden)
        columns: dict[str, str | None] = dict(access.visible)
        return Source(key, columns, access=access, schema=self._rules.catalog_key(table.schema_name))

    def _with_columns(self, refusal: Refusal, node: exp.Table) -> Refusal:
        """A refusal for a table's spelling that also tells the spelling of the columns the statement names."""
        root = node.root()
        wanted = {column.name.lower() for column in root.find_all(exp.Column)}
        names = tuple(
            ".".join(self._rules.written(part) for part in (table.schema_name, table.name, column.name))
            for table in refusal.about
            for column in table.columns
            if column.name.lower() in wanted
        )
        return Refusal(
            refusal.code, refusal.message, (*names, *refusal.suggestions), (1.0,) * (len(names) + len(refusal.scores))
        )

    def _join(self, join: exp.Join, scope: Scope) -> None:
        before = list(scope.sources)
        self.item(join.this, scope)
        added = scope.sources[len(before) :]
        for identifier in join.args.get("using") or ():
            key = self._rules.identifier_key(identifier.this if isinstance(identifier, exp.Column) else identifier)
            if isinstance(identifier, exp.Column):
                self._names.seen.add(id(identifier))
            self._merge_both(key, before, added)
            scope.merged.add(key)
        if str(join.args.get("method") or "").upper() == "NATURAL":
            left = {key for source in before for key in source.columns}
            for key in sorted({key for source in added for key in source.columns} & left):
                self._merge_both(key, before, added)
                scope.merged.add(key)
        for name in ("on", "match_condition"):
            if join.args.get(name) is not None:
                self._expressions.read(join.args[name], scope)

    def _merge_both(self, key: str, before: list[Source], added: list[Source]) -> None:
        left, right = self._merge(key, before), self._merge(key, added)
        self.joined.extend((one, other) for one in left for other in right)
        one, other = (tuple((item, key) for item in side if key in item.columns) for side in (before, added))
        self.merged.append((one, other))

    def _merge(self, key: str, side: list[Source]) -> list[str]:
        """The catalog columns that a name of USING or NATURAL means on one side of a join."""
        found = [source for source in side if key in source.columns]
        if not found:
            for source in side:
                self._names.check_hidden(source, key, key)
            if not any(source.open for source in side):
                self._names.refuse(key, side)
        touched = [self._names.touch(source, key) for source in found]
        return [column for column in touched if column is not None]

    def _aliased(self, alias: exp.Expr | None, output: Output, node: exp.Expr) -> Source:
        """The source that a FROM item with an alias and perhaps column aliases is."""
        renamed = self._alias_columns(alias)
        key = self._rules.identifier_key(alias.this) if alias is not None and alias.this is not None else ""
        source = derived_source(
            key, output, renamed, opened=bool(node.args.get("pivots") or node.args.get("ordinality"))
        )
        if isinstance(node, exp.Unnest):
            # BigQuery: the alias is the element itself, and WITH OFFSET has a name of its own.
            source.columns.setdefault(key, None)
            if isinstance(node.args.get("offset"), exp.Expr):
                source.columns[self._rules.identifier_key(node.args["offset"])] = None
        for item in listed(node.args.get("pivots")):
            self._pivot(item, Scope({}))
        return source

    def _alias_columns(self, alias: exp.Expr | None) -> list[str]:
        if alias is None:
            return []
        names = []
        for item in alias.args.get("columns") or ():
            if isinstance(item, exp.Column):
                self._names.seen.add(id(item))
            names.append(self._rules.identifier_key(item.this if not isinstance(item, exp.Identifier) else item))
        return names


def _is_nested_join(node: exp.Expr) -> bool:
    """Whether what stands in parentheses is a join or a table rather than a query."""
    return isinstance(node, exp.Table) or (
        isinstance(node, exp.Subquery) and bool(node.args.get("joins") or node.args.get("alias"))
    )
