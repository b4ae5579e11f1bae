"""Mends what a database refuses about groups: columns outside them, aggregates in WHERE, ordered DISTINCT. Pure."""

from __future__ import annotations

from sqlglot import exp

from rag_core.workers.sql_repair.mends import Mend
from rag_core.workers.sql_repair.shape import Shape
from rag_core.workers.sql_repair.sources import own_nodes


def complete_groups(tree: exp.Expr, shape: Shape) -> list[Mend]:
    """Puts what stands beside aggregates into GROUP BY."""
    mends = []
    for select in list(tree.find_all(exp.Select)):
        group = select.args.get("group")
        if group is None and not _aggregates(select):
            continue
        if group is None and _drop_order(select):
            mends.append(Mend(kind="group_by", before="ORDER BY of one row", after="", confidence=0.9))
            continue
        known = {item.sql(dialect=shape.dialect).lower() for item in (group.expressions if group is not None else ())}
        known |= _named_items(select, known, shape)
        mends += _order_groups(select, known, shape) if group is not None else []
        added: list[str] = []
        for item in _outside(select, known, shape):
            text = item.sql(dialect=shape.dialect)
            if text.lower() not in known and not _covered(item, known, shape):
                known.add(text.lower())
                added.append(text)
                if group is None:
                    group = exp.Group(expressions=[])
                    select.set("group", group)
                group.append("expressions", item.copy())
        if added:
            mends.append(Mend(kind="group_by", before="", after=", ".join(added), confidence=0.8))
    return mends


def _order_groups(select: exp.Select, known: set[str], shape: Shape) -> list[Mend]:
    """Groups are ordered by what they are formed by, else by the extreme of each: another group would split them."""
    order = select.args.get("order")
    given = {item.alias_or_name.lower() for item in select.selects}
    items = [item.unalias() for item in select.selects]
    split = [item for item in items if item.sql(shape.dialect).lower() not in known]
    shown = {column.sql(shape.dialect).lower() for item in split for column in _bare_columns(item)}
    formed = {item.sql(shape.dialect).lower(): item for item in select.args["group"].expressions}
    mends = []
    for ordered in order.expressions if order is not None else ():
        column = ordered.this
        text = column.sql(shape.dialect).lower()
        if not isinstance(column, exp.Column) or text in known | shown or (not column.table and text in given):
            continue
        holding = [item for item in formed.values() if any(part == column for part in item.find_all(exp.Column))]
        extreme = exp.Max if ordered.args.get("desc") else exp.Min
        new = holding[0].copy() if len(holding) == 1 else extreme(this=column.copy())
        ordered.set("this", new)
        mends.append(Mend(kind="group_by", before=text, after=new.sql(shape.dialect), confidence=0.75))
    return mends


def _drop_order(select: exp.Select) -> bool:
    """Whether aggregates over all rows were ordered by a column: there is one row, and its order says nothing."""
    order = select.args.get("order")
    if order is None or not _bare_columns(order):
        return False
    if any(_bare_columns(item) for item in select.selects):
        return False
    select.set("order", None)
    return True


def _named_items(select: exp.Select, known: set[str], shape: Shape) -> set[str]:
    """Expressions that GROUP BY names by their output's name or place."""
    found = set()
    for place, item in enumerate(select.selects, start=1):
        if item.alias_or_name.lower() in known or str(place) in known:
            found.add(item.unalias().sql(dialect=shape.dialect).lower())
    return found


def _aggregates(select: exp.Select) -> bool:
    return any(isinstance(node, exp.AggFunc) and not _windowed(node) for node in own_nodes(select))


def _windowed(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Window)


def _outside(select: exp.Select, known: set[str], shape: Shape) -> list[exp.Expr]:
    """What is read outside of aggregates: whole output expressions, and columns of HAVING and ORDER BY."""
    found: list[exp.Expr] = []
    for item in select.selects:
        inner = item.unalias()
        if any(isinstance(node, exp.AggFunc) for node in inner.walk()):
            found += _bare_columns(inner)
        elif inner.find(exp.Column) is not None and not isinstance(inner, exp.Star):
            found.append(inner)
    names = {item.alias.lower() for item in select.selects if isinstance(item, exp.Alias)}
    for part in ("having", "order"):
        clause = select.args.get(part)
        if clause is not None:
            parts = clause.expressions if part == "order" else [clause]
            for item in parts:
                if item.this.sql(dialect=shape.dialect).lower() not in known:
                    bare = _bare_columns(item)
                    found += [column for column in bare if column.table or column.name.lower() not in names]
    return found


def _bare_columns(node: exp.Expr) -> list[exp.Column]:
    found = []
    for item in node.walk(prune=lambda inner: isinstance(inner, exp.AggFunc | exp.Query)):
        if isinstance(item, exp.Column) and isinstance(item.this, exp.Identifier):
            found.append(item)
    return found


def _covered(item: exp.Expr, known: set[str], shape: Shape) -> bool:
    """Whether all columns of an expression are grouped by already."""
    columns = [column.sql(dialect=shape.dialect).lower() for column in item.find_all(exp.Column)]
    return bool(columns) and all(column in known for column in columns)


def move_aggregates(tree: exp.Expr, shape: Shape) -> list[Mend]:
    """Conditions on aggregates go from WHERE to HAVING."""
    mends = []
    for select in list(tree.find_all(exp.Select)):
        where = select.args.get("where")
        if where is None:
            continue
        parts = list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
        moved = [part for part in parts if _holds_aggregate(part)]
        if not moved:
            continue
        kept = [part for part in parts if part not in moved]
        select.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)
        for part in moved:
            select.having(part, copy=False)
            text = part.sql(dialect=shape.dialect)
            mends.append(Mend(kind="having", before=f"WHERE {text}", after=f"HAVING {text}", confidence=0.8))
    return mends


def _holds_aggregate(node: exp.Expr) -> bool:
    walked = node.walk(prune=lambda inner: isinstance(inner, exp.Query))
    return any(isinstance(item, exp.AggFunc) for item in walked)


def drop_grouped_aggregates(tree: exp.Expr, shape: Shape) -> list[Mend]:
    """Takes aggregates, and outputs that are aggregates, out of GROUP BY."""
    mends = []
    for group in list(tree.find_all(exp.Group)):
        select = group.parent
        if not isinstance(select, exp.Select):
            continue
        outputs = {item.alias.lower(): item.this for item in select.selects if isinstance(item, exp.Alias)}
        for place, item in enumerate(select.selects, start=1):
            outputs[str(place)] = item.unalias()
        kept = []
        for item in group.expressions:
            meant = outputs.get(item.name.lower(), item) if isinstance(item, exp.Column | exp.Literal) else item
            if _holds_aggregate(meant):
                text = item.sql(dialect=shape.dialect)
                mends.append(Mend(kind="group_by", before=text, after="", confidence=0.85))
            else:
                kept.append(item)
        if len(kept) < len(group.expressions):
            select.set("group", exp.Group(expressions=kept) if kept else None)
    return mends


def order_distinct(tree: exp.Expr, shape: Shape) -> list[Mend]:
    """DISTINCT that is ordered by what it does not give: grouped instead, ordered by the extreme of each group."""
    mends = []
    for select in list(tree.find_all(exp.Select)):
        distinct, order = select.args.get("distinct"), select.args.get("order")
        if distinct is None or order is None or distinct.args.get("on") is not None:
            continue
        if select.args.get("group") is None:
            if _aggregates(select):
                continue
            given = {item.unalias().sql(dialect=shape.dialect).lower() for item in select.selects}
            given |= {item.alias_or_name.lower() for item in select.selects}
            select.set("group", exp.Group(expressions=[item.unalias().copy() for item in select.selects]))
            for ordered in order.expressions:
                if ordered.this.sql(dialect=shape.dialect).lower() not in given:
                    function = exp.Max if ordered.args.get("desc") else exp.Min
                    ordered.set("this", function(this=ordered.this.copy()))
        select.set("distinct", None)
        mends.append(Mend(kind="distinct", before="DISTINCT", after="GROUP BY", confidence=0.75))
    return mends
