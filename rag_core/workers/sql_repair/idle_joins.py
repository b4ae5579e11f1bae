"""Takes out tables that a statement was to have columns of and has none of. Pure.

A small model joins a table for a column that stands elsewhere. Once the column is read where it stands, the table that
was joined for it only multiplies rows. What was never asked of a table is no sign: an author with works is an author
that is joined with works.
"""

from __future__ import annotations

from sqlglot import exp

from rag_core.workers.sql_repair.mends import Mend
from rag_core.workers.sql_repair.shape import Shape
from rag_core.workers.sql_repair.sources import Scope, joins_of, own_columns

CONFIDENCE = 0.8


def asked_sources(scope: Scope) -> set[str]:
    """Names of the sources of which something is asked outside of their own join's condition."""
    own = {join.this.alias_or_name: _inside(join) for join in joins_of(scope.select)}
    return {
        column.table
        for column in scope.select.find_all(exp.Column)
        if column.table and id(column) not in own.get(column.table, ())
    }


def drop_idle(scope: Scope, asked: set[str], shape: Shape) -> list[Mend]:
    """Drops the tables of which something was asked before the mends and nothing is asked now, in place."""
    select = scope.select
    if any(item.is_star for item in select.selects) or any(_counts_rows(node) for node in select.find_all(exp.Count)):
        return []  # what is given or counted are the rows of the join
    mends = []
    for source in list(scope.sources):
        if source.table is None or source.written not in asked or source.written in asked_sources(scope):
            continue
        if any(source.has(shape.key(column.this)) for column in own_columns(select) if not column.table):
            continue
        join = next((item for item in joins_of(select) if item.this.alias_or_name == source.written), None)
        if join is None or not _is_plain(join):
            continue
        select.set("joins", [item for item in joins_of(select) if item is not join])
        scope.sources.remove(source)
        mends.append(Mend(kind="missing_table", before=f"JOIN {source.table.name}", after="", confidence=CONFIDENCE))
    return mends


def _inside(join: exp.Join) -> set[int]:
    on = join.args.get("on")
    return {id(column) for column in on.find_all(exp.Column)} if on is not None else set()


def _is_plain(join: exp.Join) -> bool:
    """Whether its condition is nothing but equal columns."""
    on = join.args.get("on")
    parts = list(on.flatten()) if isinstance(on, exp.And) else [on]
    return all(
        isinstance(part, exp.EQ) and isinstance(part.this, exp.Column) and isinstance(part.expression, exp.Column)
        for part in parts
    )


def _counts_rows(node: exp.Count) -> bool:
    return isinstance(node.this, exp.Star | exp.Literal)
