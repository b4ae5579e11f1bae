"""Mends tables that do not exist and stand for a column that does, as a table of departments for `department`. Pure.

Such a table is joined, or asked below, for the name of a thing that the known table names itself.
"""

from __future__ import annotations

from sqlglot import exp

from rag_core.workers.sql_repair.kinds import kind_of_type
from rag_core.workers.sql_repair.mends import Mend
from rag_core.workers.sql_repair.shape import Shape, TableShape, singular
from rag_core.workers.sql_repair.sources import joins_of

CONFIDENCE = 0.85
# What a row of a table is called by.
_NAMES = ("name", "title", "code", "id")


def fold_imagined(tree: exp.Expr, shape: Shape) -> list[Mend]:
    """Puts the column in the place of its imagined table, in place; tells what was done."""
    mends: list[Mend] = []
    for select in list(tree.find_all(exp.Select)):
        for join in joins_of(select):
            mends += _fold_join(join, select, shape)
    for node in list(tree.find_all(exp.In, exp.EQ)):
        mends += _fold_subquery(node, shape)
    return mends


def _unknown(node: exp.Expr | None, shape: Shape) -> exp.Table | None:
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier) or node.args.get("db") is not None:
        return None
    name = shape.key(node.this)
    known = shape.find_table(name) is not None or any(
        shape.key(cte.args["alias"].this) == name for cte in node.root().find_all(exp.CTE)
    )
    return None if known or shape.near_table(node.name) is not None else node


def _column_for(table: TableShape, imagined: str, shape: Shape) -> str | None:
    """The column of a table that is called like the imagined table, or like its name: text, or what names it."""
    bare = shape.rules.catalog_key(singular(imagined.lower()))
    wanted = (bare, imagined.lower(), f"{bare}_name", f"{bare}name")
    found = [name for name in table.columns if name.lower() in wanted and kind_of_type(table.columns[name].type)]
    return table.columns[found[0]].name if len(found) == 1 else None


def _fold_join(join: exp.Join, select: exp.Select, shape: Shape) -> list[Mend]:
    imagined = _unknown(join.this, shape)
    on = join.args.get("on")
    if imagined is None or not isinstance(on, exp.EQ) or join.side in ("RIGHT", "FULL"):
        return []
    name = imagined.alias_or_name
    sides = [side for side in (on.this, on.expression) if isinstance(side, exp.Column)]
    near = next((side for side in sides if side.table and side.table != name), None)
    if len(sides) != 2 or near is None or not any(side.table == name for side in sides):
        return []
    table = _table_named(near.table, select, shape)
    column = _column_for(table, imagined.name, shape) if table is not None else None
    if table is None or column is None:
        return []
    inside = {id(item) for item in on.find_all(exp.Column)}
    used = [item for item in select.find_all(exp.Column) if item.table == name and id(item) not in inside]
    if any(not _is_name(item.name, imagined.name, column) for item in used):
        return []
    if not _fits([item.parent for item in used], table, column, shape):
        return []
    for item in used:
        text = item.name
        item.set("this", shape.rules.identifier(column))
        item.set("table", exp.to_identifier(near.table))
        if item.parent is select and item.arg_key == "expressions":
            item.replace(exp.alias_(item.copy(), text))
    select.set("joins", [item for item in joins_of(select) if item is not join])
    return [Mend(kind="table_name", before=imagined.name, after=f"{table.name}.{column}", confidence=CONFIDENCE)]


def _fold_subquery(node: exp.Expr, shape: Shape) -> list[Mend]:
    """A column is compared with the key of an imagined table's row of some name."""
    below = node.args.get("query") if isinstance(node, exp.In) else node.expression
    inner = below.this if isinstance(below, exp.Subquery) else below
    if not isinstance(inner, exp.Select) or not isinstance(node.this, exp.Column) or joins_of(inner):
        return []
    select, from_, where = node.find_ancestor(exp.Select), inner.args.get("from_"), inner.args.get("where")
    imagined = _unknown(from_.this if from_ is not None else None, shape)
    if imagined is None or select is None or where is None or not isinstance(where.this, exp.EQ | exp.Like | exp.ILike):
        return []
    condition = where.this
    table = _table_named(node.this.table, select, shape)
    column = _column_for(table, imagined.name, shape) if table is not None else None
    if table is None or column is None or not isinstance(condition.expression, exp.Literal):
        return []
    asked = condition.this
    if not isinstance(asked, exp.Column) or not _is_name(asked.name, imagined.name, column):
        return []
    if not _fits([condition], table, column, shape):
        return []
    before = node.sql(shape.dialect)
    new = type(condition)(
        this=exp.Column(this=shape.rules.identifier(column), table=node.this.args.get("table")),
        expression=condition.expression.copy(),
    )
    node.replace(new)
    return [Mend(kind="table_name", before=before, after=new.sql(shape.dialect), confidence=CONFIDENCE)]


def _table_named(name: str, select: exp.Select, shape: Shape) -> TableShape | None:
    """The known table of a SELECT by the name that columns give it; without a name the only one."""
    from_ = select.args.get("from_")
    entries = [item.this for item in ([from_] if from_ is not None else []) + joins_of(select)]
    tables = [item for item in entries if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier)]
    if not name:
        return shape.find_table(shape.key(tables[0].this)) if len(entries) == len(tables) == 1 else None
    found = next((item for item in tables if item.alias_or_name == name), None)
    return shape.find_table(shape.key(found.this)) if found is not None else None


def _is_name(asked: str, imagined: str, column: str) -> bool:
    bare, asked = singular(imagined.lower()), asked.lower()
    return asked in _NAMES or asked == column.lower() or asked in {f"{bare}_{name}" for name in _NAMES} | {bare}


def _fits(conditions: list[exp.Expr | None], table: TableShape, column: str, shape: Shape) -> bool:
    """Whether what is compared with the column is of its kind."""
    text = kind_of_type(table.columns[shape.rules.catalog_key(column)].type) == "text"
    written = [part for item in conditions if isinstance(item, exp.Predicate) for part in item.find_all(exp.Literal)]
    return all(part.is_string == text for part in written)
