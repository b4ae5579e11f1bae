"""Who or what a question is about, and which of the documents found are about somebody else. Pure.

A question that names a contract, a customer, a service or an incident is answered by what is said of that one. What
stands in a document about another one of the same kind (another contract, another runbook) is true and no answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_core.datamodel.evidence import Passage
from rag_core.workers.units import Unit
from rag_core.workers.wording import quote_words
from rag_core.workers.words import STOP_WORDS, find_names, plain

_SHORT = re.compile(r"[A-Z]{2,4}")
# So much of a longer name's beginning tells it in another form: German and Germany, Nordic and Nordics.
FORM = 5
_IDENTIFIER = re.compile(r"\b[A-Z]{2,}-\d[\d-]*\b")
_POSSESSIVE = re.compile(r"['\u2019]s?$")
# Between parts of one name.
_JOINED = re.compile(r"\s+(?:&\s+)?")
# A name behind these is what is not asked about.
_EXCEPTED = re.compile(r"\b(?:outside|except|besides|excluding|without|other than|apart from)\b[^.;?]*$", re.IGNORECASE)
_PARTNER = re.compile(r"\b(?:with|between) (?:the )?([A-Z][\w&'\u2019-]+(?: [A-Z][\w&'\u2019-]+)*)")
_AGREEMENT = re.compile(r"\b(?:contracts?|agreements?)\b", re.IGNORECASE)
# A name that so many of the documents found use is that of the house itself.
HOUSE_SHARE, HOUSE_DOCUMENTS = 0.5, 3


@dataclass(frozen=True, slots=True)
class Found:
    """The documents found by id: what stands in them, what stands above it, and their kinds."""

    texts: Mapping[str, str]
    heads: Mapping[str, str]
    kinds: Mapping[str, str]
    written: str

    @classmethod
    def of(cls, passages: Sequence[Passage]) -> Found:
        """The documents that these passages are of."""
        texts: dict[str, str] = {}
        heads: dict[str, str] = {}
        for passage in passages:
            above = _above(passage)
            heads[passage.document_id] = f"{heads.get(passage.document_id, '')}{_flat(above)}"
            texts[passage.document_id] = f"{texts.get(passage.document_id, '')}{_flat(above)}{_flat(passage.text)}"
        kinds = {passage.document_id: passage.document_type for passage in passages}
        written = " ".join(passage.text for passage in passages)
        return cls(texts, heads, kinds, written)

    def speaks_of(self, text: str, name: str) -> bool:
        """Whether a text prepared by `plain` holds a name: as a whole, in another form, or by its telling part."""
        if f" {plain(name).strip()} " in text:
            return True
        parts = [_POSSESSIVE.sub("", part) for part in name.split()]
        telling = [part for part in parts if part[:1].isupper() and not self.is_small(part)]
        return any(_holds(text, part) for part in (telling if len(parts) > 1 else parts))

    def is_small(self, word: str) -> bool:
        """Whether a word is written small somewhere, so that it is no name by itself."""
        return re.search(rf"(?<![\w-]){re.escape(word.lower())}s?(?![\w-])", self.written) is not None

    def is_house(self, name: str) -> bool:
        """Whether a name is that of the house whose documents these are."""
        using = sum(self.speaks_of(text, name) for text in self.texts.values())
        return using >= max(HOUSE_DOCUMENTS, HOUSE_SHARE * len(self.texts))


def subject_names(question: str) -> tuple[str, ...]:
    """The names in a question as wholes, in order: neighbouring parts are one name; excepted ones are left out."""
    places = sorted(
        {match.span() for name in set(find_names(question)) for match in re.finditer(rf"\b{re.escape(name)}", question)}
    )
    found: list[tuple[int, int]] = []
    for start, end in places:
        if question[start:end].lower() in STOP_WORDS:
            continue  # "Will Arden renew?"
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        elif found and _JOINED.fullmatch(question[found[-1][1] : start]):
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    names = (question[start:end] for start, end in found if not _EXCEPTED.search(question[:start]))
    return tuple(dict.fromkeys(_POSSESSIVE.sub("", name) for name in names))


# The same passages are looked at for each quote that is weighed.
@lru_cache(maxsize=512)
def _flat(text: str) -> str:
    return plain(text)


def _holds(text: str, part: str) -> bool:
    needle = plain(part).strip()
    if not needle or f" {needle} " in text:
        return True
    stem = needle.rstrip("s")
    if len(stem) < FORM or not stem.isalpha():
        return len(stem) > 2 and f" {stem} " in text
    return re.search(rf" {re.escape(stem[: max(FORM, len(stem) - 2)])}\w{{0,4}} ", text) is not None


def unspoken(question: str, passages: Sequence[Passage], others: Sequence[Passage] = ()) -> tuple[str, ...]:
    """Names in a question that none of the documents found holds, short capitals left out: they are written out often.

    Of `others`, found beside them, the name of the house is known: it need not be said.
    """
    found, beside = Found.of(passages), Found.of(others)
    text = " ".join(found.texts.values())
    return tuple(
        name
        for name in subject_names(question)
        if not found.speaks_of(text, name) and not _SHORT.fullmatch(name) and not beside.is_house(name)
    )


def about_others(question: str, passages: Sequence[Passage]) -> frozenset[str]:
    """Ids of the documents that are about another one of the kind that the question names.

    A document is about what its title, its subject or its service names. Where one is about a name of the question,
    documents of its type that do not speak of that name and have a name of their own are about others.
    """
    names = subject_names(question)
    if not names:
        return frozenset()
    found = Found.of(passages)
    others: set[str] = set()
    for name in names:
        about = {key for key, head in found.heads.items() if found.speaks_of(head, name)}
        kinds = {found.kinds[key] for key in about if found.kinds[key]}
        others |= {
            passage.document_id
            for passage in passages
            if kinds
            and found.kinds[passage.document_id] in kinds
            and not found.speaks_of(found.texts[passage.document_id], name)
            and own_names(passage, question, found)
        }
    return frozenset(others)


def own_names(passage: Passage, question: str, found: Found) -> tuple[str, ...]:
    """Names in a document's title, and its service, that the question does not use.

    A title is written in capitals often: a word of it is a name where no text found writes it small, and where it
    stands behind `with` or `for`, or a text writes it large inside a sentence.
    """
    asked = plain(question)
    written = f"{passage.title} {found.written}"
    service = str(passage.metadata.get("service") or "")
    names = [*_IDENTIFIER.findall(passage.title), *([service] if service else [])]
    names += [
        name
        for name in find_names(passage.title)
        if name[0].isupper()
        and not found.is_small(name)
        and re.search(rf"(?:\b(?:with|for|to|between|of|from)(?: the)? |[a-z,;] ){re.escape(name)}\b", written)
        and not found.is_house(name)
    ]
    return tuple(name for name in dict.fromkeys(names) if not found.speaks_of(asked, name))


def terms_of_another(asked: str, passage: Passage, found: Found) -> bool:
    """Whether a document states what holds with somebody whom what is asked does not name ("Agreement with Rill Ltd").

    Where an agreement is asked for, it is told whose it is.
    """
    if _AGREEMENT.search(asked):
        return False
    flat = plain(asked)
    names = [_POSSESSIVE.sub("", name) for name in _PARTNER.findall(passage.title)]
    return any(not found.is_house(name) and not found.speaks_of(flat, name) for name in names)


def rows_of_others(question: str, passages: Sequence[Passage], units: Sequence[tuple[int, Unit]]) -> frozenset[int]:
    """Places in `units` of rows of somebody else than the question names.

    A row is where another row of its document holds the name and at least as much of the question.
    """
    names = subject_names(question)
    rows = [at for at, (_, unit) in enumerate(units) if unit.kind in ("row", "record")]
    if not names or not rows:
        return frozenset()
    found = Found.of(passages)
    asked = set(quote_words(question))
    held = {at: asked & set(quote_words(units[at][1].shown)) for at in rows}
    spoken = {at: plain(units[at][1].shown) for at in rows}
    keys = {at: plain(_key(units[at][1].shown)).strip() for at in rows}
    others: set[int] = set()
    for name in names:
        own = {at for at in rows if found.speaks_of(spoken[at], name)}
        # Where the first cell of a row is the name, one that only mentions it is of something else.
        keyed = {at for at in own if keys[at] == plain(name).strip()}
        for at in rows:
            document = passages[units[at][0]].document_id
            rivals = keyed if at in own else own
            if at not in rivals and any(
                passages[units[other][0]].document_id == document and held[at] <= held[other] for other in rivals
            ):
                others.add(at)
    return frozenset(others)


def _key(shown: str) -> str:
    """The first cell of a row, without its column's name."""
    return shown.split("; ", 1)[0].partition(": ")[2]


def _above(passage: Passage) -> str:
    stated = " ".join(str(passage.metadata.get(key) or "") for key in ("subject", "service"))
    return f"{passage.title} {' '.join(passage.heading_path)} {stated} {passage.path}"
