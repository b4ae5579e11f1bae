"""Reads from the store what kept plans read, so that a schema change finds them."""

from __future__ import annotations

import psycopg
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from rag_core.connectors.sql_files import statement
from rag_core.datamodel.drift import Lineage


def read_plan_lineage(connection: psycopg.Connection) -> tuple[Lineage, ...]:
    """Lineage of every kept plan that is in use or stale; the owner is that of the batches that ask its question."""
    rows = connection.execute(statement("drift/list_plan_lineage")).fetchall()
    return tuple(
        Lineage(
            kind="plan",
            id=plan_id,
            question_id=question_id,
            tables=tuple(tables),
            columns=tuple(columns),
            reads_all=tuple(tables) if any(selects_all(text) for text in statements.values()) else (),
            owner=owner,
        )
        for plan_id, question_id, tables, columns, statements, owner in rows
    )


def selects_all(sql: str) -> bool:
    """Whether a statement reads columns that it does not name (`*`, not `count(*)`)."""
    if "*" not in sql:
        return False
    try:
        trees = sqlglot.parse(sql)
    except SqlglotError:
        # What cannot be read may read everything.
        return True
    return any(
        isinstance(star.parent, exp.Select | exp.Column)
        for tree in trees
        if tree is not None
        for star in tree.find_all(exp.Star)
    )
