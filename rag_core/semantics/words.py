"""Cuts questions into words and brings words to a common form. Pure.

The form is light on purpose (plural endings only): a full stemmer makes "customs" and "customers" one word, and a word
taken for another is a wrong answer, while a word not known is only a question asked back.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from rag_core.datamodel.base import Record

_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*|[%&<>=]+|[,;:?!()]|\.(?=\s|$)|[-/]", re.UNICODE)
_POSSESSIVE = re.compile(r"['\u2019]s\b|(?<=s)['\u2019](?=\s|$)")
PUNCTUATION = frozenset(",;:?!().-/")
_IRREGULAR = {
    "does": "does",
    "people": "person",
    "series": "series",
    "businesses": "business",
    "news": "news",
    "analyses": "analysis",
}


class Word(Record):
    """One word with its place in the text; `key` is the form that is compared."""

    text: str
    key: str
    start: int
    end: int


def normalise(word: str) -> str:
    """Lower case without accents, plural endings taken off."""
    plain = unicodedata.normalize("NFKD", word.lower())
    return _singular("".join(char for char in plain if not unicodedata.combining(char)))


@lru_cache(maxsize=50_000)
def _singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 3 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    return word[:-1]


def words(text: str) -> list[Word]:
    """The words and signs of a text in order. Hyphens and slashes part words; a possessive 's is dropped."""
    blanked = _POSSESSIVE.sub(lambda found: " " * len(found.group()), text)
    blanked = blanked.replace("_", " ")
    return [
        Word(text=text[found.start() : found.end()], key=normalise(found.group()), start=found.start(), end=found.end())
        for found in _WORD.finditer(blanked)
    ]


@lru_cache(maxsize=50_000)
def phrase(text: str) -> tuple[str, ...]:
    """The keys of a phrase's words, signs left out."""
    return tuple(word.key for word in words(text) if word.key not in PUNCTUATION)


def whole_word(text: str, start: int, end: int) -> str:
    """The span widened to the hyphenated word that it is a part of, as the asker wrote it."""
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] in "-_"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] in "-_"):
        end += 1
    return text[start:end].strip("-_")
