"""Says in plain words what a metric query asks, so that an answer shows how its question was read. Pure."""

from __future__ import annotations

from decimal import Decimal

from rag_core.datamodel.plan import DimensionFilter, MetricCondition, MetricQuery
from rag_core.semantics.calendar import describe_range
from rag_core.semantics.definitions import SemanticModel


def describe_query(query: MetricQuery, model: SemanticModel) -> str:
    """One sentence without a full stop, e.g. `Revenue by region, Q2 2026 (last quarter), only country Germany`."""
    labels = [model.label(name) for name in query.metrics]
    text = combined_label(query, model) if query.combine != "none" else _listed(labels)
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
        text += f", where {_of(query, condition, model)} {condition.operator} {condition.value:f}"
    text += _ranking(query, model)
    return f"{counted_label(query, model)}: {text}" if query.count_rows else text


def combined_label(query: MetricQuery, model: SemanticModel) -> str:
    """What two metrics give together, e.g. `Revenue less sales target`."""
    first, second = (model.label(name) for name in query.metrics)
    second = second[:1].lower() + second[1:] if second[1:2].islower() else second
    word = {"difference": "less", "ratio": "for each of", "percent": "in percent of"}[query.combine]
    return f"{first} {word} {second}"


def counted_label(query: MetricQuery, model: SemanticModel) -> str:
    """What is counted, e.g. `Number of countries with orders over 500`."""
    names = [model.label(name).lower() for name in query.dimensions] or [query.grain or "row"]
    words = {">": "over", ">=": "of at least", "<": "under", "<=": "of at most", "=": "of exactly"}
    told = [
        _told(_of(query, item, model).lower(), item.operator, words[item.operator], item.value)
        for item in query.conditions
    ]
    return f"Number of {_listed([plural(name) for name in names])}" + (f" with {_listed(told)}" if told else "")


def _told(label: str, operator: str, word: str, value: Decimal) -> str:
    """`orders over 500`, `no incidents`, `incidents` for any number of them."""
    if value == 0 and operator == "=":
        return f"no {label}"
    if value == 0 and operator == ">" and " less " not in label:
        return label
    return f"{label} {word} {value:,f}"


def plural(noun: str) -> str:
    """The plural of a label."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def _of(query: MetricQuery, condition: MetricCondition, model: SemanticModel) -> str:
    return combined_label(query, model) if condition.metric == query.combine else model.label(condition.metric)


def _ranking(query: MetricQuery, model: SemanticModel) -> str:
    text = ""
    if query.order is not None:
        which = "highest" if query.order == "descending" else "lowest"
        count = f"the {query.limit} {which}" if query.limit else f"{which} first"
        if query.place is not None:
            count = f"place {query.place} from the {which}"
        what = combined_label(query, model) if query.combine != "none" else model.label(query.metrics[0]).lower()
        what = what if query.order_by == "value" else query.order_by.replace("change_percent", "relative change")
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
