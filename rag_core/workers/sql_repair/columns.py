"""Mends the columns of one SELECT: requalified, renamed, or fetched from a table that is joined in. Pure."""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import exp

from rag_core.workers.sql_repair.join_conditions import add_tables
from rag_core.workers.sql_repair.mends import Mend, MendKind
from rag_core.workers.sql_repair.shape import NEAR, Link, Shape, TableShape, column_likeness
from rag_core.workers.sql_repair.sources import Scope, Source, clause_of, joins_of

_COMPARED = (exp.EQ, exp.NEQ, exp.Like, exp.ILike, exp.In, exp.GT, exp.LT, exp.GTE, exp.LTE)
# How much less likely another place is than the table that was asked, and each further join.
ELSEWHERE, JOINED, STEP = 0.93, 0.9, 0.06
# Likeness with the key of another table from which on a name means the column that refers to it.
REFERRED = 0.88


class _Option(NamedTuple):
    """A place where a column may be: its likeness, and the source, or the joins that lead to its table."""

    score: float
    name: str
    source: Source | None
    path: tuple[Link, ...] = ()


class ColumnMender:
    """Mends columns of one scope, one after the other; `mends` tells what was done."""

    def __init__(self, scope: Scope, shape: Shape) -> None:
        self._scope = scope
        self._shape = shape
        self.mends: list[Mend] = []

    def mend(self, column: exp.Column) -> None:
        """Mends a column where it is not what it says."""
        if isinstance(column.args.get("table"), exp.Identifier):
            self._qualified(column)
        else:
            self._bare(column)

    def _bare(self, column: exp.Column) -> None:
        name, scope = self._shape.key(column.this), self._scope
        holders = scope.holders(name)
        clause, top = clause_of(scope.select, column)
        projected = self._projection(name)
        direct = column.parent is top or isinstance(column.parent, exp.Ordered)
        named = projected is not None and clause in ("order", "group") and direct
        if named and not (clause == "group" and len(holders) > 1):
            return
        if len(holders) > 1:
            self._settle(column, name, holders)
            return
        if holders or any(source.has(name) is None for source in scope.sources):
            return
        if any(source.has(name) is not False for outer in scope.outer for source in outer.sources):
            return
        if projected is not None and self._substitute(column, projected):
            return
        if self._as_literal(column):
            return
        if any(source.name == name for source in scope.sources) and isinstance(column.parent, exp.Func):
            return  # a whole row, which the guard decides on
        self._look(column, name, None)

    def _qualified(self, column: exp.Column) -> None:
        shape, scope = self._shape, self._scope
        qualifier, name = shape.key(column.args["table"]), shape.key(column.this)
        source = scope.find(qualifier)
        if source is not None:
            if source.has(name) is False and not self._project(source, column, name):
                self._look(column, name, source)
            return
        aliased = [
            item for item in scope.sources if item.table and shape.rules.catalog_key(item.table.name) == qualifier
        ]
        if aliased:
            before = column.sql(dialect=shape.dialect)
            self._point(column, aliased[0], None)
            self._note("alias", before, column, 0.95)
            if aliased[0].has(name) is False:
                self._look(column, name, aliased[0])
            return
        table = shape.find_table(qualifier)
        if table is None:
            near = shape.near_table(qualifier, [name])
            table = near[0] if near is not None else None
        if table is not None and self._fetch(column, name, table):
            return
        self._look(column, name, None)

    def _projection(self, name: str) -> exp.Expr | None:
        for item in self._scope.select.selects:
            if isinstance(item, exp.Alias) and self._shape.key(item.args["alias"]) == name:
                found = item.this
                return found if isinstance(found, exp.Expr) else None
        return None

    def _settle(self, column: exp.Column, name: str, holders: list[Source]) -> None:
        """Says which table a name is of that several have: where a join makes them equal, it is all the same."""
        joins = joins_of(self._scope.select)
        if any(name in [self._shape.key(item) for item in join.args.get("using") or ()] for join in joins):
            return
        if any(join.args.get("method") == "NATURAL" for join in joins):
            return
        text = " ".join(
            join.args["on"].sql(dialect=self._shape.dialect).lower() for join in joins if join.args.get("on")
        )
        before = column.sql(dialect=self._shape.dialect)
        self._point(column, holders[0], None)
        equal = all(f"{source.written.lower()}.{name}" in text for source in holders)
        self._note("ambiguous", before, column, 0.95 if equal else 0.7)

    def _substitute(self, column: exp.Column, projected: exp.Expr) -> bool:
        """Puts the expression of an output name where only columns may stand."""
        if any(node is column for node in projected.walk()):
            return False
        before = column.sql(dialect=self._shape.dialect)
        simple = isinstance(projected, exp.Column | exp.Func | exp.Literal)
        new = projected.copy() if simple else exp.Paren(this=projected.copy())
        column.replace(new)
        self._note("alias", before, new, 0.95)
        return True

    def _as_literal(self, column: exp.Column) -> bool:
        """Text in double quotes that is compared with something was meant as a value."""
        if not column.this.args.get("quoted") or not isinstance(column.parent, _COMPARED):
            return False
        if column is column.parent.this and not isinstance(column.parent, exp.EQ | exp.NEQ):
            return False
        before, literal = column.sql(dialect=self._shape.dialect), exp.Literal.string(column.name)
        column.replace(literal)
        self._note("literal", before, literal, 0.95)
        return True

    def _project(self, source: Source, column: exp.Column, name: str) -> bool:
        """Has a subquery hand on a column that one of its tables has."""
        inner = source.scope
        if inner is None or source.outputs is None:
            return False
        holders = inner.holders(name)
        if len(holders) != 1 or inner.select.args.get("distinct") is not None:
            return False
        new = exp.Column(this=column.this.copy(), table=exp.to_identifier(holders[0].written))
        inner.select.append("expressions", new)
        group = inner.select.args.get("group")
        if group is not None:
            group.append("expressions", new.copy())
        elif any(item.find(exp.AggFunc) for item in inner.select.selects):
            return False
        source.outputs[name] = column.name
        self._note("projection", column.sql(dialect=self._shape.dialect), new, 0.6)
        return True

    def _fetch(self, column: exp.Column, name: str, table: TableShape) -> bool:
        """Brings in a table that a column names and FROM does not."""
        named = self._best_of(name, table)
        if named is None:
            return False
        before = column.sql(dialect=self._shape.dialect)
        source = self._bring(table, column)
        if source is None:
            return False
        self._point(column, source, named[1])
        self._note("missing_table", before, column, round(0.8 * named[0], 3))
        return True

    def _bring(self, table: TableShape, column: exp.Column) -> Source | None:
        scope, shape = self._scope, self._shape
        if not scope.sources:
            node = exp.Table(this=shape.rules.identifier(table.name))
            scope.select.set("from_", exp.From(this=node))
            source = Source(shape.rules.catalog_key(table.name), table.name, table=table)
            scope.sources.append(source)
            return source
        known = next((item for item in scope.sources if item.table is table), None)
        if known is not None:
            return known
        starts, before = self._starts(column)
        path = shape.path(starts, table.full)
        return add_tables(scope, path, shape, before=before) if path else None

    def _starts(self, column: exp.Column) -> tuple[list[str], exp.Join | None]:
        """The tables that a join for a column may begin at, and the join that it must stand before."""
        clause, top = clause_of(self._scope.select, column)
        listed = [source.table.full for source in self._scope.sources if source.table is not None]
        if clause != "joins" or not isinstance(top, exp.Join):
            return listed, None
        names = [top.this.alias_or_name]
        following = joins_of(self._scope.select)
        names += [join.this.alias_or_name for join in following[following.index(top) :]]
        earlier = [item.table.full for item in self._scope.sources if item.table and item.written not in names]
        return earlier, top

    def _best_of(self, name: str, table: TableShape) -> tuple[float, str] | None:
        """The column of a table that a name most likely means, with its likeness."""
        if name in table.columns:
            return 1.0, table.columns[name].name
        found = {item.name: column_likeness(name, item.name, table) for item in table.columns.values()}
        for link in self._shape.links_of(table.full):
            # A key of another table stands in the table that refers to it, whatever it is called there.
            if len(link.left_columns) == 1 and link.left_columns[0] in found:
                target, key = self._shape.tables[link.right], link.right_columns[0]
                exact = self._shape.rules.catalog_key(key) == name
                likely = 0.99 if exact else column_likeness(name, key, target)
                if likely >= REFERRED:
                    column = link.left_columns[0]
                    found[column] = max(found[column], round(likely * 0.98, 4))
        scored = sorted(((score, column) for column, score in found.items()), key=lambda item: (-item[0], item[1]))
        if not scored or scored[0][0] < NEAR:
            return None
        rival = len(scored) > 1 and scored[1][0] >= scored[0][0] - 0.01
        return (scored[0][0] * (0.85 if rival else 1.0), scored[0][1])

    def _look(self, column: exp.Column, name: str, asked: Source | None) -> None:
        """Takes the most likely place of a column that is not where it was asked for."""
        options = [*self._here(name, asked), *self._reachable(name, column)]
        if not options:
            return
        hint = asked.written if asked is not None else column.table
        best = max(options, key=lambda item: (round(item.score, 3), _hinted(item, hint), -len(item.path), item.name))
        if best.score < NEAR:
            return
        before = column.sql(dialect=self._shape.dialect)
        source = best.source
        if source is None:
            _, place = self._starts(column)
            source = add_tables(self._scope, best.path, self._shape, before=place)
        if source is None:
            return
        moved, renamed = source is not asked, self._shape.rules.catalog_key(best.name) != name
        self._point(column, source, best.name if renamed else None)
        kind: MendKind = "missing_table" if best.path else "column_name" if renamed else "qualifier"
        rivals = sum(option.score >= best.score - 0.005 for option in options) > 1
        self._note(kind, before, column, round(best.score * (0.8 if rivals and moved else 0.95), 3))

    def _here(self, name: str, asked: Source | None) -> list[_Option]:
        found = []
        for source in self._scope.sources:
            weight = 1.0 if source is asked or asked is None else ELSEWHERE
            if source.has(name):
                found.append(_Option(0.99, name, source))
            elif source.table is not None:
                best = self._best_of(name, source.table)
                if best is not None:
                    found.append(_Option(best[0] * weight, best[1], source))
            elif source.outputs:
                for key, written in source.outputs.items():
                    score = column_likeness(name, key, TableShape("", source.name, {}, ()))
                    if score >= NEAR:
                        found.append(_Option(score * weight, written, source))
        return found

    def _reachable(self, name: str, column: exp.Column) -> list[_Option]:
        starts, _ = self._starts(column)
        present = {source.table.full for source in self._scope.sources if source.table is not None}
        found = []
        for full, table in self._shape.tables.items():
            best = self._best_of(name, table) if full not in present else None
            if best is None:
                continue
            path = self._shape.path(starts, full)
            if path:
                found.append(_Option(best[0] * JOINED - STEP * (len(path) - 1), best[1], None, tuple(path)))
        return found

    def _point(self, column: exp.Column, source: Source, name: str | None) -> None:
        """Names the source, and the column by its own name; an output keeps the name it had."""
        rules, old = self._shape.rules, column.name
        quoted = None if rules.key(source.written, quoted=False) == source.name else True
        column.set("table", exp.to_identifier(source.written, quoted=quoted) if source.written else None)
        column.set("db", None)
        column.set("catalog", None)
        if name is None:
            return
        column.set("this", rules.identifier(name))
        if column.parent is self._scope.select and column.arg_key == "expressions":
            column.replace(exp.alias_(column.copy(), old, quoted=rules.key(old, quoted=False) != old))

    def _note(self, kind: MendKind, before: str, after: exp.Expr, confidence: float) -> None:
        text = after.sql(dialect=self._shape.dialect)
        self.mends.append(Mend(kind=kind, before=before, after=text, confidence=confidence))


def _hinted(option: _Option, hint: str) -> bool:
    """Whether an option's table is called like the qualifier that was written."""
    name = option.path[-1].right.rsplit(".", 1)[-1] if option.path else option.source.written if option.source else ""
    return bool(hint) and (hint.lower() in name.lower() or name.lower() in hint.lower())
