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


def find_disagreement(stated: Sequence[Stated]) -> str:
    """What the close results disagree on, in words; empty where they do not.

    Two documents disagree where their answering sentences give different figures in the same unit ("30 days" and "90
    days") and share no figure in it.
    """
    if not stated:
        return ""
    close = [each for each in stated[:COMPARED] if each.score >= CLOSE * stated[0].score]
    first = close[0]
    for other in close[1:]:
        if other.document == first.document:
            continue
        mine, theirs = quantities(first.sentences), quantities(other.sentences)
        for unit in sorted(mine.keys() & theirs.keys()):
            if not mine[unit] & theirs[unit]:
                return (
                    f"{first.document} says {_list(mine[unit])} {unit}, "
                    f"{other.document} says {_list(theirs[unit])} {unit}"
                )
    return ""


def quantities(sentences: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """Figures by unit: `{"day": {"30"}}` for "30 days"."""
    found: dict[str, set[str]] = {}
    for sentence in sentences:
        for match in _QUANTITY.finditer(sentence):
            number, unit = match.group(1).replace(",", ""), match.group(2).casefold()
            unit = _SPELLED.get(unit, unit)
            if unit not in _NOT_UNITS:
                found.setdefault(stem(unit), set()).add(number)
    return {unit: frozenset(numbers) for unit, numbers in found.items()}


def _list(numbers: frozenset[str]) -> str:
    return ", ".join(sorted(numbers))
