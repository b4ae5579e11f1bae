"""Cuts a question into the things it asks, and tells which of them documents must answer. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.datamodel.base import Record
from rag_core.workers.wording import asked_words
from rag_core.workers.words import find_names

_ASK = (
    r"(?:what|which|who|whom|whose|when|where|why|how|by how|under which|under what|until when|since when|from when|"
    r"(?:in|on|at|for|to|with|from|of|within|after|before|above|below|over|beyond|against|through|during|between) "
    r"(?:what|which|how|whom)|did|does|do|is|are|was|were|has|have|can|may|must|name|"
    r"give|list|show|explain|describe|with the)"
)
_WITH_CAUSE = r"\s+(?=with (?:the|its|their) (?:main |root |stated )?(?:cause|reason)s?\b)"
_BREAK = re.compile(
    # A question mark ends a question, whatever the next one begins with.
    rf"(?:[,;]\s*(?:and|but)\s+|[;?]\s+(?:and\s+)?|,\s+|\s+and\s+)(?={_ASK}\b)|\?\s+(?=\w)|{_WITH_CAUSE}",
    re.IGNORECASE,
)
_STRONG_BREAK = re.compile(rf"(?:[,;]\s*(?:and|but)\s+|[;?]\s+(?:and\s+)?)(?={_ASK}\b)", re.IGNORECASE)
_CAUSE = re.compile(
    r"\bwhy\b|\bhow come\b|\b(?:what|which)\b[^,;?]*\b(?:caus\w+|explain\w*|led to|drove|drives|driving|behind|"
    r"triggered|start(?:ed)? the)\b|\bthe (?:root )?(?:cause|reason)s?\b|\bexplain\b|\bbecause of what\b",
    re.IGNORECASE,
)
_DOCUMENT = re.compile(
    r"\b(?:according to|runbooks?|standards?|polic(?:y|ies)|procedure|postmortems?|contract (?:template|terms)|"
    r"framework (?:contract|agreement)|clause|template|"
    r"regulation|onboarding|document\w*|report(?:s|ed)? (?:say|said|by|of)|review|price list|guideline|escalat\w+|"
    r"who (?:owns|approves|is responsible)|what does .* (?:say|state|require|mean))\b",
    re.IGNORECASE,
)
_CAUSE_WORDS = re.compile(
    r"\bwhy\b|\bhow come\b|\bwhat (?:is|was|were|are) the (?:root )?(?:cause|reason)s? (?:of|for|behind)\b|"
    r"\bwhat (?:caused|explains?|explained|led to|drove|drives|triggered|is behind|was behind)\b|"
    r"\b(?:the )?(?:root )?(?:cause|reason)s? (?:of|for|behind)\b|\bplease\b|\bexplain\b",
    re.IGNORECASE,
)
_MOVE_OF = re.compile(
    r"\b(?:the |a |an )(?:sharp |sudden |steep |strong )?(?:fall|drop|decline|decrease|rise|increase|growth|jump|surge|"
    r"spike|change|recovery|improvement) (?:of|in) ",
    re.IGNORECASE,
)
_MOVEMENT = re.compile(
    r"\b(?:did|does|do|has|have|had|was|were|is|are|been)\b|\b(?:so|such|sharply|strongly|suddenly|again|much|a lot)\b|"
    r"\b(?:fall|fell|fallen|falls?|falling|drop\w*|declin\w+|decreas\w+|shrink|shrank|shrunk|sink|sank|worsen\w*|weak\w*|"
    r"rise|rose|risen|rises|rising|increas\w+|grow|grew|grown|grows|growth|growing|jump\w*|climb\w*|surg\w+|soar\w*|"
    r"doubl\w+|tripl\w+|spik\w+|improv\w+|recover\w*|chang\w+|mov\w+|go|went|gone|up|down|higher|lower)\b"
    r"(?:\s+(?:of|in) (?=the\b))?",
    re.IGNORECASE,
)


_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|this|that|these|those|there|one|ones|first|other|others|same|so|then)\b",
    re.IGNORECASE,
)
# With so many words of its own a question needs none of the one beside it.
OWN_WORDS = 5
_COUNTS = re.compile(
    r"(?:how (?:many|much)|(?:the )?(?:number|count|total|sum|share) of)\b(?!.*\baccording to\b)", re.I
)
_NAME = re.compile(
    r"(?:who|whom|when|where|until when|since when|under|with|by(?! how)) ?|which\b|what (?:happens|is|does)\b", re.I
)
# A figure split or followed over time, which rows hold and a sentence of a document at most mentions.
_SERIES = re.compile(
    r"\b(?:by|each|every|month by|quarter by) (?:calendar )?(?:month|quarter|week|year)s?\b|"
    r"\b(?:by|per|each|every) (?:\w+ )?(?:region|country|team|segment|channel|product family|industry)(?:s|'s)?\b|"
    r"\b(?:monthly|quarterly|weekly|yearly) (?!trains?\b|releases?\b|reports?\b|reviews?\b)\w+s\b|"
    r"^(?:and )?how (?:did|do|does|has|have)\b.*\b(?:chang\w+|mov\w+|develop\w*|compar\w+|evolv\w+)\b|"
    r"\bhow (?:large|big|strong|far|much) (?:was|were|is|are) the (?:\w+ )?"
    r"(?:jump|rise|fall|drop|change|growth|increase|decline|decrease)\b",
    re.IGNORECASE,
)
_LEADER = re.compile(
    r"\b(?:the (?:first|top|largest|biggest|highest|worst|best|leading) (?:one|of them)|the (?:first|top) (?=\w+$)|"
    r"that (?:customer|region|country|product|service|team|competitor|channel|segment)|this one|that one)\b",
    re.IGNORECASE,
)


class Clause(Record):
    """One thing asked. `asks_cause`: why something is so; `asks_documents`: only something written can tell.

    `asks_name`: it is after a person, thing or date, which beside a figure stands in documents rather than in rows.
    """

    text: str
    asks_cause: bool = False
    asks_documents: bool = False
    asks_name: bool = False


def read_clauses(question: str) -> tuple[Clause, ...]:
    """The clauses of a question in order. A cut stands only before a word that begins a question of its own."""
    parts = [part.strip(" ,;?.") for part in _BREAK.split(question.strip())]
    merged: list[str] = []
    for part in parts:
        # Three words at least make a question; a shorter end (", and why?") does so only where it asks a cause.
        if not merged or len(part.split()) >= 3 or _CAUSE.search(part):
            merged.append(part)
        else:
            merged[-1] = f"{merged[-1]}, {part}"
    return tuple(read_whole(part) for part in merged)


def read_whole(text: str) -> Clause:
    """A text as one clause, whatever it asks besides."""
    cause = bool(_CAUSE.search(text))
    written = bool(_DOCUMENT.search(text)) and not _COUNTS.match(text)
    return Clause(text=text, asks_cause=cause, asks_documents=cause or written, asks_name=bool(_NAME.match(text)))


def asks_series(text: str) -> bool:
    """Whether a clause is after a figure split or followed over time (by month, per region, how it changed)."""
    return bool(_SERIES.search(text))


def names_leader(text: str) -> bool:
    """Whether a clause speaks of the first row of a ranking asked for before it ("the first one", "that customer")."""
    return bool(_LEADER.search(text))


def stands_alone(text: str) -> bool:
    """Whether a clause says by itself what it is about: by a name or enough words, with no word that points back."""
    if _POINTS_BACK.search(text) or _CAUSE.search(text):
        return False
    return bool(find_names(text)) or len(asked_words(text)) >= OWN_WORDS


def nearest(question: str, clause: Clause, others: Sequence[Clause]) -> tuple[Clause, ...]:
    """Those of the other clauses that a clause may lean on: of its own sentence, else of the nearest before, else all.

    "What was the revenue by month, and which customer stands out? What does a gateway cost?" asks for a customer of
    that revenue, whatever is asked after it.
    """
    own = _sentence(question, clause)
    places = {_sentence(question, other) for other in others}
    before = [place for place in places if place <= own]
    if not before:
        return tuple(others)
    return tuple(other for other in others if _sentence(question, other) == max(before))


def _sentence(question: str, clause: Clause) -> int:
    """How many questions end before a clause; one that was put together from parts is found by its first part."""
    at = question.find(clause.text)
    at = question.find(clause.text.split(", ")[0]) if at < 0 else at
    return len(re.findall(r"\?\s", question[: max(at, 0)]))


def without_movement(text: str) -> str:
    """A question after how a figure moved as one after the figure: `did churn fall again in May` is `churn in May`."""
    figure = _MOVEMENT.sub(" ", re.sub(r"^by how (?:many|much)(?: \w+)?\b", " ", text.strip(), flags=re.IGNORECASE))
    return re.sub(r"\s+", " ", figure).strip(" ,;?.")


def without_cause(text: str) -> str:
    """A question after a cause as one after its figure: `why did margins fall in May` becomes `margins in May`."""
    figure = _MOVEMENT.sub(" ", _MOVE_OF.sub(" ", _CAUSE_WORDS.sub(" ", text)))
    return re.sub(r"\s+", " ", figure).strip(" ,;?.")
