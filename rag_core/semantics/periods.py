"""Chooses the period of a question, what it is compared with, and how it is cut. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import pairwise
from typing import Literal

from rag_core.datamodel.plan import Grain, TimeRange
from rag_core.semantics.calendar import add_months, describe_range, grain_of, period, shift_range, step
from rag_core.semantics.coverage import not_begun, not_whole
from rag_core.semantics.definitions import STATES, SemanticModel
from rag_core.semantics.reading import Reading
from rag_core.semantics.sources import leaf_names
from rag_core.semantics.times import TimeMention
from rag_core.semantics.unclear import Unclear

Comparison = Literal["none", "previous", "year_ago", "range"]


@dataclass
class Periods:
    """The choice: a range, a grain, a comparison, and what was assumed."""

    time_range: TimeRange | None = None
    grain: Grain | None = None
    comparison: Comparison = "none"
    comparison_range: TimeRange | None = None
    assumptions: list[str] = field(default_factory=list)


def choose_periods(found: Reading, metrics: list[str], model: SemanticModel, run_date: date) -> Periods:
    """The periods of a reading; raises Unclear where the times do not go together."""
    chosen = Periods(grain=found.grain)  # type: ignore[arg-type]
    chosen.assumptions.extend(mention.assumption for mention, _ in found.times if mention.assumption)
    found.times = [
        (_next_period(mention, metrics, model, chosen, run_date), compared) for mention, compared in found.times
    ]
    main = [_opened(mention, chosen.grain) for mention, compared in found.times if not compared]
    bases = [mention for mention, compared in found.times if compared]
    _main(found, main, chosen, metrics, model)
    if len(bases) > 1:
        raise Unclear("more than one period to compare with is named")
    if bases:
        _base(bases[0], chosen)
    elif found.change is not None and not found.compare and chosen.comparison == "none":
        _change(found, main, chosen, metrics, model)
    _trend(found, chosen)
    if chosen.time_range is None and chosen.grain not in (None, "year") and chosen.comparison == "none":
        raise Unclear(f"a course by {chosen.grain} needs a period: in 2025, since March, the last 12 months, ...")
    _moment(metrics, model, chosen, run_date)
    reason = not_begun(model, metrics, chosen.time_range, run_date)
    reason = reason or not_whole(model, metrics, chosen.time_range, chosen.grain, run_date)
    if reason:
        raise Unclear(reason)
    return chosen


def _next_period(
    mention: TimeMention, metrics: list[str], model: SemanticModel, chosen: Periods, run_date: date
) -> TimeMention:
    """The mention, or the period that begins on the run date where the model says that this is "the next" one."""
    if not mention.unclear:
        return mention
    leaves = [model.metrics[leaf] for name in metrics for leaf in leaf_names(model, name)]
    ahead = all(leaf.time is not None and model.time_dimensions[leaf.time].future for leaf in leaves)
    if not (mention.begins and mention.unit is not None and ahead and model.next_on_first_day == "begins"):
        raise Unclear(mention.unclear)
    start, end = period(run_date, mention.unit)
    time_range = TimeRange(start=start, end=end, label=mention.text)
    chosen.assumptions.append(f"{mention.text} is taken as {describe_range(time_range)}, which begins on {run_date}")
    return mention.model_copy(update={"time_range": time_range, "unclear": ""})


_ENDS = frozenset(["stock", "cumulative"])  # counted at a period's end
_LENGTH = {"day": 0, "week": 1, "month": 2, "quarter": 3, "year": 4}


def _opened(mention: TimeMention, grain: Grain | None) -> TimeMention:
    """ "By quarter from Q1 2025" goes on to now; "revenue from 2025" is the revenue of that year."""
    if not mention.opens or grain is None or mention.kind != "range" or mention.ends or mention.grain is None:
        return mention
    if _LENGTH[mention.grain] > _LENGTH[grain]:
        raise Unclear(f"'from {mention.text}' by {grain} may mean in or since {mention.text}")
    time_range = TimeRange(start=mention.time_range.start, label=f"from {mention.text}")
    return mention.model_copy(update={"time_range": time_range})


def _main(found: Reading, main: list[TimeMention], chosen: Periods, metrics: list[str], model: SemanticModel) -> None:
    if not main:
        return
    if len(main) == 1 and main[0].around is not None:
        _around(main[0], chosen, metrics, model)
        return
    if _opens_rate(main, metrics, model):
        main = _at_start(found, main)
    if len(main) == 1:
        chosen.time_range = _as_range(main[0], metrics, model)
        return
    if any(mention.kind != "range" for mention in main):
        raise Unclear("the times named do not go together")
    first, second = main[0].time_range, main[1].time_range
    if len(main) == 2 and found.change is not None and first.start and second.start:
        earlier, later = (first, second) if first.start < second.start else (second, first)
        chosen.time_range = later
        _compare_with(earlier, chosen)
        return
    ranges = [mention.time_range for mention in main]
    inside = _one_inside(ranges)
    if inside is not None:
        chosen.time_range = inside
        return
    grains = {mention.grain for mention in main}
    ordered = sorted(ranges, key=lambda item: item.start or date.min)
    together = all(left.end == right.start for left, right in pairwise(ordered))
    grain = main[0].grain
    if together and len(grains) == 1 and grain is not None:
        label = " and ".join(mention.text for mention in main)
        chosen.time_range = TimeRange(start=ordered[0].start, end=ordered[-1].end, label=label)
        if chosen.grain is None and not found.total:
            chosen.grain = grain
        return
    if len(main) == 2 and chosen.grain is None and not found.total:
        chosen.time_range = ordered[1]
        _compare_with(ordered[0], chosen)
        return
    raise Unclear("the times named do not go together: ask for one period, or for two to compare")


def _around(mention: TimeMention, chosen: Periods, metrics: list[str], model: SemanticModel) -> None:
    """ "Before and after 1 April": what does not add up can be compared over times that are not equally long."""
    leaves = [model.metrics[leaf] for name in metrics for leaf in leaf_names(model, name)]
    level = all(model.metrics[name].type == "ratio" for name in metrics) or all(
        leaf.additivity == "non_additive" for leaf in leaves
    )
    if not level or chosen.grain is not None:
        raise Unclear(f"{mention.text!r}: the times before and after are not equally long, so name two periods")
    chosen.time_range, chosen.comparison, chosen.comparison_range = mention.time_range, "range", mention.around


def _opens_rate(main: list[TimeMention], metrics: list[str], model: SemanticModel) -> bool:
    """Whether a figure is measured on what there was at a period's start, so that this start may be named."""
    leaves = [model.metrics[leaf] for name in metrics for leaf in leaf_names(model, name)]
    moments = any(mention.kind == "as_of" for mention in main)
    return moments and any(leaf.type == "stock" and leaf.at == "start" for leaf in leaves)


def _at_start(found: Reading, main: list[TimeMention]) -> list[TimeMention]:
    """ "Of the customers at the start of Q1" names the period; "that we had on 1 January" only repeats it."""
    if len(main) == 1 and main[0].opening is not None:
        spans = [*found.companions, *(span for span, _ in found.used)]
        if not any(span.has("companion") and 0 <= main[0].start - span.end <= 1 for span in spans):
            return main
        return [main[0].model_copy(update={"kind": "range", "time_range": main[0].opening})]
    ranges = [mention for mention in main if mention.kind == "range"]
    if len(ranges) != 1 or ranges[0].time_range.start is None:
        return main
    start = ranges[0].time_range.start
    repeated = {start, start + timedelta(days=1)}  # just before the day, or on it
    if all(mention.time_range.end in repeated for mention in main if mention is not ranges[0]):
        return ranges
    return main


def _one_inside(ranges: list[TimeRange]) -> TimeRange | None:
    """The narrower of two ranges where it lies inside the other ("in 2025, from March to June")."""
    if len(ranges) != 2 or any(item.start is None or item.end is None for item in ranges):
        return None
    for inner, outer in ((ranges[0], ranges[1]), (ranges[1], ranges[0])):
        assert inner.start
        assert inner.end
        assert outer.start
        assert outer.end
        if outer.start <= inner.start and inner.end <= outer.end:
            return inner
    return None


def _as_range(mention: TimeMention, metrics: list[str], model: SemanticModel) -> TimeRange:
    if mention.kind == "range":
        return mention.time_range
    kinds = {model.metrics[leaf].type for name in metrics for leaf in leaf_names(model, name)}
    if kinds <= STATES:
        return mention.time_range
    if mention.grain == "day" and mention.text.lower().startswith("on ") and mention.time_range.end is not None:
        day = date.fromordinal(mention.time_range.end.toordinal() - 1)
        return TimeRange(start=day, end=mention.time_range.end, label=mention.text)
    label = model.label(metrics[0])
    raise Unclear(f"{label} is counted over a period, so {mention.text!r} needs a beginning")


def _base(base: TimeMention, chosen: Periods) -> None:
    """A period to compare with, said after "compared with", "than", "versus"."""
    current = chosen.time_range
    whole = current is not None and current.start is not None and current.end is not None
    if base.kind == "comparison":
        _named_comparison(base, chosen, whole=whole)
        return
    if base.kind == "as_of":
        raise Unclear(f"a comparison needs a period, not {base.text!r}")
    if chosen.grain is not None:
        if base.relative and base.grain == "year" and chosen.grain != "year":
            chosen.comparison = "year_ago"
            return
        if base.relative and base.grain == chosen.grain:
            chosen.comparison = "previous"
            return
        raise Unclear("two periods cannot be compared and split into periods at once")
    if not whole or current is None or current.start is None or current.end is None:
        raise Unclear(f"it is not said what {base.text!r} is compared with")
    if base.relative:
        own = grain_of(current.start, current.end)
        if base.grain == own:
            chosen.comparison = "previous"
            return
        if base.grain == "year":
            chosen.comparison = "year_ago"
            return
    if base.grain == "year" and base.time_range.start and grain_of(current.start, current.end) != "year":
        same = _same_part(current, base.time_range.start.year)
        if same is not None:
            _compare_with(same, chosen)
            return
    _compare_with(base.time_range, chosen)


def _same_part(current: TimeRange, year: int) -> TimeRange | None:
    """The same part of another year: "February to June, 2026 versus 2025"."""
    if current.start is None or current.end is None or current.start.year == year:
        return None
    if (current.end - current.start).days >= 365:
        return None
    months = (year - current.start.year) * 12
    return TimeRange(start=add_months(current.start, months), end=add_months(current.end, months), label=str(year))


def _named_comparison(base: TimeMention, chosen: Periods, *, whole: bool) -> None:
    current = chosen.time_range
    chosen.comparison = base.comparison or "previous"
    over = "over" in base.text.lower() or "on" in base.text.lower().split("-") or len(base.text) <= 3
    if whole and current is not None and current.start and current.end:
        own = grain_of(current.start, current.end)
        if base.count and base.unit is not None and step(current.start, base.unit, base.count) != current.end:
            raise Unclear(f"{base.text!r} does not fit the period {describe_range(current)}")
        if base.comparison == "previous" and base.grain is not None and own != base.grain and chosen.grain is None:
            if not over:
                raise Unclear(f"{base.text!r} does not fit the period {describe_range(current)}")
            chosen.grain = base.grain
        if base.comparison == "year_ago" and own is None and chosen.grain is None:
            years = (current.end.year - current.start.year) > 1
            chosen.grain = "year" if years and over else None
        return
    if chosen.grain is None and base.grain is not None and over:
        chosen.grain = base.grain
    if chosen.grain is None:
        raise Unclear(f"it is not said which period {base.text!r} is compared with")


def _compare_with(base: TimeRange, chosen: Periods) -> None:
    """Names the comparison previous or year ago where the range is just that, so that a plan stays relative."""
    current = chosen.time_range
    if current is None or not (current.start and current.end and base.start and base.end):
        raise Unclear("a comparison needs two periods with a beginning and an end")
    if base.start > current.start:
        current, base = base, current
        chosen.time_range = current
    assert current.start
    assert current.end
    assert base.start
    assert base.end
    pair = (base.start, base.end)
    if pair == (current.start, current.end):
        raise Unclear("a period cannot be compared with itself")
    if pair == shift_range(current.start, current.end, year=False):
        chosen.comparison = "previous"
    elif pair == shift_range(current.start, current.end, year=True):
        chosen.comparison = "year_ago"
    else:
        chosen.comparison = "range"
        chosen.comparison_range = base


def _change(found: Reading, main: list[TimeMention], chosen: Periods, metrics: list[str], model: SemanticModel) -> None:
    """ "Change", "growth" and the like without a second period."""
    current = chosen.time_range
    if len(main) == 1 and main[0].ends is not None and chosen.grain is None:
        first, last = main[0].ends
        chosen.time_range = last
        _compare_with(first, chosen)
        return
    if chosen.grain is not None:
        chosen.comparison = "previous"
        chosen.assumptions.append(f"the change is against the {chosen.grain} before")
        return
    if current is None or current.start is None:
        raise Unclear("a change needs a period: in the last quarter, in 2025, ...")
    leaves = [model.metrics[leaf] for name in metrics for leaf in leaf_names(model, name)]
    state = all(leaf.type in STATES for leaf in leaves)
    if current.end is None or (grain_of(current.start, current.end) is None and not (state or found.amount)):
        chosen.grain = "month"
        chosen.comparison = "none"
        chosen.assumptions.append("the change over a longer period is shown by month")
        return
    chosen.comparison = "previous"
    chosen.assumptions.append("the change is against the period before")


def _trend(found: Reading, chosen: Periods) -> None:
    if chosen.grain is not None or chosen.comparison != "none":
        return
    counted = [mention for mention, _ in found.times if mention.count > 1 and mention.unit is not None]
    if (found.trend or found.running or found.course) and len(found.times) == len(counted) == 1 and found.rank is None:
        chosen.grain = counted[0].unit
        chosen.assumptions.append(f"the course over {counted[0].text} is shown by {chosen.grain}")
        return
    if not (found.trend or found.running):
        return
    chosen.grain = "month"
    chosen.assumptions.append("the course over time is shown by month")


def _moment(metrics: list[str], model: SemanticModel, chosen: Periods, run_date: date) -> None:
    """Figures that are states need a moment: without one it is the run date."""
    leaves = [model.metrics[leaf] for name in metrics for leaf in leaf_names(model, name)]
    if chosen.time_range is None and any(leaf.type in _ENDS and leaf.at == "end" for leaf in leaves):
        if all(leaf.type in STATES for leaf in leaves):
            chosen.time_range = TimeRange(end=run_date, label="now")
        else:
            raise Unclear("a period must be named")
    needs_start = [leaf.label for leaf in leaves if leaf.type == "stock" and leaf.at != "end"]
    if needs_start and (chosen.time_range is None or chosen.time_range.start is None):
        raise Unclear("a rate over customers needs a period with a beginning: in the last quarter, in 2025, ...")
    span = chosen.time_range
    states = all(leaf.type in ("stock", "snapshot") and leaf.at == "end" for leaf in leaves)
    if states and span is not None and span.start and span.end and chosen.grain is None:
        chosen.assumptions.append(
            f"{leaves[0].label} is what there was at the end of {describe_range(span)}, not what came in"
        )
    stock_only = [leaf for leaf in leaves if leaf.type in _ENDS]
    if stock_only and chosen.time_range is not None and chosen.time_range.end is None:
        chosen.time_range = chosen.time_range.model_copy(update={"end": run_date})
