"""What the warehouse can know of a period: nothing before its first day, nothing that has not begun. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from rag_core.datamodel.plan import MetricQuery, TimeRange
from rag_core.semantics.calendar import describe_range, floor, step
from rag_core.semantics.definitions import STATES, SemanticModel, TimeDimension
from rag_core.semantics.leaf_sql import Slice
from rag_core.semantics.paths import SemanticError
from rag_core.semantics.sources import Group, leaf_names


def first_day(model: SemanticModel, group: Group) -> date | None:
    """First day that the warehouse knows of a group's figures, None where that is not said or does not matter."""
    if group.time is None or group.kind == "stock":
        return None
    return model.time_dimensions[group.time].data_from


def check_coverage(query: MetricQuery, model: SemanticModel, groups: list[Group], cut: Slice) -> None:
    """Raises SemanticError where nothing of a period is known, or what it is compared with is not known."""
    for group in groups:
        begins = first_day(model, group)
        if begins is None:
            continue
        label = group.leaves[0].metric.label
        span = query.time_range or TimeRange()
        if span.end is not None and span.end <= begins:
            raise SemanticError(f"the warehouse knows {label} from {begins} on, nothing of {describe_range(span)}")
        if query.comparison != "none" and query.grain is None:
            start, _ = replace(cut, shift=query.comparison).bounds()
            if start is not None and start < begins:
                raise SemanticError(f"the warehouse knows {label} from {begins} on: there is nothing to compare with")


def told_coverage(query: MetricQuery, model: SemanticModel) -> str:
    """The period that a figure is of, where its question names none or one that is known in part only.

    E.g. `all that is recorded, from 2023-07-01 on`; empty where the period is said whole, or where time says nothing.
    """
    span = query.time_range or TimeRange()
    undated = span.start is None and span.end is None
    if undated and query.grain is not None:
        return ""  # the periods listed say it
    begins: list[date] = []
    timed = False
    for name in dict.fromkeys(leaf for metric in query.metrics for leaf in leaf_names(model, metric)):
        metric = model.metrics[name]
        if metric.type != "simple" or metric.time is None:
            continue
        timed = True
        first = model.time_dimensions[metric.time].data_from
        if first is not None and (undated or (span.start is not None and span.start < first)):
            begins.append(first)
    if undated and timed:
        return f"all that is recorded, from {max(begins)} on" if begins else "all that is recorded"
    return f"known from {max(begins)} on" if begins else ""


def comparable_from(model: SemanticModel, group: Group, cut: Slice) -> date | None:
    """First period whose period before (or a year before) is known whole, None where all are."""
    begins = first_day(model, group)
    if begins is None or cut.grain is None:
        return None
    first = floor(begins, cut.grain)
    if first < begins:
        first = step(first, cut.grain, 1)
    if cut.shift == "previous":
        return step(first, cut.grain, 1)
    return step(first, "week", 52) if cut.grain == "week" else step(first, "year", 1)


_FINER = {"month": ("day", "week"), "quarter": ("day", "week", "month"), "week": ("day",)}


def not_whole(
    model: SemanticModel, metrics: list[str], span: TimeRange | None, grain: str | None, run_date: date
) -> str:
    """Why a period cuts through the months or quarters that a figure's rows stand for, empty where it does not."""
    for leaf in dict.fromkeys(leaf for name in metrics for leaf in leaf_names(model, name)):
        metric = model.metrics[leaf]
        unit = model.time_dimensions[metric.time].grain if metric.time in model.time_dimensions else None
        if unit is None:
            continue
        if grain in _FINER.get(unit, ("day", "week", "month", "quarter")):
            return f"{metric.label} is known by {unit}, not by {grain}"
        if metric.type in STATES or span is None:
            continue
        late = span.end is not None and span.end < run_date and floor(span.end, unit) != span.end
        if late or (span.start is not None and floor(span.start, unit) != span.start):
            return f"{metric.label} is known for whole {unit}s only, not for {describe_range(span)}"
    return ""


def not_begun(model: SemanticModel, metrics: list[str], span: TimeRange | None, run_date: date) -> str:
    """Why a period cannot be known on the run date, empty where it can."""
    if span is None:
        return ""
    leaves = [model.metrics[leaf] for name in metrics for leaf in leaf_names(model, name)]
    for leaf in leaves:
        role: TimeDimension | None = model.time_dimensions.get(leaf.time) if leaf.time else None
        if role is not None and role.future:
            continue
        if span.start is not None and span.start > run_date:
            return f"{describe_range(span)} has not begun on {run_date}"
        state = leaf.type in STATES and span.start is None
        if state and span.end is not None and span.end > run_date + timedelta(days=1):
            return f"{span.end - timedelta(days=1)} has not come on {run_date}"
    return ""
