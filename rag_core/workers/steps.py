"""Answers questions after a step of a procedure: the first, the last, the third, the one after another. Pure.

Such a question is answered by the order of a list, which no likeness of words tells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rag_core.datamodel.evidence import Passage
from rag_core.workers.evidence_validator import is_superseded
from rag_core.workers.subjects import about_others
from rag_core.workers.units import Unit, split_units
from rag_core.workers.wording import quote_words

_PLACES = {
    word: place
    for place, words in enumerate(
        ("first one 1", "second two 2", "third three 3", "fourth four 4", "fifth five 5", "sixth six 6", "seventh 7")
    )
    for word in words.split()
}
_PLACE = "|".join((*[word for word in _PLACES if not word.isdigit()], "last", "final"))
_DOING = (
    r"(?:do|does|done|happens?|happened|comes?|checked|check|tried|try|called|call|run|starts?|started|told|tell|begin|"
    r"performed|carried out|taken|made)"
)
_NAMED = re.compile(rf"\b({_PLACE})(?: \w+)? (?:step|action|measure|thing to do|thing)s?\b", re.IGNORECASE)
_NUMBERED = re.compile(r"\bstep (?:number |no\.? )?(\d|one|two|three|four|five|six|seven)\b", re.IGNORECASE)
_ADVERB = re.compile(
    rf"\bwh(?:at|o|ich)\b.*\b{_DOING} (first|last)\b(?! (?:\w+ )?(?:quarter|month|year|week|half)\b)", re.IGNORECASE
)
_AFTER = re.compile(
    r"\b(?:(?:next|following) step|wh(?:at|ich step) (?:comes|follows|happens|is done|must be done)(?: next)?) "
    r"(?:right |directly |immediately |straight )?(?:after|when|once) (?P<before>.+?)(?: in (?:a|the) .*)?$",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\s*\d+[.)]\s+(?P<text>.+)$")
# Behind which the sentence itself says that it is the first or the last.
_SAYS = {
    "first": re.compile(r"^first\b[,: ]|(?<!\bat )\bfirst\s*(?:[;,.:]|$|and\b)", re.IGNORECASE),
    "last": re.compile(r"^(?:last|finally)\b[,: ]|(?<!\bat )\blast\s*(?:[;,.:]|$|and\b)", re.IGNORECASE),
}
# Of what the question is about, the share that stands above the procedure.
MIN_ABOUT = 0.6
_FORM = frozenset(
    quote_words("first last final step steps next following action thing done do happen come procedure order")
)


class Asked(NamedTuple):
    """The step that a question is after: its place from the beginning, -1 for the last; or what it comes after."""

    place: int
    before: str = ""


def asks_step(question: str) -> Asked | None:
    """The step that a question is after, None where it is after none."""
    text = question.strip(" ?.")
    if (after := _AFTER.search(text)) is not None:
        return Asked(0, after["before"])
    if (found := _NAMED.search(text)) is not None or (found := _ADVERB.search(text)) is not None:
        word = found[1].lower()
        return Asked(-1 if word in ("last", "final") else _PLACES[word])
    if (found := _NUMBERED.search(text)) is not None:
        return Asked(_PLACES[found[1].lower()] if not found[1].isdigit() else int(found[1]) - 1)
    return None


def tell_step(question: str, passages: Sequence[Passage]) -> list[tuple[int, Unit]]:
    """The sentence or list item that tells the step asked for, with the index of its passage; empty where none does.

    It is told from the document in force whose title and headings are most about the question.
    """
    asked = asks_step(question)
    if asked is None:
        return []
    others = about_others(question, passages)
    about = {word for word in quote_words(question) if word not in _FORM and not word.startswith("<")}
    if asked.before:
        about -= set(quote_words(asked.before))
    ranked = []
    for index, passage in enumerate(passages):
        if is_superseded(passage) or passage.document_id in others:
            continue
        share = _share(about, passage)
        told = _told(asked, passage) if share >= MIN_ABOUT else None
        if told is not None:
            ranked.append((-share, index, told))
    return [(index, unit) for _, index, unit in sorted(ranked, key=lambda item: item[:2])[:1]]


def _share(about: set[str], passage: Passage) -> float:
    path = re.sub(r"[/_.-]", " ", passage.path)
    above = set(quote_words(f"{passage.title} {' '.join(passage.heading_path)} {path}"))
    heads = {word for unit in split_units(passage.text) for word in quote_words(unit.heading)}
    return len(about & (above | heads)) / len(about) if about else 0.0


def _told(asked: Asked, passage: Passage) -> Unit | None:
    units = split_units(passage.text)
    word = {0: "first", -1: "last"}.get(asked.place, "") if not asked.before else ""
    if word:
        said = [unit for unit in units if unit.kind in ("sentence", "item") and _SAYS[word].search(unit.shown)]
        if said:
            return said[0]
    for items in _lists(passage.text):
        steps = [unit for text in items if (unit := _unit_of(text, units)) is not None]
        if len(steps) != len(items):
            continue
        if asked.before:
            wanted = set(quote_words(asked.before))
            places = [
                at
                for at, text in enumerate(items)
                if wanted and len(wanted & set(quote_words(text))) >= len(wanted) / 2
            ]
            if places and places[0] + 1 < len(steps):
                return steps[places[0] + 1]
        elif -len(steps) <= asked.place < len(steps):
            return steps[asked.place]
    return None


def _lists(text: str) -> list[list[str]]:
    """The items of each numbered list, in order."""
    lists: list[list[str]] = []
    open_list = False
    for line in text.splitlines():
        item = _ITEM.match(line)
        if item is not None:
            if not open_list:
                lists.append([])
            lists[-1].append(item["text"].strip())
        open_list = item is not None or (open_list and not line.strip())
    return [items for items in lists if len(items) > 1]


def _unit_of(item: str, units: Sequence[Unit]) -> Unit | None:
    """The first unit of a list item; what follows in the same item explains it."""
    return next((unit for unit in units if unit.kind == "item" and item.startswith(unit.verbatim)), None)
