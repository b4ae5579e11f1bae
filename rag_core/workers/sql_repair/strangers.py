"""Joins of keys that have nothing to do with one another, such as a conference's with a publication's. Pure.

They run and mean nothing. Where a statement fails anyway, the table that was joined so is replaced by the one that is
linked and has all that was asked of it.
"""

from __future__ import annotations

from sqlglot import exp

from rag_core.workers.sql_repair.conditions import condition
from rag_core.workers.sql_repair.shape import Shape
from rag_core.workers.sql_repair.sources import Scope, Source, own_columns


def are_strangers(sides: tuple[tuple[Source, str], tuple[Source, str]], shape: Shape) -> bool:
    """Whether two columns of different names are keys in the join graph, but not of one another."""
    (one, left), (other, right) = sides
    if left == right or one.table is None or other.table is None:
        return False
    for link in shape.links_of(one.table.full):
        if link.right == other.table.full and (left, right) in zip(link.left_columns, link.right_columns, strict=False):
            return False
    return all(
        any(name in link.left_columns for link in shape.links_of(source.table.full))
        for source, name in sides
        if source.table is not None
    )


def replace_stranger(join: exp.Join, ends: tuple[Source, Source], scope: Scope, shape: Shape) -> exp.Expr | None:
    """Puts the one linked table that has all that is asked of the joined one in its place; its condition, or None."""
    joined = join.this.alias_or_name
    near, far = ends if ends[1].written == joined else (ends[1], ends[0])
    if far.written != joined or near.table is None or far.table is None or not isinstance(join.this, exp.Table):
        return None
    asked = {shape.key(item.this) for item in own_columns(scope.select) if item.table == far.written}
    asked &= set(far.table.columns)  # what it has not is looked for elsewhere
    present = {source.table.full for source in scope.sources if source.table is not None}
    linked = {link.right: link for link in reversed(shape.links_of(near.table.full)) if link.right not in present}
    fits = [link for full, link in linked.items() if asked and asked <= set(shape.tables[full].columns)]
    if len(fits) != 1:
        return None
    table = shape.tables[fits[0].right]
    found = shape.find_table(shape.rules.catalog_key(table.name))
    if not join.this.alias:
        join.this.set("alias", exp.TableAlias(this=join.this.this.copy()))
    join.this.set("this", shape.rules.identifier(table.name))
    join.this.set("db", None if found is table else shape.rules.identifier(table.schema_name))
    far.table = table
    return condition(fits[0], near, far, shape)
