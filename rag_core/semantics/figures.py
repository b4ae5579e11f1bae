"""Chooses the figures of a question among the meanings that its words allow. Pure."""

from __future__ import annotations

from datetime import date

from rag_core.semantics.definitions import SemanticModel, Shape
from rag_core.semantics.fillers import EMPTY_WORDS
from rag_core.semantics.reading import Reading
from rag_core.semantics.segment import Span
from rag_core.semantics.sources import supported
from rag_core.semantics.unclear import Unclear
from rag_core.semantics.values import ValueIndex
from rag_core.semantics.vocabulary import AMOUNT_UNIT, COUNT_UNIT, CURRENCIES, SIZE_VERBS, TIME_UNIT
from rag_core.semantics.words import words


class FigureChooser:
    """Knows the model and the values; `meanings` and `assumptions` grow while it chooses."""

    def __init__(self, model: SemanticModel, values: ValueIndex, run_date: date) -> None:
        self.model = model
        self.values = values
        self.run_date = run_date
        self.meanings: dict[tuple[int, int], str] = {}
        self.assumptions: list[str] = []

    def _metrics(self, found: Reading) -> list[str]:
        names: list[str] = []
        for span in found.metrics:
            options = sorted({candidate.target for candidate in span.of("metric")})
            able = self._by_unit(found, [name for name in options if self._able(name, found)])
            if len(able) > 1:
                labels = tuple(self.model.label(name) for name in able)
                raise Unclear(f"{span.text!r} may mean {' or '.join(labels)}", text=span.text, options=labels)
            name = able[0] if able else options[0]
            self._check_size(found, span, name)
            names.append(name)
            self.meanings[span.start, span.end] = f"{self.model.label(name)} (metric {name})"
        names.extend(self._vague(found, self._with_refined(found, names)))
        if not names:
            names.extend(self._ranked_by(found))
        return list(dict.fromkeys(names))

    def _check_size(self, found: Reading, span: Span, name: str) -> None:
        """ "Size of orders" is no number of orders; "size of the backlog" is."""
        metric = self.model.metrics[name]
        counted = metric.type == "simple" and self._has_unit(name, {COUNT_UNIT})
        if found.size_of is not None and counted and 0 <= span.start - found.size_of.end <= len(" of the "):
            raise Unclear(f"{found.size_of.text} {span.text}: it is not clear whether how many or how large is asked")

    def _with_refined(self, found: Reading, names: list[str]) -> list[str]:
        return names + [item.target for span in found.modifiers for item in span.of("modifier")]

    def _vague(self, found: Reading, names: list[str]) -> list[str]:
        """Words like "sales": one meaning is left only where the unit that is asked decides."""
        chosen: list[str] = []
        for span in list(found.ambiguous):
            if {item.target for item in span.of("companion")} & set(names):
                found.ambiguous.remove(span)
                found.used.append((span, "belongs to the figure"))
                continue
            options = [name for name in span.of("ambiguous")[0].value if name in self.model.metrics]
            able = self._by_unit(found, [name for name in options if self._able(name, found)])
            able = self._as_declared(found, span, self._as_narrowed(found, span, able))
            able = able[:1] if found.none else able
            if len(able) == 1 and len(options) > 1:
                found.ambiguous.remove(span)
                chosen.append(able[0])
                self.meanings[span.start, span.end] = f"{self.model.label(able[0])} (metric {able[0]})"
                found.used.append((span, "figure"))
                self.assumptions.append(f"{span.text!r} is taken as {self.model.label(able[0]).lower()}")
        return chosen

    def _as_narrowed(self, found: Reading, span: Span, options: list[str]) -> list[str]:
        """The meaning that a word beside it belongs to ("what goods cost"), or that is in percent ("churn in %")."""
        if len(options) < 2:
            return options
        named = {item.target for other in found.modifiers for item in other.of("modifier")}
        narrowed = [name for name in options if name in named]
        if len(narrowed) == 1:
            return narrowed
        percent = any(role == "share" and item.has("unit") and item.start > span.start for item, role in found.used)
        rates = [name for name in options if self.model.metrics[name].share_of in options] if percent else []
        if len(rates) == 1:
            found.share = False
            return rates
        return options

    def _as_declared(self, found: Reading, span: Span, options: list[str]) -> list[str]:
        """The meaning that the model declares for questions of this shape; the options where it declares none."""
        declared = self.model.readings.get(span.of("ambiguous")[0].target, {})
        if len(options) < 2 or not declared:
            return options
        chosen = {declared.get(shape) for shape in _shapes(found)}
        only = chosen.pop() if len(chosen) == 1 else None
        return [only] if only in options else options

    def _ranked_by(self, found: Reading) -> list[str]:
        """The figure that "the largest customers" are ranked by, where the model says so."""
        ranked = found.rank in ("descending", "ascending")
        grows = found.change_span is not None and found.change_span.text.lower() in SIZE_VERBS
        spans = [*found.groups, *(found.carriers if grows or found.size else [])]
        candidates = [item for span in spans for item in span.of("dimension")]
        if found.dependence:
            candidates = [item for use in found.values if use.connector == "part" for item in use.candidates]
        elif not (ranked or grows or found.size):
            return []
        sizes = {item.target: self.model.dimensions[item.target].ranked_by for item in candidates}
        known = [(name, metric) for name, metric in sizes.items() if metric is not None]
        if len(known) != 1:
            return []
        name, metric = known[0]
        self.assumptions.append(f"the size of a {self.model.label(name).lower()} is its {self._low(metric)}")
        return [metric]

    def _low(self, name: str) -> str:
        return self.model.label(name).lower()

    def _by_unit(self, found: Reading, names: list[str]) -> list[str]:
        """The metrics that fit the units that are asked; all where none does, so that the unit is reported later."""
        asked = [{item.target for item in span.of("unit")} for span in found.units if not span.has("share")]
        able = [name for name in names if all(self._has_unit(name, units) for units in asked)]
        return able or names

    def _has_unit(self, name: str, units: set[str]) -> bool:
        metric = self.model.metrics[name]
        timed = metric.unit in ("seconds", "minutes", "hours", "days")
        valued = metric.unit in CURRENCIES
        counted = not (timed or valued or metric.unit == "%")
        return (
            metric.unit in units
            or (COUNT_UNIT in units and counted)
            or (TIME_UNIT in units and timed)
            or (AMOUNT_UNIT in units and (valued or metric.unit == "%"))
        )

    def _narrowed(self, found: Reading, metrics: list[str]) -> list[str]:
        """Applies words that narrow a figure ("tickets ... still open"), ratios of two figures and shares."""
        for span in found.modifiers:
            targets = sorted({item.target for item in span.of("modifier")})
            if any(name in metrics for name in targets):
                continue
            options = [name for name in targets if self.model.metrics[name].refines in metrics]
            able = self._by_unit(found, [name for name in options if self._able(name, found)] or options)
            if not able:
                if span.has("companion"):
                    found.companions.append(span)
                elif not self._is_empty(span):
                    found.unmatched.append(span)
                continue
            if len(able) > 1:
                labels = tuple(self.model.label(name) for name in able)
                raise Unclear(f"{span.text!r} may mean {' or '.join(labels)}", text=span.text, options=labels)
            metrics = [able[0] if name == self.model.metrics[able[0]].refines else name for name in metrics]
            self.meanings[span.start, span.end] = f"{self.model.label(able[0])} (metric {able[0]})"
        return self._computed(found, metrics)

    def _computed(self, found: Reading, metrics: list[str]) -> list[str]:
        """The ratio or share that the model defines for what was said, else the figures it is made of."""
        if found.quotient is not None and len(metrics) == 2:
            metrics = self._defined_ratio(metrics[0], metrics[1]) or metrics
            found.quotient = None if len(metrics) == 1 else found.quotient
        computed = found.combine or found.gap is not None or found.quotient is not None
        if found.against and len(metrics) == 2 and not computed:
            with_ratio = [
                name
                for name, metric in self.model.metrics.items()
                if metric.type == "ratio"
                and self._same(metric.numerator, metrics[0])
                and self._same(metric.denominator, metrics[1])
            ]
            metrics = metrics + with_ratio[:1]
        if found.ratio and len(metrics) == 2:
            defined = self._defined_ratio(metrics[0], metrics[1])
            if not defined and not found.share:
                first, second = (self._low(name) for name in metrics)
                raise Unclear(f"no ratio of {first} and {second} is defined")
            found.percent = not defined
            metrics = defined or metrics
            found.share = False
        if found.share and len(metrics) == 1 and not found.groups:
            shares = [name for name, metric in self.model.metrics.items() if metric.share_of == metrics[0]]
            if len(shares) == 1:
                metrics = shares
        return metrics

    def _defined_ratio(self, top: str, bottom: str) -> list[str]:
        """The ratio of two figures that the model defines, empty for none."""
        for name, metric in self.model.metrics.items():
            if metric.type == "ratio" and self._same(metric.numerator, top) and self._same(metric.denominator, bottom):
                return [name]
        return []

    def _same(self, name: str | None, other: str) -> bool:
        return name == other or (name is not None and self.model.metrics[name].same_as == other)

    def _average(self, found: Reading, metrics: list[str]) -> None:
        """ "Average" beside a mean says nothing new, with periods it is a mean over them, else it is not defined."""
        span = found.average_span
        if span is None:
            return
        if {item.target for item in span.of("companion")} & set(metrics):
            found.average = False
        elif found.grain is None:
            found.unmatched.append(span)
            found.reasons.append("the model defines no average of this figure")

    def _companions(self, found: Reading, metrics: list[str]) -> None:
        for span in found.companions:
            if {item.target for item in span.of("companion")} & set(metrics):
                found.used.append((span, "belongs to the figure"))
            elif not self._is_empty(span):
                found.unmatched.append(span)

    def _is_empty(self, span: Span) -> bool:
        return all(word.key in EMPTY_WORDS for word in words(span.text))

    def _able(self, metric: str, found: Reading) -> bool:
        """Whether the metric can be had by everything that the question splits and filters by."""
        spans = [span.of("dimension", "adjective") for span in found.groups]
        spans += [use.candidates for use in found.values]
        return all(any(supported(self.model, metric, item.target) for item in items) for items in spans)

    def _supported(self, metrics: list[str], dimension: str) -> bool:
        return all(supported(self.model, metric, dimension) for metric in metrics)


def _shapes(found: Reading) -> set[Shape]:
    """What a question does with its figure besides asking for it."""
    shapes: set[Shape] = set()
    compared = any(base for _, base in found.times) or (len(found.times) > 1 and not found.total)
    if found.grain is not None or found.trend or found.running:
        shapes.add("periods")
    if found.change is not None or compared:
        shapes.add("comparison")
    if found.groups or (len(found.values) > 1 and _side_by_side(found)):
        shapes.add("groups")
    if found.rank is not None:
        shapes.add("ranking")
    if found.share:
        shapes.add("share")
    return shapes


def _side_by_side(found: Reading) -> bool:
    """Whether several values of one dimension are named."""
    targets = [{item.target for item in use.candidates} for use in found.values if not use.negated]
    return any(left & right for at, left in enumerate(targets) for right in targets[at + 1 :])
