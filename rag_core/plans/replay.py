"""Runs a kept plan again on another day: the same steps, with relative times worked out anew. Pure."""

from __future__ import annotations

from datetime import date

from rag_core.datamodel.plan import MetricQuery, Plan, SqlStep, TimeRange
from rag_core.semantics.calendar import describe_range
from rag_core.semantics.times import find_times


def replay_plan(kept: Plan, run_date: date) -> Plan | None:
    """The plan for this run date, None where one of its times cannot be moved there and it must be planned anew.

    SQL that a model wrote holds its dates as they are, so it is replayed on its own day only. A search names the period
    of the figures it explains; the name moves with them.
    """
    if kept.run_date == run_date:
        return kept.model_copy(update={"strategy": "replay"})
    moved: list[MetricQuery] = []
    renamed: list[tuple[str, str]] = []
    for step in kept.steps:
        if not isinstance(step, SqlStep):
            continue
        query = move_query(step.metric_query, kept.run_date, run_date) if step.metric_query is not None else None
        if query is None or step.metric_query is None:
            return None
        moved.append(query)
        if step.metric_query.time_range is not None and query.time_range is not None:
            renamed.append((describe_range(step.metric_query.time_range), describe_range(query.time_range)))
    queries = iter(moved)
    steps = tuple(
        step.model_copy(update={"metric_query": next(queries), "task": _renamed(step.task, renamed)})
        if isinstance(step, SqlStep)
        else step.model_copy(update={"query": _renamed(step.query, renamed)})
        for step in kept.steps
    )
    return kept.model_copy(update={"steps": steps, "run_date": run_date, "strategy": "replay"})


def _renamed(text: str, names: list[tuple[str, str]]) -> str:
    for old, new in names:
        text = text.replace(old, new)
    return text


def move_query(query: MetricQuery, planned_on: date, run_date: date) -> MetricQuery | None:
    """The query with its time range worked out for another run date from its wording; None where that fails.

    The wording must give the range that was kept for the day it was planned on, or it does not mean it.
    """
    if query.as_of is not None:
        query = query.model_copy(update={"as_of": run_date})
    if query.time_range is None or (query.time_range.start is None and query.time_range.end is None):
        return query
    then = read_range(query.time_range.label, planned_on)
    now = read_range(query.time_range.label, run_date)
    if then is None or now is None or (then.start, then.end) != (query.time_range.start, query.time_range.end):
        return None
    return query.model_copy(update={"time_range": now.model_copy(update={"label": query.time_range.label})})


def read_range(label: str, run_date: date) -> TimeRange | None:
    """The range that a wording means on a day; None where it names no time or several."""
    found = [mention for mention in find_times(label, run_date) if mention.kind != "comparison"]
    return found[0].time_range if len(found) == 1 else None
