"""Which kinds of document and which services a question is about, by the vocabulary of the index itself. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rag_core.retrieval.tokens import stem, tokenize

# A type that is named together with a word like these is the place to look, not merely a word of the question.
_ASKED_FOR = r"(?:according to|as per|in|which|what)\s+(?:the|our|a|an|any|all)?\s*"
_SAYS = r"\s+(?:say|says|said|state|states|define|defines|require|requires|prescribe|prescribes|tell|tells)\b"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Values of the index with the number of documents that have them, lower case."""

    document_types: Mapping[str, int]
    services: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Classification:
    """What a question names. `filters` are those that are certain; the others only raise what fits."""

    document_types: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    filters: tuple[tuple[str, str], ...] = ()


def classify(query: str, vocabulary: Vocabulary) -> Classification:
    """Reads a question against the vocabulary.

    A value is named where all its words stand in the question next to one another, in any inflection. A type is certain
    where the question asks for such documents ("which runbook", "the standard says") and names no other type.
    """
    spoken = [stem(word) for word in re.findall(r"[^\W_]+", query.casefold())]
    types = tuple(sorted(value for value in vocabulary.document_types if _stands(_words(value), spoken)))
    whole = set(tokenize(query))
    services = tuple(sorted(value for value in vocabulary.services if value in whole or _stands(_words(value), spoken)))
    # "billing" is not meant where "billing-api" is named.
    services = tuple(value for value in services if not any(value != other and value in other for other in services))
    filters = tuple(("document_type", value) for value in types if len(types) == 1 and _is_asked_for(query, value))
    return Classification(types, services, filters)


def _words(value: str) -> list[str]:
    return [stem(word) for word in re.findall(r"[^\W_]+", value.casefold())]


def _stands(words: list[str], spoken: list[str]) -> bool:
    width = len(words)
    return width > 0 and any(spoken[at : at + width] == words for at in range(len(spoken) - width + 1))


def _is_asked_for(query: str, value: str) -> bool:
    name = r"[\s_-]+".join(re.escape(word) for word in re.findall(r"[^\W_]+", value)) + r"(?:s|es)?"
    pattern = rf"\b{_ASKED_FOR}{name}\b|\b{name}{_SAYS}"
    return re.search(pattern, query, re.IGNORECASE) is not None
