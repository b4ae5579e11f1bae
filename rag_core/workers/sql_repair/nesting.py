"""Mends values of several rows that stand where one row is judged: windows in WHERE, aggregates of aggregates. Pure."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.transforms import eliminate_qualify

from rag_core.workers.sql_repair.mends import Mend
from rag_core.workers.sql_repair.shape import Shape
from rag_core.workers.sql_repair.sources import joins_of, own_nodes

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)


def filter_windows(tree: exp.Expr, shape: Shape) -> list[Mend]:
    """Conditions on window functions are put around the query that computes them."""
    mends = []
    for select in list(tree.find_all(exp.Select)):
        order = select.args.get("order")
        if any(item.is_star for item in select.selects) or (order is not None and not _by_outputs(order, select)):
            continue
        moved = _take_windowed(select)
        if not moved:
            continue
        text = " AND ".join(part.sql(dialect=shape.dialect) for part in moved)
        for part in moved:
            _name_windows(part, select, shape)
        _wrap(select, moved)
        mends.append(Mend(kind="having", before=f"WHERE {text}", after="a condition around the query", confidence=0.85))
    return mends


def _take_windowed(select: exp.Select) -> list[exp.Expr]:
    """Takes the conditions on window functions out of WHERE and HAVING."""
    moved: list[exp.Expr] = []
    for clause, kind in (("where", exp.Where), ("having", exp.Having)):
        condition = select.args.get(clause)
        if condition is None:
            continue
        parts = list(condition.this.flatten()) if isinstance(condition.this, exp.And) else [condition.this]
        windowed = [part for part in parts if _holds(part, exp.Window)]
        kept = [part for part in parts if part not in windowed]
        if windowed:
            select.set(clause, kind(this=exp.and_(*kept)) if kept else None)
            moved += windowed
    return moved


def _wrap(select: exp.Select, conditions: list[exp.Expr]) -> None:
    """Puts conditions around a SELECT, in place; its order and limit go with them."""
    around = {name: select.args.get(name) for name in ("order", "limit", "offset")}
    for name in around:
        select.set(name, None)
    select.set("qualify", exp.Qualify(this=exp.and_(*[part.copy() for part in conditions])))
    outer = eliminate_qualify(select.copy())
    for key in list(select.args):
        select.set(key, None)
    for key, value in (outer.args | around).items():
        select.set(key, value)
    order = select.args.get("order")
    for column in order.find_all(exp.Column) if order is not None else ():
        column.set("table", None)


def _name_windows(part: exp.Expr, select: exp.Select, shape: Shape) -> None:
    """A window function that the select list computes already is named by its output."""
    outputs = {item.this.sql(shape.dialect): item.alias for item in select.selects if isinstance(item, exp.Alias)}
    for window in list(part.find_all(exp.Window)):
        name = outputs.get(window.sql(shape.dialect))
        if name:
            window.replace(exp.column(name))


def _by_outputs(order: exp.Expr, select: exp.Select) -> bool:
    names = {item.alias_or_name.lower() for item in select.selects}
    return all(column.name.lower() in names for column in order.find_all(exp.Column))


def unnest_aggregates(tree: exp.Expr, shape: Shape) -> list[Mend]:
    """An aggregate of an aggregate is taken over the groups, which a query below makes."""
    mends = []
    for select in list(tree.find_all(exp.Select)):
        outers = [node for node in own_nodes(select) if isinstance(node, exp.AggFunc) and _holds_below(node)]
        group = select.args.get("group")
        grouped = {item.sql(shape.dialect) for item in group.expressions} if group is not None else set()
        beside = [item for item in select.selects if not any(node in outers for node in item.walk())]
        if not outers or group is None or beside or select.args.get("order") or select.args.get("limit"):
            continue
        inner = exp.select().from_("x")
        for key in ("from_", "joins", "where", "group", "having"):
            inner.set(key, select.args.get(key))
            select.set(key, None)
        inner.set("expressions", [])
        for number, outer in enumerate(outers, start=1):
            value = outer.this
            name = f"of_group_{number}"
            before = outer.sql(shape.dialect)
            inner.append("expressions", exp.alias_(value.copy(), name))
            outer.set("this", exp.column(name))
            told = f"{outer.sql(shape.dialect)} over groups by {', '.join(sorted(grouped))}"
            mends.append(Mend(kind="group_by", before=before, after=told, confidence=0.85))
        select.set("from_", exp.From(this=inner.subquery("by_group")))
    return mends


def _holds_below(node: exp.Expr) -> bool:
    return isinstance(node.this, exp.AggFunc) and not isinstance(node.parent, exp.Window)


def compare_with_all(tree: exp.Expr, shape: Shape) -> list[Mend]:
    """A row's own column compared with an aggregate of the same table's rows is compared with that of all of them.

    Where the statement forms groups, the condition may mean the groups, and is left to HAVING.
    """
    mends = []
    for select in list(tree.find_all(exp.Select)):
        where, from_ = select.args.get("where"), select.args.get("from_")
        if where is None or from_ is None or select.args.get("group") is not None:
            continue
        for node in list(where.find_all(*_COMPARISONS)):
            for aggregate, other in ((node.expression, node.this), (node.this, node.expression)):
                if not isinstance(aggregate, exp.AggFunc) or not isinstance(other, exp.Column):
                    continue
                if node.find_ancestor(exp.Select) is not select:
                    continue
                entry = _entry_of(aggregate, select)
                if entry is None:
                    continue
                before = node.sql(shape.dialect)
                inner = exp.select(aggregate.copy()).from_(entry.copy())
                aggregate.replace(inner.subquery())
                mends.append(Mend(kind="having", before=before, after=node.sql(shape.dialect), confidence=0.85))
                break
    return mends


def _entry_of(aggregate: exp.Expr, select: exp.Select) -> exp.Expr | None:
    """The one table that an aggregate's columns are of."""
    entries = [select.args["from_"].this, *(join.this for join in joins_of(select))]
    if any(not isinstance(entry, exp.Table) for entry in entries):
        return None
    names = {column.table for column in aggregate.find_all(exp.Column)}
    if len(entries) == 1:
        return entries[0] if names else None
    found = [entry for entry in entries if {entry.alias_or_name} == names]
    return found[0] if len(found) == 1 else None


def _holds(node: exp.Expr, kind: type[exp.Expr]) -> bool:
    return any(isinstance(item, kind) for item in node.walk(prune=lambda inner: isinstance(inner, exp.Query)))


def one_column(tree: exp.Expr, shape: Shape) -> list[Mend]:
    """A subquery that is compared with one column gives the one of its columns that is called like it."""
    mends = []
    for node in list(tree.find_all(exp.In, *_COMPARISONS)):
        below = node.args.get("query") if isinstance(node, exp.In) else node.expression
        inner = below.this if isinstance(below, exp.Subquery) else below
        if not isinstance(inner, exp.Select) or not isinstance(node.this, exp.Column) or len(inner.selects) < 2:
            continue
        same = [item for item in inner.selects if item.alias_or_name.lower() == node.this.name.lower()]
        if len(same) == 1:
            before = ", ".join(item.sql(shape.dialect) for item in inner.selects)
            inner.set("expressions", same)
            mends.append(Mend(kind="syntax", before=before, after=same[0].sql(shape.dialect), confidence=0.85))
    return mends


def respelt(sql: str, tree: exp.Expr, shape: Shape) -> list[Mend]:
    """Another spelling of the same statement, as our own parser puts it: CURRENT_DATE() is CURRENT_DATE."""
    text = tree.sql(dialect=shape.dialect)
    same = text == sql or sqlglot.tokenize(text, read=shape.dialect) == sqlglot.tokenize(sql, read=shape.dialect)
    return [] if same else [Mend(kind="syntax", before=sql[-60:], after=text[-60:], confidence=0.9)]
