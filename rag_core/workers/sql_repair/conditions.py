"""The condition that joins two sources of a SELECT along a link of the join graph. Pure."""

from __future__ import annotations

from sqlglot import exp

from rag_core.workers.sql_repair.shape import Link, Shape
from rag_core.workers.sql_repair.sources import Source


def condition(link: Link, left: Source, right: Source, shape: Shape) -> exp.Expr:
    """The condition of a join between two sources."""
    parts: list[exp.Expr] = [
        exp.EQ(this=_column(left, one, shape), expression=_column(right, other, shape))
        for one, other in zip(link.left_columns, link.right_columns, strict=False)
    ]
    return exp.and_(*parts, copy=False) if len(parts) > 1 else parts[0]


def _column(source: Source, name: str, shape: Shape) -> exp.Column:
    return exp.Column(
        this=shape.rules.identifier(name), table=exp.to_identifier(source.written, quoted=_quoted(source, shape))
    )


def _quoted(source: Source, shape: Shape) -> bool | None:
    return None if shape.rules.key(source.written, quoted=False) == source.name else True
