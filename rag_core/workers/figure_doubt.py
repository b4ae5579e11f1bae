"""Whether quotes tell the figure of a year that a question is after. Pure.

"What was the income tax in 2019?" is answered by a number beside that year; a sentence that explains the item, or one
that only announces a table, holds every word of the question and answers nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_ASKED = re.compile(
    r"^(?:and )?(?:what (?:is|was|were|are)|how (?:much|many))\b.*(?:\bFY ?|(?<![\w-]))(?:19|20)\d\d(?![\w-])|"
    r"^(?:and )?what (?:is|was|were|are) "
    r"(?:the )?(?:\w+ ){0,3}(?:average|total|sum|difference|ratio|percentage|change)\b",
    re.IGNORECASE,
)
# What has no figure, whatever the year: it is told in words.
_TOLD = re.compile(
    r"\b(?:reasons?|causes?|caused|drivers?|basis|nature|purposes?|polic(?:y|ies)|methods?|effects?|impacts?|names?|"
    r"status|causing|types?|components?|items?|factors?|contributor\w*|strateg\w+|missing|done|consist\w*|"
    r"included|excluded|assumptions?|defin\w+|due to|driven|result(?:s|ed)? (?:in|of|from)|permit|dates?|when)\b",
    re.IGNORECASE,
)
# A year by itself: that of a day or of an incident's id names no period.
_YEAR_ASKED = re.compile(r"(?:\bFY ?|(?<![\w-]))((?:19|20)\d\d)(?![\w-])", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_COMPARED = re.compile(r"\((?:FY ?)?((?:19|20)\d\d):", re.IGNORECASE)
# A number that counts or measures: not a year, a day of a month, or the number of a note, a level or a section.
_NUMBER = re.compile(
    r"(?<![\w.,(-])[-(]?[$€£¥]?\s?\d[\d,]*(?:\.\d+)?(?=[^\w]|[a-z%]|$)|\b(?:nil|zero|no|none)\b", re.IGNORECASE
)
_DAY = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\s+\d{1,2}\b|"
    r"\b\d{1,2}\s+(?:January|February|March|April|May|June|July|August|September|October|November|December)\b|"
    r"\b(?:note|level|section|item|topic|tier|phase|number|no\.)\s*\d+\w*|\(\d\)",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"\b(?:following|below|above|next) table\b|\btable (?:below|above)\b|\bas follows\b|:$", re.IGNORECASE
)
# Figures that are computed of others, with the words that tell them.
_COMPUTED = (
    (
        re.compile(r"\b(?:sum|total)\b", re.IGNORECASE),
        re.compile(r"\b(?:sum|total\w*|aggregate\w*|combined|together|altogether)\b", re.IGNORECASE),
    ),
    (re.compile(r"\bpercent\w*", re.IGNORECASE), re.compile(r"%|\bper ?cent", re.IGNORECASE)),
    (re.compile(r"\baverage\b", re.IGNORECASE), re.compile(r"\b(?:averag\w*|mean)\b", re.IGNORECASE)),
    (
        re.compile(r"\b(?:change|difference|increase|decrease|growth)\b", re.IGNORECASE),
        re.compile(
            r"\b(?:chang|increas|decreas|declin|rose|risen|fell|fallen|grew|grow|drop|higher|lower|up|down|differen|reduc|"
            r"gain|improv)\w*",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(r"\bratio\b|\bproportion\b", re.IGNORECASE),
        re.compile(r"\b(?:ratio|proportion|share)\w*|%|\bpercent"),
    ),
)


def asks_figure(question: str) -> bool:
    """Whether a question is after a number of a year, or one that is computed."""
    text = question.strip()
    return _ASKED.search(text) is not None and _TOLD.search(text) is None


def doubt_figure(question: str, quotes: Sequence[tuple[str, str]]) -> str:
    """What speaks against quotes telling the figure asked for, empty for nothing.

    One quote must tell it: a number, the year asked for beside it, and for a figure that is computed its word.

    Args:
        question: as asked.
        quotes: what is quoted, each with what stands above it (title, headings, path, date).
    """
    if not quotes or not asks_figure(question):
        return ""
    telling = [(text, above) for text, above in quotes if _tells_number(text)]
    if not telling:
        return "what is quoted holds no figure"
    for asked, told in _COMPUTED:
        if (found := asked.search(question)) is not None:
            telling = [(text, above) for text, above in telling if told.search(text)]
            if not telling:
                return f"what is quoted tells no {found[0].lower()}"
    years = set(_YEAR_ASKED.findall(question))
    if years and not any(years & _years_told(f"{above} {text}") for text, above in telling):
        return f"what is quoted holds no figure of {' or '.join(sorted(years))}"
    return ""


def _years_told(text: str) -> set[str]:
    """Years in a text, and the one after a year that stands in brackets for comparison: `was 12 (2018: 11)`."""
    return {*_YEAR.findall(text), *(str(int(year) + 1) for year in _COMPARED.findall(text))}


def _tells_number(text: str) -> bool:
    bare = _YEAR.sub(" ", _DAY.sub(" ", text))
    return _ANNOUNCED.search(text.strip()) is None and _NUMBER.search(bare) is not None
