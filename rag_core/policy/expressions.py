"""Resolves the names inside expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from sqlglot import exp

from rag_core.policy.refusal import Refusal
from rag_core.policy.scope import ColumnReader, Output, Scope, Source

Stack = list[tuple[exp.Expr, Scope]]


class QueryReader(Protocol):
    """Resolves what expressions hold besides names."""

    def query(self, node: exp.Expr, ctes: Mapping[str, Source], parent: Scope | None) -> Output:
        """Resolves a query and gives its columns."""
        ...

    def item(self, node: exp.Expr, scope: Scope) -> None:
        """Resolves an item of a FROM clause and adds it to the scope."""
        ...


def listed(value: Any) -> list[Any]:
    """An argument of a node as a list, whether it holds one, several or none."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _counts(node: exp.Expr | None) -> bool:
    """Whether a star inside this means rows and no columns."""
    return isinstance(node, exp.Count) or (isinstance(node, exp.Anonymous) and node.name.lower() == "count")


class ExpressionReader:
    """Walks expressions and hands their names to the column reader, their queries to the query reader."""

    def __init__(self, names: ColumnReader, queries: QueryReader) -> None:
        self._names = names
        self._queries = queries

    def read(self, root: exp.Expr, scope: Scope, *, aliases_first: bool = False) -> None:
        """Resolves every name below an expression, with a stack of its own: chains of AND may be thousands deep."""
        stack: Stack = [(root, scope)]
        while stack:
            node, here = stack.pop()
            if isinstance(node, (exp.Select, exp.SetOperation, exp.Subquery)):
                self._queries.query(node, here.ctes, here)
                continue
            if isinstance(node, exp.Column):
                self._names.read(node, here, aliases_first=aliases_first)
                continue
            if isinstance(node, exp.Table):
                # Some functions take a table's name (`TABLE(f(...))`, `EXISTS (TABLE t)`): check it as a source.
                self._queries.item(node, Scope(here.ctes, here))
                continue
            if isinstance(node, exp.Star):
                if not _counts(node.parent):
                    for source in here.sources:
                        self._names.touch_all(source)
                self._star_options(node, here, stack)
                continue
            if isinstance(node, exp.Dot):
                self._dot(node, here, stack)
                continue
            if isinstance(node, exp.Lambda):
                names = {self._names.rules.identifier_key(item): None for item in node.expressions}
                stack.append((node.this, Scope(here.ctes, here, [Source("", dict(names))])))
                continue
            if isinstance(node, (exp.Kwarg, exp.PropertyEQ)):
                for column in (node.this, *node.this.find_all(exp.Column)):
                    self._names.seen.add(id(column))
                stack.append((node.expression, here))
                continue
            # Names of types are judged apart; a column in one would be left unresolved, and refused.
            inside = (child for child in node.iter_expressions() if not isinstance(child, exp.DataType))
            stack.extend((child, here) for child in reversed(list(inside)))

    def _star_options(self, node: exp.Star, scope: Scope, stack: Stack) -> None:
        for name in ("except_", "replace", "rename"):
            for item in listed(node.args.get(name)):
                if isinstance(item, (exp.Identifier, exp.Column)):
                    key = self._names.rules.identifier_key(item if isinstance(item, exp.Identifier) else item.this)
                    for source in scope.sources:
                        self._names.check_hidden(source, key, item.name)
                    self._names.seen.add(id(item))
                elif isinstance(item, exp.Expr):
                    stack.append((item, scope))

    def _dot(self, node: exp.Dot, scope: Scope, stack: Stack) -> None:
        """`schema.function(...)`, `(row).field` and fields of structs."""
        if isinstance(node.expression, exp.Func):
            # What stands in front is a schema; in DuckDB it may be a value, whose columns count like any other.
            stack.extend(((node.this, scope), (node.expression, scope)))
            return
        inner = node.this.unnest()
        if isinstance(inner, exp.Column) and inner.args.get("table") is None:
            source = self._names.whole_row(self._names.rules.identifier_key(inner.this), scope)
            if source is not None and isinstance(node.expression, exp.Identifier):
                self._names.seen.add(id(inner))
                key = self._names.rules.identifier_key(node.expression)
                self._names.bound[id(inner)] = [(source, key)]
                if key in source.columns:
                    self._names.touch(source, key)
                    return
                self._names.check_hidden(source, key, node.expression.name)
                if not source.open:
                    self._names.refuse(key, [source])
                self._names.check_open(source, key)
                return
        self.read(node.this, scope)
        if isinstance(node.expression, exp.Identifier):
            if self._names.rules.identifier_key(node.expression) in self._names.hidden:
                raise Refusal("column_excluded", f"the policy hides the column {node.expression.name}")
            self._names.check_field(self._names.rules.identifier_key(node.expression), node.this)
        else:
            stack.append((node.expression, scope))
