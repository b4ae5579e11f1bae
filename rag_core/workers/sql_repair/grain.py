"""Keeps counting what was counted, where a mend has joined a table of which several rows belong to one. Pure."""

from __future__ import annotations

from sqlglot import exp

from rag_core.workers.sql_repair.mends import Mend
from rag_core.workers.sql_repair.shape import Shape, TableShape
from rag_core.workers.sql_repair.sources import Scope, Source, joins_of, own_nodes

CONFIDENCE = 0.85


def keep_grain(scope: Scope, written: set[str], shape: Shape) -> list[Mend]:
    """Counts rows of a written table once each, and gives each of its rows once, in place.

    Only where the joined tables multiply rows by their keys, and nothing but conditions reads them.
    """
    select = scope.select
    added = [source for source in scope.sources if source.written not in written and source.table is not None]
    if not any(_multiplies(source, select, shape) for source in added) or _is_given(added, select, shape):
        return []
    if _is_bridge(added, select) or not _is_asked(added, select):
        return []
    counts = [
        node
        for node in own_nodes(select)
        if isinstance(node, exp.Count) and not isinstance(node.this, exp.Distinct) and _of_rows(node, scope, added)
    ]
    mends = []
    for node in counts:
        before = node.sql(shape.dialect)
        key = _key_of_rows(node, scope, added, shape)
        if key is not None:
            node.set("this", exp.Distinct(expressions=[key]))
            mends.append(Mend(kind="distinct", before=before, after=node.sql(shape.dialect), confidence=CONFIDENCE))
    aggregates = any(isinstance(node, exp.AggFunc | exp.Window) for node in own_nodes(select))
    if aggregates or select.args.get("group") or select.args.get("distinct"):
        return mends
    order, given = select.args.get("order"), {item.alias_or_name.lower() for item in select.selects}
    if order is None or all(column.name.lower() in given for column in order.find_all(exp.Column)):
        select.set("distinct", exp.Distinct())
        mends.append(Mend(kind="distinct", before="SELECT", after="SELECT DISTINCT", confidence=CONFIDENCE))
    return mends


def count_keys_once(scope: Scope, source: Source, instead_of: TableShape, shape: Shape) -> None:
    """Counts of a table's key count each once in the table that was put for it, where the key repeats."""
    if len(instead_of.primary) != 1 or source.table is None or source.table.primary == instead_of.primary:
        return
    for node in own_nodes(scope.select):
        counted = node.this if isinstance(node, exp.Count) else None
        if isinstance(counted, exp.Column) and shape.key(counted.this) == instead_of.primary[0]:
            node.set("this", exp.Distinct(expressions=[counted.copy()]))


def _multiplies(source: Source, select: exp.Select, shape: Shape) -> bool:
    """Whether a joined table may have several rows for one of those it is joined to."""
    join = next((item for item in joins_of(select) if item.this.alias_or_name == source.written), None)
    on = join.args.get("on") if join is not None else None
    if on is None or source.table is None:
        return False
    own = {shape.key(column.this) for column in on.find_all(exp.Column) if column.table == source.written}
    return not source.table.primary or not set(source.table.primary) <= own


def _is_given(added: list[Source], select: exp.Select, shape: Shape) -> bool:
    """Whether the result shows or computes anything of the joined tables."""
    names = {source.written for source in added}
    parts = [*select.selects, *(select.args[name] for name in ("group", "having", "order") if select.args.get(name))]
    columns = [column for part in parts for column in part.find_all(exp.Column)]
    return any(item.is_star for item in select.selects) or any(
        column.table in names or (not column.table and any(source.has(shape.key(column.this)) for source in added))
        for column in columns
    )


def _is_bridge(added: list[Source], select: exp.Select) -> bool:
    """Whether a written table is joined by way of one of the joined ones: then it is their pairs that are given."""
    names = {source.written for source in added}
    written = [join for join in joins_of(select) if join.this.alias_or_name not in names]
    ons = [join.args["on"] for join in written if join.args.get("on") is not None]
    return any(column.table in names for on in ons for column in on.find_all(exp.Column))


def _is_asked(added: list[Source], select: exp.Select) -> bool:
    names, where = {source.written for source in added}, select.args.get("where")
    return where is not None and any(column.table in names for column in where.find_all(exp.Column))


def _of_rows(node: exp.Count, scope: Scope, added: list[Source]) -> bool:
    return isinstance(node.this, exp.Star | exp.Column) and len(scope.sources) > len(added)


def _key_of_rows(node: exp.Count, scope: Scope, added: list[Source], shape: Shape) -> exp.Expr | None:
    """The key whose different values are the rows that were counted."""
    own = [source for source in scope.sources if source not in added]
    if isinstance(node.this, exp.Star):
        table = own[0].table if len(own) == 1 else None
        if table is None or len(table.primary) != 1:
            return None
        return exp.Column(
            this=shape.rules.identifier(table.columns[table.primary[0]].name), table=exp.to_identifier(own[0].written)
        )
    column = node.this
    name = shape.key(column.this)
    holders = [source for source in own if source.written == column.table or (not column.table and source.has(name))]
    table = holders[0].table if len(holders) == 1 else None
    return column.copy() if table is not None and table.primary == (name,) else None
