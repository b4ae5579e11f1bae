"""Mends the conditions of joins by the join graph, and puts in the tables that stand between two of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rag_core.workers.sql_repair.conditions import condition
from rag_core.workers.sql_repair.mends import Mend
from rag_core.workers.sql_repair.shape import Link, Shape
from rag_core.workers.sql_repair.sources import Scope, Source, joins_of
from rag_core.workers.sql_repair.strangers import are_strangers, replace_stranger

DIRECT, BRIDGED, ADDED = 0.85, 0.75, 0.8


def mend_joins(scope: Scope, shape: Shape) -> list[Mend]:
    """Changes the joins of a SELECT whose conditions name columns that their tables have not; tells what was done."""
    mends: list[Mend] = []
    for join in joins_of(scope.select):
        own = next((item for item in scope.sources if item.written == join.this.alias_or_name), None)
        if own is None or own.table is None:
            continue
        if join.args.get("using"):
            mends += _mend_using(join, own, scope, shape)
        elif join.args.get("on") is None and not join.args.get("kind") and not join.args.get("method"):
            mends += _mend_missing(join, own, scope, shape)
        on = join.args.get("on")
        for equality in list(on.find_all(exp.EQ)) if on is not None else ():
            mends += _mend_equality(equality, join, scope, shape)
    return mends


def add_tables(scope: Scope, path: Sequence[Link], shape: Shape, *, before: exp.Join | None = None) -> Source | None:
    """Joins the tables of a path to a SELECT, before one of its joins or behind all; the last of them.

    A table that the SELECT reads already is not joined again. None where the path does not begin in the SELECT.
    """
    select = scope.select
    joins = joins_of(select)
    place = joins.index(before) if before is not None and before in joins else len(joins)
    last = next((item for item in scope.sources if item.table and path and item.table.full == path[0].left), None)
    outer = any(join.side == "LEFT" for join in joins)
    for link in path:
        if last is None:
            return None
        known = next((item for item in scope.sources if item.table and item.table.full == link.right), None)
        if known is not None:
            last = known
            continue
        table = shape.tables[link.right]
        name = scope.free_name(shape.rules.catalog_key(table.name))
        node = exp.Table(this=shape.rules.identifier(table.name))
        if shape.find_table(shape.rules.catalog_key(table.name)) is not table:
            node.set("db", shape.rules.identifier(table.schema_name))
        if name != shape.rules.catalog_key(table.name):
            node.set("alias", exp.TableAlias(this=exp.to_identifier(name)))
        source = Source(name, name if node.alias else table.name, table=table)
        joins.insert(
            place, exp.Join(this=node, on=condition(link, last, source, shape), side="LEFT" if outer else None)
        )
        place += 1
        scope.sources.append(source)
        last = source
    select.set("joins", joins)
    return last


def _mend_equality(equality: exp.EQ, join: exp.Join, scope: Scope, shape: Shape) -> list[Mend]:
    left, right = equality.this, equality.expression
    if not isinstance(left, exp.Column) or not isinstance(right, exp.Column) or not left.table or not right.table:
        return []
    one = scope.find(shape.key(left.args["table"]))
    other = scope.find(shape.key(right.args["table"]))
    if one is None or other is None or one.table is None or other.table is None or one is other:
        return []
    before = equality.sql(dialect=shape.dialect)
    if one.has(shape.key(left.this)) and other.has(shape.key(right.this)):
        sides = ((one, shape.key(left.this)), (other, shape.key(right.this)))
        if not are_strangers(sides, shape):
            return []
        replaced = replace_stranger(join, (one, other), scope, shape)
        if replaced is not None:
            equality.replace(replaced)
            return [_told("join_condition", before, replaced, shape, BRIDGED)]
    link = shape.between(one.table.full, other.table.full)
    if link is not None:
        replacement = condition(link, one, other, shape)
        equality.replace(replacement)
        return [_told("join_condition", before, replacement, shape, DIRECT)]
    return _bridge(equality, join, (one, other), scope, shape, before)


def _bridge(
    equality: exp.EQ, join: exp.Join, ends: tuple[Source, Source], scope: Scope, shape: Shape, before: str
) -> list[Mend]:
    """Joins what stands between two tables: before the join of the later one."""
    joined = join.this.alias_or_name
    near, far = ends if ends[1].written == joined else (ends[1], ends[0])
    if far.written != joined or near.table is None or far.table is None:
        return []
    path = shape.path([near.table.full], far.table.full)
    if path is None or len(path) < 2:
        return []
    between = {link.right for link in path[:-1]}
    if between & {item.table.full for item in scope.sources if item.table is not None}:
        return _reorder(equality, join, (near, far), path, scope, shape, before)
    last = add_tables(scope, path[:-1], shape, before=join)
    if last is None:
        return []
    replacement = condition(path[-1], last, far, shape)
    equality.replace(replacement)
    return [_told("bridge", before, replacement, shape, BRIDGED)]


def _reorder(
    equality: exp.EQ,
    join: exp.Join,
    ends: tuple[Source, Source],
    path: Sequence[Link],
    scope: Scope,
    shape: Shape,
    before: str,
) -> list[Mend]:
    """The table between them is joined already: then the later table is joined to it, behind it."""
    if len(path) != 2:
        return []
    middle = next((item for item in scope.sources if item.table and item.table.full == path[0].right), None)
    joins = joins_of(scope.select)
    bridging = next((item for item in joins if middle and item.this.alias_or_name == middle.written), None)
    if middle is None:
        return []
    replacement = condition(path[1], middle, ends[1], shape)
    equality.replace(replacement)
    if bridging is not None and joins.index(bridging) > joins.index(join):
        bridging.set("on", condition(path[0], ends[0], middle, shape))
        bridging.set("using", None)
        joins.remove(bridging)
        joins.insert(joins.index(join), bridging)
        scope.select.set("joins", joins)
    return [_told("bridge", before, replacement, shape, BRIDGED)]


def _mend_using(join: exp.Join, own: Source, scope: Scope, shape: Shape) -> list[Mend]:
    names = [shape.key(item) for item in join.args["using"]]
    earlier = [item for item in scope.sources[: scope.sources.index(own)] if item.table is not None]
    if all(own.has(name) and any(item.has(name) for item in earlier) for name in names):
        return []
    for source in reversed(earlier):
        link = shape.between(source.table.full, own.table.full) if source.table and own.table else None
        if link is not None:
            before = f"USING ({', '.join(names)})"
            replacement = condition(link, source, own, shape)
            join.set("using", None)
            join.set("on", replacement)
            return [_told("join_condition", before, replacement, shape, DIRECT)]
    return []


def _mend_missing(join: exp.Join, own: Source, scope: Scope, shape: Shape) -> list[Mend]:
    """A join without any condition: by the join graph, unless WHERE ties the table already."""
    where = scope.select.args.get("where")
    for equality in where.find_all(exp.EQ) if where is not None else ():
        sides = (equality.this, equality.expression)
        if all(isinstance(side, exp.Column) for side in sides) and own.written in (sides[0].table, sides[1].table):
            return []
    for source in scope.sources[: scope.sources.index(own)]:
        link = shape.between(source.table.full, own.table.full) if source.table and own.table else None
        if link is not None:
            replacement = condition(link, source, own, shape)
            join.set("on", replacement)
            return [_told("join_condition", "no condition", replacement, shape, ADDED)]
    return []


def _told(kind: str, before: str, after: exp.Expr, shape: Shape, confidence: float) -> Mend:
    text = after.sql(dialect=shape.dialect)
    return Mend.model_validate({"kind": kind, "before": before, "after": text, "confidence": confidence})
