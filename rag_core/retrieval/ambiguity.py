"""Whether the best results come from different subjects and disagree. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from rag_core.retrieval.tokens import STOP_WORDS, stem

# Results whose fused score is within this share of the best one are close to it.
CLOSE = 0.85
COMPARED = 4

_QUANTITY = re.compile(
    r"(?:(?P<before>[^\W\d_]+)[\s\u00a0]+)?(?<![\w.-])(?P<number>\d+(?:[.,]\d+)*)[\s\u00a0-]*(?P<unit>%|[a-z]+\b)", re.I
)
_CURRENCIES = "$\u20ac\u00a3"
_MONEY = re.compile(rf"([{_CURRENCIES}])\s?(\d+(?:[.,]\d+)*)(?![\w-])")
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_SPELLED = {
    spelling: unit
    for unit, spellings in {
        "%": ("percent", "percents", "pct"),
        "second": ("s", "sec", "secs", "second", "seconds"),
        "minute": ("min", "mins", "minute", "minutes"),
        "hour": ("h", "hr", "hrs", "hour", "hours"),
        "day": ("d", "day", "days"),
    }.items()
    for spelling in spellings
}
# Letters that stand for a unit right behind a figure (5m, 10k, 2x); with a space between they may be anything.
_LETTERS = frozenset("bdghkmstwxy")
# Behind these a figure is a name: step 3, page 12, version 2.
_NUMBERED_WORDS = """
    act annex appendix article build case chapter clause column day edition example figure grade incident item
    level line lot no node note number page part phase point port priority quarter question release room row
    rule runbook section server sev severity sheet stage step table task ticket tier version volume week year
"""
_MONTH_WORDS = """
    apr april aug august dec december feb february jan january jul july jun june mar march may nov november oct
    october sep sept september
"""
_NO_UNITS = (
    STOP_WORDS
    | frozenset(_MONTH_WORDS.split())
    | frozenset(("th", "st", "nd", "rd", "vs", "now", "today", "new", "old"))
)
_NUMBERED = frozenset(_NUMBERED_WORDS.split())
_YEARS = range(1900, 2101)
_WHEN = frozenset(
    ("in", "since", "from", "until", "till", "by", "during", "before", "after", "of", "and", "to", "year")
)


@dataclass(frozen=True, slots=True)
class Stated:
    """What one result says: its document's path, the sentences that answer, and its fused score.

    Paths are unique within a `source` only.
    """

    document: str
    sentences: tuple[str, ...]
    score: float
    source: str = ""


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
    if (one.source, one.document) == (other.source, other.document):
        return ""
    mine, theirs = quantities(one.sentences), quantities(other.sentences)
    first, second = one.document, other.document
    if first == second:
        first, second = f"{one.source}: {first}", f"{other.source}: {second}"
    for unit in sorted(mine.keys() & theirs.keys()):
        if not mine[unit] & theirs[unit]:
            said = f"{first} says {_list(mine[unit], unit)}, {second} says {_list(theirs[unit], unit)}"
            return f"close results disagree: {said}"
    return ""


def quantities(sentences: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """Figures by unit: `{"day": {"30"}}` for "30 days", `{"$": {"500"}}` for "$500".

    What only names something (step 3, page 12, in 2024, 5 May) is no figure; 1.5 and 1.50 are the same one.
    """
    found: dict[str, set[str]] = {}
    for sentence in sentences:
        for match in _QUANTITY.finditer(sentence):
            unit = _unit(match)
            if unit:
                found.setdefault(unit, set()).add(_plain(match["number"]))
        for match in _MONEY.finditer(sentence):
            found.setdefault(match.group(1), set()).add(_plain(match.group(2)))
    return {unit: frozenset(numbers) for unit, numbers in found.items()}


def _unit(match: re.Match[str]) -> str:
    """The unit of a figure, empty where it is none."""
    before, unit = (match["before"] or "").casefold(), match["unit"].casefold()
    attached = match.end("number") == match.start("unit")
    if len(unit) == 1 and unit != "%" and not (attached and unit in _LETTERS):
        return ""
    known = _SPELLED.get(unit)
    if before in _NUMBERED or unit in _NO_UNITS:
        return ""
    if known is None and before in _WHEN and match["number"].isdigit() and int(match["number"]) in _YEARS:
        return ""
    return known or stem(unit)


def _plain(number: str) -> str:
    whole = _THOUSANDS.sub("", number).replace(",", ".")
    return f"{Decimal(whole).normalize():f}" if whole.count(".") < 2 else number


def _list(numbers: frozenset[str], unit: str) -> str:
    listed = ", ".join(sorted(numbers))
    return f"{unit}{listed}" if unit in _CURRENCIES else f"{listed} {unit}"
