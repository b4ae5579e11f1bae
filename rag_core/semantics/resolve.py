"""Chooses, among the meanings a reading leaves open, the one that can be answered; else says what is unclear.

Nothing is guessed: two meanings that both could be answered are handed back as a question to the asker. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from rag_core.datamodel.plan import DimensionFilter, Grain, MetricQuery
from rag_core.semantics.calendar import floor
from rag_core.semantics.figures import FigureChooser
from rag_core.semantics.lexicon import Candidate
from rag_core.semantics.periods import Periods, choose_periods
from rag_core.semantics.reading import Reading, ValueUse
from rag_core.semantics.relations import (
    as_cohort,
    asks_who_has,
    by_how_much_missed,
    choose_combination,
    choose_conditions,
)
from rag_core.semantics.segment import Span
from rag_core.semantics.sources import leaf_names, supported
from rag_core.semantics.unclear import Unclear
from rag_core.semantics.vocabulary import AMOUNT_UNIT

_RATE = re.compile(r"\b(?:rate|ratio|percent\w*|share|attainment)\b|%", re.IGNORECASE)


@dataclass
class Resolved:
    """A metric query with what was assumed on the way and the meaning chosen for each phrase."""

    query: MetricQuery
    assumptions: list[str] = field(default_factory=list)
    meanings: dict[tuple[int, int], str] = field(default_factory=dict)


class Resolver(FigureChooser):
    """Turns a reading into a metric query for one model; raises Unclear."""

    def resolve(self, found: Reading) -> Resolved:
        """The query; raises Unclear with the reason and, where there are some, the options."""
        metrics = as_cohort(found, self._narrowed(found, self._metrics(found)), self.model)
        self._companions(found, metrics)
        self._average(found, metrics)
        if not metrics:
            raise Unclear("no figure of the semantic model is named")
        metrics = by_how_much_missed(found, metrics, self.model)
        combine = choose_combination(found, metrics, self.model)
        if combine == "difference":
            found.change, found.compare = None, False
        dimensions = [self._dimension(span, metrics) for span in found.groups]
        dimensions += self._sized(found) + self._asked(found, metrics, alone=not dimensions)
        filters = self._filters(found, metrics)
        if found.share and any(_RATE.search(span.text) for span in found.metrics):
            raise Unclear(f"{self.model.label(metrics[0])} is a rate: it has no shares")
        self._check_share(found, metrics, dimensions, filters)
        share = found.share and self.model.metrics[metrics[0]].unit != "%"
        grouped = self._by_several_values(found, filters, grouped=bool(dimensions or found.grain))
        dimensions = list(dict.fromkeys(dimensions + ([] if share else grouped)))
        periods = choose_periods(found, metrics, self.model, self.run_date)
        self._units(found, metrics, percent=share or found.change is not None or periods.comparison != "none")
        self.assumptions.extend(periods.assumptions)
        if share:
            dimensions = self._share_dimensions(found, dimensions, filters)
        split = bool(dimensions) or periods.grain is not None
        conditions = choose_conditions(found, metrics, self.model, combine, split=split)
        if found.conditions and periods.comparison != "none":
            raise Unclear("it is not clear whether the figure or its change is to be held against that number")
        if found.modifier_negated is not None:
            found.unmatched.append(found.modifier_negated)
        filters += self._named_only(found, dimensions)
        if not conditions:
            self._check_keys(found, dimensions)
        query = self._query(found, metrics, dimensions, filters, periods, share=share)
        query = query.model_copy(
            update={"conditions": conditions, "combine": combine, "count_rows": found.counted is not None}
        )
        return Resolved(query, self.assumptions, self.meanings)

    def _dimension(self, span: Span, metrics: list[str]) -> str:
        options = list(dict.fromkeys(candidate.target for candidate in span.of("dimension", "adjective")))
        able = [name for name in options if self._supported(metrics, name)]
        if not able:
            labels = " and ".join(self.model.label(name).lower() for name in metrics)
            raise Unclear(f"{labels} cannot be split by {span.text}")
        if len(able) > 1:
            labels_able = tuple(self.model.label(name) for name in able)
            raise Unclear(f"{span.text!r} may mean {' or '.join(labels_able)}", text=span.text, options=labels_able)
        self.meanings[span.start, span.end] = f"split by {self.model.label(able[0])} (dimension {able[0]})"
        return able[0]

    def _value(self, use: ValueUse, metrics: list[str]) -> tuple[str, Any]:
        able: dict[str, Candidate] = {}
        for candidate in use.candidates:
            if self._supported(metrics, candidate.target):
                known = able.get(candidate.target)
                if known is not None and known.value != candidate.value:
                    raise Unclear(f"{use.span.text!r} is the name of more than one {candidate.target}")
                able[candidate.target] = candidate
        if not able:
            labels = " and ".join(self.model.label(name).lower() for name in metrics)
            names = sorted({self.model.label(item.target).lower() for item in use.candidates})
            raise Unclear(f"{labels} cannot be filtered by {use.span.text} ({' or '.join(names)})")
        if len(able) > 1:
            labels_able = tuple(f"{self.model.label(name)} {item.value}" for name, item in able.items())
            reason = f"{use.span.text!r} may mean {' or '.join(labels_able)}"
            raise Unclear(reason, text=use.span.text, options=labels_able)
        name, candidate = next(iter(able.items()))
        word = "without" if use.negated else "only"
        meaning = f"{word} {self.model.label(name)} {candidate.value} (dimension {name})"
        self.meanings[use.span.start, use.span.end] = meaning
        return name, candidate.value

    def _filters(self, found: Reading, metrics: list[str]) -> list[DimensionFilter]:
        chosen: dict[tuple[str, bool], list[Any]] = {}
        for use in found.values:
            name, value = self._value(use, metrics)
            kept = chosen.setdefault((name, use.negated), [])
            if use.connector == "range" and kept:
                kept[-1:] = self._between(name, kept[-1], value)
            elif value not in kept:
                kept.append(value)
        for span, negated in found.empties:
            name = self._dimension(span, metrics)
            chosen[name, negated] = [None]
            word = "with any" if negated else "without a"
            self.meanings[span.start, span.end] = f"{word} {self.model.label(name)} (dimension {name})"
        for name, negated in chosen:
            if negated and (name, False) in chosen and None not in chosen[name, False]:
                raise Unclear(f"{self.model.label(name)} is both asked for and excluded")
        return [
            DimensionFilter(dimension=name, values=tuple(values), negated=negated)
            for (name, negated), values in chosen.items()
        ]

    def _between(self, name: str, first: Any, last: Any) -> list[Any]:
        """All values from one to another in the natural order of their dimension."""
        order = list(self.model.dimensions[name].order)
        if str(first) not in order or str(last) not in order or order.index(str(first)) > order.index(str(last)):
            raise Unclear(f"{first} to {last} is no range of {self.model.label(name).lower()}")
        return list(order[order.index(str(first)) : order.index(str(last)) + 1])

    def _by_several_values(self, found: Reading, filters: list[DimensionFilter], *, grouped: bool) -> list[str]:
        """Dimensions of which several values stand side by side: each is shown.

        Their total is shown where it is asked, where "or" joins them, where they are one set ("sev1 and sev2
        incidents"), or where something else is split by already. Where nothing tells, it is asked back.
        """
        if found.total or any(use.connector == "or" for use in found.values):
            return []
        several = [item for item in filters if len(item.values) > 1 and not item.negated]
        together = grouped or any(use.attributive for use in found.values)
        if not several or (together and not found.compare and not self._whole(several)):
            if several:
                self.assumptions.append("the values named are taken together")
            return []
        for item in several:
            label = self.model.label(item.dimension).lower()
            if not (self._whole([item]) or found.compare or found.apart):
                named = " and ".join(str(value) for value in item.values)
                options = (f"each {label}", "all of them together")
                raise Unclear(f"{named}: each of them, or together?", text=named, options=options)
            self.assumptions.append(f"several values are named, so the result has a row for each {label}")
        return [item.dimension for item in several]

    def _whole(self, filters: list[DimensionFilter]) -> bool:
        """Whether all values of a dimension are named, which only makes sense to see each."""
        indexes = [(item, self.values.of(item.dimension)) for item in filters]
        return any(index is not None and len(item.values) == len(index.values) for item, index in indexes)

    def _units(self, found: Reading, metrics: list[str], *, percent: bool) -> None:
        units = {self.model.metrics[name].unit for name in metrics}
        for span in found.units:
            asked = {candidate.target for candidate in span.of("unit")}
            if (
                any(self._has_unit(name, asked) for name in metrics)
                or (percent and "%" in asked)
                or AMOUNT_UNIT in asked
            ):
                continue
            raise Unclear(f"{self.model.label(metrics[0])} is in {' or '.join(sorted(units))}, not {span.text}")

    def _share_dimensions(self, found: Reading, dimensions: list[str], filters: list[DimensionFilter]) -> list[str]:
        """What a share is a part of: the split if there is one, else all values of the dimension that is filtered."""
        if dimensions:
            return dimensions
        positive = [item for item in filters if not item.negated and len(item.values) == 1]
        if len(positive) == 1:
            return [positive[0].dimension]
        uses = [use for use in found.values if not use.negated]
        parts = [use for use in uses if use.connector == "part"] or [use for use in uses if use.before_share]
        if len(parts) == 1:
            part = {item.target for item in parts[0].candidates}
            return [item.dimension for item in positive if item.dimension in part][:1]
        if not positive:
            raise Unclear("a share needs a dimension or a value of which it is the part")
        raise Unclear("it is not clear which of the values is the part and which the whole")

    def _check_keys(self, found: Reading, dimensions: list[str]) -> None:
        """A figure "per customer" may be a mean or a list of thousands: that is asked back."""
        for span in found.groups:
            name = next((item.target for item in span.of("dimension") if item.target in dimensions), None)
            index = self.values.of(name) if name else None
            if index is not None and len(index.values) > 200 and found.rank is None and not found.conditions:
                label = self.model.label(name or "").lower()
                options = (f"the highest by {label}", f"the mean over all {label}s")
                raise Unclear(
                    f"there are {len(index.values)} {label}s: ask for the top ones", text=span.text, options=options
                )

    def _query(
        self,
        found: Reading,
        metrics: list[str],
        dimensions: list[str],
        filters: list[DimensionFilter],
        periods: Periods,
        *,
        share: bool,
    ) -> MetricQuery:
        grain, average_over = periods.grain, None
        if found.average and grain is not None:
            if any(
                self.model.metrics[leaf].additivity == "non_additive" for leaf in leaf_names(self.model, metrics[0])
            ):
                raise Unclear(f"a mean of {self.model.label(metrics[0])} over periods is not defined")
            grain, average_over = None, grain
        order, limit, within = self._order(found, metrics, dimensions, grain)
        order_by = "change" if periods.comparison != "none" and found.change is not None and order else "value"
        if order_by == "change" and found.change == -1 and order == "descending":
            order = "ascending"
        if order_by == "change" and self.model.metrics[metrics[0]].unit != "%":
            percent = any(item.target == "%" for span in found.units for item in span.of("unit"))
            order_by = "change_percent" if percent else order_by
        if grain is None and (found.none or (order == "ascending" and order_by == "value")):
            self._say_members(dimensions)
        if order_by != "value":
            kind = "relative" if order_by == "change_percent" else "absolute"
            self.assumptions.append(f"the ranking is by the {kind} change")
        return MetricQuery(
            metrics=tuple(metrics),
            dimensions=tuple(dimensions),
            grain=grain,
            filters=tuple(filters),
            time_range=periods.time_range,
            comparison=periods.comparison,
            comparison_range=periods.comparison_range,
            share=share,
            running_total=found.running,
            order=order,
            limit=limit,
            limit_by=within,
            keep_empty=found.asks is not None and found.rank is None and order is not None,
            order_by=order_by,
            average_over=average_over,
            place=found.place,
            as_of=self._as_of(grain or average_over, periods, ascending=order == "ascending"),
        )

    def _say_members(self, dimensions: list[str]) -> None:
        """Where members come and go, those that are gone have none either: that they are looked at is said."""
        for name in dimensions:
            home = self.model.dimensions[name].entity
            label = self.model.label(name).lower()
            if any(metric.type == "stock" and metric.entity == home for metric in self.model.metrics.values()):
                self.assumptions.append(f"every {label} on record is looked at, whether there at the time or not")

    def _as_of(self, grain: Grain | None, periods: Periods, *, ascending: bool) -> date | None:
        """The run date, where periods are asked that reach up to it or beyond."""
        span = periods.time_range
        if grain is None or (span is not None and span.end is not None and span.end <= self.run_date):
            return None
        if ascending and floor(self.run_date, grain) < self.run_date:
            self.assumptions.append(f"the {grain} that is under way on {self.run_date} is left out")
        return self.run_date

    def _named_only(self, found: Reading, dimensions: list[str]) -> list[DimensionFilter]:
        """ "Which competitors" asks for names: what happened without one is left out."""
        if not asks_who_has(found):
            return []
        indexes = [(name, self.values.of(name)) for name in dimensions]
        return [
            DimensionFilter(dimension=name, values=(None,), negated=True)
            for name, index in indexes
            if index is not None and index.has_empty and not any(span.has("asks") for span in found.groups)
        ]

    def _check_share(
        self, found: Reading, metrics: list[str], dimensions: list[str], filters: list[DimensionFilter]
    ) -> None:
        """ "Share of web revenue by region": the web's share in each region, or each region's share of web revenue."""
        if not found.share or not dimensions:
            return
        split = self.model.label(dimensions[0]).lower()
        for name in (metric.refines for metric in (self.model.metrics[item] for item in metrics) if metric.refines):
            if all(supported(self.model, name, dimension) for dimension in dimensions):
                options = (f"the share of {self._low(name)} in each {split}", f"how they are divided by {split}")
                raise Unclear(f"a share of {self._low(metrics[0])} by {split} may mean two things", options=options)
        for use in found.values:
            names = {item.target for item in use.candidates} & {item.dimension for item in filters}
            own = names & set(dimensions)
            above = {self.model.dimensions[name].parent for name in dimensions}
            if use.negated or own or names & above or use.connector == "prep":
                continue
            options = (f"the share of {use.span.text} in each {split}", f"how {use.span.text} is divided by {split}")
            raise Unclear(f"a share of {use.span.text} by {split} may mean two things", options=options)

    def _sized(self, found: Reading) -> list[str]:
        """ "Team sizes" splits by team; "the team size of Platform" does not."""
        filtered = {item.target for use in found.values for item in use.candidates}
        return [
            item.target
            for span in found.metrics
            for item in span.of("sized")
            if span.plural and item.target not in filtered
        ]

    def _asked(self, found: Reading, metrics: list[str], *, alone: bool) -> list[str]:
        """ "Why did customers leave?" asks for the reasons; "why did it change?" for a cause, which no figure says."""
        if found.asks is None:
            return []
        span = found.asks
        names = [item.target for item in span.of("asks") if self._supported(metrics, item.target)]
        computed = found.change is not None or found.trend or found.compare or found.share or found.rank is not None
        if len(names) != 1 or not alone or computed or found.grain is not None:
            found.unmatched.append(span)
            return []
        found.note = found.note or "descending"
        self.meanings[span.start, span.end] = f"split by {self.model.label(names[0])} (dimension {names[0]})"
        self.assumptions.append(f"{span.text.lower()!r} asks for the {self.model.label(names[0]).lower()}")
        return names

    def _order(
        self, found: Reading, metrics: list[str], dimensions: list[str], grain: Grain | None
    ) -> tuple[str | None, int | None, tuple[str, ...]]:
        metric = metrics[0]
        if found.rank is not None and found.summed:
            raise Unclear("the sum over what is ranked first is not supported: ask for the ranking")
        if _shares_of_ranked(found):
            options = ("the share of each", "their share together")
            raise Unclear("the share of each that is ranked, or of all of them together?", options=options)
        if found.rank is None:
            ordered = found.note if dimensions else None
            return ordered, None, ()
        if not dimensions and grain is None:
            raise Unclear("a ranking needs something to rank: by region, product, month, ...")
        if dimensions and grain is not None:
            raise Unclear("a ranking within each period is not supported: ask for one period")
        if found.place is not None:
            if found.within or found.rank_count is not None:
                raise Unclear("one place of each group is not supported: ask for the first ones")
            return self._direction(found, metric), None, ()
        limit = found.rank_count if found.rank_count is not None else (1 if found.rank_singular else None)
        within = self._within(found, metrics, dimensions) if len(dimensions) > 1 and limit is not None else ()
        if limit is None and found.ranked is not None and found.within:
            raise Unclear(f"say how many {found.ranked.text} of each {found.within[0].text}")
        return self._direction(found, metric), limit, within

    def _direction(self, found: Reading, metric: str) -> str | None:
        if found.rank not in ("best", "worst"):
            return found.rank
        better = self.model.metrics[metric].better
        if better is None:
            raise Unclear(f"it is not defined whether a high or a low {self.model.label(metric).lower()} is good")
        return "descending" if (better == "higher") == (found.rank == "best") else "ascending"

    def _within(self, found: Reading, metrics: list[str], dimensions: list[str]) -> tuple[str, ...]:
        """The dimensions within each of which it is ranked: "the top 3 products in each region"."""
        within = tuple(self._dimension(span, metrics) for span in found.within)
        ranked = self._dimension(found.ranked, metrics) if found.ranked is not None else ""
        if ranked in within or {ranked, *within} != set(dimensions):
            raise Unclear("it is not clear what is ranked within what: ask for the top products in each region")
        return within


def _shares_of_ranked(found: Reading) -> bool:
    """ "The revenue share of the top 10 customers": each share, or their sum."""
    if not found.share or found.rank_count is None or found.rank_count < 2:
        return False
    starts = {role: span.start for span, role in reversed(found.used) if role in ("share", "rank")}
    return "share" in starts and "rank" in starts and starts["share"] < starts["rank"]
