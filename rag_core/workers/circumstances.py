"""Whether quotes take up what a question says beside its subject: a circumstance, a return, a movement, a deed. Pure.

"Where does a parcel go when its sender is not listed?" shares nearly all its words with a sentence on where parcels go.
What makes it another question is the circumstance, and a sentence that does not speak of it answers something else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rag_core.workers.asks import Kind, holds, kinds_asked
from rag_core.workers.causes import tells_remedy
from rag_core.workers.numbers import find_numbers
from rag_core.workers.wording import DOWN, UP, asked_words, quote_words

_FLAGS = re.IGNORECASE
# Behind these stands why or in which case something is asked; `since when` and `and when` begin a question.
_CIRCUMSTANCES = (
    re.compile(r"\b(?:because of|due to|owing to|on account of|thanks to)\s+(?P<told>[^,;?.]+)", _FLAGS),
    re.compile(
        r"(?<=[\w,] )(?<!since )(?<!until )(?<!from )(?<!and )(?:when|if|unless|in case|during)\s+(?P<told>[^,;?.]+)",
        _FLAGS,
    ),
)
_ABSENT = re.compile(r"\b(?:not|no|never|nobody|nothing|none|cannot|missing|lacks?)\b|n't\b", _FLAGS)
_ABSENCE = re.compile(
    r"\b(?:not|no|never|nobody|nothing|none|neither|nor|cannot|without|missing|lack\w*|absent|fail\w*|except|only|"
    r"outside|beyond|otherwise|un\w{4,}|in(?:complete|active|valid)|empty)\b|n't\b",
    _FLAGS,
)
_RETURNS = re.compile(r"\b(?:again|resum\w+|return\w*|re-?open\w*)\b", _FLAGS)
_RETURNED = re.compile(r"\b(?:again|next|resum\w+|return\w*|back|re-?open\w*|restor\w+|once more|another)\b", _FLAGS)
# Only yes or no is asked, of something that grows, or is done more slowly than before.
_MOVES = re.compile(
    r"^(?:and )?(?:is|are|was|were|has|have|had|did|does|do)\b.*\b(?:(?:more|less|fewer) \w+|slower|faster|longer|"
    r"shorter|higher|lower|better|worse|larger|smaller|cheaper|dearer|rising|growing|increasing|falling|shrinking|"
    r"declining|decreasing|improving|worsening)$",
    _FLAGS,
)
_MOVED = re.compile(
    r"\b(?:more|less|fewer|slower|faster|longer|shorter|higher|lower|better|worse|larger|smaller|cheaper|dearer|up|down|"
    r"than|improv\w+|worsen\w*|chang\w+|still|stays?|stayed|unchanged|constant|steady|stable)\b|\bfrom\b.*\bto\b",
    _FLAGS,
)
# By how much something moved; `by how much may it be off` asks for a limit.
_BY_HOW_MUCH = re.compile(r"\bby how (?:many|much)\b(?!.*\b(?:may|can|could|must|should|off|late|early)\b)", _FLAGS)
_BY_SO_MUCH = re.compile(r"\bby\b[\w ]{0,24}\d|\bfrom\b.*\d.*\bto\b.*\d|\b(?:less|fewer|higher|lower)\b", _FLAGS)
_DONE = re.compile(
    r"\bwhat (?:is|was|are|were|has been|will be) (?:being )?(?:done|planned|decided|proposed|recommended|agreed) "
    r"(?:about|against|for|on|with)\b|\b(?:what|which) (?:counter)?measures?\b",
    _FLAGS,
)
# What should last or be so is a property and no deed.
_DEED = re.compile(
    r"\b(?:will|shall|must|should(?! (?:last|be|have|hold|take|stay)\b)|(?:is|are) (?:now )?(?:to|being)|"
    r"plan(?:s|ned)?|decided|agreed|propos\w+|offer(?:s|ed)|mov(?:e[sd]?|ing)|spread|stagger\w*|introduc\w+|"
    r"add(?:s|ed)|stop(?:s|ped)|replac\w+|set up)\b",
    _FLAGS,
)


class Said(NamedTuple):
    """A quote with the heading that it stands under and all that stands above it (title, headings, subject)."""

    text: str
    heading: str
    above: str


def doubt_circumstance(question: str, quotes: Sequence[Said]) -> str:
    """What of a question's circumstances no quote takes up, as a reason for doubt; empty where all are."""
    text = question.strip(" ?.")
    if not quotes:
        return ""
    for told in (found["told"].strip() for pattern in _CIRCUMSTANCES for found in pattern.finditer(text)):
        if not any(_takes_up(told, quote) for quote in quotes):
            return f'no sentence speaks of this: "{told}"'
    said = [quote.text for quote in quotes]
    returns = _RETURNS.search(text) is not None and Kind.DATE in kinds_asked(text)
    if returns and not any(_RETURNED.search(quote) and holds(Kind.DATE, quote) for quote in said):
        return "no sentence says when this was or will be so again"
    if _MOVES.search(text) and not any(_MOVED.search(quote) or _directions(quote) for quote in said):
        return "no sentence says that anything moved"
    if _BY_HOW_MUCH.search(text) and not any(_tells_how_much(quote) for quote in said):
        return "no sentence says by how much it moved"
    if _DONE.search(text) and not any(_DEED.search(quote.text) or tells_remedy(quote.heading) for quote in quotes):
        return "no sentence says what is done"
    return ""


def _takes_up(told: str, quote: Said) -> bool:
    """Whether a quote speaks of a circumstance: by a word of it, and of what is not so by a word that says so too."""
    words = {word for word in asked_words(told) if not word.isdigit()}
    if not words:
        return True
    own = f"{quote.heading} {quote.text}"
    if _ABSENT.search(told):
        return bool(words & set(quote_words(own))) and _ABSENCE.search(own) is not None
    return bool(words & set(quote_words(f"{quote.above} {own}")))


def _directions(text: str) -> bool:
    return bool({UP, DOWN} & set(quote_words(text)))


def _tells_how_much(text: str) -> bool:
    return bool(find_numbers(text)) and (_BY_SO_MUCH.search(text) is not None or _directions(text))
