"""Key passages: the sentences of a chunk that answer a query, verbatim."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_core.retrieval.tokens import raw_words, terms_of

MAX_QUOTES = 3
MAX_QUOTE_CHARACTERS = 400

# A full stop ends a sentence where white space and something that may begin one follow.
# The mark is part of the match, so that the engine leaps from mark to mark.
_SENTENCE_END = re.compile(
    r"[.!?\u3002\uff01\uff1f](?:[\"'\u201d)\]]*\s+(?=[\"'\u201c(\[]*[^\sa-z])|(?<=[\u3002\uff01\uff1f]))"
)
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|dr|mr|mrs|ms|st|inc|ltd|co)|\b[A-Z])\.$", re.I)
_LONGEST_ABBREVIATION = len("approx.")
_LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_FENCE = re.compile(r"^\s*(```|~~~)")
_TABLE_RULE = re.compile(r"^\s*\|?[\s:|-]+\|?\s*$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with the place [start, end) where it stands in its chunk."""

    text: str
    start: int
    end: int


def split_sentences(text: str) -> list[Sentence]:
    """Sentences, list items, table rows and code lines of a Markdown text, in order, each verbatim."""
    found: list[Sentence] = []
    for start, end, is_prose in _blocks(text):
        if not is_prose:
            _append(text, start, end, found)
            continue
        position = start
        for match in _SENTENCE_END.finditer(text, start, end):
            stop = match.start() + 1
            if _ABBREVIATION.search(text, max(position, stop - _LONGEST_ABBREVIATION), stop):
                continue
            _append(text, position, stop, found)
            position = match.end()
        _append(text, position, end, found)
    return found


def key_sentences(text: str, term_weights: Mapping[str, float], *, limit: int = MAX_QUOTES) -> tuple[str, ...]:
    """The sentences that hold most of the query, in the order of the text.

    Args:
        term_weights: terms of the query with their idf.
        limit: how many sentences at most.

    The first is the one with the highest weight of distinct query terms; each further one must add a term that those
    before lack and hold at least a third of the best one's weight. Empty where no sentence holds any term.
    """
    # Most words of a text hold no term of the query: they are set aside once, not in every sentence.
    telling = {
        word: terms
        for word in set(raw_words(text))
        if (terms := [term for term in terms_of(word) if term in term_weights])
    }
    if not telling:
        return ()
    sentences = split_sentences(text)
    scored = [(_held(sentence.text, telling), index) for index, sentence in enumerate(sentences)]
    total = [(sum(term_weights[term] for term in sorted(held)), held, index) for held, index in scored if held]
    total.sort(key=lambda each: (-each[0], each[2]))
    chosen: list[int] = []
    seen: set[str] = set()
    for weight, held, index in total:
        if len(chosen) == limit or weight < total[0][0] / 3:
            break
        if held - seen or not chosen:
            chosen.append(index)
            seen |= held
    return tuple(sentences[index].text[:MAX_QUOTE_CHARACTERS] for index in sorted(chosen))


def _held(sentence: str, telling: Mapping[str, Sequence[str]]) -> set[str]:
    held: set[str] = set()
    for word in telling.keys() & raw_words(sentence):
        held.update(telling[word])
    return held


def _append(text: str, start: int, end: int, found: list[Sentence]) -> None:
    raw = text[start:end]
    stripped = raw.strip()
    if stripped and any(character.isalnum() for character in stripped):
        begin = start + raw.index(stripped)
        found.append(Sentence(stripped, begin, begin + len(stripped)))


def _blocks(text: str) -> Sequence[tuple[int, int, bool]]:
    """(start, end, is prose) of paragraphs, list items, table rows and code lines."""
    blocks: list[tuple[int, int, bool]] = []
    open_start: int | None = None
    in_code = False
    position = 0

    def close(at: int) -> None:
        nonlocal open_start
        if open_start is not None:
            blocks.append((open_start, at, True))
            open_start = None

    for line in text.splitlines(keepends=True):
        end = position + len(line)
        stripped = line.strip()
        if _FENCE.match(line):
            close(position)
            in_code = not in_code
        elif in_code or stripped.startswith("|"):
            close(position)
            if not _TABLE_RULE.match(line):
                blocks.append((position, end, False))
        elif not stripped or stripped.startswith("#"):
            close(position)
        else:
            item = _LIST_ITEM.match(line)
            if item:
                close(position)
                open_start = position + item.end()
            elif open_start is None:
                open_start = position
        position = end
    close(position)
    return blocks
