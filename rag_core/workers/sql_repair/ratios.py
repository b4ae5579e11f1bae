"""Mends divisions of whole numbers, which a database cuts off without a word. Pure."""

from __future__ import annotations

from sqlglot import exp

from rag_core.workers.sql_repair.kinds import kind_of
from rag_core.workers.sql_repair.mends import Mend
from rag_core.workers.sql_repair.shape import Shape

# Where 5 / 2 is 2.
CUTTING = frozenset({"postgres", "redshift", "tsql"})


def mend_divisions(tree: exp.Expr, shape: Shape) -> list[Mend]:
    """Has whole numbers divided exactly, in place; divisions by a written number are meant as they stand."""
    mends: list[Mend] = []
    if shape.dialect not in CUTTING:
        return mends
    for node in list(tree.find_all(exp.Div)):
        if isinstance(node.expression.unnest(), exp.Literal):
            continue
        divisor = node.expression.unnest()
        below = divisor.this if isinstance(divisor, exp.Nullif) else divisor
        if kind_of(node.this, shape) == "integer" and kind_of(below, shape) == "integer":
            before = node.sql(dialect=shape.dialect)
            node.set("this", exp.cast(node.this.unnest().copy(), "numeric"))
            mends.append(Mend(kind="division", before=before, after=node.sql(dialect=shape.dialect), confidence=0.95))
    return mends
