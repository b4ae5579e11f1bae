"""Reads a cut-up question: which phrase is the figure, which splits it, which filters it, and how it is calculated.

A small grammar, on purpose strict: a phrase that stands where it has no role (a second figure after "from", a dimension
without "by") is not understood, and the question is then not answered as complete. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from rag_core.semantics.lexicon import Candidate
from rag_core.semantics.segment import Span
from rag_core.semantics.time_words import NUMBERS
from rag_core.semantics.times import TimeMention
from rag_core.semantics.vocabulary import MULTIPLIERS

CONNECTORS = ("group", "part", "prep", "and", "or", "versus", "not")


@dataclass
class ValueUse:
    """A value that filters; `role` says how it stands: before a share, after "came from", after "and" ..."""

    span: Span
    candidates: list[Candidate]
    negated: bool
    connector: str
    before_share: bool
    attributive: bool


@dataclass
class Reading:
    """What was read. Everything in it still has the meanings that the words allow; `resolve` chooses among them."""

    metrics: list[Span] = field(default_factory=list)
    groups: list[Span] = field(default_factory=list)
    values: list[ValueUse] = field(default_factory=list)
    times: list[tuple[TimeMention, bool]] = field(default_factory=list)
    time_connectors: list[str] = field(default_factory=list)
    carriers: list[Span] = field(default_factory=list)
    empties: list[tuple[Span, bool]] = field(default_factory=list)
    units: list[Span] = field(default_factory=list)
    conditions: list[tuple[str, Decimal, Span]] = field(default_factory=list)
    modifiers: list[Span] = field(default_factory=list)
    companions: list[Span] = field(default_factory=list)
    ratio: bool = False
    against: bool = False
    apart: bool = False
    amount: bool = False
    grain: str | None = None
    rank: str | None = None
    rank_count: int | None = None
    rank_singular: bool = False
    note: str | None = None
    change: int | None = None
    share: bool = False
    running: bool = False
    trend: bool = False
    average: bool = False
    average_span: Span | None = None
    compare: bool = False
    total: bool = False
    which: Span | None = None
    used: list[tuple[Span, str]] = field(default_factory=list)
    unmatched: list[Span] = field(default_factory=list)
    ambiguous: list[Span] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)


class Reader:
    """Walks over the spans once, remembering what stood between the last phrase and this one."""

    def __init__(self, spans: list[Span]) -> None:
        self.spans = spans
        self.at = 0
        self.found = Reading()
        self.pending: list[str] = []
        self.last_role = ""
        self.pending_which: Span | None = None
        self.pending_rank = False
        self.average_span: Span | None = None
        self.count_ahead: tuple[int, Span] | None = None
        self.share_link = False
        self.negations: list[Span] = []

    def read(self) -> Reading:
        """The reading of all spans."""
        while self.at < len(self.spans):
            span = self.spans[self.at]
            self.at += 1
            self._take(span)
        self._finish()
        return self.found

    def _take(self, span: Span) -> None:
        if span.has("what"):
            following = self._peek()
            if following is not None and following.has("dimension", "grain"):
                self._which(span)
            return
        if self._is_all_but(span):
            self.at += 1
            return
        if span.sign:
            if span.text == ",":
                self.pending.append("and")
            return
        if not span.known:
            following = self._peek()
            if _number(span) is not None and following is not None and following.has("dimension", "grain"):
                self.count_ahead = (_number(span) or 0, span)
            else:
                self._unknown(span)
        elif span.mention is not None:
            self._time(span, span.mention)
        elif span.has("ambiguous") and not span.has("metric"):
            self._vague(span)
        elif span.has("metric", "dimension", "adjective", "value", "grain", "periodic"):
            self._content(span)
        else:
            self._word(span)

    def _vague(self, span: Span) -> None:
        """A word with several meanings; the resolver may find that only one can be answered."""
        self.found.ambiguous.append(span)
        self.last_role, self.pending = "metric", []

    # -------------------------------------------------------------- words of calculation

    def _word(self, span: Span) -> None:
        if span.has("condition") and self._condition(span):
            return
        if span.has("rank", "best", "worst"):
            self._rank(span)
            return
        if span.has("modifier"):
            self.found.modifiers.append(span)
            self._used(span, "narrows the figure")
            self.last_role = "modifier"
            return
        if span.has("which"):
            self._which(span)
            return
        for kind in ("share", "running", "trend", "average", "compare", "total"):
            if span.has(kind):
                setattr(self.found, kind, True)
                self._used(span, kind)
                if kind == "average":
                    self.average_span = span
                if kind == "share":
                    self.share_link = self.last_role == "metric"
                self.pending = [name for name in self.pending if name != "prep"]
                return
        if span.has("split"):
            self.found.compare = True
            self._used(span, "compare")
            return
        if span.has("change"):
            direction = span.of("change")[0].value
            self.found.amount |= span.text.lower().startswith(("by how", "by what", "how many", "how much"))
            self.found.change = direction or self.found.change or 0
            self._used(span, "change")
            self.pending = []
            return
        if span.has("unit"):
            self.found.units.append(span)
            self._used(span, "unit")
            return
        if span.has("note"):
            self.found.note = span.of("note")[0].target
            self._used(span, "order")
            return
        if span.has("rank_verb"):
            self.found.note = self.found.note or "descending"
            self.pending_which = self.pending_which or span
            self._used(span, "order")
            return
        for kind in CONNECTORS:
            if span.has(kind):
                self._connector(span, kind)
                return
        if span.has("companion"):
            self.found.companions.append(span)
            return
        self._used(span, "said without meaning")

    def _connector(self, span: Span, kind: str) -> None:
        if kind == "not":
            self.negations.append(span)
        if kind == "prep" and span.has("versus") and (self.found.compare or self.found.times or self.found.metrics):
            kind = "versus" if span.text.lower() == "against" else kind
        if span.has("prep") and span.has("group"):
            kind = "group"
        self.pending.append(kind)

    def _rank(self, span: Span) -> None:
        following = self._peek()
        count = _number(following) if following is not None and span.text.lower() in _COUNTED else None
        before = self.spans[self.at - 2] if self.at >= 2 else None
        if count is not None:
            self.at += 1
        elif before is not None and self.found.unmatched and self.found.unmatched[-1] is before:
            count = _number(before)
            if count is not None:
                self.found.unmatched.pop()
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
            self.pending.append("prep")
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

    # -------------------------------------------------------------- phrases of the model

    def _content(self, span: Span) -> None:
        grouped = self._links() == "group"
        if span.has("periodic"):
            self._grain(span, span.of("periodic")[0].target)
        elif span.has("grain"):
            asked = grouped or self.pending_which is not None or (self.last_role == "group" and "and" in self.pending)
            if asked or self.pending_rank:
                self._grain(span, span.of("grain")[0].target)
            else:
                self._unknown(span)
        elif span.has("adjective"):
            self._group(span)
        elif span.has("value") and self._value_fits(span) and (not grouped or self._names_next(span)):
            self._value(span, keep=grouped)
        elif span.has("dimension") and self._is_dimension(span, grouped):
            self._dimension(span, grouped)
        elif span.has("metric"):
            self._metric(span, grouped)
        elif span.has("dimension"):
            self._dimension(span, grouped)
        else:
            self._unknown(span)

    def _is_all_but(self, span: Span) -> bool:
        """ "All segments except ...": names what the exception is one of."""
        following = self.spans[self.at : self.at + 2]
        return (
            span.text.lower() == "all"
            and len(following) == 2
            and following[0].has("dimension")
            and following[1].has("not")
        )

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
        following = self.spans[self.at : self.at + 2]
        joined = len(following) == 2 and (following[0].text == "," or following[0].has("and", "or"))
        strong = [item.target for item in following[1].of("value") if not item.weak] if joined else []
        return joined and not span.has("metric", "dimension") and bool(mine & set(strong))

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
        attributive = attributive and joined == "and"
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

    def _joined_by(self) -> str:
        before = self.spans[self.at - 2] if self.at >= 2 else None
        if self.last_role == "value" and before is not None and before.text.lower() in ("to", "through", "-"):
            return "range"
        for kind in ("versus", "part", "or", "and", "prep"):
            if kind in self.pending:
                return kind
        return ""

    def _is_dimension(self, span: Span, grouped: bool) -> bool:
        """Whether a phrase that may also be a figure ("customers", "services") is meant as a dimension here."""
        if not span.has("metric") or self._followed_by_metric():
            return True
        if grouped or self.pending_which is not None:
            return not (self.pending_rank and self.found.groups)
        if self.pending_rank:
            return self.found.rank_count is not None or self._followed_by_metric()
        if self.last_role == "group" and "and" in self.pending:
            return True
        before = self.spans[self.at - 2] if self.at >= 2 else None
        beside_value = before is not None and before.has("value") and self.last_role in ("value", "not")
        return bool(self.found.metrics) and ("prep" in self.pending or "part" in self.pending or beside_value)

    def _followed_by_metric(self) -> bool:
        following = self.spans[self.at : self.at + 2]
        if len(following) < 2 or self.found.metrics:
            return False
        if following[0].has("condition") and _number(following[1]) is not None:
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
        ):
            self._group(span)
        elif self._carries(span) or self._is_companion(span):
            self.found.carriers.append(span)
            self._used(span, "names what is filtered")
            self.pending = []
        elif "with" in [text for text in self._words_before(span)] and not span.plural and self.found.metrics:
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

    def _empty(self, span: Span, *, negated: bool) -> None:
        """ "without an account manager": rows that have no value."""
        self.found.empties.append((span, negated))
        if "not" in self.pending:
            self.negations.pop()
        self._used(span, "filter")
        self.last_role, self.pending = "value", []

    def _group(self, span: Span) -> None:
        if self.pending_which is not None or self.pending_rank:
            self.found.rank_singular = not span.plural
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
        """A second figure that nothing joins: a noun that belongs to the other one, a word that narrows it, or unknown."""
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

    def _is_companion(self, span: Span) -> bool:
        named = {item.target for metric in self.found.metrics for item in metric.of("metric")}
        return bool(named & {item.target for item in span.of("companion")})

    def _before(self, span: Span) -> str:
        return self.spans[self.at - 2].text.lower() if self.at >= 2 else ""

    def _may_follow(self, link: str) -> bool:
        if self.last_role != "metric" and not (self.last_role == "time" and self.found.compare):
            return False
        return link in ("and", "versus") or (self.found.compare and link == "prep")

    def _time(self, span: Span, mention: TimeMention) -> None:
        if "not" in self.pending:
            self._unknown(span)
            return
        compared = "versus" in self.pending or mention.kind == "comparison"
        before = self._before(span)
        if before == "through":
            self._unknown(span, "'through' may mean until or during")
            return
        if before == "from":
            mention = mention.model_copy(update={"opens": True})
        if self._links() == "group":
            if not re.search(r"each|every|per|across", before) or (before != "across" and mention.unit is None):
                self._unknown(span, f"{before!r} before a time may mean until or during")
                return
            if before != "across" and self.found.grain is None:
                self.found.grain = mention.unit
        self.found.times.append((mention, compared))
        self.found.time_connectors.append(self._joined_by())
        self._used(span, "time")
        self.last_role, self.pending = "time", []
        self.pending_rank = False if self.found.metrics else self.pending_rank

    # -------------------------------------------------------------- bookkeeping

    def _links(self) -> str:
        """The nearest connector before this phrase."""
        return self.pending[-1] if self.pending else ""

    def _peek(self) -> Span | None:
        return self.spans[self.at] if self.at < len(self.spans) else None

    def _used(self, span: Span, role: str) -> None:
        self.found.used.append((span, role))

    def _unknown(self, span: Span, reason: str = "") -> None:
        self.found.unmatched.append(span)
        if reason:
            self.found.reasons.append(reason)
        self.pending = []

    def _finish(self) -> None:
        if self.pending_which is not None and not self.found.groups and self.found.grain is None:
            self.found.unmatched.append(self.pending_which)
        if self.count_ahead is not None:
            self.found.unmatched.append(self.count_ahead[1])
        self.found.average_span = self.average_span
        self.found.unmatched.extend(self.negations)
        if self.negations:
            self.found.reasons.append("something is excluded that is not known")


_COUNTED = ("top", "bottom", "best", "worst", "highest", "lowest", "largest", "smallest", "biggest", "the highest",
            "the largest", "the biggest", "the lowest", "most", "leading")  # fmt: skip


def _number(span: Span | None) -> int | None:
    if span is None:
        return None
    word = span.text.lower()
    if word in NUMBERS:
        return NUMBERS[word]
    return int(word) if word.isdigit() and 0 < int(word) <= 1000 else None
