"""Whether the sentences chosen answer the question, or only speak of something near it. Pure.

A quote is always true of its document; what can be wrong is that it is not what was asked. So an answer is doubted
where the kind of thing asked for (a date, a length of time, a number, a name, a time of day) is not in it, or where too
few of the question's words stand in any one quote, its headings and its title.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from rag_core.datamodel.evidence import Passage
from rag_core.workers.asks import Kind, counted_noun, counts, holds, kinds_asked, names_doer
from rag_core.workers.circumstances import Said, doubt_circumstance
from rag_core.workers.evidence_validator import document_day, is_successor
from rag_core.workers.figure_doubt import doubt_figure
from rag_core.workers.hops import UNSAID, doubt_hop
from rag_core.workers.subjects import Found, terms_of_another
from rag_core.workers.units import Unit
from rag_core.workers.wording import asked_words, quote_words
from rag_core.workers.words import contains_name, content_words, find_names, plain

_WHICH_NAME = re.compile(r"\bwhich (?:customer|competitor|person|company)\b", re.IGNORECASE)
# Share of the question's words that one quote must hold with title and headings. Calibrated on one half of the sample's
# document facts (docs/evaluation.md): there 15 % of the right answers fall below it, and 68 % of those to questions
# whose passage was taken out of what the search found.
MIN_WORDS = 0.6
FEW_WORDS = 2
_SAID = {
    Kind.DATE: "a date or a time",
    Kind.DURATION: "a length of time",
    Kind.NUMBER: "a number",
    Kind.NAME: "a name",
}


def words_held(
    question: str, passages: Sequence[Passage], quoted: Sequence[tuple[int, Unit]], context: str = ""
) -> list[float]:
    """For each unit the share of what a question is about that it holds with what stands above it; 1 for no word.

    Above it stand its heading and those of its passage, the title and the subject of its document. Words weigh by how
    few of the documents found hold them, and one that none holds weighs most: it is what was not found.
    """
    # "Which customer" is answered by a name, whether or not the word customer stands beside it.
    weights = _weights(set(asked_words(_WHICH_NAME.sub(" ", question))), passages)
    total = sum(weights.values())
    found = Found.of(passages)
    shares = []
    for index, unit in quoted:
        passage = passages[index]
        above = _above(passage, unit)
        present = {*quote_words(above), *quote_words(unit.shown)}
        row_of_another = unit.kind in ("row", "record") and _names_another(question, f"{above} {unit.shown}")
        if row_of_another or terms_of_another(f"{question} {context}", passage, found):
            shares.append(0.0)
            continue
        shares.append(sum(weight for word, weight in weights.items() if word in present) / total if weights else 1.0)
    return shares


def _above(passage: Passage, unit: Unit) -> str:
    return " ".join([passage.title, *passage.heading_path, str(passage.metadata.get("subject", "")), unit.heading])


def _dated(passage: Passage, unit: Unit) -> str:
    return f"{_above(passage, unit)} {passage.path} {document_day(passage)}"


def _names_another(question: str, text: str) -> bool:
    """Whether the question is about a name that neither a row nor what stands above it holds."""
    flat, stems = plain(text), set(content_words(text))
    names = [name for name in find_names(question) if name[0].isupper()]
    return any(not contains_name(flat, name) and not set(content_words(name)) <= stems for name in names)


def _weights(words: set[str], passages: Sequence[Passage]) -> dict[str, float]:
    """Weight of each word among the documents found."""
    documents: dict[str, set[str]] = {}
    for passage in passages:
        held = documents.setdefault(passage.document_id, set())
        held.update(quote_words(passage.title), quote_words(passage.text))
    telling = words - UNSAID
    if len(telling) <= FEW_WORDS:
        # Of two words the rarer one does not tell what is asked: a quote must hold both.
        return dict.fromkeys(sorted(telling or words), 1.0)
    return {
        word: math.log(1 + (len(documents) + 1) / (sum(word in held for held in documents.values()) + 0.5))
        for word in sorted(words)
    }


def doubt_quotes(
    question: str, passages: Sequence[Passage], quoted: Sequence[tuple[int, Unit]], context: str = ""
) -> tuple[float, str]:
    """How sure it is that the quotes answer (0 to 1), and what speaks against it, empty for nothing.

    One quote must do it: a date in one and the words of the question in another answer nothing.

    Args:
        question: as asked.
        passages: what the search found.
        quoted: the units chosen, with the index of their passage.
        context: what the question stands beside; a name out of it is no answer.
    """
    if not quoted:
        return 0.0, "nothing was found"
    kinds, known = kinds_asked(question), f"{question} {context}"
    lacking = [{kind for kind in kinds if not holds(kind, unit.shown, known)} for _, unit in quoted]
    shares = words_held(question, passages, quoted, context)
    if missing := [kind for kind in kinds if all(kind in each for each in lacking)]:
        return round(max(shares) / 2, 3), f"what is quoted holds no {_SAID[missing[0]].removeprefix('a ')}"
    confidence = round(max((share for share, lacks in zip(shares, lacking, strict=True) if not lacks), default=0.0), 3)
    if not any(names_doer(question, f"{unit.heading} {unit.shown}") for _, unit in quoted):
        return confidence / 2, "no sentence tells who does this"
    if unknown := _names_nowhere(question, passages, quoted):
        return confidence / 2, f"what is quoted does not speak of {unknown[0]}"
    if about := _about_another(question, context, passages, quoted):
        return confidence / 2, f"what is quoted does not speak of {about}"
    if (noun := counted_noun(question)) and not any(counts(unit.shown, noun) for _, unit in quoted):
        return confidence / 2, f"no sentence says how many {noun}"
    if lacking_figure := doubt_figure(question, [(unit.shown, _dated(passages[at], unit)) for at, unit in quoted]):
        return confidence / 2, lacking_figure
    if hop := doubt_hop(question, [f"{unit.heading} {unit.shown}" for _, unit in quoted]):
        return confidence / 2, hop
    said = [Said(unit.shown, unit.heading, _above(passages[at], unit)) for at, unit in quoted]
    if unsaid := doubt_circumstance(question, said):
        return confidence / 2, unsaid
    if confidence < MIN_WORDS:
        return confidence, "what is quoted holds too little of what was asked"
    if replaced := _replaced(passages, quoted, shares):
        return confidence / 2, f"{replaced} is superseded, and the document in force was not found to say this"
    return confidence, ""


def _replaced(passages: Sequence[Passage], quoted: Sequence[tuple[int, Unit]], shares: Sequence[float]) -> str:
    """The title of a quoted document that another one replaced which is not quoted; empty for none.

    Beside a quote of a document of its kind in force that holds as much of the question it misleads nobody.
    """
    used = [passages[index] for index in dict.fromkeys(index for index, _ in quoted)]
    best: dict[tuple[str, bool], float] = {}
    for (index, _), share in zip(quoted, shares, strict=True):
        key = (passages[index].document_type, bool(passages[index].metadata.get("superseded_by")))
        best[key] = max(best.get(key, 0.0), share)
    for old in used:
        alone = old.metadata.get("superseded_by") and not any(is_successor(other, old) for other in used)
        if alone and best.get((old.document_type, False), 0.0) < best[old.document_type, True]:
            return old.title
    return ""


def _names_nowhere(question: str, passages: Sequence[Passage], quoted: Sequence[tuple[int, Unit]]) -> list[str]:
    """Names of the question that no quoted document holds; one of several words whole, or all in what is quoted."""
    used = [passages[index] for index in dict.fromkeys(index for index, _ in quoted)]
    text = _found_of(used, passages)
    said = " ".join([*(f"{p.title} {' '.join(p.heading_path)}" for p in used), *(unit.shown for _, unit in quoted)])
    flat, stems, spoken = plain(text), set(content_words(text)), set(content_words(said))
    found = Found.of(passages)
    return [
        name
        for name in dict.fromkeys(find_names(question))
        if not found.speaks_of(flat, name)
        and not found.is_house(name)
        and not set(content_words(name)) <= (spoken if len(name.split()) > 1 else stems)
    ]


def _found_of(used: Sequence[Passage], passages: Sequence[Passage]) -> str:
    """All that was found of the documents of some passages: a chunk need not repeat what its document is about."""
    documents = {passage.document_id for passage in used}
    return " ".join(
        f"{p.title} {' '.join(p.heading_path)} {p.text} {p.path} {p.metadata}"
        for p in passages
        if p.document_id in documents
    )


def _about_another(question: str, context: str, passages: Sequence[Passage], quoted: Sequence[tuple[int, Unit]]) -> str:
    """The first name beside a question that has none of its own, where nothing quoted speaks of any; else empty.

    A quote speaks of what stands in it, in its title, in its headings, or elsewhere in its document.
    """
    names = [] if find_names(question) else find_names(context)
    used = [passages[index] for index in dict.fromkeys(index for index, _ in quoted)]
    found, said = Found.of(passages), plain(_found_of(used, passages))
    return names[0] if names and not any(found.speaks_of(said, name) for name in names) else ""


def names_missing(question: str, quoted: Sequence[tuple[int, Unit]], context: str = "") -> bool:
    """Whether a name is asked for and no quote holds one that was not in the question already."""
    text = " ".join(unit.shown for _, unit in quoted)
    return Kind.NAME in kinds_asked(question) and not holds(Kind.NAME, text, f"{question} {context}")
