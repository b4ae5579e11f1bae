"""Aggregates as dbt writes them (`agg`, `expr`) and as SQL, in both directions. Pure.

Source: the YAML of dbt's semantic layer (MetricFlow), `semantic_models` with measures, as of dbt 1.6 to 1.11.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot import exp

_PLAIN = {"sum": "sum", "min": "min", "max": "max", "average": "avg"}
_AGGS: dict[type[exp.Expr], str] = {exp.Sum: "sum", exp.Min: "min", exp.Max: "max", exp.Avg: "average"}
ADDITIVE = frozenset(["sum", "count", "sum_boolean"])


class NoCounterpart(Exception):
    """Something of one format that the other one cannot say; the message says what and what to do about it."""


@dataclass(frozen=True)
class Measure:
    """An aggregate as dbt writes it."""

    agg: str
    expr: str
    params: dict[str, Any] = field(default_factory=dict)


def aggregate_sql(measure: dict[str, Any], dialect: str) -> str:
    """The SQL aggregate of a dbt measure. Raises NoCounterpart for an aggregation that is not known."""
    agg = str(measure.get("agg", "")).lower()
    text = str(measure.get("expr") or measure.get("name") or "")
    try:
        sqlglot.parse_one(text, dialect=dialect)
    except sqlglot.errors.ParseError as error:
        raise NoCounterpart(f"its expr {text!r} is no SQL expression: {str(error).splitlines()[0]}") from None
    if agg == "count" or (agg == "sum" and text == "1"):
        return "count(*)" if text in ("1", "*") else f"count({text})"
    if agg in _PLAIN:
        return f"{_PLAIN[agg]}({text})"
    if agg == "count_distinct":
        return f"count(DISTINCT {text})"
    if agg == "sum_boolean":
        return f"sum(CASE WHEN {text} THEN 1 ELSE 0 END)"
    if agg in ("median", "percentile"):
        params = measure.get("agg_params") or {}
        share = 0.5 if agg == "median" else params.get("percentile")
        if share is None:
            raise NoCounterpart("a percentile needs agg_params.percentile")
        kind = "disc" if params.get("use_discrete_percentile") else "cont"
        return f"percentile_{kind}({share}) WITHIN GROUP (ORDER BY {text})"
    raise NoCounterpart(f"the aggregation {agg!r} is not known")


def measures_of(expression: str, dialect: str) -> tuple[tuple[Measure, ...], str]:
    """The dbt measures in an expression, and the expression over them with `{0}`, `{1}` ... in their places.

    An expression that is one aggregate gives one measure and `{0}`. Raises NoCounterpart where an aggregate has no dbt
    form or where a column stands outside of every aggregate.
    """
    tree = sqlglot.parse_one(expression, dialect=dialect)
    found: list[Measure] = []

    def replace(node: exp.Expr) -> exp.Expr:
        measure = _measure(node, dialect)
        if measure is None:
            return node
        if measure not in found:
            found.append(measure)
        return exp.column(f"part_{found.index(measure)}_")

    rest = tree.transform(replace)
    if not found or any(not column.name.startswith("part_") for column in rest.find_all(exp.Column)):
        raise NoCounterpart(f"{expression} is not made of aggregates that dbt knows")
    if rest.find(exp.AggFunc) is not None:
        raise NoCounterpart(f"{expression} has an aggregate that dbt does not know")
    text = rest.sql(dialect=dialect)
    for index in range(len(found)):
        text = text.replace(f"part_{index}_", f"{{{index}}}")
    return tuple(found), text


def key_columns(text: str, dialect: str) -> tuple[str, ...]:
    """The columns of a key; dbt puts several together to one text ("a || '-' || b"), which is taken apart again."""
    try:
        tree = sqlglot.parse_one(text, dialect=dialect)
    except sqlglot.errors.ParseError:
        return (text,)
    if not isinstance(tree, exp.DPipe | exp.Concat | exp.ConcatWs):
        return (text,)
    inner = (exp.DPipe, exp.Concat, exp.ConcatWs, exp.Cast, exp.TryCast, exp.Coalesce, exp.Literal, exp.DataType)
    if any(not isinstance(node, (*inner, exp.Column, exp.Identifier)) for node in tree.walk()):
        return (text,)
    return tuple(dict.fromkeys(column.sql(dialect=dialect) for column in tree.find_all(exp.Column, bfs=False)))


def filtered(measure: Measure, filters: tuple[str, ...]) -> Measure:
    """The measure over the rows of a filter only; dbt's own filters name dimensions, these are any condition."""
    if not filters:
        return measure
    condition = " AND ".join(f"({text})" for text in filters)
    return Measure(measure.agg, f"CASE WHEN {condition} THEN {measure.expr} END", measure.params)


def _measure(node: exp.Expr, dialect: str) -> Measure | None:
    if isinstance(node, exp.WithinGroup):
        return _percentile(node, dialect)
    if isinstance(node, exp.Count):
        return _count(node, dialect)
    agg = _AGGS.get(type(node))
    return Measure(agg, node.this.sql(dialect=dialect)) if agg is not None else None


def _count(node: exp.Count, dialect: str) -> Measure | None:
    if node.args.get("expressions"):
        return None
    inner = node.this
    if isinstance(inner, exp.Distinct):
        if len(inner.expressions) != 1:
            return None
        return Measure("count_distinct", inner.expressions[0].sql(dialect=dialect))
    return Measure("count", "1" if isinstance(inner, exp.Star) else inner.sql(dialect=dialect))


def _percentile(node: exp.WithinGroup, dialect: str) -> Measure | None:
    inner, order = node.this, node.expression
    kinds = {exp.PercentileCont: False, exp.PercentileDisc: True}
    discrete = kinds.get(type(inner))
    ordered = order.expressions[0] if isinstance(order, exp.Order) and len(order.expressions) == 1 else None
    if discrete is None or ordered is None or ordered.args.get("desc"):
        return None
    text = ordered.this.sql(dialect=dialect)
    share = float(inner.this.name)
    if share == 0.5 and not discrete:
        return Measure("median", text)
    params = {"percentile": share, "use_discrete_percentile": discrete, "use_approximate_percentile": False}
    return Measure("percentile", text, params)
