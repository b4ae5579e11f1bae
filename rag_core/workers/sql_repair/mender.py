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
from rag_core.workers.sql_repair.dialects import is_foreign_call, translate_calls
from rag_core.workers.sql_repair.grouping import (
    complete_groups,
    drop_grouped_aggregates,
    move_aggregates,
    order_distinct,
)
from rag_core.workers.sql_repair.imagined import fold_imagined
from rag_core.workers.sql_repair.mends import Mend, MendedStatement
from rag_core.workers.sql_repair.names import mend_names
from rag_core.workers.sql_repair.nesting import (
    compare_with_all,
    filter_windows,
    one_column,
    respelt,
    unnest_aggregates,
)
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
    (r"aggregate functions are not allowed in WHERE", (compare_with_all, move_aggregates)),
    (r"window functions are not allowed in", (filter_windows,)),
    (r"aggregate function calls cannot be nested", (unnest_aggregates,)),
    (r"subquery has too many columns|must return only one column", (one_column,)),
    (r"aggregate functions are not allowed in GROUP BY", (drop_grouped_aggregates,)),
    (r"for SELECT DISTINCT, ORDER BY", (order_distinct,)),
    (r"invalid reference to FROM-clause entry", (cross_joins,)),
    (r"more than one row returned by a subquery", (in_for_equals,)),
    (r"division by zero", (divide_safely,)),
    (r"operator does not exist|does not exist.*argument types|^function|invalid input syntax|argument of|"
     r"cannot be cast|could not determine|types .* cannot be matched|must be type", (mend_types,)),
)  # fmt: skip
# Functions that the database has itself, so that a fault is one of their arguments.
_OWN = frozenset({"to_date", "to_timestamp", "to_char", "round", "trunc", "string_agg", "date_trunc", "extract"})
_UNKNOWN_FUNCTION = re.compile(r"function (?:pg_catalog\.)?(?P<name>\w+)\(.*does not exist")


def is_mendable(fault: Fault) -> bool:
    """Whether code may mend a fault: a function of another database is put otherwise, no refusal is got around."""
    return fault.fault_class in MENDABLE or is_foreign_call(fault.message)


def mend_statement(sql: str, fault: Fault, shape: Shape) -> MendedStatement:
    """The statement mended for one fault; unchanged and without mends where nothing is known to do."""
    unchanged = MendedStatement(sql=sql)
    if not is_mendable(fault):
        return unchanged
    # Before the names: a unit such as month would be taken for a column.
    translated, mends = translate_calls(sql, shape)
    tree, mends = (translated, mends) if translated is not None else _parse(sql, shape)
    if tree is None:
        return unchanged
    unknown = _UNKNOWN_FUNCTION.search(fault.message) if not mends else None
    if unknown is not None and unknown["name"].lower() not in _OWN:
        other, told = read_function(sql, unknown["name"], shape)
        if other is not None:
            tree, mends = other, told
    if fault.fault_class == "unknown_table":
        mends += fold_imagined(tree, shape)
    mends += mend_names(tree, shape)
    mends = mends or _mend_by_message(sql, tree, fault, shape)
    if not mends:
        return unchanged
    return MendedStatement(sql=tree.sql(dialect=shape.dialect), mends=tuple(mends))


def _mend_by_message(sql: str, tree: exp.Expr, fault: Fault, shape: Shape) -> list[Mend]:
    """What the database complained of, where all names are right; at the last the statement in our own spelling."""
    mends: list[Mend] = []
    for pattern, menders in _BY_MESSAGE:
        if re.search(pattern, fault.message):
            for mender in menders:
                mends += mender(tree, shape)
            break
    if not mends and fault.fault_class == "type":
        mends += mend_types(tree, shape)
    if not mends and fault.fault_class == "syntax":
        mends += quote_aliases(tree, shape)
    if not mends and fault.fault_class in ("syntax", "type"):
        mends += respelt(sql, tree, shape)
    return mends


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
