"""Lexical scopes of a query: which table and column each name means, and whether it may be seen.

The resolver follows SQL's own visibility rules (WITH, subqueries, LATERAL, aliases, NATURAL and USING). It does not
judge grouping, types or ambiguity of aliases: the database's EXPLAIN does. What it cannot place it refuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from sqlglot import exp

from rag_core.datamodel.catalog import CatalogTable
from rag_core.policy.access import Access, TableAccess
from rag_core.policy.names import asked_back, near_misses
from rag_core.policy.refusal import Refusal

# Hidden columns that every PostgreSQL table has; they tell of storage and of the names of partitions.
_SYSTEM_COLUMNS = frozenset({"tableoid", "ctid", "xmin", "xmax", "cmin", "cmax", "oid", "rowid", "_rowid_"})
_LATERAL_SUBQUERIES = frozenset({"duckdb"})
_FIELD_ACCESS = frozenset({"bigquery", "duckdb", "snowflake", "redshift"})
# Words that some dialects take as arguments where the parser sees a column, as in DATEDIFF(day, a, b).
_DATE_PARTS = frozenset(
    {
        "year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond",
        "nanosecond", "epoch", "dow", "doy", "isoyear", "isoweek", "isodow", "dayofweek", "dayofyear", "decade",
        "century", "millennium", "years", "quarters", "months", "weeks", "days", "hours", "minutes", "seconds",
        "dayofweekiso", "weekiso", "yearofweek", "yearofweekiso", "date", "time", "yyyy", "mm", "dd", "epoch_second",
    }
)  # fmt: skip


class TableCheck(Protocol):
    """A further judgement of a table that is read."""

    def check(self, table: CatalogTable) -> None:
        """Raises Refusal where the table must not be read."""
        ...


@dataclass
class Source:
    """One item of a FROM clause. `columns` maps keys of visible columns to the catalog columns they are, if any.

    An `open` source may have more columns than are known (table functions, pivots, unnamed expressions).
    """

    key: str
    columns: dict[str, str | None]
    open: bool = False
    access: TableAccess | None = None
    schema: str | None = None
    replaced: bool = False


@dataclass
class Scope:
    """The names that one SELECT sees: its sources, its select aliases and the queries around it."""

    ctes: Mapping[str, Source]
    parent: Scope | None = None
    sources: list[Source] = field(default_factory=list)
    aliases: frozenset[str] = frozenset()
    merged: set[str] = field(default_factory=set)


@dataclass
class Output:
    """The columns that a query gives, by key in order; `open` where not all names are known."""

    names: list[str]
    open: bool = False


class Resolver:
    """Resolves one statement.

    After `resolve`, `tables` and `columns` are what the statement reads, as the catalog spells it; `places` are the
    table nodes with their tables, for rewriting; `replaced_columns` are column nodes that name a schema although
    their table becomes a subquery.
    """

    def __init__(self, access: Access, views: TableCheck | None) -> None:
        self._access = access
        self._views = views
        self._rules = access.rules
        self._dialect = access.rules.dialect
        self._seen: set[int] = set()
        self.tables: dict[str, None] = {}
        self.columns: dict[str, None] = {}
        self.places: list[tuple[exp.Table, TableAccess]] = []
        self.replaced_columns: list[exp.Column] = []

    def resolve(self, tree: exp.Expr) -> None:
        """Resolves every table and column of the tree. Raises Refusal."""
        self._query(tree, {}, None)
        for node in tree.find_all(exp.Table, exp.Column):
            if id(node) not in self._seen:
                raise Refusal("unsupported", f"{node.sql(dialect=self._dialect)} stands where it cannot be checked")

    # ------------------------------------------------------------------ queries

    def _query(self, node: exp.Expr, ctes: Mapping[str, Source], parent: Scope | None) -> Output:
        visible = self._with(node, ctes, parent)
        if isinstance(node, exp.Select):
            return self._select(node, visible, parent)
        if isinstance(node, exp.SetOperation):
            output = self._query(node.this, visible, parent)
            self._query(node.expression, visible, parent)
            self._modifiers(node, Scope(visible, parent, [_source("", output)], frozenset(output.names)))
            return output
        if isinstance(node, exp.Subquery):
            output = self._query(node.this, visible, parent)
            self._modifiers(node, Scope(visible, parent, [_source("", output)], frozenset(output.names)))
            return output
        if isinstance(node, exp.Values):
            scope = Scope(visible, parent)
            for row in node.expressions:
                self._expression(row, scope)
            return Output(names=[], open=True)
        if isinstance(node, exp.Table):
            scope = Scope(visible, parent)
            self._item(node, scope)
            return Output([key for source in scope.sources for key in source.columns], True)
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
            if clause.recursive:
                inner = {**visible, key: Source(key, dict.fromkeys(renamed), open=True)}
            output = self._query(cte.this, inner, parent)
            visible[key] = _source(key, output, renamed, opened=clause.args.get("search") is not None)
        search = clause.args.get("search")
        if search is not None:
            for column in search.find_all(exp.Column):
                self._seen.add(id(column))
        return visible

    def _select(self, node: exp.Select, ctes: Mapping[str, Source], parent: Scope | None) -> Output:
        scope = Scope(ctes, parent)
        if node.args.get("from_") is not None:
            self._item(node.args["from_"].this, scope)
        for lateral in node.args.get("laterals") or ():
            self._item(lateral, scope)
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
        skipped = {"with_", "from_", "joins", "laterals", "expressions", "this", "expression", "alias"}
        for name, value in node.args.items():
            if name in skipped:
                continue
            for item in value if isinstance(value, list) else (value,):
                if isinstance(item, exp.Expr):
                    self._expression(item, scope, aliases_first=name == "order")
        if isinstance(node, (exp.SetOperation, exp.Subquery)):
            for join in node.args.get("joins") or ():
                self._join(join, scope)

    def _projection(self, node: exp.Expr, scope: Scope, output: Output) -> None:
        self._expression(node, scope)
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
            wanted = self._rules.identifier_key(node.args["table"]) if node.args.get("table") is not None else None
            for source in scope.sources:
                if wanted is None or source.key == wanted:
                    output.names.extend(source.columns)
                    output.open |= source.open
            if node.find(exp.Alias) is not None:
                output.open = True
        elif isinstance(node, exp.Alias) and isinstance(node.args.get("alias"), exp.Identifier):
            output.names.append(self._rules.identifier_key(node.args["alias"]))
        elif isinstance(node, exp.Column):
            output.names.append(self._rules.identifier_key(node.this))
        else:
            # The database invents the name (PostgreSQL: the function's, or ?column?); EXPLAIN judges its use.
            output.names.append("")
            output.open = True

    # ------------------------------------------------------------------ FROM

    def _item(self, node: exp.Expr, scope: Scope) -> None:
        alias = node.args.get("alias")
        if isinstance(node, exp.Table):
            self._table(node, scope)
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            self._nested_join(node, scope)
        elif isinstance(node, exp.Subquery):
            outer = scope if self._dialect in _LATERAL_SUBQUERIES else scope.parent
            output = self._query(node, scope.ctes, outer)
            self._add(scope, self._aliased(alias, output, node))
        elif isinstance(node, exp.Lateral):
            self._lateral(node, scope)
        elif isinstance(node, exp.Values):
            output = self._query(node, scope.ctes, scope)
            self._add(scope, self._aliased(alias, output, node))
        else:
            self._expression(node, scope)
            self._add(scope, self._aliased(alias, Output([], True), node))
        for join in (node.args.get("joins") or ()) if not isinstance(node, exp.Subquery) else ():
            self._join(join, scope)
        if isinstance(node, exp.Subquery) and not isinstance(node.this, exp.Table):
            return

    def _nested_join(self, node: exp.Subquery, scope: Scope) -> None:
        """`(a JOIN b ON ...) [AS j]`: without an alias its tables stay visible, with one only the alias is."""
        inner = Scope(scope.ctes, scope.parent)
        self._item(node.this, inner)
        for join in node.args.get("joins") or ():
            self._join(join, inner)
        alias = node.args.get("alias")
        if alias is None:
            for source in inner.sources:
                self._add(scope, source)
            scope.merged |= inner.merged
        else:
            output = Output(
                [key for source in inner.sources for key in source.columns],
                any(source.open for source in inner.sources),
            )
            self._add(scope, self._aliased(alias, output, node))
            for source in inner.sources:
                self._touch_all(source)

    def _lateral(self, node: exp.Lateral, scope: Scope) -> None:
        inner = node.this
        if isinstance(inner, (exp.Subquery, exp.Select, exp.SetOperation)):
            output = self._query(inner, scope.ctes, scope)
        else:
            self._expression(inner, scope)
            output = Output([], True)
        self._add(scope, self._aliased(node.args.get("alias"), output, node))

    def _table(self, node: exp.Table, scope: Scope) -> None:
        self._seen.add(id(node))
        alias = node.args.get("alias")
        if node.args.get("rows_from"):
            for item in node.args["rows_from"]:
                self._seen.add(id(item))
                self._expression(item.this, scope)
            self._add(scope, self._aliased(alias, Output([], True), node))
            return
        if not isinstance(node.this, exp.Identifier):
            if not isinstance(node.this, exp.Func):
                raise Refusal("unknown_table", f"{node.sql(dialect=self._dialect)} is not a table of the catalog")
            self._expression(node.this, scope)
            self._add(scope, self._aliased(alias, Output([], True), node))
            return
        for name in ("sample", "pivots"):
            for item in _listed(node.args.get(name)):
                self._pivot(item, scope)
        source = self._named_table(node, scope)
        renamed = self._alias_columns(alias)
        if renamed:
            originals = list(source.columns.items())
            source.columns = {
                renamed[index] if index < len(renamed) else key: value for index, (key, value) in enumerate(originals)
            }
        if alias is not None and alias.this is not None:
            source.key = self._rules.identifier_key(alias.this)
            source.schema = None
        source.open |= bool(node.args.get("pivots"))
        if node.args.get("pivots"):
            self._touch_all(source)
        self._add(scope, source)

    def _pivot(self, node: exp.Expr, scope: Scope) -> None:
        # A pivot's names mean columns of its table, all of which count as read; its functions were scanned already.
        for column in node.find_all(exp.Column):
            self._seen.add(id(column))
        if isinstance(node, exp.Pivot) and node.find(exp.Select, exp.Table) is not None:
            raise Refusal("unsupported", "a query inside PIVOT cannot be checked")

    def _named_table(self, node: exp.Table, scope: Scope) -> Source:
        key = self._rules.identifier_key(node.this)
        schema, database = node.args.get("db"), node.args.get("catalog")
        if schema is None:
            cte = scope.ctes.get(key)
            if cte is not None:
                return Source(key, dict(cte.columns), cte.open)
        schema_key = self._rules.identifier_key(schema) if schema is not None else None
        database_key = self._rules.identifier_key(database) if database is not None else None
        table = self._access.find(key, schema_key, database_key)
        access = self._access.allow(table)
        if self._views is not None:
            self._views.check(table)
        self.tables[table.qualified_name] = None
        self.places.append((node, access))
        columns: dict[str, str | None] = dict(access.visible)
        return Source(key, columns, access=access, schema=self._rules.catalog_key(table.schema_name))

    def _join(self, join: exp.Join, scope: Scope) -> None:
        before = list(scope.sources)
        self._item(join.this, scope)
        added = scope.sources[len(before) :]
        for identifier in join.args.get("using") or ():
            key = self._rules.identifier_key(identifier.this if isinstance(identifier, exp.Column) else identifier)
            if isinstance(identifier, exp.Column):
                self._seen.add(id(identifier))
            for side in (before, added):
                self._merge(key, side)
            scope.merged.add(key)
        if str(join.args.get("method") or "").upper() == "NATURAL":
            left = {key for source in before for key in source.columns}
            for key in {key for source in added for key in source.columns} & left:
                self._merge(key, before)
                self._merge(key, added)
                scope.merged.add(key)
        for name in ("on", "match_condition"):
            if join.args.get(name) is not None:
                self._expression(join.args[name], scope)

    def _merge(self, key: str, side: list[Source]) -> None:
        found = [source for source in side if key in source.columns]
        for source in found:
            self._touch(source, key)
        if not found:
            for source in side:
                self._check_hidden(source, key, key)
            if not any(source.open for source in side):
                self._refuse_column(key, side)

    def _aliased(self, alias: exp.Expr | None, output: Output, node: exp.Expr) -> Source:
        """The source that a FROM item with an alias and perhaps column aliases is."""
        renamed = self._alias_columns(alias)
        key = self._rules.identifier_key(alias.this) if alias is not None and alias.this is not None else ""
        source = _source(key, output, renamed, opened=bool(node.args.get("pivots") or node.args.get("ordinality")))
        if isinstance(node, exp.Unnest):
            # BigQuery: the alias is the element itself, and WITH OFFSET has a name of its own.
            source.columns.setdefault(key, None)
            if isinstance(node.args.get("offset"), exp.Expr):
                source.columns[self._rules.identifier_key(node.args["offset"])] = None
        for item in _listed(node.args.get("pivots")):
            self._pivot(item, Scope({}))
        return source

    def _alias_columns(self, alias: exp.Expr | None) -> list[str]:
        if alias is None:
            return []
        names = []
        for item in alias.args.get("columns") or ():
            if isinstance(item, exp.Column):
                self._seen.add(id(item))
            names.append(self._rules.identifier_key(item.this if not isinstance(item, exp.Identifier) else item))
        return names

    def _add(self, scope: Scope, source: Source) -> None:
        scope.sources.append(source)

    # ------------------------------------------------------------------ expressions

    def _expression(self, root: exp.Expr, scope: Scope, *, aliases_first: bool = False) -> None:
        """Resolves every name below an expression, with a stack of its own: chains of AND may be thousands deep."""
        stack: list[tuple[exp.Expr, Scope]] = [(root, scope)]
        while stack:
            node, here = stack.pop()
            if isinstance(node, (exp.Select, exp.SetOperation, exp.Subquery)):
                self._query(node, here.ctes, here)
                continue
            if isinstance(node, exp.Column):
                self._column(node, here, aliases_first=aliases_first)
                continue
            if isinstance(node, exp.Table):
                # Some functions take a table's name (`TABLE(f(...))`, `EXISTS (TABLE t)`): check it as a source.
                self._item(node, Scope(here.ctes, here))
                continue
            if isinstance(node, exp.Star):
                if not isinstance(node.parent, exp.Count):
                    for source in here.sources:
                        self._touch_all(source)
                self._star_options(node, here, stack)
                continue
            if isinstance(node, exp.Dot):
                self._dot(node, here, stack)
                continue
            if isinstance(node, exp.Lambda):
                names = {self._rules.identifier_key(item): None for item in node.expressions}
                stack.append((node.this, Scope(here.ctes, here, [Source("", dict(names))])))
                continue
            if isinstance(node, (exp.Kwarg, exp.PropertyEQ)):
                for column in (node.this, *node.this.find_all(exp.Column)):
                    self._seen.add(id(column))
                stack.append((node.expression, here))
                continue
            stack.extend((child, here) for child in reversed(list(node.iter_expressions())))

    def _star_options(self, node: exp.Star, scope: Scope, stack: list[tuple[exp.Expr, Scope]]) -> None:
        for name in ("except_", "replace", "rename"):
            for item in _listed(node.args.get(name)):
                if isinstance(item, (exp.Identifier, exp.Column)):
                    key = self._rules.identifier_key(item if isinstance(item, exp.Identifier) else item.this)
                    for source in scope.sources:
                        self._check_hidden(source, key, item.name)
                    self._seen.add(id(item))
                elif isinstance(item, exp.Expr):
                    stack.append((item, scope))

    def _dot(self, node: exp.Dot, scope: Scope, stack: list[tuple[exp.Expr, Scope]]) -> None:
        """`schema.function(...)`, `(row).field` and fields of structs."""
        if isinstance(node.expression, exp.Func):
            for column in node.this.find_all(exp.Column):
                self._seen.add(id(column))
            stack.append((node.expression, scope))
            return
        inner = node.this.unnest()
        if isinstance(inner, exp.Column) and inner.args.get("table") is None:
            source = self._whole_row(self._rules.identifier_key(inner.this), scope)
            if source is not None and isinstance(node.expression, exp.Identifier):
                self._seen.add(id(inner))
                key = self._rules.identifier_key(node.expression)
                if key in source.columns:
                    self._touch(source, key)
                    return
                self._check_hidden(source, key, node.expression.name)
                if not source.open:
                    self._refuse_column(key, [source])
                return
        if isinstance(node.expression, exp.Identifier):
            key = self._rules.identifier_key(node.expression)
            for access in {id(a): a for _, a in self.places}.values():
                if key in access.hidden:
                    raise Refusal("column_excluded", f"the policy hides the column {node.expression.name}")
        stack.append((node.this, scope))
        if not isinstance(node.expression, exp.Identifier):
            stack.append((node.expression, scope))

    # ------------------------------------------------------------------ columns

    def _column(self, node: exp.Column, scope: Scope, *, aliases_first: bool) -> None:
        self._seen.add(id(node))
        if isinstance(node.this, exp.Star):
            source = self._qualified_source(node, scope)
            if source is not None:
                self._touch_all(source)
            return
        key = self._rules.identifier_key(node.this)
        if node.args.get("table") is not None:
            self._qualified(node, key, scope)
        else:
            self._unqualified(node, key, scope, aliases_first=aliases_first)

    def _qualified(self, node: exp.Column, key: str, scope: Scope) -> None:
        source = self._qualified_source(node, scope)
        if source is None:
            return
        if key in source.columns:
            self._touch(source, key)
            return
        self._check_hidden(source, key, node.name)
        if source.open and key not in _SYSTEM_COLUMNS:
            return
        self._refuse_column(node.name, [source], source.key)

    def _qualified_source(self, node: exp.Column, scope: Scope) -> Source | None:
        table = self._rules.identifier_key(node.args["table"])
        schema = node.args.get("db")
        schema_key = self._rules.identifier_key(schema) if schema is not None else None
        here: Scope | None = scope
        while here is not None:
            for source in here.sources:
                if source.key == table and (schema_key is None or source.schema == schema_key):
                    if schema is not None and source.access is not None and source.access.restricted:
                        self.replaced_columns.append(node)
                    return source
            here = here.parent
        if self._dialect in _FIELD_ACCESS:
            # a.b.c may be fields of a struct column a; the outermost name is then an ordinary column.
            parts = [node.args[name] for name in ("catalog", "db", "table") if node.args.get(name) is not None]
            first = exp.Column(this=parts[0].copy())
            self._unqualified(first, self._rules.identifier_key(parts[0]), scope, aliases_first=False)
            return None
        known = sorted({source.key for source in scope.sources if source.key})
        raise Refusal(
            "unknown_table",
            f"{node.args['table'].name} is not a table or alias of this query"
            + (f"; it has {', '.join(known)}" if known else ""),
            tuple(known),
        )

    def _unqualified(self, node: exp.Column, key: str, scope: Scope, *, aliases_first: bool) -> None:
        if aliases_first and key in scope.aliases:
            return
        here: Scope | None = scope
        while here is not None:
            found = [source for source in here.sources if key in source.columns]
            if len(found) > 1 and key not in here.merged:
                names = tuple(sorted(f"{source.key}.{node.name}" for source in found))
                raise Refusal(
                    "ambiguous_column", f"the column {node.name} is ambiguous: {', '.join(names)}", names
                )
            if found:
                for source in found:
                    self._touch(source, key)
                return
            for source in here.sources:
                self._check_hidden(source, key, node.name)
            here = here.parent
        if key in scope.aliases:
            return
        source = self._whole_row(key, scope)
        if source is not None:
            self._touch_all(source)
            return
        if self._is_open(scope) and key not in _SYSTEM_COLUMNS:
            return
        if key.lower() in _DATE_PARTS and isinstance(node.parent, exp.Func):
            return
        sources: list[Source] = []
        here = scope
        while here is not None:
            sources.extend(here.sources)
            here = here.parent
        self._refuse_column(node.name, sources, quoted=bool(node.this.args.get("quoted")))

    def _is_open(self, scope: Scope | None) -> bool:
        while scope is not None:
            if any(source.open for source in scope.sources):
                return True
            scope = scope.parent
        return False

    def _whole_row(self, key: str, scope: Scope | None) -> Source | None:
        while scope is not None:
            for source in scope.sources:
                if source.key == key and key:
                    return source
            scope = scope.parent
        return None

    def _touch(self, source: Source, key: str) -> None:
        name = source.columns[key]
        if name is not None and source.access is not None:
            self.columns[f"{source.access.table.qualified_name}.{name}"] = None

    def _touch_all(self, source: Source) -> None:
        for key in source.columns:
            self._touch(source, key)

    def _check_hidden(self, source: Source, key: str, name: str) -> None:
        reason = source.access.hidden.get(key) if source.access is not None else None
        if reason is None or source.access is None:
            return
        table: CatalogTable = source.access.table
        if reason == "unreadable":
            raise Refusal("not_permitted", f"this role may not read the column {name} of {table.qualified_name}")
        raise Refusal("column_excluded", f"the policy excludes the column {name} of {table.qualified_name}")

    def _refuse_column(
        self, name: str, sources: list[Source], qualifier: str | None = None, *, quoted: bool = False
    ) -> NoReturn:
        written = f"{qualifier}.{name}" if qualifier else name
        pairs: list[tuple[str, str]] = []
        for source in sources:
            for column in (item for item in source.columns.values() if item is not None):
                prefix = self._rules.written(source.access.table.name) if source.access else source.key
                pairs.append((column, f"{prefix}.{self._rules.written(column)}"))
            pairs.extend(
                (key, f"{source.key}.{key}" if source.key else key)
                for key, item in source.columns.items()
                if item is None and key
            )
        same = sorted({text for column, text in pairs if column.lower() == name.lower()})
        if same:
            raise Refusal(
                "quoting", f"there is no column {written}: the name is written {' or '.join(same)}",
                tuple(same), (1.0,) * len(same),
            )
        found = near_misses(name, pairs)
        raise Refusal(
            "unknown_column",
            f"unknown column {written}{asked_back(found)}",
            tuple(item.name for item in found),
            tuple(item.score for item in found),
        )


def _source(key: str, output: Output, renamed: list[str] | None = None, *, opened: bool = False) -> Source:
    names = list(output.names)
    for index, name in enumerate(renamed or ()):
        if index < len(names):
            names[index] = name
        else:
            names.append(name)
    return Source(key, dict.fromkeys(name for name in names if name), open=output.open or opened)


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
