"""Reads what relates two figures, or a figure to its rows: differences, "more X than Y", none, how many. Pure."""

from __future__ import annotations

from decimal import Decimal

from rag_core.semantics.reading import ReaderState, number_of
from rag_core.semantics.segment import Span
from rag_core.semantics.vocabulary import HOW_MANY, NONE_ALONE, NONE_WORDS

_BESIDE_FIGURE = ("value", "modifier", "companion", "adjective")
_PART_WORDS = ("and", "or", "versus", "group", "share")


class RelationReader(ReaderState):
    """Takes the words of relations."""

    def _relation(self, span: Span) -> bool:
        """Whether the span is such a word where it stands; else it is read as anything else that it may be."""
        if span.has("gap"):
            self.found.gap = span
            self.found.compare = self.found.compare or span.has("split")
            self._used(span, "difference")
            self.pending = []
        elif span.has("quotient"):
            self.found.quotient = span
            self._used(span, "quotient")
            self.pending = []
        elif span.has("minus") and self.last_role == "metric" and self._figure_follows():
            self.found.combine = True
            self._used(span, "difference")
            self.pending = ["and"]
        elif span.has("more") and self._than_figure():
            self.found.combine = True
            self.found.relation = span.of("more")[0].target
            self._used(span, "condition")
        elif span.has("change") and span.text.lower().startswith("how ") and self._than_figure():
            self.found.combine = True
            self._used(span, "difference")
        elif span.has("condition") and self.last_role == "metric" and self._figure_follows():
            self.found.combine = True
            self.found.relation = span.of("condition")[0].target
            self._used(span, "condition")
            self.pending = ["and"]
        elif span.has("ordinal"):
            return self._ordinal(span)
        elif span.text.lower() in NONE_WORDS and not self.found.metrics and self._figure_follows(span):
            self.found.none = True
            self._used(span, "condition")
        elif span.text.lower() in NONE_ALONE and (following := self._peek()) is not None and following.has("value"):
            self._unknown(span, f"{span.text!r} does not say of which figure there is none")
        else:
            return False
        return True

    def _ordinal(self, span: Span) -> bool:
        """ "The second highest": one place of a ranking."""
        following = self._peek()
        if following is None or not following.has("rank", "best", "worst"):
            return False
        self.found.place = span.of("ordinal")[0].value
        self._used(span, "rank")
        return True

    def _bounds(self, span: Span) -> bool:
        """ "Between 100 and 300 orders"."""
        ahead = self.spans[self.at : self.at + 3]
        if span.text.lower() != "between" or len(ahead) < 3 or not ahead[1].has("and"):
            return False
        low, high = _number(ahead[0]), _number(ahead[2])
        if low is None or high is None or low > high:
            return False
        self.found.conditions += [(">=", Decimal(low), span), ("<=", Decimal(high), span)]
        self._used(span, "condition")
        self.at += 3
        self.pending = []
        return True

    def _figure_follows(self, none: Span | None = None) -> bool:
        """Whether a figure comes next, with nothing before it but what narrows it.

        After a word of `none` a word with several meanings is a figure too: there is none of any of them.
        """
        following = self._peek()
        if none is not None and none.text.lower() == "not":
            asked = self.found.which is not None and bool(self.found.groups)
            return asked and following is not None and following.has("ambiguous")
        for at, span in enumerate(self.spans[self.at :], start=self.at):
            if span.has("metric"):
                return True
            listed = span.has("and", "or") and at + 1 < len(self.spans) and self.spans[at + 1].has("value")
            if listed and at > self.at and self.spans[at - 1].has("value"):
                continue  # "no sev1 or sev2 incidents"
            if not span.known or span.mention is not None or not span.has(*_BESIDE_FIGURE):
                return False
        return False

    def _than_figure(self) -> bool:
        """Whether "than" and a figure follow, and no other figure before "than" but one."""
        for at in range(self.at, len(self.spans)):
            span = self.spans[at]
            if span.has("versus") and span.text.lower() == "than":
                figure = next(
                    (item for item in self.spans[at + 1 :] if item.has("metric") or not item.has(*_BESIDE_FIGURE)), None
                )
                own = any(item.has("metric") for item in self.spans[self.at : at])
                return own and figure is not None and figure.has("metric")
        return False

    def _counts_members(self, span: Span) -> bool:
        """ "How many countries had more than 500 orders": how many of them are asked, the figure comes later."""
        before = self.spans[self.at - 2] if self.at >= 2 else None
        if before is None or not before.text.lower().endswith(HOW_MANY) or not span.plural or self.found.metrics:
            return False
        following = self._peek()
        if following is None or following.has(*_PART_WORDS) or following.text == ",":
            return False
        mine = {item.target for item in span.of("metric")}
        later = [item for item in self.spans[self.at :] if item.has("metric")]
        return any(not mine & {item.target for item in found.of("metric")} for found in later)

    def _condition_later(self, span: Span) -> bool:
        """ "Countries with more than 500 orders": what the question begins with is split by."""
        if self.found.metrics or self.found.groups or not span.plural or span.first > 1:
            return False
        rest = self.spans[self.at :]
        for at, item in enumerate(rest):
            following = rest[at + 1] if at + 1 < len(rest) else None
            number = following is not None and _number(following) is not None
            if number and (item.has("condition") or item.text.lower() == "between"):
                return True
            if item.text.lower() in NONE_WORDS and following is not None and following.has("metric", "value"):
                return True
        return False


def _number(span: Span) -> int | None:
    word = span.text.replace(",", "")
    return int(word) if word.isdigit() else number_of(span)
