"""Rows that a result must have though no fact stands behind them: periods and members of which nothing happened. Pure.

A month without an incident is a month with zero incidents: left out, it can be neither the lowest nor seen in a course.
"""

from __future__ import annotations

from datetime import date

from sqlglot import exp

from rag_core.datamodel.plan import MetricQuery
from rag_core.semantics.calendar import buckets, floor
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.leaf_sql import LeafCompiler, Slice, day_literal, value_condition
from rag_core.semantics.sources import Group, Leaf, dimension_source, leaf_names, supported_at

MAX_PERIODS = 400
_KINDS = ("simple", "stock")


def is_zero(leaf: Leaf) -> bool:
    """Whether no row means zero: sums that add up and counts; a mean or a price of nothing is no value."""
    return leaf.source.additivity == "additive" or counts(leaf.source.expression)


def counts(expression: str) -> bool:
    """Whether an expression is a count."""
    return expression.lstrip().lower().startswith("count")


def missing_rows(
    query: MetricQuery, model: SemanticModel, groups: list[Group], cut: Slice, leaves: LeafCompiler, parts: list[str]
) -> exp.Select | None:
    """The keys that the result must have, as a SELECT; None where those that have facts are enough.

    `parts` are the names of the CTEs of figures: with a split, each of their members has every period.
    """
    if not _all_zero(query, model, groups):
        return None
    if cut.grain is not None:
        return _periods(query, model, groups, cut, leaves, parts)
    if len(query.dimensions) == 1 and _asks_for_none(query):
        return _members(query.dimensions[0], model, groups[0], cut, leaves)
    return None


def _all_zero(query: MetricQuery, model: SemanticModel, groups: list[Group]) -> bool:
    """Whether each figure of the query, or all that it is derived from, is zero where nothing is recorded."""
    if any(group.kind not in _KINDS for group in groups):
        return False
    known = {leaf.name: leaf for group in groups for leaf in group.leaves}
    return all(
        model.metrics[name].type != "ratio" and all(is_zero(known[leaf]) for leaf in leaf_names(model, name))
        for name in query.metrics
    )


def _asks_for_none(query: MetricQuery) -> bool:
    """Whether members of which nothing is recorded belong into the result: the fewest, fewer than ten, none."""
    if query.order == "ascending" and query.order_by == "value" and query.comparison == "none":
        return True
    return any(
        (item.operator in ("<", "<=") and item.value > 0) or (item.operator in ("=", "<=") and item.value == 0)
        for item in query.conditions
    )


def _periods(
    query: MetricQuery, model: SemanticModel, groups: list[Group], cut: Slice, leaves: LeafCompiler, parts: list[str]
) -> exp.Select | None:
    """Every period of the time range that has begun, up to the last one of which the warehouse knows anything."""
    start, end = cut.bounds()
    grain = cut.grain or "day"
    if query.as_of is not None:
        end = min(end, query.as_of) if end is not None else query.as_of
    known = [day for group in groups if (day := _data_from(model, group)) is not None]
    if known:
        start = max(start, min(known)) if start is not None else min(known)
    if start is None or end is None or start >= end:
        return None
    found = buckets(start, end, grain)
    if len(found) > MAX_PERIODS:
        return None
    spine: exp.Expr | None = None
    for first, _ in found:
        row = exp.Select().select(exp.alias_(day_literal(first, "date"), grain))
        spine = row if spine is None else exp.Union(this=spine, expression=row, distinct=False)
    assert spine is not None
    alias = exp.TableAlias(this=exp.to_identifier("spine"))
    rows = exp.Select().select(exp.column(grain, table="spine")).from_(exp.Subquery(this=spine, alias=alias))
    for group in groups:
        if group.kind == "simple":
            # A period after the last row of the table may only not be loaded yet: it is unknown, not zero.
            rows = rows.where(exp.LTE(this=exp.column(grain, table="spine"), expression=leaves.last_bucket(group, cut)))
    if not cut.dimensions:
        return rows
    members: exp.Expr | None = None
    for name in parts:
        part = exp.Select().select(*(exp.column(key) for key in cut.dimensions)).distinct().from_(name)
        members = part if members is None else exp.Union(this=members, expression=part, distinct=True)
    assert members is not None
    inner = exp.Subquery(this=members, alias=exp.TableAlias(this=exp.to_identifier("members")))
    rows = rows.select(*(exp.column(key, table="members") for key in cut.dimensions))
    return rows.join(inner, join_type="CROSS")


def _data_from(model: SemanticModel, group: Group) -> date | None:
    return model.time_dimensions[group.time].data_from if group.time is not None and group.kind != "stock" else None


def _members(dimension: str, model: SemanticModel, group: Group, cut: Slice, leaves: LeafCompiler) -> exp.Select:
    """Every value that the dimension has where it stands, as far as the filters say something about it."""
    place = dimension_source(model, group.entity, dimension)
    apart = place.entity != group.entity
    filters = [
        item
        for item in cut.filters
        if item.dimension == dimension or (apart and supported_at(model, place.entity, item.dimension))
    ]
    own = leaves.dimension(place.entity, dimension)
    rows = leaves.source(place.entity, [item.dimension for item in filters])
    rows = rows.select(exp.alias_(own.copy(), dimension)).distinct()
    rows = rows.where(exp.not_(exp.Is(this=own.copy(), expression=exp.Null())))
    for item in filters:
        expression = leaves.dimension(place.entity, item.dimension)
        rows = rows.where(value_condition(expression, item, model.dimensions[item.dimension]))
    return rows


def whole_until(query: MetricQuery) -> date | None:
    """The day before which periods are over, for a ranking from the lowest on: one under way is not low, but short."""
    if query.as_of is None or query.grain is None or query.order != "ascending" or query.order_by != "value":
        return None
    return floor(query.as_of, query.grain)
