"""Whether the best results come from different subjects and disagree. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_core.retrieval.tokens import stem

# Results whose fused score is within this share of the best one are close to it.
CLOSE = 0.85
COMPARED = 4

_QUANTITY = re.compile(r"(?<![\w.-])(\d+(?:[.,]\d+)*)[\s\u00a0-]*(%|percent\b|[a-z]{2,})", re.I)
_CURRENCIES = "$\u20ac\u00a3"
_MONEY = re.compile(rf"([{_CURRENCIES}])\s?(\d+(?:[.,]\d+)*)(?![\w-])")
_NOT_UNITS = frozenset(
    [
        "and",
        "or",
        "of",
        "to",
        "in",
        "at",
        "on",
        "the",
        "by",
        "for",
        "from",
        "is",
        "are",
        "was",
        "th",
        "st",
        "nd",
        "rd",
        "vs",
        "per",
        "with",
        "a",
        "an",
    ]
)
_SPELLED = {"percent": "%", "pct": "%"}


@dataclass(frozen=True, slots=True)
class Stated:
    """What one result says: its document, the sentences that answer, and its fused score."""

    document: str
    sentences: tuple[str, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Close results of different documents that say different things: why, in words, and which, best first."""

    reason: str
    results: tuple[Stated, ...]


def find_disagreement(stated: Sequence[Stated]) -> Disagreement | None:
    """What the close results disagree on; None where they do not.

    Two documents disagree where their answering sentences give different figures in the same unit ("30 days" and "90
    days") and share no figure in it. The best result is compared first, then the others with one another.
    """
    if not stated:
        return None
    close = tuple(each for each in stated[:COMPARED] if each.score >= CLOSE * stated[0].score)
    for place, one in enumerate(close):
        for other in close[place + 1 :]:
            reason = _difference(one, other)
            if reason:
                return Disagreement(reason, close)
    return None


def _difference(one: Stated, other: Stated) -> str:
    if one.document == other.document:
        return ""
    mine, theirs = quantities(one.sentences), quantities(other.sentences)
    for unit in sorted(mine.keys() & theirs.keys()):
        if not mine[unit] & theirs[unit]:
            said = f"{one.document} says {_list(mine[unit], unit)}, {other.document} says {_list(theirs[unit], unit)}"
            return f"close results disagree: {said}"
    return ""


def quantities(sentences: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """Figures by unit: `{"day": {"30"}}` for "30 days", `{"$": {"500"}}` for "$500"."""
    found: dict[str, set[str]] = {}
    for sentence in sentences:
        for match in _QUANTITY.finditer(sentence):
            number, unit = match.group(1).replace(",", ""), match.group(2).casefold()
            unit = _SPELLED.get(unit, unit)
            if unit not in _NOT_UNITS:
                found.setdefault(stem(unit), set()).add(number)
        for match in _MONEY.finditer(sentence):
            found.setdefault(match.group(1), set()).add(match.group(2).replace(",", ""))
    return {unit: frozenset(numbers) for unit, numbers in found.items()}


def _list(numbers: frozenset[str], unit: str) -> str:
    listed = ", ".join(sorted(numbers))
    return f"{unit}{listed}" if unit in _CURRENCIES else f"{listed} {unit}"
