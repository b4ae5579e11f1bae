"""Turns relations that were read into parts of a metric query: differences, conditions, counts, cohorts. Pure."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from rag_core.datamodel.plan import MetricCondition
from rag_core.semantics.definitions import STATES, SemanticModel
from rag_core.semantics.reading import Reading
from rag_core.semantics.sources import leaf_names
from rag_core.semantics.spine import counts
from rag_core.semantics.unclear import Unclear
from rag_core.semantics.vocabulary import CURRENCIES, STILL_WORDS
from rag_core.semantics.words import phrase, words

Combine = Literal["none", "difference", "ratio", "percent"]
_LISTING = ("what are the", "what were the", "which are the", "which were the", "name the", "what kind of")


def by_how_much_missed(found: Reading, metrics: list[str], model: SemanticModel) -> list[str]:
    """ "By how much did Iberia miss its target": what was reached less the target, not a change of the quotient."""
    span = found.change_span
    if span is None or not span.text.lower().startswith("by ") or len(metrics) != 1 or len(found.times) > 1:
        return metrics
    metric = model.metrics[metrics[0]]
    if metric.reached_at is None or metric.numerator is None or metric.denominator is None:
        return metrics
    if not any(item.target == metrics[0] for verb in found.modifiers for item in verb.of("modifier")):
        return metrics
    if any(item.target == "%" for unit in [*found.units, span] for item in unit.of("unit")) or "percent" in span.text:
        raise Unclear("the distance from the target in percent is not worked out: ask for the attainment")
    found.combine = True
    return [metric.numerator, metric.denominator]


def choose_combination(found: Reading, metrics: list[str], model: SemanticModel) -> Combine:
    """How two figures are combined; raises Unclear where a difference is asked of what has none."""
    asked = found.combine or found.gap is not None
    if len(metrics) == 2 and (found.percent or found.quotient is not None):
        if any(model.metrics[leaf].type in STATES for name in metrics for leaf in leaf_names(model, name)):
            raise Unclear(f"no ratio of {_both(metrics, model)} is defined")
        return "percent" if found.percent else "ratio"
    if found.quotient is not None:
        found.unmatched.append(found.quotient)
    if not asked:
        amount = found.change_span is not None and found.change_span.text.lower().startswith(("how many", "how much"))
        if amount and found.compare and len(metrics) == 1 and not any(compared for _, compared in found.times):
            raise Unclear("the difference between two groups is not worked out: ask for the figure of each")
        return "none"
    if len(metrics) != 2:
        raise Unclear("a difference needs two figures: ask for the figure of each and compare them")
    first, second = (model.metrics[name] for name in metrics)
    if first.unit != second.unit and not (_counted(first.unit) and _counted(second.unit)):
        raise Unclear(f"{_both(metrics, model)} are not in the same unit: there is no difference")
    return "difference"


def choose_conditions(
    found: Reading, metrics: list[str], model: SemanticModel, combine: Combine, *, split: bool
) -> tuple[MetricCondition, ...]:
    """The conditions on a result's rows; raises Unclear where nothing is there to hold them against."""
    if found.change and found.which is not None and found.groups and found.rank is None:
        raise Unclear("which of them rose or fell is not worked out: ask for the change of each")
    conditions = _with_numbers(found, metrics, split=split)
    zero = Decimal(0)
    if found.relation is not None and split:
        conditions.append(MetricCondition(metric=combine, operator=found.relation, value=zero))
    if found.none:
        if not split or len(metrics) > 1 or conditions:
            raise Unclear("what there is none of needs something to split by: which regions, which months, ...")
        conditions.append(MetricCondition(metric=metrics[0], operator="=", value=zero))
    if split and not conditions and asks_who_has(found) and len(metrics) == 1:
        conditions = _that_have_it(found, metrics[0], model)
    if conditions and found.every and found.groups and (found.which is not None or found.counted is not None):
        raise Unclear("what holds in every single period is not worked out: ask for each of them")
    if found.counted is not None and not conditions:
        raise Unclear(f"how many {found.counted.text} is asked, but not which of them")
    return tuple(conditions)


def _with_numbers(found: Reading, metrics: list[str], *, split: bool) -> list[MetricCondition]:
    """ "More than 500 orders"."""
    conditions = []
    for sign, number, span in found.conditions:
        if len(metrics) > 1:
            raise Unclear(f"it is not clear which figure {span.text!r} is about")
        if not split:
            raise Unclear(f"{span.text!r} needs something to split by")
        conditions.append(MetricCondition(metric=metrics[0], operator=sign, value=number))
    return conditions


def _that_have_it(found: Reading, name: str, model: SemanticModel) -> list[MetricCondition]:
    """ "Which regions reached their target", "which teams had open positions", "how many services had an incident"."""
    reached = _reached(found, name, model)
    if reached is not None:
        return [reached]
    if is_counted(model, name):
        return [MetricCondition(metric=name, operator=">", value=Decimal(0))]
    if found.counted is not None:
        raise Unclear(f"{model.label(name)} is no count: say above or below which value")
    return []


def _reached(found: Reading, name: str, model: SemanticModel) -> MetricCondition | None:
    """The condition of a figure that is reached from some value on, where a verb says that it was reached or missed."""
    metric = model.metrics[name]
    verbs = [span for span in found.modifiers if any(item.target == name for item in span.of("modifier"))]
    if metric.reached_at is None or not verbs:
        return None
    missed = {phrase(text) for text in metric.missed}
    negated = any(phrase(span.text) in missed for span in verbs) != (found.modifier_negated is not None)
    found.modifier_negated = None
    return MetricCondition(metric=name, operator="<" if negated else ">=", value=metric.reached_at)


def asks_who_has(found: Reading) -> bool:
    """Whether the rows are asked that have anything of the figure: "which teams had open positions"."""
    if found.rank is not None or found.share or found.change is not None or found.compare or found.trend:
        return False
    if found.counted is not None:
        return True
    which = found.which
    return which is not None and which.first == 0 and which.text.lower() not in _LISTING and not found.running


def is_counted(model: SemanticModel, name: str) -> bool:
    """Whether a figure is a number of things, of which there may be none."""
    metric = model.metrics[name]
    if metric.expression is None or metric.type in ("ratio", "derived"):
        return False
    return _counted(metric.unit) and (counts(metric.expression) or metric.expression.lower().startswith("sum"))


def as_cohort(found: Reading, metrics: list[str], model: SemanticModel) -> list[str]:
    """The figures, or what began in the period and still is: "tickets opened in 2025 that are still open".

    A state is known at the end of a period. Where the words say that the period is when it began, another figure is
    meant; where it is not said which of the two, Unclear is raised.
    """
    ranges = [at for at, (mention, compared) in enumerate(found.times) if mention.kind == "range" and not compared]
    if len(ranges) != 1 or found.times[ranges[0]][0].time_range.start is None:
        return metrics
    mention = found.times[ranges[0]][0]
    others = [item for at, item in enumerate(found.times) if at != ranges[0]]
    now = all(item.kind == "as_of" and item.time_range.label == "now" for item, _ in others) and bool(others)
    chosen = []
    for name in metrics:
        cohort = next((key for key, item in model.metrics.items() if item.cohort_of == name), None)
        said = _said(found)
        if cohort is None:
            began = any(item.cohort_of is not None and item.refines == name for item in model.metrics.values())
            chosen.append(name)
            if began and now:
                raise Unclear("the times named do not go together")
            continue
        opened = {word.key for text in model.metrics[cohort].began for word in words(text)}
        before = found.time_words[ranges[0]] if ranges[0] < len(found.time_words) else ""
        if said & opened and model.metrics[name].type not in STATES and not now and not said & STILL_WORDS:
            raise Unclear(f"it is not clear what lies in {mention.text}: the beginning, the end or both")
        if said & opened or mention.opens or before in ("from", "out of"):
            if others and not now:
                raise Unclear("the times named do not go together")
            found.times = [found.times[ranges[0]]]
            chosen.append(cohort)
        elif now or said & STILL_WORDS or (mention.time_range.end is None and found.grain is None):
            label = model.label(name).lower()
            options = (f"{label} at the end of that time", model.label(cohort).lower())
            raise Unclear(f"{mention.text!r} may say when it began or at what time it was so", options=options)
        else:
            chosen.append(name)
    return chosen


def _said(found: Reading) -> set[str]:
    """The words that the figures were said with."""
    roles = ("figure", "narrows the figure", "belongs to the figure", "said without meaning")
    spans = [*found.companions, *found.modifiers, *(span for span, role in found.used if role in roles)]
    return {word.key for span in spans for word in words(span.text)}


def _both(metrics: list[str], model: SemanticModel) -> str:
    return " and ".join(model.label(name).lower() for name in metrics)


def _counted(unit: str) -> bool:
    return unit not in ("seconds", "minutes", "hours", "days", "%", "", "points of 5") and unit not in CURRENCIES
