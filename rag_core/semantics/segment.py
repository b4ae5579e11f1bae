"""Cuts a question into phrases that are understood and words that are not. Pure and deterministic."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from rag_core.semantics.fillers import EMPTY_WORDS, SKIPPED
from rag_core.semantics.lexicon import Candidate, Lexicon
from rag_core.semantics.times import TimeMention, find_times
from rag_core.semantics.words import PUNCTUATION, Word, words

# An unknown word weighs more than any number of phrases: a reading that explains every word wins. An empty word weighs
# more than a phrase, so that it is read as part of one where it can be; a time wins over an equal phrase.
UNKNOWN, EMPTY, FUNCTION, PHRASE, TIME, SIGN = 1000, 12, 1, 10, 9, 0


@dataclass(frozen=True)
class Span:
    """A stretch of the question: words [first, last) at characters [start, end), with what it may mean.

    No candidates and `known` False: a word that nothing explains. A sign keeps its text and has no candidates.
    """

    first: int
    last: int
    start: int
    end: int
    text: str
    candidates: tuple[Candidate, ...] = ()
    known: bool = True
    mention: TimeMention | None = None
    plural: bool = False

    def has(self, *kinds: str) -> bool:
        """Whether one of its meanings is of one of these kinds."""
        return any(candidate.kind in kinds for candidate in self.candidates)

    def of(self, *kinds: str) -> list[Candidate]:
        """Its meanings of these kinds."""
        return [candidate for candidate in self.candidates if candidate.kind in kinds]

    @property
    def sign(self) -> bool:
        """Whether it is a punctuation mark."""
        return self.text in PUNCTUATION


def segment(text: str, lexicon: Lexicon, run_date: date) -> list[Span]:
    """The cheapest way to explain the whole text, left to right; among equals the one with the longer phrase first.

    Words without meaning are left out; signs are kept, they part clauses.
    """
    tokens = words(text)
    mentions = _by_word(tokens, find_times(text, run_date))
    best: list[tuple[int, int]] = [(0, 0)] * (len(tokens) + 1)
    choice: list[Span | None] = [None] * (len(tokens) + 1)
    for at in range(len(tokens) - 1, -1, -1):
        options = [(cost + best[span.last][0], -(span.last - span.first), span) for cost, span in
                   _options(text, tokens, at, lexicon, mentions)]  # fmt: skip
        cost, length, span = min(options, key=lambda option: option[:2])
        best[at], choice[at] = (cost, length), span
    spans: list[Span] = []
    at = 0
    while at < len(tokens):
        chosen = choice[at]
        assert chosen is not None
        if chosen.candidates or chosen.mention or not chosen.known or chosen.sign:
            spans.append(chosen)
        at = chosen.last
    return spans


def _options(
    text: str, tokens: list[Word], at: int, lexicon: Lexicon, mentions: dict[int, tuple[int, TimeMention]]
) -> list[tuple[int, Span]]:
    token = tokens[at]
    if token.key in PUNCTUATION:
        return [(SIGN, _span(text, tokens, at, at + 1))]
    options: list[tuple[int, Span]] = []
    if at in mentions:
        last, mention = mentions[at]
        options.append((TIME, _span(text, tokens, at, last, (Candidate("time"),), mention=mention)))
    for last, skipped, candidates in lexicon.matches(tokens, at):
        options.append((PHRASE + FUNCTION * skipped, _span(text, tokens, at, last, candidates)))
    if token.key in EMPTY_WORDS:
        options.append((FUNCTION if token.key in SKIPPED else EMPTY, _span(text, tokens, at, at + 1)))
    if not options:
        options.append((UNKNOWN, _span(text, tokens, at, at + 1, known=False)))
    else:
        options.append((UNKNOWN + 1, _span(text, tokens, at, at + 1, known=False)))
    return options


def _span(
    text: str,
    tokens: list[Word],
    first: int,
    last: int,
    candidates: tuple[Candidate, ...] = (),
    *,
    known: bool = True,
    mention: TimeMention | None = None,
) -> Span:
    start, end = tokens[first].start, tokens[last - 1].end
    final = tokens[last - 1]
    plural = final.text.lower() != final.key and final.text.lower().endswith("s")
    return Span(first, last, start, end, text[start:end], candidates, known, mention, plural)


def _by_word(tokens: list[Word], mentions: tuple[TimeMention, ...]) -> dict[int, tuple[int, TimeMention]]:
    """First word of each time with the word after it."""
    found: dict[int, tuple[int, TimeMention]] = {}
    for mention in mentions:
        inside = [index for index, word in enumerate(tokens) if word.start < mention.end and word.end > mention.start]
        if inside:
            found[inside[0]] = (inside[-1] + 1, mention)
    return found
