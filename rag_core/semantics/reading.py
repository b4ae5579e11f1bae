"""What a reading consists of, and the place where a reader is in the question. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from rag_core.semantics.lexicon import Candidate
from rag_core.semantics.segment import Span
from rag_core.semantics.time_words import NUMBERS
from rag_core.semantics.times import TimeMention


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
    change_span: Span | None = None
    share: bool = False
    running: bool = False
    trend: bool = False
    average: bool = False
    average_span: Span | None = None
    compare: bool = False
    total: bool = False
    summed: bool = False
    which: Span | None = None
    asks: Span | None = None
    size: bool = False
    size_of: Span | None = None
    ranked: Span | None = None
    within: list[Span] = field(default_factory=list)
    course: bool = False
    dependence: bool = False
    gap: Span | None = None
    quotient: Span | None = None
    combine: bool = False
    percent: bool = False
    relation: str | None = None
    none: bool = False
    counted: Span | None = None
    modifier_negated: Span | None = None
    place: int | None = None
    every: bool = False
    time_words: list[str] = field(default_factory=list)
    used: list[tuple[Span, str]] = field(default_factory=list)
    unmatched: list[Span] = field(default_factory=list)
    ambiguous: list[Span] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)


class ReaderState:
    """The spans, the place among them, and what stood between the last phrase and this one."""

    def __init__(self, spans: list[Span]) -> None:
        self.spans = spans
        self.at = 0
        self.found = Reading()
        self.pending: list[str] = []
        self.last_role = ""
        self.pending_which: Span | None = None
        self.pending_rank = False
        self.count_ahead: tuple[int, Span] | None = None
        self.share_link = False
        self.negations: list[Span] = []
        self.rank_counted = False
        self.compares: list[Span] = []

    def _links(self) -> str:
        """The nearest connector before this phrase."""
        return self.pending[-1] if self.pending else ""

    def _peek(self) -> Span | None:
        return self.spans[self.at] if self.at < len(self.spans) else None

    def _before(self, span: Span) -> str:
        return self.spans[self.at - 2].text.lower() if self.at >= 2 else ""

    def _used(self, span: Span, role: str) -> None:
        self.found.used.append((span, role))

    def _unknown(self, span: Span, reason: str = "") -> None:
        self.found.unmatched.append(span)
        if reason:
            self.found.reasons.append(reason)
        self.pending = []

    def _is_companion(self, span: Span) -> bool:
        named = {item.target for metric in self.found.metrics for item in metric.of("metric")}
        return bool(named & {item.target for item in span.of("companion")})

    def _joined_by(self) -> str:
        before = self.spans[self.at - 2] if self.at >= 2 else None
        if self.last_role == "value" and before is not None and before.text.lower() in ("to", "through", "-"):
            return "range"
        for kind in ("versus", "part", "or", "and", "prep"):
            if kind in self.pending:
                return kind
        return ""


def number_of(span: Span | None) -> int | None:
    """The number that a span is, in digits or words, up to 1000; None where it is none."""
    if span is None:
        return None
    word = span.text.lower()
    if word in NUMBERS:
        return NUMBERS[word]
    return int(word) if word.isdigit() and 0 < int(word) <= 1000 else None
