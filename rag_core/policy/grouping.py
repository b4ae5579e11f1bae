"""Grouping by a primary key where the table becomes a subquery.

PostgreSQL lets a query that groups by a table's primary key select its other columns, for the key determines them. Of
a subquery it knows no key. Adding the columns to GROUP BY makes the same groups, so the statement means what it meant.
"""

from __future__ import annotations

from sqlglot import exp

from rag_core.datamodel.catalog import CatalogColumn
from rag_core.policy.access import TableAccess
from rag_core.policy.names import NameRules

# Dialects in which a primary key in GROUP BY determines the rest of its table.
_DETERMINE = frozenset({"postgres"})
# Types without an equality that GROUP BY could use.
_UNGROUPABLE = frozenset({"json", "xml", "point", "line", "lseg", "box", "path", "polygon", "circle"})


def complete_grouping(node: exp.Table, access: TableAccess, rules: NameRules) -> None:
    """Adds the columns of a table that is going to be a subquery to the GROUP BY that names its primary key.

    Args:
        node: the table in a FROM clause, still in its place.
        access: what of it may be seen.
        rules: how the dialect compares names.
    """
    select = node.find_ancestor(exp.Select, exp.Subquery)
    if rules.dialect not in _DETERMINE or not isinstance(select, exp.Select):
        return
    group = select.args.get("group")
    key = next((key.columns for key in access.table.keys if key.primary), ())
    alias = node.args.get("alias")
    if group is None or not key or access.masks.keys() & set(key) or (alias is not None and alias.args.get("columns")):
        return
    if any(group.args.get(name) for name in ("rollup", "cube", "grouping_sets", "all")):
        return
    source = rules.identifier_key(alias.this if alias is not None else node.this)
    alone = select.args["from_"].this is node and not select.args.get("joins") and not select.args.get("laterals")
    grouped = {
        name
        for item in group.expressions
        for name in [_column_of(_meant(item, select, rules), source, access, rules, alone=alone)]
        if name is not None
    }
    if not {rules.catalog_key(column) for column in key} <= grouped:
        return
    by_key = {rules.catalog_key(column.name): column for column in access.table.columns}
    for name in sorted(_used(select, source, access, rules, alone=alone) - grouped):
        if _groupable(by_key[name]):
            group.append(
                "expressions",
                exp.Column(this=rules.identifier(by_key[name].name), table=rules.identifier(source)),
            )


def _meant(item: exp.Expr, select: exp.Select, rules: NameRules) -> exp.Expr:
    """What an item of GROUP BY stands for: a number and an output name mean an expression of the select list."""
    item = item.unnest()
    if isinstance(item, exp.Literal) and item.is_int and 0 < int(item.this) <= len(select.expressions):
        projection: exp.Expr = select.expressions[int(item.this) - 1]
        return projection.unalias()
    if isinstance(item, exp.Column) and item.args.get("table") is None:
        wanted = rules.identifier_key(item.this)
        for named in select.expressions:
            if isinstance(named, exp.Alias) and rules.identifier_key(named.args["alias"]) == wanted:
                inner: exp.Expr = named.this
                # An input column of that name comes first in PostgreSQL.
                return inner if not isinstance(inner, exp.Column) or inner.args.get("table") is not None else item
    return item


def _column_of(node: exp.Expr, source: str, access: TableAccess, rules: NameRules, *, alone: bool) -> str | None:
    """The key of the source's column that a node is, None where it is none or where that is not certain."""
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        return None
    table = node.args.get("table")
    if (table is None and not alone) or (table is not None and rules.identifier_key(table) != source):
        return None
    name = rules.identifier_key(node.this)
    return name if name in access.visible else None


def _used(select: exp.Select, source: str, access: TableAccess, rules: NameRules, *, alone: bool) -> set[str]:
    """Keys of the source's columns that stand where grouping matters: select list, HAVING and ORDER BY."""
    found: set[str] = set()
    order = select.args.get("order")
    for part in (*select.expressions, select.args.get("having"), order):
        for node in part.walk() if part is not None else ():
            name = _column_of(node, source, access, rules, alone=alone)
            if name is not None:
                found.add(name)
            elif _is_star_of(node, source, rules):
                found.update(access.visible)
    return found


def _is_star_of(node: exp.Expr, source: str, rules: NameRules) -> bool:
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
        return rules.identifier_key(node.args["table"]) == source
    return isinstance(node, exp.Star) and isinstance(node.parent, exp.Select)


def _groupable(column: CatalogColumn) -> bool:
    return column.type.split("(")[0].removesuffix("[]").lower() not in _UNGROUPABLE
