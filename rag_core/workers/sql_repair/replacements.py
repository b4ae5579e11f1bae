"""Puts another table for one that lacks what is asked of it, where the other has all of it. Pure.

A small model often takes the right columns from the wrong table; joining the right table to the wrong one would count
rows of both.
"""

from __future__ import annotations

from sqlglot import exp

from rag_core.policy.names import similarity
from rag_core.workers.sql_repair.grain import count_keys_once
from rag_core.workers.sql_repair.mends import Mend
from rag_core.workers.sql_repair.shape import Shape, TableShape
from rag_core.workers.sql_repair.sources import Scope, Source, joins_of, own_columns

MIN_ASKED = 2
CONFIDENCE = 0.75


def replace_sources(scope: Scope, shape: Shape) -> list[Mend]:
    """Changes tables of a SELECT in place; tells what was done."""
    mends = []
    for source in scope.sources:
        if source.table is None:
            continue
        asked = _asked(source, scope, shape)
        lacking = [name for name in asked if name not in source.table.columns]
        others = [item for item in scope.sources if item is not source]
        # What another table around has is only asked of the wrong one.
        if len(asked) < MIN_ASKED or all(any(item.has(name) for item in others) for name in lacking):
            continue
        table = _holder(asked, source.table, scope, shape)
        if table is None:
            continue
        node = _node(source, scope)
        if node is None:
            continue
        before = source.table.name
        if node.args.get("alias") is None:
            node.set("alias", exp.TableAlias(this=node.this.copy()) if _is_named(source, scope) else None)
        node.set("this", shape.rules.identifier(table.name))
        found = shape.find_table(shape.rules.catalog_key(table.name))
        node.set("db", None if found is table else shape.rules.identifier(table.schema_name))
        if node.args.get("alias") is None:
            source.name, source.written = shape.rules.catalog_key(table.name), table.name
        wrong, source.table = source.table, table
        count_keys_once(scope, source, wrong, shape)
        mends.append(Mend(kind="table_name", before=before, after=table.name, confidence=CONFIDENCE))
    return mends


def _asked(source: Source, scope: Scope, shape: Shape) -> set[str]:
    """The columns that are asked of a source: those with its name, and all bare ones where it is alone."""
    alone = len(scope.sources) == 1
    given = {item.alias.lower() for item in scope.select.selects if isinstance(item, exp.Alias)}
    found = set()
    for column in own_columns(scope.select):
        name = shape.key(column.this)
        if column.args.get("table") is not None:
            if shape.key(column.args["table"]) == source.name:
                found.add(name)
        elif alone and name not in given and not column.this.args.get("quoted"):
            found.add(name)
    return found


def _holder(asked: set[str], instead: TableShape, scope: Scope, shape: Shape) -> TableShape | None:
    """The one table that has all of the columns; of several the one that is called most alike, if it is clear."""
    present = {source.table.full for source in scope.sources if source.table is not None}
    holders = [table for full, table in shape.tables.items() if full not in present and asked <= set(table.columns)]
    scored = sorted(((similarity(instead.name, table.name), table.full) for table in holders), reverse=True)
    if not scored or (len(scored) > 1 and scored[0][0] - scored[1][0] < 0.05):
        return None
    return shape.tables[scored[0][1]]


def _node(source: Source, scope: Scope) -> exp.Table | None:
    from_ = scope.select.args.get("from_")
    for entry in ([from_] if from_ is not None else []) + joins_of(scope.select):
        if isinstance(entry.this, exp.Table) and entry.this.alias_or_name == source.written:
            return entry.this
    return None


def _is_named(source: Source, scope: Scope) -> bool:
    return any(column.table == source.written for column in scope.select.find_all(exp.Column))
