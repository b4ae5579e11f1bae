"""Says in plain words what a metric query asks, so that an answer shows how its question was read. Pure."""

from __future__ import annotations

from rag_core.datamodel.plan import DimensionFilter, MetricQuery
from rag_core.semantics.calendar import describe_range
from rag_core.semantics.definitions import SemanticModel


def describe_query(query: MetricQuery, model: SemanticModel) -> str:
    """One sentence without a full stop, e.g. `Revenue by region, Q2 2026 (last quarter), only country Germany`."""
    labels = [model.label(name) for name in query.metrics]
    text = _listed(labels)
    text = text[:1].upper() + text[1:]
    splits = [model.label(name).lower() for name in query.dimensions]
    if query.grain is not None:
        splits.append(query.grain)
    if splits:
        text += f" by {_listed(splits)}"
    if query.average_over is not None:
        text += f", mean by {query.average_over}"
    if query.time_range is not None:
        shown = describe_range(query.time_range)
        label = query.time_range.label
        text += f", {shown}" + (f" ({label})" if label and label.lower() != shown.lower() else "")
    for item in query.filters:
        text += f", {_filter(item, model)}"
    if query.comparison_range is not None:
        text += f", compared with {describe_range(query.comparison_range)}"
    elif query.comparison != "none":
        text += ", compared with the " + ("period before" if query.comparison == "previous" else "year before")
    if query.share:
        text += ", with the share of the total"
    if query.running_total:
        text += ", with the running total"
    for condition in query.conditions:
        text += f", where {model.label(condition.metric)} {condition.operator} {condition.value:f}"
    return text + _ranking(query, model)


def _ranking(query: MetricQuery, model: SemanticModel) -> str:
    text = ""
    if query.order is not None:
        which = "highest" if query.order == "descending" else "lowest"
        count = f"the {query.limit} {which}" if query.limit else f"{which} first"
        what = model.label(query.metrics[0]).lower() if query.order_by == "value" else "change"
        text += f", {count} by {what}"
        if query.limit_by:
            text += f" in each {_listed([model.label(name).lower() for name in query.limit_by])}"
    return text


def _filter(item: DimensionFilter, model: SemanticModel) -> str:
    if None in item.values:
        return f"only {'with' if item.negated else 'without'} a {model.label(item.dimension).lower()}"
    values = _listed([str(value) for value in item.values], word="or")
    return f"{'without' if item.negated else 'only'} {model.label(item.dimension).lower()} {values}"


def _listed(words: list[str], word: str = "and") -> str:
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {word} {words[-1]}"
