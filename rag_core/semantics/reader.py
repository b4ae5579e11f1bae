"""Reads a cut-up question: which phrase is the figure, which splits it, which filters it, and how it is calculated.

A small grammar, on purpose strict: a phrase that stands where it has no role (a second figure after "from", a dimension
without "by") is not understood, and the question is then not answered as complete. Pure.
"""

from __future__ import annotations

from rag_core.semantics.read_phrases import PhraseReader
from rag_core.semantics.reading import Reading, number_of
from rag_core.semantics.segment import Span

LISTING = ("what are the", "what were the", "which are the", "which were the")


class Reader(PhraseReader):
    """Walks over the spans once."""

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
            if number_of(span) is not None and following is not None and following.has("dimension", "grain"):
                self.count_ahead = (number_of(span) or 0, span)
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

    def _is_all_but(self, span: Span) -> bool:
        """ "All segments except ...": names what the exception is one of."""
        following = self.spans[self.at : self.at + 2]
        return (
            span.text.lower() == "all"
            and len(following) == 2
            and following[0].has("dimension")
            and following[1].has("not")
        )

    def _vague(self, span: Span) -> None:
        """A word with several meanings; the resolver may find that only one can be answered."""
        self.found.ambiguous.append(span)
        self.last_role, self.pending = "metric", []

    def _finish(self) -> None:
        if self.pending_which is not None and not self.found.groups and self.found.grain is None:
            if self.pending_which.has("asks") and self.pending_which.first == 0:
                self.found.asks = self.pending_which
                self._used(self.pending_which, "split")
            elif self.found.metrics and self.pending_which.text.lower() in LISTING:
                self._used(self.pending_which, "said without meaning")  # "what were the customers lost ... worth"
            else:
                self.found.unmatched.append(self.pending_which)
        if self.count_ahead is not None:
            self.found.unmatched.append(self.count_ahead[1])
        # "More orders in May than in April" compares periods; else the word compares what is not there.
        if not any(compared for _, compared in self.found.times):
            self.found.unmatched.extend(self.compares)
        self.found.unmatched.extend(self.negations)
        if self.negations:
            self.found.reasons.append("something is excluded that is not known")
