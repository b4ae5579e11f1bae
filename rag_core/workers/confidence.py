"""Whether the sentences chosen answer the question, or only speak of something near it. Pure.

A quote is always true of its document; what can be wrong is that it is not what was asked. So an answer is doubted
where the kind of thing asked for (a date, a length of time, a number, a name, a time of day) is not in it, or where too
few of the question's words stand in the quotes, their headings and their title.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.datamodel.evidence import Passage
from rag_core.workers.asks import Kind, holds, kinds_asked, names_doer
from rag_core.workers.units import Unit
from rag_core.workers.wording import asked_words, quote_words
from rag_core.workers.words import contains_name, content_words, find_names, plain

_WHICH_NAME = re.compile(r"\bwhich (?:customer|competitor|person|company)\b", re.IGNORECASE)
# Share of the question's words that the quotes of one passage must hold with title and headings.
MIN_WORDS = 0.5
_SAID = {
    Kind.DATE: "a date or a time",
    Kind.DURATION: "a length of time",
    Kind.NUMBER: "a number",
    Kind.NAME: "a name",
}


def words_held(question: str, passage: Passage, units: Sequence[Unit]) -> float:
    """Share of what a question is about that stands in the quotes of a passage with their headings; 1 for no word."""
    # "Which customer" is answered by a name, whether or not the word customer stands beside it.
    wanted = set(asked_words(_WHICH_NAME.sub(" ", question)))
    if not wanted:
        return 1.0
    around = " ".join(
        [passage.title, *passage.heading_path, str(passage.metadata.get("subject", "")), *(u.heading for u in units)]
    )
    return len(wanted & set(quote_words(f"{around} {' '.join(u.shown for u in units)}"))) / len(wanted)


def doubt_quotes(
    question: str, passages: Sequence[Passage], quoted: Sequence[tuple[int, Unit]], context: str = ""
) -> tuple[float, str]:
    """How sure it is that the quotes answer (0 to 1), and what speaks against it, empty for nothing.

    Args:
        question: as asked.
        passages: what the search found.
        quoted: the units chosen, with the index of their passage.
        context: what the question stands beside; a name out of it is no answer.
    """
    if not quoted:
        return 0.0, "nothing was found"
    text = " ".join(unit.shown for _, unit in quoted)
    missing = [kind for kind in kinds_asked(question) if not holds(kind, text, f"{question} {context}")]
    held = max(
        words_held(question, passages[index], [unit for at, unit in quoted if at == index])
        for index in {index for index, _ in quoted}
    )
    confidence = round(held * (0.5 if missing else 1.0), 3)
    if missing:
        return confidence, f"what is quoted holds no {_SAID[missing[0]].removeprefix('a ')}"
    if not any(names_doer(question, f"{unit.heading} {unit.shown}") for _, unit in quoted):
        return confidence / 2, "no sentence tells who does this"
    if unknown := _names_nowhere(question, [passages[index] for index in {index for index, _ in quoted}]):
        return confidence / 2, f"what is quoted does not speak of {unknown[0]}"
    if held < MIN_WORDS:
        return confidence, "what is quoted holds too little of what was asked"
    return confidence, ""


def _names_nowhere(question: str, passages: Sequence[Passage]) -> list[str]:
    """Names of the question that no quoted passage holds."""
    text = " ".join(f"{p.title} {' '.join(p.heading_path)} {p.text} {p.path} {p.metadata}" for p in passages)
    flat, stems = plain(text), set(content_words(text))
    return [
        name
        for name in dict.fromkeys(find_names(question))
        if not contains_name(flat, name) and not set(content_words(name)) <= stems
    ]


def names_missing(question: str, quoted: Sequence[tuple[int, Unit]], context: str = "") -> bool:
    """Whether a name is asked for and no quote holds one that was not in the question already."""
    text = " ".join(unit.shown for _, unit in quoted)
    return Kind.NAME in kinds_asked(question) and not holds(Kind.NAME, text, f"{question} {context}")
