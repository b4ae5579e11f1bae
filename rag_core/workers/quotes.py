"""The sentences of passages that answer a question, verbatim. Pure.

A passage is cut into units: sentences of its prose, items of its lists and rows of its tables. A unit's score is the
weight of the question's words in it, where a word that few units have weighs more, with a bonus for the kind of thing
the question asks for (a number, a date, a name, a cause).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.datamodel.evidence import Passage
from rag_core.workers.numbers import find_dates, find_numbers
from rag_core.workers.words import content_words, split_sentences

_ASKS_NUMBER = re.compile(
    r"\b(?:how (?:many|much|long|often|far|high|large|old|big)|"
    r"what (?:percentage|share|price|number|rate|threshold|limit)|"
    r"percent\w*|price|threshold|limit|within|window|period|budget|growth)\b",
    re.IGNORECASE,
)
_ASKS_TIME = re.compile(r"\b(?:when|what date|which date|since|until|deadline|how long|due)\b", re.IGNORECASE)
_ASKS_PERSON = re.compile(r"\b(?:who|whom|whose|owner|owns|team|contact|escalat\w+|approv\w+)\b", re.IGNORECASE)
_ASKS_CAUSE = re.compile(r"\b(?:why|cause\w*|reason\w*|because|explain\w*|behind|led to|root cause)\b", re.IGNORECASE)
_ASKS_ACTION = re.compile(
    r"\bhow (?:do|to|can|should|is|are)\b|\bwhat (?:should|must|to do|steps?)\b|\bprocedure\b|\bsteps?\b", re.I
)
_SAYS_CAUSE = re.compile(
    r"\b(?:because|caus\w+|due to|led to|reason|result\w*|why|driven|owing|forced|after|drained|explain\w*|"
    r"trac\w+ to)\b",
    re.I,
)
_CAPITAL_INSIDE = re.compile(r"(?<=[a-z,;:]\s)[A-ZÄÖÜÅ]\w+")
_LIST_ITEM = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+(?P<text>.+)$")
_TABLE_ROW = re.compile(r"^\s*\|(?P<cells>.+)\|\s*$")
_TABLE_RULE = re.compile(r"^\s*\|[\s|:-]+\|\s*$")


@dataclass(frozen=True, slots=True)
class Unit:
    """A quotable piece. `shown` is how it reads in an answer; `verbatim` stands in the passage exactly."""

    shown: str
    verbatim: str
    kind: str
    order: int


def _cells(line: str) -> list[str]:
    match = _TABLE_ROW.match(line)
    return [cell.strip().strip("*`") for cell in re.split(r"(?<!\\)\|", match["cells"])] if match else []


def split_units(text: str) -> list[Unit]:
    """Sentences, list items and table rows of a passage in order. Code is left out: it is looked up, not quoted."""
    units: list[Unit] = []
    header: list[str] = []
    paragraph: list[str] = []
    in_code = False

    def close() -> None:
        joined = " ".join(paragraph)
        for sentence in split_sentences(joined):
            units.append(Unit(sentence, sentence, "sentence", len(units)))
        paragraph.clear()

    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("```"):
            close()
            in_code = not in_code
            continue
        if in_code:
            continue
        cells = _cells(line)
        if not cells:
            header = []
        if not stripped or stripped.startswith("#"):
            close()
        elif _TABLE_RULE.match(line):
            continue
        elif cells:
            close()
            if not header:
                header = cells
                continue
            shown = "; ".join(
                f"{name}: {cell}" if name else cell for name, cell in zip(header, cells, strict=False) if cell
            )
            units.append(Unit(shown, stripped, "row", len(units)))
        elif item := _LIST_ITEM.match(line):
            close()
            units.append(Unit(item["text"].strip(), item["text"].strip(), "item", len(units)))
        else:
            paragraph.append(stripped)
    close()
    return units


def _bonus(question: str, unit: Unit) -> float:
    bonus = 0.0
    if _ASKS_NUMBER.search(question) and find_numbers(unit.shown):
        bonus += 0.35
    if _ASKS_TIME.search(question) and (
        find_dates(unit.shown) or re.search(r"\b(?:days?|hours?|minutes?|weeks?)\b", unit.shown)
    ):
        bonus += 0.35
    if _ASKS_PERSON.search(question) and _CAPITAL_INSIDE.search(unit.shown):
        bonus += 0.2
    if _ASKS_CAUSE.search(question) and _SAYS_CAUSE.search(unit.shown):
        bonus += 0.35
    if _ASKS_ACTION.search(question) and unit.kind == "item":
        bonus += 0.15
    return bonus


def weigh_words(question: str, units: Sequence[Sequence[str]]) -> dict[str, float]:
    """Weight of each distinct content word of the question among these units: rare ones weigh more."""
    counts = Counter(word for unit in units for word in set(unit))
    return {
        word: math.log(1 + (len(units) + 1) / (counts[word] + 0.5)) if counts[word] else 0.0
        for word in dict.fromkeys(content_words(question))
    }


@dataclass(frozen=True, slots=True)
class Quote:
    """A unit of the passage with index `passage` and its score: 1 is every weighted word of the question."""

    passage: int
    unit: Unit
    score: float


def best_quotes(question: str, passages: Sequence[Passage], *, limit: int = 3, floor: float = 0.3) -> list[Quote]:
    """The units that answer best, best first; ties in the order of the passages and their text.

    `floor` is the least share of the question's word weight; nothing above it gives an empty list. A unit that adds
    no word of the question beyond those already quoted of the same passage must come close to the best.
    """
    texts = [(index, unit) for index, passage in enumerate(passages) for unit in split_units(passage.text)]
    if not texts:
        return []
    stems = [content_words(unit.shown) for _, unit in texts]
    weights = weigh_words(question, stems)
    total = sum(weights.values()) or 1.0
    quotes = []
    for (index, unit), found in zip(texts, stems, strict=True):
        head = set(content_words(" ".join([passages[index].title, *passages[index].heading_path])))
        present = set(found)
        own = sum(weight for word, weight in weights.items() if word in present)
        lent = sum(weight for word, weight in weights.items() if word in head and word not in present)
        length = len(found)
        if length < 3 and unit.kind == "sentence":
            continue
        # A heading says what its section is of, so its words count for every sentence under it, but less.
        score = (own + 0.5 * lent) / total + (_bonus(question, unit) if own > 0 or lent > 0 else 0.0)
        # The search's own order settles what words cannot.
        score += 0.12 / (1 + index)
        score -= 0.15 if length > 60 else 0.0
        quotes.append(Quote(index, unit, round(score, 6)))
    quotes.sort(key=lambda quote: (-quote.score, quote.passage, quote.unit.order))
    kept: list[Quote] = []
    for quote in quotes:
        if quote.score < floor or (kept and quote.score < 0.55 * kept[0].score):
            break
        if any(_same(quote.unit.shown, other.unit.shown) for other in kept):
            continue
        kept.append(quote)
        if len(kept) == limit:
            break
    return kept


def _same(first: str, second: str) -> bool:
    """Whether two units say the same in nearly the same words (an overlap of chunks, a copied sentence)."""
    one, other = set(content_words(first)), set(content_words(second))
    return bool(one and other) and len(one & other) >= 0.85 * max(len(one), len(other))
