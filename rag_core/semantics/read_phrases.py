"""Reads the phrases of the model: figures, dimensions, values, periods, and the role each has where it stands. Pure."""

from __future__ import annotations

import re

from rag_core.semantics.lexicon import Candidate
from rag_core.semantics.read_words import WordReader
from rag_core.semantics.reading import ValueUse, number_of
from rag_core.semantics.segment import Span
from rag_core.semantics.times import TimeMention

_WITH = ("with", "in which", "that had", "which had", "where", "having")
_EVERY = tuple(f"{word}{unit}" for word in ("every", "each") for unit in ("", " month", " quarter", " year", " week"))


class ValueReader(WordReader):
    """Takes values that filter."""

    def _value(self, span: Span, *, keep: bool = False) -> None:
        link = self._links()
        negated = "not" in self.pending or (self.last_role == "not" and bool({"and", "or"} & set(self.pending)))
        candidates = self._beside(span) or [item for item in span.of("value") if not item.weak]
        if not candidates or self._continues_list(span):
            candidates = span.of("value")
        following = self._peek()
        before_share = following is not None and following.has("share")
        joined = "and" if {"and", "prep"} <= set(self.pending) else self._joined_by()
        # "sev1 and sev2 incidents" is one set of incidents; "revenue in DACH and Iberia" may be two figures.
        attributive = following is not None and following.plural and following.has("metric", "companion")
        attributive = attributive and joined in ("and", "range")
        use = ValueUse(span, candidates, negated, joined, before_share, attributive)
        self.found.values.append(use)
        self._used(span, "filter")
        if "not" in self.pending:
            self.negations.pop()
        self.last_role, self.pending = ("not" if negated else "value"), (["group"] if keep else [])
        if link == "versus":
            self.found.compare = True
        if joined == "and" and link == "prep":
            self.found.apart = True  # "with ferry-deploy and with quay"

    def _value_fits(self, span: Span) -> bool:
        """A weak value needs the name of its dimension beside it; a phrase that is a figure too is a figure first."""
        if self._continues_list(span):
            return True
        if span.has("metric", "dimension") and not (
            span.has("metric") and self.found.metrics and "prep" in self.pending
        ):
            return False
        strong = [candidate for candidate in span.of("value") if not candidate.weak]
        return bool(strong) or bool(self._beside(span))

    def _continues_list(self, span: Span) -> bool:
        """Whether it stands in a list of values of one dimension: "direct, distributor and web"."""
        mine = {candidate.target for candidate in span.of("value")}
        if self.found.values and self.last_role in ("value", "not") and {"and", "or"} & set(self.pending):
            return bool(mine & {candidate.target for candidate in self.found.values[-1].candidates})
        if span.has("metric", "dimension"):
            return False
        for at in range(self.at, len(self.spans) - 1, 2):
            between, following = self.spans[at], self.spans[at + 1]
            if not (between.text == "," or between.has("and", "or")) or not following.has("value"):
                return False
            if mine & {item.target for item in following.of("value") if not item.weak}:
                return True
        return False

    def _names_next(self, span: Span) -> bool:
        """Whether a dimension follows at once: "by DACH country"."""
        following = self._peek()
        return following is not None and following.has("dimension")

    def _beside(self, span: Span) -> list[Candidate]:
        """The values whose dimension is named just before or after."""
        names: set[str] = set()
        for offset in (self.at - 2, self.at):
            if 0 <= offset < len(self.spans):
                names |= {candidate.target for candidate in self.spans[offset].of("dimension")}
        return [candidate for candidate in span.of("value") if candidate.target in names]

    def _empty(self, span: Span, *, negated: bool) -> None:
        """ "without an account manager": rows that have no value."""
        self.found.empties.append((span, negated))
        if "not" in self.pending:
            self.negations.pop()
        self._used(span, "filter")
        self.last_role, self.pending = "value", []


class PhraseReader(ValueReader):
    """Takes figures, dimensions and times."""

    def _content(self, span: Span) -> None:
        grouped = self._links() == "group"
        if span.has("periodic"):
            self._grain(span, span.of("periodic")[0].target)
        elif span.has("grain"):
            asked = grouped or self.pending_which is not None or (self.last_role == "group" and "and" in self.pending)
            if self._counts_members(span):
                self._count(span)
            asked = asked or self.found.counted is span or self._condition_later(span)
            mean = self._before(span) in ("average", "mean", "avg") and not span.plural
            if asked or self.pending_rank or mean:
                self._grain(span, span.of("grain")[0].target)
            else:
                self._unknown(span)
        elif span.has("adjective"):
            self._group(span)
        elif span.has("value") and self._value_fits(span) and (not grouped or self._names_next(span)):
            self._value(span, keep=grouped)
        elif span.has("dimension") and self._counts_members(span):
            self._count(span)
            self._group(span)
        elif span.has("dimension") and self._is_dimension(span, grouped):
            self._dimension(span, grouped)
        elif span.has("metric"):
            self._metric(span, grouped)
        elif span.has("dimension"):
            self._dimension(span, grouped)
        else:
            self._unknown(span)

    def _count(self, span: Span) -> None:
        """Takes "how many" away from the figure: the members are counted."""
        self.found.counted = span
        if self.found.units:
            self.found.units.pop()

    def _is_dimension(self, span: Span, grouped: bool) -> bool:
        """Whether a phrase that may also be a figure ("customers", "services") is meant as a dimension here."""
        if not span.has("metric") or self._followed_by_metric():
            return True
        if grouped or self.pending_which is not None:
            return not (self.pending_rank and self.found.groups)
        if self.pending_rank:
            return self.rank_counted or self._followed_by_metric()
        if self.last_role == "group" and "and" in self.pending:
            return True
        before = self.spans[self.at - 2] if self.at >= 2 else None
        beside_value = before is not None and before.has("value") and self.last_role in ("value", "not")
        return bool(self.found.metrics) and ("prep" in self.pending or "part" in self.pending or beside_value)

    def _followed_by_metric(self) -> bool:
        at = self.at
        while at + 1 < len(self.spans) and self.spans[at].has("prep") and self.spans[at + 1].has("value"):
            at += 2  # "customers in Spain with the most orders"
        following = self.spans[at : at + 2]
        if len(following) < 2 or self.found.metrics:
            return False
        if self._condition_later(self.spans[self.at - 1]):
            return True
        if following[0].has("condition") and number_of(following[1]) is not None:
            return True
        with_rank = following[0].has("prep") and following[1].has("rank", "best", "worst", "condition")
        return with_rank or (following[0].has("group") and following[1].has("metric"))

    def _dimension(self, span: Span, grouped: bool) -> None:
        if "not" in self.pending:
            self._empty(span, negated=False)
            return
        listed = self.last_role == "group" and "and" in self.pending
        ranked = self.pending_rank and not self.found.groups
        if (
            (grouped and not self._all_follows())
            or self.pending_which is not None
            or listed
            or ranked
            or self._followed_by_metric()
            or (self.found.compare and span.plural)
            or (self.found.size and span.plural and not self.found.metrics)
        ):
            self._group(span)
        elif self._carries(span) or self._is_companion(span):
            self.found.carriers.append(span)
            self._used(span, "names what is filtered")
            self.pending = []
        elif "with" in self._words_before(span) and not span.plural and self.found.metrics:
            self._empty(span, negated=True)
        else:
            self._unknown(span)

    def _all_follows(self) -> bool:
        before = self.spans[self.at - 2] if self.at >= 2 else None
        return before is not None and before.text.lower() == "all"

    def _words_before(self, span: Span) -> list[str]:
        before = self.spans[self.at - 2] if self.at >= 2 else None
        return before.text.lower().split() if before is not None else []

    def _carries(self, span: Span) -> bool:
        """Whether the phrase only names what a value beside it is: "the DACH region", "customers in Germany"."""
        targets = {candidate.target for candidate in span.of("dimension")}
        before = self.spans[self.at - 2] if self.at >= 2 else None
        following = self._peek()
        if before is not None and before.has("value"):
            return True
        if following is None:
            return False
        if following.has("value") and targets & {candidate.target for candidate in following.of("value")}:
            return True
        after = self.spans[self.at + 1] if self.at + 1 < len(self.spans) else None
        return following.has("prep", "not") and after is not None and after.has("value")

    def _group(self, span: Span) -> None:
        if self.pending_which is not None or self.pending_rank:
            self.found.rank_singular = not span.plural
        if self.found.ranked is None and (self.pending_which or self.pending_rank or self.count_ahead):
            self.found.ranked = span
        elif self._links() == "group":
            self.found.within.append(span)
        self.found.groups.append(span)
        self._used(span, "split")
        self._settle()
        self.last_role = "group"

    def _grain(self, span: Span, grain: str) -> None:
        if self.found.grain is not None and self.found.grain != grain:
            self._unknown(span, "two kinds of period cannot be asked at once")
            return
        if self.pending_which is not None or self.pending_rank:
            self.found.rank_singular = not span.plural
        self.found.grain = grain
        self.found.every = self.found.every or span.text.lower().endswith(_EVERY) or self._before(span).endswith(_EVERY)
        self._used(span, "period")
        self._settle()
        self.last_role = "group"

    def _settle(self) -> None:
        self.pending = []
        self.pending_which = None
        if self.found.which is not None and not self.pending_rank:
            return
        self.pending_rank = False

    def _metric(self, span: Span, grouped: bool) -> None:
        mine = {item.target for item in span.of("metric")}
        known = [item for item in self.found.metrics if mine & {other.target for other in item.of("metric")}]
        link = self._links()
        ranks = grouped and bool(self.found.rank or self.found.note or self.found.groups)
        ratio = bool(self.found.metrics) and (self.share_link or self._before(span) in ("per", "relative to"))
        self.share_link = False
        if ratio and len(self.found.metrics) == 1:
            self.found.ratio = True
            self.found.metrics.append(span)
            self._used(span, "figure")
        elif "not" in self.pending or (grouped and not ranks):
            self._unknown(span)
        elif self.found.dependence and not self.found.metrics and self.last_role == "value":
            self._unknown(span, "it is not said which figure depends on it")
        elif link == "versus" and not self.found.metrics and not self.found.ambiguous:
            self._unknown(span, "it is not said which figure is held against it")
        elif known:
            self._used(span, "figure")
        elif self.found.metrics and not self._may_follow(link):
            self._second(span)
        else:
            self.found.against |= bool(self.found.metrics) and link == "versus"
            self.found.metrics.append(span)
            self._used(span, "figure")
        self.last_role, self.pending, self.pending_rank = "metric", [], False
        if span.has("dimension"):
            self.pending_which = self.pending_which if self.found.groups else None

    def _second(self, span: Span) -> None:
        """A second figure that nothing joins: a noun of the first one, a word that narrows it, or unknown."""
        earlier = self.found.metrics[-1]
        if self._is_companion(span):
            self._used(span, "belongs to the figure")
        elif {item.target for item in earlier.of("companion")} & {item.target for item in span.of("metric")}:
            self.found.metrics[-1] = span
            self._used(span, "figure")
        elif span.has("modifier"):
            self.found.modifiers.append(span)
            self._used(span, "narrows the figure")
        else:
            self._unknown(span, "a second figure is not joined by and")

    def _may_follow(self, link: str) -> bool:
        if self.last_role != "metric" and not (self.last_role == "time" and self.found.compare):
            return False
        joined = self.found.compare or self.found.gap is not None or self.found.quotient is not None
        return link in ("and", "versus") or (joined and link == "prep")

    def _time(self, span: Span, mention: TimeMention) -> None:
        if "not" in self.pending:
            self._unknown(span)
            return
        following = self._peek()
        if mention.relative and not self.found.metrics and following is not None and following.text.lower() in _WITH:
            self._unknown(span, f"{span.text!r} may mean the one before this, or the latest that had any")
            return
        compared = "versus" in self.pending or mention.kind == "comparison"
        before = self._before(span)
        if before == "through":
            self._unknown(span, "'through' may mean until or during")
            return
        if before == "from":
            mention = mention.model_copy(update={"opens": True})
        if self._links() == "group" and not (before == "by" and mention.time_range.label == "now"):
            if not re.search(r"each|every|per|across", before) or (before != "across" and mention.unit is None):
                self._unknown(span, f"{before!r} before a time may mean until or during")
                return
            if before != "across" and self.found.grain is None:
                self.found.grain = mention.unit
        self.found.times.append((mention, compared))
        self.found.time_connectors.append(self._joined_by())
        self.found.time_words.append(before)
        self._used(span, "time")
        self.last_role, self.pending = "time", []
        self.pending_rank = False if self.found.metrics else self.pending_rank
