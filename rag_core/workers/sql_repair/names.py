"""Holds every name of a statement against the schema, and mends those that are not there. Pure.

Tables first, then the conditions of joins, then each column: a column is looked for in the table it was asked of, in
the tables around it, and in those that the join graph reaches; the best place is taken where it is likely enough.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from rag_core.workers.sql_repair.columns import ColumnMender
from rag_core.workers.sql_repair.grain import keep_grain
from rag_core.workers.sql_repair.idle_joins import asked_sources, drop_idle
from rag_core.workers.sql_repair.join_conditions import mend_joins
from rag_core.workers.sql_repair.mends import Mend
from rag_core.workers.sql_repair.replacements import replace_sources
from rag_core.workers.sql_repair.shape import Shape, TableShape
from rag_core.workers.sql_repair.sources import (
    Scope,
    Source,
    joins_of,
    outputs_of,
    own_columns,
    own_nodes,
)


def mend_names(tree: exp.Expr, shape: Shape) -> list[Mend]:
    """Changes the tree in place; returns what was done."""
    walker = _Walker(shape)
    walker.query(tree, {}, ())
    return walker.mends


class _Walker:
    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self.mends: list[Mend] = []

    def query(self, node: exp.Expr, ctes: Mapping[str, Source], outer: tuple[Scope, ...]) -> Scope | None:
        """Mends a query with all that is below it; the scope of its first SELECT."""
        known = dict(ctes)
        with_ = node.args.get("with_")
        for cte in with_.expressions if with_ is not None else ():
            name = self._shape.key(cte.args["alias"].this)
            if with_ is not None and with_.args.get("recursive"):
                known[name] = Source(name, cte.alias)
            scope = self.query(cte.this, known, outer)
            known[name] = Source(name, cte.alias, outputs=self._outputs(cte, scope), scope=scope)
        if isinstance(node, exp.Subquery):
            return self.query(node.this, known, outer)
        if isinstance(node, exp.SetOperation):
            scope = self.query(node.this, known, outer)
            self.query(node.expression, known, outer)
            return scope
        return self._select(node, known, outer) if isinstance(node, exp.Select) else None

    def _outputs(self, node: exp.Expr, scope: Scope | None) -> dict[str, str] | None:
        """Names of a CTE's or a subquery's columns: those that its alias gives, else the query's own."""
        alias = node.args.get("alias")
        if isinstance(alias, exp.TableAlias) and alias.args.get("columns"):
            return {self._shape.key(item): item.name for item in alias.args["columns"]}
        return outputs_of(node.this, scope, self._shape)

    def _select(self, select: exp.Select, ctes: Mapping[str, Source], outer: tuple[Scope, ...]) -> Scope:
        scope = Scope(select, outer=outer, ctes=ctes)
        from_ = select.args.get("from_")
        for entry in ([from_] if from_ is not None else []) + joins_of(select):
            source = self._source(entry.this, scope)
            if source is not None:
                scope.sources.append(source)
        written, asked, told = {item.written for item in scope.sources}, asked_sources(scope), len(self.mends)
        self.mends += replace_sources(scope, self._shape)
        self.mends += mend_joins(scope, self._shape)
        mender = ColumnMender(scope, self._shape)
        for _ in range(2):  # a table that was joined in may have made a bare name ambiguous
            for column in own_columns(select):
                mender.mend(column)
            if not mender.mends:
                break
        self.mends += mender.mends
        if len(self.mends) > told:
            self.mends += drop_idle(scope, asked, self._shape)
            self.mends += keep_grain(scope, written | {item.written for item in scope.sources[:1]}, self._shape)
        entries = {id(item.this) for item in ([from_] if from_ is not None else []) + joins_of(select)}
        for node in list(own_nodes(select)):
            below = node is not select and isinstance(node, exp.Query) and id(node) not in entries
            if below and not isinstance(node.parent, exp.CTE):
                self.query(node, ctes, (scope, *outer))
        return scope

    def _source(self, node: exp.Expr, scope: Scope) -> Source | None:
        shape = self._shape
        if isinstance(node, exp.Lateral):
            return Source(node.alias.lower(), node.alias)
        if isinstance(node, exp.Subquery):
            inner = self.query(node.this, scope.ctes, scope.outer)
            alias = node.args.get("alias")
            name = shape.key(alias.this) if isinstance(alias, exp.TableAlias) else ""
            return Source(name, node.alias, outputs=self._outputs(node, inner), scope=inner)
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            return Source(node.alias_or_name.lower(), node.alias_or_name)
        name, schema_key = shape.key(node.this), shape.key(node.args.get("db"))
        alias = node.args.get("alias")
        identifier = alias.this if isinstance(alias, exp.TableAlias) else node.this
        if not schema_key and name in scope.ctes:
            known = scope.ctes[name]
            return Source(shape.key(identifier), identifier.name, outputs=known.outputs, scope=known.scope)
        table = shape.find_table(name, schema_key) or self._renamed(node, scope)
        if node.args.get("alias") is None and isinstance(node.this, exp.Identifier):
            identifier = node.this
        else:
            identifier = node.args["alias"].this
        return Source(shape.key(identifier), identifier.name, table=table)

    def _renamed(self, node: exp.Table, scope: Scope) -> TableShape | None:
        """Gives a table that is not there the name of the one that was meant; columns keep their qualifier."""
        shape = self._shape
        wrong, before = node.name, node.sql(dialect=shape.dialect)
        table, score = shape.find_table(wrong.lower()), 0.95
        asked = [item for item in scope.select.find_all(exp.Column) if item.table in (wrong, node.alias_or_name)]
        if table is None:
            near = shape.near_table(wrong, [shape.key(item.this) for item in asked])
            if near is None:
                return None
            table, score = near
        named = shape.rules.identifier(table.name)
        old = node.this
        node.set("this", named)
        found = shape.find_table(shape.rules.catalog_key(table.name))
        node.set("db", None if found is table else shape.rules.identifier(table.schema_name))
        node.set("catalog", None)
        if node.args.get("alias") is None and any(item.table == wrong for item in asked) and wrong != table.name:
            node.set("alias", exp.TableAlias(this=old.copy()))
        after = table.name if found is table else table.full
        self.mends.append(Mend(kind="table_name", before=before, after=after, confidence=min(score, 0.95)))
        return table
