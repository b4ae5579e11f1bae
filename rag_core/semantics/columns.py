"""The columns of a metric query's result: how each is computed from the figures and how it is to be read. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from rag_core.datamodel.evidence import ColumnMeaning
from rag_core.datamodel.plan import MetricQuery
from rag_core.semantics.calendar import buckets, describe_range, floor
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.describe import combined_label
from rag_core.semantics.paths import SemanticError
from rag_core.semantics.sources import Group, Leaf, leaf_names, require_additive

BEFORE = "_before"


@dataclass(frozen=True)
class ResultColumns:
    """Meanings in order, with the expression of each over the figures; `order_column` is what a ranking sorts by."""

    meanings: tuple[ColumnMeaning, ...]
    expressions: tuple[exp.Expr, ...]
    order_column: str
    inner: tuple[tuple[str, exp.Expr], ...] = ()

    def select(self, source: str) -> exp.Select:
        """The SELECT that computes the columns from a table of figures."""
        pairs = self.inner or tuple(
            (meaning.name, expression) for meaning, expression in zip(self.meanings, self.expressions, strict=True)
        )
        return exp.Select().select(*(_alias(tree, name) for name, tree in pairs)).from_(source)

    def select_averages(self, source: str) -> exp.Select:
        """The SELECT that folds one row a period into the mean over the periods."""
        keys = [meaning.name for meaning in self.meanings if meaning.role != "metric"]
        columns = [
            _alias(expression, meaning.name)
            for meaning, expression in zip(self.meanings, self.expressions, strict=True)
        ]
        query = exp.Select().select(*columns).from_(source)
        return query.group_by(*(exp.column(key) for key in keys)) if keys else query


def result_columns(query: MetricQuery, model: SemanticModel, groups: list[Group]) -> ResultColumns:
    """All columns of the result: period, dimensions, then each metric with what is derived from it."""
    leaves = {leaf.name: leaf for group in groups for leaf in group.leaves}
    found: list[tuple[ColumnMeaning, exp.Expr]] = []
    if query.grain is not None:
        label = query.grain.capitalize()
        found.append((ColumnMeaning(name=query.grain, label=label, role="time"), exp.column(query.grain)))
    for name in query.dimensions:
        meaning = ColumnMeaning(name=name, label=model.dimensions[name].label, role="dimension")
        found.append((meaning, exp.column(name)))
    inner: list[tuple[str, exp.Expr]] = []
    if query.average_over is not None:
        inner = [(name, exp.column(name)) for name in (query.average_over, *query.dimensions)]
        inner += [(name, metric_expression(model, name, "")) for name in query.metrics]
    if query.combine != "none":
        found.append(_combined(query, model))
    for name in query.metrics:
        found.extend(_metric_columns(query, model, name, leaves))
    found.extend(_basis(query, model))
    first = query.metrics[0]
    suffix = {"value": "", "change": "_change", "change_percent": "_change_percent"}[query.order_by]
    return ResultColumns(
        meanings=tuple(meaning for meaning, _ in found),
        expressions=tuple(tree for _, tree in found),
        order_column=query.combine if query.combine != "none" else first + suffix,
        inner=tuple(inner),
    )


def basis(query: MetricQuery, model: SemanticModel) -> tuple[str, ...]:
    """Figures that the metrics want beside them, where nothing else is computed."""
    if query.comparison != "none" or query.average_over is not None or query.share or query.running_total:
        return ()
    if query.combine != "none" or query.count_rows:
        return ()
    wanted = dict.fromkeys(other for name in query.metrics for other in model.metrics[name].shown_with)
    return tuple(name for name in wanted if name not in query.metrics)


def _basis(query: MetricQuery, model: SemanticModel) -> list[tuple[ColumnMeaning, exp.Expr]]:
    found = []
    for name in basis(query, model):
        metric = model.metrics[name]
        meaning = ColumnMeaning(
            name=name, label=metric.label, unit=metric.unit, decimals=metric.decimals, role="metric"
        )
        found.append((meaning, metric_expression(model, name, "")))
    return found


def _combined(query: MetricQuery, model: SemanticModel) -> tuple[ColumnMeaning, exp.Expr]:
    """The difference or quotient of the query's two metrics, named as the way they are combined."""
    first, second = (model.metrics[name] for name in query.metrics)
    top, bottom = (metric_expression(model, name, "") for name in query.metrics)
    label = combined_label(query, model)
    if query.combine == "difference":
        unit = first.unit if first.unit == second.unit else ""
        unit = "percentage points" if unit == "%" else unit
        decimals = max(first.decimals or 0, second.decimals or 0)
        meaning = ColumnMeaning(name=query.combine, label=label, unit=unit, decimals=decimals, role="metric")
        return meaning, exp.Sub(this=_wrapped(top), expression=_wrapped(bottom))
    percent = query.combine == "percent"
    unit, decimals = ("%", 1) if percent else ("", 2)
    factor = exp.Literal.number("100.0" if percent else "1.0")
    meaning = ColumnMeaning(name=query.combine, label=label, unit=unit, decimals=decimals, role="metric")
    return meaning, divide(exp.Mul(this=factor, expression=_wrapped(top)), bottom)


def metric_expression(model: SemanticModel, name: str, suffix: str) -> exp.Expr:
    """A metric over the columns of its figures; ratios never divide by zero and percent are times 100."""
    metric = model.metrics[name]
    if metric.type == "ratio":
        top = metric_expression(model, metric.numerator or "", suffix)
        bottom = metric_expression(model, metric.denominator or "", suffix)
        factor = exp.Literal.number("100.0" if metric.unit == "%" else "1.0")
        product = exp.Mul(this=factor, expression=_wrapped(top))
        return divide(product, bottom)
    if metric.type == "derived":
        tree = sqlglot.parse_one(metric.expression or "", dialect=model.dialect)

        def substitute(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Column):
                return _wrapped(metric_expression(model, node.name, suffix))
            return node

        return tree.transform(substitute)
    return exp.column(name + suffix)


def _metric_columns(
    query: MetricQuery, model: SemanticModel, name: str, leaves: dict[str, Leaf]
) -> list[tuple[ColumnMeaning, exp.Expr]]:
    metric = model.metrics[name]
    current = metric_expression(model, name, "")
    meaning = ColumnMeaning(name=name, label=metric.label, unit=metric.unit, decimals=metric.decimals, role="metric")
    if query.average_over is not None:
        return [_average(query, model, name, leaves, meaning)]
    found = [(meaning, current)]
    if query.comparison != "none":
        found.extend(_comparison(query, model, name, meaning))
    if query.share:
        require_additive(model, name, leaves[leaf_names(model, name)[0]], "a share")
        total = exp.Window(
            this=exp.Sum(this=exp.column(name)), partition_by=[exp.column(query.grain)] if query.grain else []
        )
        share = divide(exp.Mul(this=exp.Literal.number("100.0"), expression=current.copy()), total)
        found.append((_derived(meaning, "_share", "share of the total", "%", 1), share))
    if query.running_total:
        require_additive(model, name, leaves[leaf_names(model, name)[0]], "a running total")
        running = exp.Window(
            this=exp.Sum(this=exp.column(name)),
            partition_by=[exp.column(dimension) for dimension in query.dimensions],
            order=exp.Order(expressions=[exp.Ordered(this=exp.column(query.grain or ""), nulls_first=False)]),
            # Redshift asks for a frame; a period stands once in each part, so that rows are periods.
            spec=exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW"),
        )
        found.append((_derived(meaning, "_running_total", "running total", meaning.unit, meaning.decimals), running))
    return found


def _comparison(
    query: MetricQuery, model: SemanticModel, name: str, meaning: ColumnMeaning
) -> list[tuple[ColumnMeaning, exp.Expr]]:
    current, before = metric_expression(model, name, ""), metric_expression(model, name, BEFORE)
    word = {"previous": "previous", "year_ago": "year_ago"}.get(query.comparison, "compared")
    label = {"previous": "period before", "year_ago": "year before"}.get(query.comparison, "period compared with")
    if query.comparison_range is not None:
        label = describe_range(query.comparison_range)
    change = exp.Sub(this=_wrapped(current), expression=_wrapped(before))
    scaled = exp.Mul(this=exp.Literal.number("100.0"), expression=exp.paren(change.copy()))
    relative = divide(scaled, exp.Abs(this=before.copy()))
    points = "percentage points" if meaning.unit == "%" else meaning.unit
    return [
        (_derived(meaning, f"_{word}", label, meaning.unit, meaning.decimals), before),
        (_derived(meaning, "_change", "change", points, meaning.decimals), change),
        (_derived(meaning, "_change_percent", "relative change", "%", 1), relative),
    ]


def _average(
    query: MetricQuery, model: SemanticModel, name: str, leaves: dict[str, Leaf], meaning: ColumnMeaning
) -> tuple[ColumnMeaning, exp.Expr]:
    """Mean over the periods; of what adds up, the total by the number of periods, so that empty ones count as zero."""
    grain = query.average_over or "month"
    label = f"{meaning.label}, mean by {grain}"
    shown = meaning.model_copy(update={"label": label, "decimals": max(meaning.decimals or 0, 1)})
    leaf = leaves.get(name)
    span = query.time_range
    if span is None or span.start is None or span.end is None or leaf is None or leaf.source.additivity != "additive":
        return shown, exp.Avg(this=exp.column(name))
    if floor(span.start, grain) != span.start or floor(span.end, grain) != span.end:
        raise SemanticError(
            f"{span.label or 'the period'} does not consist of whole {grain}s, so it has no mean by {grain}"
        )
    count = len(buckets(span.start, span.end, grain))
    total = exp.Mul(this=exp.Literal.number("1.0"), expression=exp.Sum(this=exp.column(name)))
    return shown, divide(total, exp.Literal.number(count))


def divide(top: exp.Expr, bottom: exp.Expr) -> exp.Expr:
    """An exact quotient (the dividend must be decimal), NULL where the divisor is zero."""
    if not bottom.is_number:
        bottom = exp.Nullif(this=bottom, expression=exp.Literal.number(0))
    return exp.Div(this=top, expression=bottom, typed=True, safe=False)


def _derived(base: ColumnMeaning, suffix: str, label: str, unit: str, decimals: int | None) -> ColumnMeaning:
    return ColumnMeaning(
        name=base.name + suffix, label=f"{base.label}, {label}", unit=unit, decimals=decimals, role="metric"
    )


def _wrapped(tree: exp.Expr) -> exp.Expr:
    return exp.paren(tree.copy()) if isinstance(tree, exp.Binary) else tree.copy()


def _alias(tree: exp.Expr, name: str) -> exp.Expr:
    if isinstance(tree, exp.Column) and tree.name == name:
        return tree.copy()
    return exp.alias_(tree.copy(), name)
