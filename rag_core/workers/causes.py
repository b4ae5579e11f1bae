"""The sentences of one document that tell why something is so. Pure.

A cause is seldom one sentence: a report says in one section what moved and in another what had happened. So a document
is chosen first, by how much it is about what moved, and its sentences of cause are told together, in its own order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.datamodel.evidence import Passage
from rag_core.retrieval.tokens import tokenize
from rag_core.workers.asks import hints_cause, names_cause
from rag_core.workers.numbers import find_dates
from rag_core.workers.units import Unit
from rag_core.workers.wording import DOWN, UP, asked_words, quote_words
from rag_core.workers.words import contains_name, find_names, plain

# Parts of a document's score: being about the subject, saying that it moved, what the search thought of it,
# its strongest sentence of cause, and naming the subject in the line that says what it is about.
ABOUT, EFFECT, FOUND, CAUSE, LINE = 1.0, 0.6, 0.3, 0.4, 0.4
# Parts of a sentence's score: a heading of cause, words of cause, words that may be, a date, the subject's words,
# saying that it moved, words of the strongest sentence; off for a heading of what is done about it.
HEADED, WORDED, HINTED, DATED, SUBJECT, MOVED, BRIDGE, REMEDY = 0.6, 0.5, 0.25, 0.25, 0.8, 0.3, 0.6, 0.6
LEAST = 0.5
# So many shared words make a bridge.
BRIDGED = 3
# A cause leads to what says that the subject moved where it stands so near to it or shares so many words with it.
NEAR, LED = 2, 2
# A line names the subject where it holds so much of it.
NAMED = 0.3
# A sentence states the effect where it holds so much of the subject beside the movement.
EFFECT_SUBJECT = 0.4
# Documents that are about so little of the subject explain something else.
MIN_ABOUT = 0.7
_TELLS = re.compile(r"\b(?:what happened|why|cause\w*|reason\w*|root cause|background|trigger|explanation)\b", re.I)


_REMEDY = re.compile(
    r"\b(?:measures?|lessons?|response|recommend\w*|to do|next steps?|actions?|does about it|decisions?|watch list|"
    r"recovery|commitments?|targets?|what helps|request)\b",
    re.IGNORECASE,
)
_FORM = re.compile(
    r"\b(?:each|every|last|next|previous|past|current|rates?|percent(?:age)?s?|shares?|numbers?|amounts?|levels?|"
    r"figures?|values?|totals?|averages?|means?)\b",
    re.IGNORECASE,
)


_PERIOD = re.compile(
    r"\b(?:first|second|third|fourth|quarters?|months?|years?|weeks?|quarterly|monthly|yearly|weekly|daily)\b"
)


@dataclass(frozen=True, slots=True)
class Told:
    """Units of one document as (index of the passage, unit), in its order, and how sure it is that they answer."""

    units: tuple[tuple[int, Unit], ...]
    about: float
    effect: bool
    doubt: str


def tell_cause(
    question: str, context: str, passages: Sequence[Passage], units: Sequence[tuple[int, Unit]], *, limit: int
) -> Told | None:
    """What the document that is most about the question's subject tells as its cause; None without any.

    Args:
        question: as asked; its words of movement say which direction is to be explained.
        context: further words that say what moved.
        passages: in the order of the search.
        units: every quotable unit with the index of its passage.
        limit: most units.
    """
    subject = subject_words(question, context)
    moved = {word for word in quote_words(question) if word in (UP, DOWN)}
    documents = list(dict.fromkeys(passage.document_id for passage in passages))
    if not documents or not subject:
        return None
    held = {name: _words_of(name, passages) for name in documents}
    weights = {
        word: math.log(1 + (len(documents) + 1) / (sum(word in words for words in held.values()) + 0.5))
        for word in subject
    }
    best = _best_scores(passages)
    ranked = []
    for place, name in enumerate(documents):
        about = _share(weights, held[name])
        own = [(index, unit) for index, unit in units if passages[index].document_id == name]
        line = line_of(name, passages)
        effect = any(_states_effect(unit, passages[index], weights, moved) for index, unit in own)
        causes = [unit for _, unit in own if _states(unit) and _is_cause(unit)]
        strongest = max((_cause_score(unit, passages[index], weights, moved) for index, unit in own), default=0.0)
        score = ABOUT * about + EFFECT * effect + FOUND * best[name] + CAUSE * strongest
        score += LINE * _share(weights, set(quote_words(line))) + (0.0 if causes else -1.0)
        ranked.append((-score, place, name, about, effect))
    _, _, name, about, effect = min(ranked)
    own = [(index, unit) for index, unit in units if passages[index].document_id == name and _states(unit)]
    first = max(
        own,
        key=lambda item: (_cause_score(item[1], passages[item[0]], weights, moved), -item[0], -item[1].order),
        default=None,
    )
    # What the strongest sentence speaks of (the freight, the price rise) is told where it is introduced.
    bridge = _bridge(first, passages, weights) - set(subject)
    scored = []
    for index, unit in own:
        value = _cause_score(unit, passages[index], weights, moved)
        spoken = set(quote_words(f"{unit.heading} {unit.shown}"))
        value += BRIDGE * min(1.0, len(bridge & spoken) / BRIDGED)
        related = spoken & (bridge | set(subject)) or _TELLS.search(unit.heading)
        if related and value >= LEAST:
            scored.append((-value, index, unit.order, unit))
    chosen = sorted(scored, key=lambda item: item[:3])[:limit]
    if not chosen:
        return None
    told = tuple((index, unit) for _, index, _, unit in sorted(chosen, key=lambda item: (item[1], item[2])))
    text = plain(f"{line_of(name, passages)} {' '.join(f'{unit.heading} {unit.shown}' for _, unit in told)}")
    names = find_names(f"{question} {context}")
    # What is told of none of the names asked about is the cause of something else.
    other = bool(names) and not any(contains_name(text, each) for each in names)
    doubt = _doubt(0.0 if other else about, effect, told) or _doubt_link(told, passages, weights, moved)
    return Told(told, round(about, 3), effect, doubt)


def tells_remedy(heading: str) -> bool:
    """Whether what stands under a heading is what is done about something."""
    return bool(_REMEDY.search(heading))


def subject_words(question: str, context: str) -> tuple[str, ...]:
    """What is to be explained, as terms: what the question and its context name, without dates."""
    words = [*asked_words(_named(question)), *asked_words(_named(context))]
    # A question of nothing but a rate or a level is about that.
    words = words or [*asked_words(_without_dates(question)), *asked_words(_without_dates(context))]
    # A name in parts (billing-api, billing, api) counts once.
    parts = {part for word in words if "-" in word for part in tokenize(word) if part != word}
    return tuple(word for word in dict.fromkeys(words) if word not in parts)


def _without_dates(text: str) -> str:
    for mention in reversed(find_dates(text)):
        text = f"{text[: mention.start]} {text[mention.end :]}"
    return _PERIOD.sub(" ", text)


def _named(text: str) -> str:
    """The text without dates, relative times and the form of a measure: a report on a margin need not say its rate."""
    return _FORM.sub(" ", _without_dates(text))


def _words_of(document_id: str, passages: Sequence[Passage]) -> set[str]:
    own = [passage for passage in passages if passage.document_id == document_id]
    text = " ".join(f"{' '.join(item.heading_path)} {item.text}" for item in own)
    return set(quote_words(f"{own[0].title} {own[0].metadata.get('subject', '')} {text}"))


def _best_scores(passages: Sequence[Passage]) -> dict[str, float]:
    best: dict[str, float] = {}
    for passage in passages:
        best.setdefault(passage.document_id, 1 / math.sqrt(passage.rank))
    return best


def _share(weights: dict[str, float], words: set[str]) -> float:
    total = sum(weights.values()) or 1.0
    return sum(weight for word, weight in weights.items() if word in words) / total


def _states_effect(unit: Unit, passage: Passage, weights: dict[str, float], moved: set[str]) -> bool:
    """Whether a unit says of the subject that it moved, in the direction asked for where one is."""
    words = set(quote_words(unit.shown))
    directions = {word for word in words if word in (UP, DOWN)}
    if not directions or (moved and not directions & moved):
        return False
    return _share(weights, words | set(quote_words(passage.title))) >= EFFECT_SUBJECT


def _states(unit: Unit) -> bool:
    """Whether a unit says something: a question in a document tells nothing, a command line gives no reason."""
    return not unit.shown.endswith("?") and unit.kind != "code"


def _is_cause(unit: Unit) -> bool:
    return bool(_TELLS.search(unit.heading)) or names_cause(unit.shown)


def _bridge(first: tuple[int, Unit] | None, passages: Sequence[Passage], weights: dict[str, float]) -> set[str]:
    """Words of the strongest sentence, and of its document's subject line where that names the subject."""
    if first is None:
        return set()
    index, unit = first
    line = _subject_line(passages[index])
    own = set(quote_words(line))
    about = line if _share(weights, own) >= NAMED else ""
    return set(asked_words(_without_dates(f"{unit.shown} {about}")))


def line_of(document_id: str, passages: Sequence[Passage]) -> str:
    """What a document says that it is about: title and subject."""
    return next(_subject_line(passage) for passage in passages if passage.document_id == document_id)


def _subject_line(passage: Passage) -> str:
    return f"{passage.title} {passage.metadata.get('subject', '')}"


def _cause_score(unit: Unit, passage: Passage, weights: dict[str, float], moved: set[str]) -> float:
    value = HEADED if _TELLS.search(unit.heading) or (not unit.heading and _TELLS.search(passage.title)) else 0.0
    prose = unit.kind in ("sentence", "item")
    value += WORDED if names_cause(unit.shown) else HINTED if prose and hints_cause(unit.shown) else 0.0
    value += DATED if prose and find_dates(unit.shown) else 0.0
    value -= REMEDY if tells_remedy(unit.heading) else 0.0
    value += MOVED if _states_effect(unit, passage, weights, moved) else 0.0
    return value + SUBJECT * _share(weights, set(quote_words(f"{unit.heading} {unit.shown}")))


def _doubt(about: float, effect: bool, told: Sequence[tuple[int, Unit]]) -> str:
    if about < MIN_ABOUT:
        return "the document that comes closest is about something else"
    if not effect and not any(_TELLS.search(unit.heading) for _, unit in told):
        return "no document says that this moved, and why"
    if not any(_is_cause(unit) for _, unit in told):
        return "no sentence of cause was found"
    return ""


def _doubt_link(
    told: Sequence[tuple[int, Unit]], passages: Sequence[Passage], weights: dict[str, float], moved: set[str]
) -> str:
    """What speaks against a cause being that of the subject: it neither names it nor leads to what says that it moved.

    A report of many things tells causes of other ones beside it.
    """
    causes = [(index, unit) for index, unit in told if _is_cause(unit) or hints_cause(unit.shown)]
    effects = [(index, unit) for index, unit in told if _states_effect(unit, passages[index], weights, moved)]
    for index, unit in causes:
        words = set(quote_words(f"{unit.heading} {unit.shown}"))
        near = any(at == index and abs(unit.order - other.order) <= NEAR for at, other in effects)
        led = any(len(words & set(asked_words(other.shown))) >= LED for _, other in effects)
        if near or led or words & set(weights):
            return ""
    return "no sentence of cause speaks of it"
