"""Mends values that a column does not hold: spelt otherwise, or held by another column. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from rag_core.policy.names import similarity
from rag_core.workers.sql_repair.mends import Mend
from rag_core.workers.sql_repair.shape import Shape, TableShape
from rag_core.workers.sql_repair.sources import joins_of

ALIKE = 0.85
# Shorter values, such as Yes and No, say nothing of the column they belong to.
TELLING = 4
_YES, _NO = ("yes", "true"), ("no", "false")


def mend_values(tree: exp.Expr, shape: Shape) -> list[Mend]:
    """Changes literals that known columns do not hold, in place; tells what was done.

    A column whose values are not all known is left alone. A value that just one other column holds is looked for there.
    """
    mends: list[Mend] = []
    for column, literal in list(_compared(tree)):
        table = _table_of(column, shape)
        if table is None:
            continue
        name = shape.key(column.this)
        if name not in table.columns:
            continue
        held = shape.values.get(f"{table.full}.{table.columns[name].name}", ())
        wanted = literal.name
        bare = wanted.strip("%") if isinstance(literal.parent, exp.Like | exp.ILike) else wanted
        if not held or wanted in held or not bare.strip():
            continue
        if bare != wanted and any(bare.casefold() in item.casefold() for item in held):
            continue
        told = _as_presence(literal, held)
        if told is not None:
            mends.append(told)
            continue
        pattern, wanted = wanted != bare, bare
        spelt = _spelt(wanted, held) if not pattern else None
        if spelt is not None:
            value, confidence = spelt
            literal.replace(exp.Literal.string(value))
            mends.append(Mend(kind="value", before=repr(wanted), after=repr(value), confidence=confidence))
            continue
        elsewhere = _elsewhere(wanted, shape, table)
        if elsewhere is not None:
            holder, owner, value = elsewhere
            before = f"{column.sql(dialect=shape.dialect)} = {wanted!r}"
            column.set("this", shape.rules.identifier(holder))
            if owner is not table:
                column.set("table", shape.rules.identifier(owner.name))
            if not pattern:
                literal.replace(exp.Literal.string(value))
            after = f"{column.sql(dialect=shape.dialect)} = {value!r}"
            mends.append(Mend(kind="value", before=before, after=after, confidence=0.7))
    return mends


def _compared(tree: exp.Expr) -> Iterator[tuple[exp.Column, exp.Literal]]:
    """Columns with the text that they are compared with."""
    for node in tree.find_all(exp.EQ, exp.NEQ, exp.In, exp.Like, exp.ILike):
        column = node.this
        if isinstance(column, exp.Lower | exp.Upper | exp.Trim) and not isinstance(column.this, exp.Literal):
            continue  # case is taken care of already
        if not isinstance(column, exp.Column):
            continue
        options = node.expressions if isinstance(node, exp.In) else [node.expression]
        for option in options:
            if isinstance(option, exp.Literal) and option.is_string:
                if isinstance(node, exp.Like | exp.ILike) and ("%" in option.name.strip("%") or "_" in option.name):
                    continue
                yield column, option


def _table_of(column: exp.Column, shape: Shape) -> TableShape | None:
    qualifier = shape.key(column.args.get("table"))
    select = column.find_ancestor(exp.Select)
    from_ = select.args.get("from_") if select is not None else None
    if select is None or from_ is None:
        return None
    found = []
    for entry in (from_, *joins_of(select)):
        node = entry.this
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            continue
        table = shape.find_table(shape.key(node.this), shape.key(node.args.get("db")))
        if table is None:
            continue
        if qualifier:
            if node.alias_or_name.lower() == qualifier.lower():
                return table
        elif shape.key(column.this) in table.columns:
            found.append(table)
    return found[0] if len(found) == 1 else None


def _spelt(wanted: str, held: tuple[str, ...]) -> tuple[str, float] | None:
    flat = wanted.strip().casefold()
    same = [value for value in held if value.strip().casefold() == flat]
    if len(same) == 1:
        return same[0], 0.95
    scored = sorted(((similarity(wanted, value), value) for value in held), reverse=True)
    if scored and scored[0][0] >= ALIKE and (len(scored) == 1 or scored[1][0] < scored[0][0] - 0.05):
        return scored[0][1], 0.8
    return None


def _elsewhere(wanted: str, shape: Shape, table: TableShape) -> tuple[str, TableShape, str] | None:
    """The column that holds a value, its table, and how it is spelt there: of the same table, else the only one."""
    flat = wanted.strip().casefold()
    found = []
    for name, values in shape.values.items():
        full, _, column = name.rpartition(".")
        value = next((item for item in values if item.strip().casefold() == flat), None)
        if value is not None and full in shape.tables:
            found.append((column, shape.tables[full], value))
    own = [item for item in found if item[1] is table]
    if len(wanted.strip()) < TELLING:
        # Short as it is, a code says what it is of where it is the key of the very table that was asked.
        found = own = [item for item in own if len(wanted.strip()) > 1 and _is_key(item[0], table, shape)]
    chosen = own if len(own) == 1 else found
    return chosen[0] if len(chosen) == 1 else None


def _is_key(column: str, table: TableShape, shape: Shape) -> bool:
    name = shape.rules.catalog_key(column)
    return table.primary == (name,) or any(link.left_columns == (name,) for link in shape.links_of(table.full))


def _as_presence(literal: exp.Expr, held: tuple[str, ...]) -> Mend | None:
    """Yes and No asked of a column that holds neither: whether it holds anything."""
    node, said = literal.parent, literal.name.strip().casefold()
    if not isinstance(node, exp.EQ | exp.NEQ) or said not in (*_YES, *_NO) or node.expression is not literal:
        return None
    if any(item.strip().casefold() in (*_YES, *_NO, "y", "n", "t", "f") for item in held):
        return None
    filled = (said in _YES) == isinstance(node, exp.EQ)
    before, empty = node.sql(), exp.Is(this=node.this.copy(), expression=exp.Null())
    new = exp.Not(this=empty) if filled else empty
    node.replace(new)
    return Mend(kind="value", before=before, after=new.sql(), confidence=0.75)
