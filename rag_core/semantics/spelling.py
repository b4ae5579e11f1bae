"""Finds the word that a misspelt one may stand for, among the words of the model. Pure.

A near word is never taken silently: "contacts" is one letter from "contracts" and means something else. It is proposed.
"""

from __future__ import annotations

from collections.abc import Iterable

from rag_core.datamodel.base import Record
from rag_core.semantics.fillers import SPELT_RIGHT
from rag_core.semantics.words import Word

MIN_LENGTH = 4
LONG = 8  # from here on two slips are allowed, below it one


class NearMiss(Record):
    """A word at characters [start, end) that nothing explains, with the nearest known words, all equally near.

    `score` is their likeness from 0 to 1: one less the share of letters that must change.
    """

    word: str
    start: int
    end: int
    suggestions: tuple[str, ...]
    score: float


class Speller:
    """Knows the words of a lexicon by their first letter; `surfaces` maps the compared form of each to its spelling."""

    def __init__(self, surfaces: Iterable[tuple[str, str]]) -> None:
        self._known: dict[str, str] = {}
        self._by_letter: dict[str, list[str]] = {}
        for key, text in surfaces:
            if key in self._known or len(key) < MIN_LENGTH or not key.isalpha():
                continue
            self._known[key] = text
            self._by_letter.setdefault(key[0], []).append(key)

    def knows(self, word: Word) -> bool:
        """Whether a word is spelt as one of the lexicon is."""
        return word.key in self._known

    def near(self, word: Word) -> NearMiss | None:
        """The known words nearest to an unknown one; None where it is known, spelt right, short, or unlike all."""
        key = word.key
        right = key in self._known or key in SPELT_RIGHT
        if right or len(key) < MIN_LENGTH or not key.isalpha():
            return None
        allowed = 2 if len(key) >= LONG else 1
        best, found = allowed + 1, []
        for known in self._by_letter.get(key[0], []):
            if abs(len(known) - len(key)) > allowed:
                continue
            distance = slips(key, known)
            if distance < best:
                best, found = distance, [known]
            elif distance == best and distance <= allowed:
                found.append(known)
        if best > allowed:
            return None
        plural = word.text.lower().endswith("s") and not key.endswith("s")
        options = tuple(self._spelt(known, plural=plural) for known in found)
        score = round(1 - best / max(len(key), len(found[0])), 2)
        return NearMiss(word=word.text, start=word.start, end=word.end, suggestions=options, score=score)

    def _spelt(self, key: str, *, plural: bool) -> str:
        text = self._known[key]
        return text + "s" if plural and text.lower() == key else text


def slips(left: str, right: str) -> int:
    """Letters to add, drop, change or swap with their neighbour to get from one word to the other."""
    before: list[int] = []
    last = list(range(len(right) + 1))
    for at, letter in enumerate(left, start=1):
        row = [at]
        for place, other in enumerate(right, start=1):
            cost = min(last[place] + 1, row[place - 1] + 1, last[place - 1] + (letter != other))
            if at > 1 and place > 1 and letter == right[place - 2] and left[at - 2] == other:
                cost = min(cost, before[place - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]
