"""SELECT statements that aggregate figures from one table and what it leads to. Pure; builds sqlglot trees only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import sqlglot
from sqlglot import exp

from rag_core.datamodel.plan import DimensionFilter, Grain, TimeRange
from rag_core.semantics.calendar import MONTHS_OF, buckets, floor, shift_range, step
from rag_core.semantics.definitions import Dimension, Metric, SemanticModel
from rag_core.semantics.paths import SemanticError, find_path
from rag_core.semantics.sources import Group, Leaf, dimension_source
from rag_core.semantics.time_words import unit_of

SPINE = "periods"


@dataclass(frozen=True)
class Slice:
    """What a SELECT of figures is cut by. `shift` moves it to the period before, the year before or the `base`."""

    dimensions: tuple[str, ...]
    filters: tuple[DimensionFilter, ...]
    grain: Grain | None
    time_range: TimeRange | None
    shift: str = "none"
    base: TimeRange | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the result's key columns, the period first."""
        return ((self.grain,) if self.grain else ()) + self.dimensions

    def bounds(self) -> tuple[date | None, date | None]:
        """The range to read, shifted where this slice is the one to compare with."""
        found = self.time_range or TimeRange()
        start, end = found.start, found.end
        if self.shift == "none":
            return start, end
        if self.shift == "range" and self.base is not None:
            return self.base.start, self.base.end
        if self.grain is not None and self.shift == "previous":
            return (step(start, self.grain, -1) if start else None), (step(end, self.grain, -1) if end else None)
        if self.grain == "week":
            return (step(start, "week", -52) if start else None), (step(end, "week", -52) if end else None)
        if start is None or end is None:
            if self.grain is not None:
                return (step(start, "year", -1) if start else None), (step(end, "year", -1) if end else None)
            raise SemanticError("a comparison needs a period with a beginning and an end")
        return shift_range(start, end, year=self.shift == "year_ago")


class LeafCompiler:
    """Writes the SELECT of a group of figures for one model and dialect."""

    def __init__(self, model: SemanticModel, dialect: str) -> None:
        self.model = model
        self.dialect = dialect

    def select(self, group: Group, cut: Slice) -> exp.Select:
        """One row for each combination of the slice's keys, one column for each figure of the group."""
        if group.kind == "stock":
            return self._stock(group, cut)
        if group.kind == "cumulative":
            return self._cumulative(group, cut)
        query = self._from(group.entity)
        start, end = cut.bounds()
        time_column = self._time_column(group)
        conditions = [self._own(text, group.entity) for text in group.filters]
        if group.kind == "snapshot":
            conditions.append(self._last_date(group, cut, start, end))
        else:
            conditions.extend(self._range(group, time_column, start, end))
        keys: list[exp.Expr] = []
        if cut.grain is not None:
            keys.append(self._bucket(group, time_column, cut))
        return self._finish(query, group, cut, keys, conditions)

    def source(self, entity: str, dimensions: Sequence[str]) -> exp.Select:
        """FROM an entity with the joins that its dimensions need."""
        targets = [dimension_source(self.model, entity, name).entity for name in dimensions]
        return self._joined(self._from(entity), entity, targets)

    def last_bucket(self, group: Group, cut: Slice) -> exp.Expr:
        """The last period of which a group's table has any row, as a subquery; a week longer where weeks are asked."""
        latest: exp.Expr = exp.Max(this=self._time_column(group))
        if cut.grain == "week":
            latest = self._bucket(group, latest, replace(cut, shift="previous"))
        else:
            latest = self._trunc(group, latest, cut.grain or "day")
        return self._from(group.entity).select(exp.alias_(latest, "latest"), copy=False).subquery()

    def dimension(self, entity: str, name: str) -> exp.Expr:
        """The expression of a dimension as an entity's rows reach it, its columns qualified."""
        place = dimension_source(self.model, entity, name)
        return self._own(place.expression, place.entity)

    def _finish(
        self,
        query: exp.Select,
        group: Group,
        cut: Slice,
        keys: list[exp.Expr],
        conditions: list[exp.Expr],
    ) -> exp.Select:
        wanted = dict.fromkeys((*cut.dimensions, *(item.dimension for item in cut.filters)))
        query = self._joined(
            query, group.entity, [dimension_source(self.model, group.entity, name).entity for name in wanted]
        )
        conditions.extend(
            value_condition(self.dimension(group.entity, item.dimension), item, self.model.dimensions[item.dimension])
            for item in cut.filters
        )
        keys.extend(self.dimension(group.entity, name) for name in cut.dimensions)
        columns: list[exp.Expr] = [exp.alias_(key.copy(), name) for key, name in zip(keys, cut.keys, strict=True)]
        columns.extend(exp.alias_(self._aggregate(leaf), leaf.name) for leaf in group.leaves)
        query = query.select(*columns, copy=False)
        for condition in conditions:
            query = query.where(condition, copy=False)
        return query.group_by(*keys, copy=False) if keys else query

    def _from(self, entity: str) -> exp.Select:
        return exp.Select().from_(self._table(entity), copy=False)

    def _table(self, entity: str) -> exp.Expr:
        table = exp.to_table(self.model.entities[entity].table, dialect=self.model.dialect)
        return exp.alias_(table, entity, table=True)

    def _joined(self, query: exp.Select, start: str, targets: Sequence[str]) -> exp.Select:
        """LEFT JOINs, so that a row without a partner stays visible under an empty value."""
        done = {start}
        for target in targets:
            at = start
            for join in find_path(self.model, start, target):
                pairs = list(join.columns.items())
                other = join.to if join.from_entity == at else join.from_entity
                if other not in done:
                    conditions = [
                        exp.EQ(this=self._own(left, join.from_entity), expression=self._own(right, join.to))
                        for left, right in pairs
                    ]
                    query = query.join(self._table(other), on=exp.and_(*conditions), join_type="LEFT", copy=False)
                    done.add(other)
                at = other
        return query

    def _own(self, text: str, entity: str) -> exp.Expr:
        """An expression of the model with its columns qualified by the entity's alias."""
        return qualified(text, entity, self.model.dialect)

    def _aggregate(self, leaf: Leaf) -> exp.Expr:
        override = leaf.metric.dialects.get(self.dialect)  # type: ignore[call-overload]
        if override is None or leaf.source.expression != leaf.metric.expression:
            return self._own(leaf.source.expression, leaf.source.entity)
        return qualified(override, leaf.source.entity, self.dialect)

    def _time_column(self, group: Group) -> exp.Expr:
        role = self.model.time_dimensions[group.time or ""]
        return self._own(role.column, role.entity)

    def _day(self, group: Group, day: date) -> exp.Expr:
        role = self.model.time_dimensions[group.time or ""]
        return day_literal(day, role.type)

    def _range(self, group: Group, column: exp.Expr, start: date | None, end: date | None) -> list[exp.Expr]:
        found: list[exp.Expr] = []
        if start is not None:
            found.append(exp.GTE(this=column.copy(), expression=self._day(group, start)))
        if end is not None:
            found.append(exp.LT(this=column.copy(), expression=self._day(group, end)))
        return found

    def _trunc(self, group: Group, column: exp.Expr, grain: Grain) -> exp.Expr:
        role = self.model.time_dimensions[group.time or ""]
        # BigQuery's WEEK begins on Sunday; everywhere else, and in this project, it begins on Monday.
        unit = exp.var("ISOWEEK" if grain == "week" and self.dialect == "bigquery" else grain.upper())
        if role.type == "timestamp":
            return exp.cast(exp.TimestampTrunc(this=column.copy(), unit=unit), "date")
        return exp.cast(exp.DateTrunc(this=column.copy(), unit=unit), "date")  # type: ignore[no-untyped-call]

    def _bucket(self, group: Group, column: exp.Expr, cut: Slice) -> exp.Expr:
        grain = cut.grain or "day"
        truncated = self._trunc(group, column, grain)
        if cut.shift == "none":
            return truncated
        if cut.shift == "year_ago":
            amount, unit = (364, "DAY") if grain == "week" else (12, "MONTH")
        elif grain in MONTHS_OF:
            amount, unit = MONTHS_OF[grain], "MONTH"
        else:
            amount, unit = (7 if grain == "week" else 1), "DAY"
        # BigQuery takes no text for the length of an interval, the others no number.
        number = self.dialect == "bigquery"
        length = exp.Literal.number(amount) if number else exp.Literal.string(str(amount))
        interval = exp.Interval(this=length, unit=exp.var(unit))
        return exp.cast(exp.Add(this=truncated, expression=interval), "date")

    def _last_date(self, group: Group, cut: Slice, start: date | None, end: date | None) -> exp.Expr:
        """Rows of the last date that the table has in the range, or in each period of it."""
        column = self._time_column(group)
        inner = self._from(group.entity).select(exp.Max(this=column.copy()), copy=False)
        for condition in self._range(group, column, start, end):
            inner = inner.where(condition, copy=False)
        if cut.grain is not None:
            inner = inner.group_by(self._trunc(group, column, cut.grain), copy=False)
        return exp.In(this=column.copy(), query=inner.subquery())

    def _stock(self, group: Group, cut: Slice) -> exp.Select:
        """Rows valid just before the end of the range or of each period, or just before its start."""
        valid_from, valid_to, at = group.validity
        start, end = cut.bounds()
        label = group.leaves[0].metric.label
        query = self._from(group.entity)
        conditions = [self._own(text, group.entity) for text in group.filters]
        begin, finish = self._own(valid_from, group.entity), self._own(valid_to, group.entity)
        kind = self.model.time_dimensions[group.time].type if group.time else "date"
        if cut.grain is None:
            if start is None and at != "end":
                raise SemanticError(f"{label} needs a period with a beginning")
            if end is None and at != "start":
                conditions.append(exp.Is(this=finish, expression=exp.Null()))
            else:
                first, last = (day_literal(day, kind) if day else exp.Null() for day in (start, end))
                conditions.extend(_valid(begin, finish, first, last, at))
            return self._finish(query, group, cut, [], conditions)
        if start is None or end is None:
            raise SemanticError(f"{label} by {cut.grain} needs a period with a beginning and an end")
        first, last = exp.column("first_day", table=SPINE), exp.column("next_day", table=SPINE)
        on = exp.and_(*_valid(begin, finish, first, last, at))
        spine = exp.Subquery(this=_spine(start, end, cut, kind), alias=exp.TableAlias(this=exp.to_identifier(SPINE)))
        query = query.join(spine, on=on, join_type="INNER", copy=False)
        return self._finish(query, group, cut, [exp.column("bucket", table=SPINE)], conditions)

    def _cumulative(self, group: Group, cut: Slice) -> exp.Select:
        """Rows up to the end of the range or of each period: all of them, those of a window, or since a date."""
        metric = group.leaves[0].metric
        start, end = cut.bounds()
        query = self._from(group.entity)
        column = self._time_column(group)
        conditions = [self._own(text, group.entity) for text in group.filters]
        if cut.grain is None:
            if end is None and (metric.window or metric.to_date):
                raise SemanticError(f"{metric.label} needs a period with an end")
            lower = _reaches_back(metric, end) if end is not None else None
            return self._finish(query, group, cut, [], conditions + self._range(group, column, lower, end))
        if start is None or end is None:
            raise SemanticError(f"{metric.label} by {cut.grain} needs a period with a beginning and an end")
        kind = self.model.time_dimensions[group.time or ""].type
        first, following = exp.column("first_day", table=SPINE), exp.column("next_day", table=SPINE)
        on: exp.Expr = exp.LT(this=column.copy(), expression=following)
        if metric.window or metric.to_date:
            on = exp.and_(exp.GTE(this=column.copy(), expression=first), on)
        spine = exp.Subquery(
            this=_spine(start, end, cut, kind, metric), alias=exp.TableAlias(this=exp.to_identifier(SPINE))
        )
        query = query.join(spine, on=on, join_type="INNER", copy=False)
        return self._finish(query, group, cut, [exp.column("bucket", table=SPINE)], conditions)


def _reaches_back(metric: Metric, end: date) -> date | None:
    """The first day that a cumulative figure counts at the end of a period; None where it counts all."""
    if metric.to_date is not None:
        return floor(end - timedelta(days=1), metric.to_date)
    if metric.window is None:
        return None
    count, unit = metric.window.split()
    return step(end, unit_of(unit), -int(count))


def _spine(start: date, end: date, cut: Slice, kind: str, metric: Metric | None = None) -> exp.Expr:
    """One row a period: the day it is shown under, its first day and the day after its last.

    The first day is the one that a cumulative `metric` counts from.
    """
    grain = cut.grain or "day"
    spine: exp.Expr | None = None
    for first, following in buckets(start, end, grain):
        shown = first
        if cut.shift == "previous":
            shown = step(first, grain, 1)
        elif cut.shift == "year_ago":
            shown = step(first, "week", 52) if grain == "week" else step(first, "year", 1)
        row = exp.Select().select(
            exp.alias_(day_literal(shown, "date"), "bucket"),
            exp.alias_(day_literal(_counted_from(first, following, start, metric), kind), "first_day"),
            exp.alias_(day_literal(following, kind), "next_day"),
        )
        spine = row if spine is None else exp.Union(this=spine, expression=row, distinct=False)
    if spine is None:
        raise SemanticError("the period is empty")
    return spine


def _counted_from(first: date, following: date, start: date, metric: Metric | None) -> date:
    lower = _reaches_back(metric, following) if metric is not None else None
    return lower or max(first, start)


def _valid(begin: exp.Expr, finish: exp.Expr, first: exp.Expr, last: exp.Expr, at: str) -> list[exp.Expr]:
    """Valid just before the period's first day or just before the day after its last, or lost between the two."""
    boundary = last if at == "end" else first
    if at == "lost":
        return [
            exp.LT(this=begin, expression=boundary.copy()),
            exp.GTE(this=finish.copy(), expression=first.copy()),
            exp.LT(this=finish, expression=last.copy()),
        ]
    ended = exp.or_(exp.Is(this=finish.copy(), expression=exp.Null()), exp.GTE(this=finish, expression=boundary.copy()))
    return [exp.LT(this=begin, expression=boundary.copy()), exp.paren(ended)]


def qualified(text: str, entity: str, dialect: str) -> exp.Expr:
    """An expression with its columns qualified by an alias; those of subqueries have tables of their own."""
    tree = sqlglot.parse_one(text, dialect=dialect)
    for column in list(tree.find_all(exp.Column)):
        if not column.table and column.find_ancestor(exp.Select) is None:
            column.set("table", exp.to_identifier(entity))
    return tree


def day_literal(day: date, kind: str) -> exp.Expr:
    """A day as a typed literal, midnight in the session's time zone for timestamps."""
    return exp.cast(exp.Literal.string(day.isoformat()), "timestamptz" if kind == "timestamp" else "date")


def literal(value: Any, dimension: Dimension | None = None) -> exp.Expr:
    """A value as a literal of the dimension's type; text is always escaped by sqlglot."""
    kind = dimension.type if dimension is not None else "text"
    if isinstance(value, bool) or kind == "boolean":
        return exp.Boolean(this=str(value).lower() in ("true", "t", "1", "yes"))
    if kind == "number" or isinstance(value, int | float | Decimal):
        try:
            return exp.Literal.number(format(Decimal(str(value)), "f"))
        except ArithmeticError:
            raise SemanticError(f"{value!r} is not a number") from None
    return exp.Literal.string(str(value))


def value_condition(expression: exp.Expr, item: DimensionFilter, dimension: Dimension) -> exp.Expr:
    """`expression` is one of the values, or none of them; excluding values keeps the rows without a value.

    The value None alone asks for rows that have no value.
    """
    if None in item.values:
        empty = exp.Is(this=expression.copy(), expression=exp.Null())
        return exp.not_(empty) if item.negated else empty
    literals = [literal(value, dimension) for value in item.values]
    if len(literals) == 1:
        condition: exp.Expr = exp.EQ(this=expression.copy(), expression=literals[0])
    else:
        condition = exp.In(this=expression.copy(), expressions=literals)
    if not item.negated:
        return condition
    negated: exp.Expr = (
        exp.NEQ(this=expression.copy(), expression=literals[0]) if len(literals) == 1 else exp.not_(condition)
    )
    return exp.paren(exp.or_(negated, exp.Is(this=expression.copy(), expression=exp.Null())))
