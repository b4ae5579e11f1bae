"""Understands a question in plain English over the semantic model, without any chat model. Pure and deterministic."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import islice, product
from typing import Any

from rag_core.datamodel.base import Record
from rag_core.datamodel.plan import MetricQuery
from rag_core.semantics.compile import compile_query
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.fillers import EMPTY_WORDS
from rag_core.semantics.lexicon import Lexicon
from rag_core.semantics.paths import SemanticError
from rag_core.semantics.reader import Reader
from rag_core.semantics.reading import Reading
from rag_core.semantics.resolve import Resolver
from rag_core.semantics.segment import Span, segment
from rag_core.semantics.spelling import MIN_LENGTH, NearMiss, Speller
from rag_core.semantics.time_words import MONTHS, NUMBERS, TIME_WORDS
from rag_core.semantics.unclear import Unclear
from rag_core.semantics.values import ValueIndex
from rag_core.semantics.verified import VerifiedMatch, match_verified
from rag_core.semantics.words import Word, whole_word, words

__all__ = ["Ambiguity", "Match", "MatchedSpan", "Matcher", "NearMiss", "match_question"]

# Words as near as another are tried in so many combinations.
MAX_SPELLINGS = 12


class MatchedSpan(Record):
    """A stretch of the question, at characters [start, end), with what it was taken for."""

    text: str
    start: int
    end: int
    role: str
    meaning: str


class Ambiguity(Record):
    """Words with more than one meaning, as a question back to the asker."""

    text: str
    question: str
    options: tuple[str, ...] = ()


class Match(Record):
    """What a question means.

    Only a `complete` match may be answered as the whole question. `query` may be set while words are unmatched: it is
    then the part that was understood. `confidence` is 1 for a complete match, less 0.05 for each assumption, 0 where
    nothing may be answered, and 0.3 for a part. `near_misses` are words nearly of the model; where the question
    would be complete with them, they are asked back among `ambiguous`, not listed as unmatched, and `query` is None.
    """

    query: MetricQuery | None = None
    verified: VerifiedMatch | None = None
    spans: tuple[MatchedSpan, ...] = ()
    unmatched: tuple[str, ...] = ()
    ambiguous: tuple[Ambiguity, ...] = ()
    assumptions: tuple[str, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()
    reason: str = ""
    confidence: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether every content word is explained and one meaning is left."""
        return (self.query is not None or self.verified is not None) and not (self.unmatched or self.ambiguous)


class Matcher:
    """Matches questions against one model and its values; build it once, it holds the phrases of both."""

    def __init__(self, model: SemanticModel, values: ValueIndex) -> None:
        self.model = model
        self.values = values
        self._lexicon = Lexicon(model, values)
        plain = [(word, word) for word in (*MONTHS, *NUMBERS, *EMPTY_WORDS, *TIME_WORDS)]
        self._speller = Speller([*self._lexicon.surfaces.items(), *plain])

    def match(self, text: str, run_date: date) -> Match:
        """The meaning of a question, on the date that its relative times refer to."""
        found = self._match(text, run_date)
        if found.complete:
            return found
        unknown = [word for word in words(text) if whole_word(text, word.start, word.end) in found.unmatched]
        near = tuple(miss for word in unknown if (miss := self._speller.near(word)) is not None)
        if not near:
            return found
        right = self._put_right(text, unknown, near, run_date)
        if right is None:
            return found.model_copy(update={"near_misses": near})
        near = right
        asked = tuple(
            Ambiguity(text=miss.word, question=_did_you_mean(miss), options=miss.suggestions) for miss in near
        )
        update = {"query": None, "verified": None, "unmatched": (), "ambiguous": asked, "near_misses": near}
        return found.model_copy(update={**update, "reason": asked[0].question, "confidence": 0.0})

    def _put_right(
        self, text: str, unknown: Sequence[Word], near: tuple[NearMiss, ...], run_date: date
    ) -> tuple[NearMiss, ...] | None:
        """The near words that make the question understood, or but to be asked back; None where none do.

        Of words that are as near, those that do come first. A word too short to be told (`hw`) is left out.
        """
        known = {miss.start for miss in near}
        rest = [word for word in unknown if word.start not in known and not self._speller.knows(word)]
        if any(len(word.text) >= MIN_LENGTH for word in rest):
            return None
        for chosen in islice(product(*(miss.suggestions for miss in near)), MAX_SPELLINGS):
            changes = [(miss.start, miss.end, word) for miss, word in zip(near, chosen, strict=True)]
            changes += [(word.start, word.end, "") for word in rest]
            right = text
            for start, end, word in sorted(changes, reverse=True):
                right = right[:start] + word + right[end:]
            found = self._match(right, run_date)
            if found.complete or (found.ambiguous and not found.unmatched):
                pairs = zip(near, chosen, strict=True)
                return tuple(self._kept(miss, word) for miss, word in pairs)
        return None

    @staticmethod
    def _kept(miss: NearMiss, word: str) -> NearMiss:
        """The miss with the word that fits first among those as near."""
        return miss.model_copy(update={"suggestions": (word, *(other for other in miss.suggestions if other != word))})

    def _match(self, text: str, run_date: date) -> Match:
        verified = match_verified(text, self.model, self.values, run_date)
        if verified is not None:
            return Match(verified=verified, reason=verified.description, confidence=1.0)
        spans = segment(text, self._lexicon, run_date)
        reading = Reader(spans).read()
        resolver = Resolver(self.model, self.values, run_date)
        outcome: dict[str, Any] = {}
        ambiguous: list[Ambiguity] = []
        try:
            resolved = resolver.resolve(reading)
            compile_query(resolved.query, self.model, self.model.dialect)
        except Unclear as unclear:
            if unclear.options:
                ambiguous.append(Ambiguity(text=unclear.text, question=unclear.reason, options=unclear.options))
            outcome["reason"] = unclear.reason
        except SemanticError as error:
            outcome["reason"] = str(error)
        else:
            outcome["query"] = resolved.query
            outcome["assumptions"] = tuple(dict.fromkeys(resolved.assumptions))
        outcome["unmatched"] = unmatched = _unmatched(text, reading)
        ambiguous.extend(self._ambiguous(span) for span in reading.ambiguous)
        if not outcome.get("reason") or ambiguous:
            outcome["reason"] = _reason(unmatched, reading, ambiguous)
        return Match(
            **outcome,
            ambiguous=tuple(ambiguous),
            spans=_spans(reading, resolver),
            confidence=_confidence(outcome, ambiguous),
        )

    def _ambiguous(self, span: Span) -> Ambiguity:
        names = span.of("ambiguous")[0].value
        labels = tuple(self.model.label(name) for name in names)
        return Ambiguity(text=span.text, question=f"{span.text!r} may mean {' or '.join(labels)}", options=labels)


def match_question(text: str, model: SemanticModel, values: ValueIndex, run_date: date) -> Match:
    """The meaning of one question; for many questions keep a Matcher."""
    return Matcher(model, values).match(text, run_date)


def _did_you_mean(miss: NearMiss) -> str:
    return f"{miss.word!r} is not known: did you mean {' or '.join(miss.suggestions)}?"


def _unmatched(text: str, reading: Reading) -> tuple[str, ...]:
    found = [whole_word(text, span.start, span.end) for span in sorted(reading.unmatched, key=lambda span: span.start)]
    return tuple(dict.fromkeys(word for word in found if word))


def _reason(unmatched: tuple[str, ...], reading: Reading, ambiguous: list[Ambiguity]) -> str:
    if ambiguous:
        return ambiguous[0].question
    if unmatched:
        extra = f" ({'; '.join(dict.fromkeys(reading.reasons))})" if reading.reasons else ""
        return f"not understood: {', '.join(unmatched)}{extra}"
    return ""


def _confidence(outcome: dict[str, Any], ambiguous: list[Ambiguity]) -> float:
    if outcome.get("query") is None or ambiguous:
        return 0.0
    if outcome["unmatched"]:
        return 0.3
    return round(max(0.7, 1.0 - 0.05 * len(outcome.get("assumptions", ()))), 2)


def _spans(reading: Reading, resolver: Resolver) -> tuple[MatchedSpan, ...]:
    found = []
    for span, role in sorted(reading.used, key=lambda item: item[0].start):
        meaning = resolver.meanings.get((span.start, span.end), role)
        if span.mention is not None:
            label = span.mention.time_range
            meaning = span.mention.comparison or f"{label.start or ''} to before {label.end or ''}".strip()
        found.append(MatchedSpan(text=span.text, start=span.start, end=span.end, role=role, meaning=meaning))
    return tuple(found)
