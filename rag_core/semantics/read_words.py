"""Reads the words of calculation: rankings, shares, changes, conditions, connectors. Pure."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from rag_core.semantics.fillers import EMPTY_WORDS
from rag_core.semantics.read_relations import RelationReader
from rag_core.semantics.reading import number_of
from rag_core.semantics.segment import Span
from rag_core.semantics.time_words import NUMBERS
from rag_core.semantics.vocabulary import MULTIPLIERS, SUMMED

CONNECTORS = ("group", "part", "prep", "and", "or", "versus", "not")
_RELATIVE = ("who", "whom", "whose")
_COUNTED = ("top", "bottom", "best", "worst", "highest", "lowest", "largest", "smallest", "biggest", "the highest",
            "the largest", "the biggest", "the lowest", "most", "leading")  # fmt: skip


class WordReader(RelationReader):
    """Takes what says how to calculate."""

    def _word(self, span: Span) -> None:
        if span.has("condition") and self._condition(span):
            return
        if self._relation(span) or self._bounds(span):
            return
        takers = (
            (("rank", "best", "worst"), self._rank),
            (("modifier",), self._modifier),
            (("which",), self._which),
            (("asks",), self._asks),
            (("dependence",), self._dependence),
            (("share", "running", "trend", "average", "compare", "total", "size", "course"), self._flag),
            (("split",), self._split),
            (("change",), self._change),
            (("unit",), self._unit),
            (("note", "rank_verb"), self._note),
            (CONNECTORS, self._connector),
        )
        for kinds, take in takers:
            if span.has(*kinds):
                take(span)
                return
        if span.has("companion"):
            self.found.companions.append(span)
        elif span.has("ordinal"):
            self._unknown(span, f"it is not clear what {span.text!r} is a place of")
        elif not span.has("ignore") and span.text.lower() not in EMPTY_WORDS:
            self.compares.append(span)
        else:
            self._used(span, "said without meaning")

    def _modifier(self, span: Span) -> None:
        self.found.modifiers.append(span)
        if "not" in self.pending:
            self.found.modifier_negated = self.negations.pop()
            self.pending = []
        self._used(span, "narrows the figure")
        self.last_role = "modifier"

    def _flag(self, span: Span) -> None:
        """Words that switch a kind of calculation on."""
        kinds = ("share", "running", "trend", "average", "compare", "total", "size", "course")
        kind = next(name for name in kinds if span.has(name))
        setattr(self.found, kind, True)
        if kind == "size" and span.text.lower().endswith("of"):
            self.found.size_of = span
        if kind in ("size", "course"):
            self._used(span, "said without meaning")
            return
        self._used(span, kind)
        self.found.summed |= kind == "total" and span.text.lower() in SUMMED
        if kind == "average":
            self.found.average_span = span
        if kind == "share":
            self.share_link = self.last_role == "metric"
        self.pending = [name for name in self.pending if name != "prep"]

    def _asks(self, span: Span) -> None:
        """ "Why did customers leave?": a question word that stands for a split, at the head of the question only."""
        if span.first == 0:
            self.found.asks = span
            self._used(span, "split")
        else:
            self._unknown(span)

    def _dependence(self, span: Span) -> None:
        """ "How dependent was Benelux on one customer": the share that what follows "on" makes up."""
        self.found.share = self.found.dependence = True
        self._used(span, "share")
        self.pending = ["part"] if span.text.lower().endswith("on") else []

    def _split(self, span: Span) -> None:
        self.found.compare = True
        self._used(span, "compare")

    def _change(self, span: Span) -> None:
        direction = span.of("change")[0].value
        self.found.amount |= span.text.lower().startswith(("by how", "by what", "how many", "how much"))
        self.found.change = direction or self.found.change or 0
        self.found.change_span = span
        self._used(span, "change")
        self.pending = []

    def _unit(self, span: Span) -> None:
        self.found.units.append(span)
        self._used(span, "unit")

    def _note(self, span: Span) -> None:
        if span.has("note"):
            self.found.note = span.of("note")[0].target
        else:
            self.found.note = self.found.note or "descending"
            self.pending_which = self.pending_which or span
        self._used(span, "order")

    def _connector(self, span: Span) -> None:
        kind = next(name for name in CONNECTORS if span.has(name))
        if kind == "not":
            self.negations.append(span)
        if kind == "prep" and span.has("versus") and (self.found.compare or self.found.times or self.found.metrics):
            kind = "versus" if span.text.lower() == "against" else kind
        if span.has("prep") and span.has("group"):
            kind = "group"
        if self.found.dependence and span.text.lower() == "on":
            kind = "part"
        self.pending.append(kind)

    def _rank(self, span: Span) -> None:
        following = self._peek()
        count = number_of(following) if following is not None and span.text.lower() in _COUNTED else None
        before = self.spans[self.at - 2] if self.at >= 2 else None
        if count is not None:
            self.at += 1
        elif before is not None and self.found.unmatched and self.found.unmatched[-1] is before:
            count = number_of(before)
            if count is not None:
                self.found.unmatched.pop()
        self.rank_counted = count is not None
        if count is None and self.count_ahead is not None:
            count, self.count_ahead = self.count_ahead[0], None
        if self.found.rank is not None and count is None:
            self._unknown(span, "two rankings cannot be asked at once")
            return
        kinds = {candidate.kind for candidate in span.candidates}
        self.found.rank = span.of("rank")[0].target if "rank" in kinds else ("best" if "best" in kinds else "worst")
        self.found.rank_count = count
        self.pending_rank = True
        self._used(span, "rank")

    def _which(self, span: Span) -> None:
        if self.found.metrics and span.has("prep") and not self.pending_which:
            following = self._peek()
            if following is None or following.sign:
                self._unknown(span)  # "... and where?" asks for more than the figure
            self.pending.append("prep")
            return
        if span.text.lower() in _RELATIVE and self.last_role == "metric" and self.found.metrics:
            self._used(span, "said without meaning")  # "customers who signed"
            return
        self.pending_which = span
        self.found.which = span
        self.pending = []

    def _condition(self, span: Span) -> bool:
        taken = self._number_ahead()
        if taken is None:
            return False
        number, last = taken
        self.at = last
        self.found.conditions.append((span.of("condition")[0].target, number, span))
        self._used(span, "condition")
        self.pending = []
        return True

    def _number_ahead(self) -> tuple[Decimal, int] | None:
        span = self._peek()
        if span is None or span.mention is not None:
            return None
        word = span.text.lower()
        try:
            number = Decimal(NUMBERS[word]) if word in NUMBERS else Decimal(word.replace(",", ""))
        except InvalidOperation:
            return None
        at = self.at + 1
        if at < len(self.spans) and self.spans[at].text.lower() in MULTIPLIERS:
            number *= MULTIPLIERS[self.spans[at].text.lower()]
            at += 1
        return number, at
