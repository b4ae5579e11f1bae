"""Mends a statement that the guard or the database did not take. Pure: what is judged again is for others to run.

Names are held against the schema whatever the fault says; types, grouping and other dialects' functions are mended by
what the database complained of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import sqlglot
from sqlglot import exp

from rag_core.workers.outcome import Fault
from rag_core.workers.sql_repair.casts import mend_types
from rag_core.workers.sql_repair.grouping import (
    complete_groups,
    drop_grouped_aggregates,
    move_aggregates,
    order_distinct,
)
from rag_core.workers.sql_repair.mends import Mend, MendedStatement
from rag_core.workers.sql_repair.names import mend_names
from rag_core.workers.sql_repair.ratios import mend_divisions
from rag_core.workers.sql_repair.shape import Shape
from rag_core.workers.sql_repair.spelling import (
    cross_joins,
    divide_safely,
    in_for_equals,
    quote_aliases,
    read_function,
    read_otherwise,
)
from rag_core.workers.sql_repair.values import mend_values

# What code may mend; a refusal for what a statement reads or does is never mended around.
MENDABLE = frozenset(
    {"syntax", "unknown_table", "unknown_column", "ambiguous_column", "join", "type", "model_output", "other"}
)
_Mend = Callable[[exp.Expr, Shape], list[Mend]]
# By what the database says, the first that fits.
_BY_MESSAGE: Sequence[tuple[str, tuple[_Mend, ...]]] = (
    (r"must appear in the GROUP BY clause|ungrouped column", (complete_groups,)),
    (r"aggregate functions are not allowed in WHERE", (move_aggregates,)),
    (r"aggregate functions are not allowed in GROUP BY", (drop_grouped_aggregates,)),
    (r"for SELECT DISTINCT, ORDER BY", (order_distinct,)),
    (r"invalid reference to FROM-clause entry", (cross_joins,)),
    (r"more than one row returned by a subquery", (in_for_equals,)),
    (r"division by zero", (divide_safely,)),
    (r"operator does not exist|does not exist.*argument types|^function|invalid input syntax|argument of|"
     r"cannot be cast|could not determine|types .* cannot be matched|must be type", (mend_types,)),
)  # fmt: skip
_UNKNOWN_FUNCTION = re.compile(r"function (?:pg_catalog\.)?(?P<name>\w+)\(.*does not exist")


def mend_statement(sql: str, fault: Fault, shape: Shape) -> MendedStatement:
    """The statement mended for one fault; unchanged and without mends where nothing is known to do."""
    unchanged = MendedStatement(sql=sql)
    if fault.fault_class not in MENDABLE:
        return unchanged
    tree, mends = _parse(sql, shape)
    if tree is None:
        return unchanged
    unknown = _UNKNOWN_FUNCTION.search(fault.message)
    if unknown is not None:
        # Before the names: a unit such as month would be taken for a column.
        other, told = read_function(sql, unknown["name"], shape)
        if other is not None:
            tree, mends = other, told
    mends += mend_names(tree, shape)
    if not mends:
        for pattern, menders in _BY_MESSAGE:
            if re.search(pattern, fault.message):
                for mender in menders:
                    mends += mender(tree, shape)
                break
    if not mends and fault.fault_class == "type":
        mends += mend_types(tree, shape)
    if not mends and fault.fault_class == "syntax":
        mends += quote_aliases(tree, shape)
    if not mends:
        return unchanged
    return MendedStatement(sql=tree.sql(dialect=shape.dialect), mends=tuple(mends))


def _parse(sql: str, shape: Shape) -> tuple[exp.Expr | None, list[Mend]]:
    """The statement's tree; one that the dialect does not take is read as another one's, and that is a mend."""
    try:
        tree = sqlglot.parse_one(sql, dialect=shape.dialect)
    except sqlglot.errors.SqlglotError:
        return read_otherwise(sql, shape)
    return (tree, []) if isinstance(tree, exp.Query) else (None, [])


def refine_values(sql: str, shape: Shape) -> MendedStatement:
    """A statement that found nothing, with the values that its columns hold."""
    return _refined(sql, shape, lambda tree: mend_values(tree, shape))


def refine_divisions(sql: str, shape: Shape) -> MendedStatement:
    """A statement with whole numbers divided exactly."""
    return _refined(sql, shape, lambda tree: mend_divisions(tree, shape))


def _refined(sql: str, shape: Shape, refine: Callable[[exp.Expr], list[Mend]]) -> MendedStatement:
    try:
        tree = sqlglot.parse_one(sql, dialect=shape.dialect)
    except sqlglot.errors.SqlglotError:
        return MendedStatement(sql=sql)
    mends = refine(tree)
    if not mends:
        return MendedStatement(sql=sql)
    # A value may have led to a column of a table that is not read yet.
    mends += mend_names(tree, shape)
    return MendedStatement(sql=tree.sql(dialect=shape.dialect), mends=tuple(mends))
