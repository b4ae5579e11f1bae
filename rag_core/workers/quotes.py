"""The sentences of passages that answer a question, verbatim.

A unit's score joins what was measured to help on the sample's questions: the weight of the question's words in it and,
less, in the headings above it; likeness of meaning where an embedding model is at hand; whether it holds the kind of
thing asked for; how well its passage did in the search; and how well its neighbour does.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.connectors.base import Embedder
from rag_core.datamodel.evidence import Passage
from rag_core.retrieval.tokens import tokenize
from rag_core.workers.asks import asks_cause, fit, holds_cause, is_byline
from rag_core.workers.subjects import about_others, rows_of_others
from rag_core.workers.units import Unit, split_units
from rag_core.workers.wording import asked_words, measure_words, pairs, quote_words
from rag_core.workers.words import find_names

# Weights of the parts of a score. Measured on the sample's document questions (see docs/evaluation.md).
OWN_WORDS, HEADING_WORDS, MEANING, MEANING_UNDER_HEADING, KIND, PASSAGE, NEIGHBOUR = 0.7, 0.3, 0.4, 0.6, 0.5, 0.3, 0.1
# Share of the best score that a further quote must reach; a cause is told in several sentences of one document.
NEXT_BEST, NEXT_CAUSE = 0.6, 0.4
# Of the words that the quote with most of them holds, the share that a further quote must hold: more where it lacks the
# kind of thing asked for, and from the fourth on where it does not come near to the best one. What this leaves out of
# the sample's further quotes, and how little of it an answer needs, stands in docs/evaluation.md.
HELD, HELD_UNFIT, HELD_LATE, UNFIT = 0.4, 0.7, 0.5, 0.3
FEW, AFTER_FEW = 3, 0.75
# Words that only say what the question is about weigh so much of those that say what is asked.
CONTEXT, MOST_CONTEXT = 0.4, 0.7
# Neighbouring words of the question that stand side by side in a unit too.
SIDE_BY_SIDE = 0.15
# A name that so many of the documents found use is that of the house itself, and weighs less.
HOUSE, HOUSE_SHARE, HOUSE_DOCUMENTS = 0.2, 0.5, 3
# A document of the kind asked for (which contract, which standard).
DOCUMENT_KIND = 0.3
LONG, TOO_LONG = 60, 0.15
CODE = 0.2


_WHICH_DOCUMENT = re.compile(
    r"\b(?:which|what) (?:\w+ )?(contract|agreement|standard|policy|runbook|postmortem|notice|report)s?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quote:
    """A unit of the passage with index `passage` and its score.

    `held` is the share of the question's and the context's word weight that it holds, headings included and the unit
    asked for left out; `asked` says whether any word of the question itself is among them, `own` whether it shares more
    than that unit.
    """

    passage: int
    unit: Unit
    score: float
    held: float
    asked: bool
    own: bool = True


def best_quotes(
    question: str,
    passages: Sequence[Passage],
    *,
    context: str = "",
    embedder: Embedder | None = None,
    limit: int = 4,
    floor: float = 0.15,
) -> list[Quote]:
    """The units that answer best, best first; ties in the order of the passages and their text.

    Args:
        question: in plain words.
        passages: in the order of the search.
        context: further words that say what the question is about.
        embedder: likeness of meaning counts where given.
        limit: most quotes.
        floor: least score; nothing above it gives an empty list.
    """
    units = units_about(question, passages)
    if not units:
        return []
    quotes = _scored(question, context, passages, units, embedder)
    quotes.sort(key=lambda quote: (-quote.score, quote.passage, quote.unit.order))
    kept: list[Quote] = []
    fits: list[float] = []
    told_on = bool(context) and asks_cause(question)
    for quote in quotes:
        if quote.score < floor or (kept and quote.score < NEXT_CAUSE * kept[0].score):
            break
        if kept and quote.score < NEXT_BEST * kept[0].score and not _continues(question, quote, kept[0], passages):
            continue
        if any(_same(quote.unit.shown, other.unit.shown) for other in kept):
            continue
        kind = fit(question, quote.unit.shown, listed=quote.unit.kind == "item")
        if kept and not told_on and not _adds(quote, kind, kept, fits):
            continue
        kept.append(quote)
        fits.append(kind)
        if len(kept) == limit:
            break
    return kept


def _adds(quote: Quote, kind: float, kept: Sequence[Quote], fits: Sequence[float]) -> bool:
    """Whether a further quote holds enough of the question beside those that hold the kind asked for as well as it."""
    if not quote.own and kind <= max(fits):
        return False
    most = max((other.held for other, fitting in zip(kept, fits, strict=True) if fitting > kind - UNFIT), default=0.0)
    if kind <= max(fits) - UNFIT:
        return quote.held >= HELD_UNFIT * max(other.held for other in kept)
    late = len(kept) >= FEW and quote.score < AFTER_FEW * kept[0].score
    return quote.held >= (HELD_LATE if late else HELD) * most


def units_about(question: str, passages: Sequence[Passage]) -> list[tuple[int, Unit]]:
    """The quotable units without those of documents and rows about somebody else than the question names."""
    others = about_others(question, passages)
    units = [(index, unit) for index, unit in quotable_units(passages) if passages[index].document_id not in others]
    rows = rows_of_others(question, passages, units)
    return [item for at, item in enumerate(units) if at not in rows]


def quotable_units(passages: Sequence[Passage]) -> list[tuple[int, Unit]]:
    """Every unit that can be quoted, with the index of its passage."""
    return [
        (index, unit)
        for index, passage in enumerate(passages)
        for unit in split_units(passage.text)
        if not is_byline(unit.shown)
    ]


def _continues(question: str, quote: Quote, best: Quote, passages: Sequence[Passage]) -> bool:
    """Whether a weaker quote goes on with the cause that the best one begins to tell."""
    same = passages[quote.passage].document_id == passages[best.passage].document_id
    return same and asks_cause(question) and holds_cause(quote.unit.shown)


def coverage(question: str, passages: Sequence[Passage]) -> float:
    """Share of the question's words that stand in the quotes of one passage with its title and headings; the best one.

    A row is read with the names of its columns. Words that stand nowhere count as missing, which `Quote.held` does not
    do.
    """
    wanted = set(tokenize(question))
    shares = [
        len(wanted & set(tokenize(" ".join([passage.title, *passage.heading_path, *_said(passage)])))) / len(wanted)
        for passage in passages
        if passage.quotes and wanted
    ]
    return max(shares, default=0.0)


def _said(passage: Passage) -> list[str]:
    """What is quoted of a passage, as it reads, each behind its heading."""
    units = {unit.verbatim: f"{unit.heading} {unit.shown}" for unit in split_units(passage.text)}
    return [units.get(quote, quote) for quote in passage.quotes]


def house_words(question: str, passages: Sequence[Passage]) -> set[str]:
    """Words of names in the question that most of the documents found use: whose documents they are tells nothing."""
    texts = {passage.document_id: "" for passage in passages}
    for passage in passages:
        texts[passage.document_id] += f" {passage.text.lower()}"
    least = max(HOUSE_DOCUMENTS, HOUSE_SHARE * len(texts))
    names = [name for name in find_names(question) if name[0].isupper()]
    return {
        word
        for name in names
        if sum(name.lower() in text for text in texts.values()) >= least
        for word in quote_words(name)
    }


def _scored(
    question: str,
    context: str,
    passages: Sequence[Passage],
    units: Sequence[tuple[int, Unit]],
    embedder: Embedder | None,
) -> list[Quote]:
    titles = [set(quote_words(" ".join([passage.title, *passage.heading_path]))) for passage in passages]
    heads = [titles[index] | set(quote_words(unit.heading)) for index, unit in units]
    present = [set(quote_words(unit.shown)) for _, unit in units]
    weights = _weigh_words(question, context, [own | lent for own, lent in zip(present, heads, strict=True)])
    house = house_words(question, passages)
    weights = {word: weight * (HOUSE if word in house else 1.0) for word, weight in weights.items()}
    total = sum(weights.values()) or 1.0
    measured = measure_words(question)
    about = {word: weight for word, weight in weights.items() if word not in measured} or weights
    whole = sum(about.values()) or 1.0
    meaning = _meaning(f"{question} {context}".strip(), passages, units, embedder)
    priors = _priors(passages)
    which = _WHICH_DOCUMENT.search(question)
    kind_asked = which[1].lower() if which else ""
    asks_code = "command" in question.lower()
    own_share, scores = [], []
    wanted, neighbours = set(quote_words(question)), pairs(question)
    for position, (index, unit) in enumerate(units):
        words = present[position]
        own = sum(weight for word, weight in weights.items() if word in words) / total
        lent = sum(weight for word, weight in weights.items() if word in heads[position] and word not in words) / total
        score = OWN_WORDS * own + HEADING_WORDS * lent + meaning[position] + PASSAGE * priors[index]
        score += SIDE_BY_SIDE * len(neighbours & pairs(unit.shown)) / max(len(neighbours), 1)
        score += KIND * fit(question, unit.shown, listed=unit.kind == "item")
        score += DOCUMENT_KIND if kind_asked and kind_asked in passages[index].document_type else 0.0
        score -= TOO_LONG if len(unit.shown.split()) > LONG else 0.0
        score -= CODE if unit.kind == "code" and not asks_code else 0.0
        present_above = words | heads[position]
        own_share.append(sum(weight for word, weight in about.items() if word in present_above) / whole)
        scores.append(score)
    return [
        Quote(
            index,
            unit,
            round(scores[at] + NEIGHBOUR * _neighbour(at, units, scores), 6),
            round(own_share[at], 6),
            bool(wanted & (present[at] | heads[at])),
            bool(present[at] & set(about)) or not present[at] & measured,
        )
        for at, (index, unit) in enumerate(units)
    ]


def _weigh_words(question: str, context: str, units: Sequence[set[str]]) -> dict[str, float]:
    """Weight of each distinct word of the question among these units; rare ones weigh more, absent ones nothing.

    Words of the context weigh less, and together at most so much less than what is asked; alone they weigh in full.
    """
    counts = Counter(word for unit in units for word in unit)

    def weights(text: str) -> dict[str, float]:
        return {
            word: math.log(1 + (len(units) + 1) / (counts[word] + 0.5))
            for word in dict.fromkeys(quote_words(text))
            if counts[word]
        }

    asked, about = weights(question), weights(context)
    total, further = sum(asked.values()), sum(weight for word, weight in about.items() if word not in asked)
    share = 1.0
    if asked and any(word in asked for word in asked_words(question)):
        share = min(CONTEXT, MOST_CONTEXT * total / further) if further else 0.0
    return {**{word: share * weight for word, weight in about.items()}, **asked}


def _meaning(
    question: str, passages: Sequence[Passage], units: Sequence[tuple[int, Unit]], embedder: Embedder | None
) -> list[float]:
    if embedder is None:
        return [0.0] * len(units)
    texts = [unit.shown for _, unit in units]
    headed = [
        f"{(passages[index].heading_path or (passages[index].title,))[-1]}: {unit.shown}" for index, unit in units
    ]
    distinct = list(dict.fromkeys([*texts, *headed]))
    vectors = embedder.embed([question, *distinct])
    asked, found = vectors[0], dict(zip(distinct, vectors[1:], strict=True))

    def cosine(text: str) -> float:
        return sum(left * right for left, right in zip(asked, found[text], strict=True))

    return [
        MEANING * cosine(text) + MEANING_UNDER_HEADING * cosine(under)
        for text, under in zip(texts, headed, strict=True)
    ]


def _priors(passages: Sequence[Passage]) -> list[float]:
    """How well each passage did in both legs of the search, 1 for the best in each."""
    cosine = [passage.scores.cosine or 0.0 for passage in passages]
    bm25 = [passage.scores.bm25 or 0.0 for passage in passages]
    best_cosine, best_bm25 = max(cosine, default=0.0) or 1.0, max(bm25, default=0.0) or 1.0
    return [(a / best_cosine + b / best_bm25) / 2 for a, b in zip(cosine, bm25, strict=True)]


def _neighbour(at: int, units: Sequence[tuple[int, Unit]], scores: Sequence[float]) -> float:
    """The better score of the units just before and after in the same passage."""
    near = [scores[i] for i in (at - 1, at + 1) if 0 <= i < len(units) and units[i][0] == units[at][0]]
    return max(near, default=0.0)


def _same(first: str, second: str) -> bool:
    """Whether two units say the same in nearly the same words (an overlap of chunks, a copied sentence)."""
    if first in second or second in first:
        return True
    one, other = set(tokenize(first)), set(tokenize(second))
    if {word for word in one ^ other if any(character.isdigit() for character in word)}:
        return False  # another figure for the same thing is what must be shown, not left out
    return bool(one and other) and len(one & other) >= 0.85 * max(len(one), len(other))
