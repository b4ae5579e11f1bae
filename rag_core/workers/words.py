"""Words of prose: content words, names and sentences. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from rag_core.retrieval.tokens import english_stem

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a about above after again all also am an and any are as at be because been before being below
        between both but
        by can could did do does doing down during each else ever few for from further give given gives had has have
        having he her here hers him his how i if in into is it its itself just me more most my no nor not now of off on
        once only or other our ours out over own per please same say says she should show shown so some such tell than
        that the their them then there these they this those through to too under until up upon us very was we were what
        when where whether which while who whom whose why will with within without would yet you your yours""",
    )
)
_WORD = re.compile(r"[^\W_]+(?:[._'’/-][^\W_]+)*", re.UNICODE)
_NAME_IN_LOWER = re.compile(r"\b[a-z0-9]+(?:[-_][a-z0-9]+)+\b|\b[a-z]+\d[\w.]*\b")
_CAPITALISED = re.compile(r"\b[A-ZÄÖÜÅØÆÉ][\w’'-]*(?:\s+(?:of|and|the|&)?\s*[A-ZÄÖÜÅØÆÉ0-9][\w’'.-]*)*")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”)]*\s+(?=[\"'“(]?[A-ZÄÖÜÅØÆ0-9*`-])")
KEPT_TEXTS = 8_192
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|approx|No|Nos|vs|etc|Dr|Mr|Ms|St|cf|Art|Sec|Fig)\.|\b[A-Z]\.)$")
_ORDINARY = frozenset(
    re.findall(
        r"\w+",
        """a an and as at by for from he her here his how i if in it its no not of on one or our she so some
        such that the
        their then there these they this those to two three under until we what when where which while who why with you
        both each every all most many few after before during since because yes january february march april may june
        july august september october november december monday tuesday wednesday thursday friday saturday sunday jan feb
        mar apr jun jul aug sep oct nov dec q1 q2 q3 q4 average total sum share only also however none""",
    )
)


@cache
def stem(word: str) -> str:
    """The English stem of a lower-case word (Snowball)."""
    return english_stem(word)


def words(text: str) -> list[str]:
    """Lower-case words of a text in order; identifiers stay whole and are followed by their parts."""
    return list(_words(text))


# The same passages and sentences are compared again and again while an answer is written and judged.
@lru_cache(maxsize=KEPT_TEXTS)
def _words(text: str) -> tuple[str, ...]:
    found = []
    for match in _WORD.finditer(text):
        word = match.group().lower().replace("’", "'")
        word = word.removesuffix("'s")
        found.append(word)
        parts = re.split(r"[._'/-]", word)
        if len(parts) > 1:
            found.extend(part for part in parts if part)
    return tuple(found)


def content_words(text: str) -> list[str]:
    """Stems of the words that carry meaning, in order, repeated ones too."""
    return list(_content_words(text))


@lru_cache(maxsize=KEPT_TEXTS)
def _content_words(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in _words(text) if word not in STOP_WORDS)


def _hard_split(paragraph: str) -> list[str]:
    sentences: list[str] = []
    for part in _SENTENCE_END.split(paragraph):
        if sentences and _ABBREVIATION.search(sentences[-1]):
            sentences[-1] = f"{sentences[-1]} {part}"
        else:
            sentences.append(part)
    return sentences


def split_sentences(text: str) -> list[str]:
    """Sentences of a paragraph of prose, verbatim."""
    return [sentence.strip() for sentence in _hard_split(text) if sentence.strip()]


def find_names(text: str) -> list[str]:
    """Names in a text: identifiers (`ingest-gateway`, `p95`) and capitalised words that are no ordinary ones.

    The first word of a sentence counts only where another capitalised word follows or it mixes cases and digits.
    """
    return list(_find_names(text))


@lru_cache(maxsize=KEPT_TEXTS)
def _find_names(text: str) -> tuple[str, ...]:
    names: list[str] = []
    for sentence in split_sentences(text):
        names += [match.group() for match in _NAME_IN_LOWER.finditer(sentence)]
        for match in _CAPITALISED.finditer(sentence):
            parts = [part.strip("'’.-") for part in re.split(r"\s+", match.group())]
            at_start = not re.search(r"\w", sentence[: match.start()])
            if at_start and parts and (parts[0].lower() in _ORDINARY or not _marked(parts[0])):
                # "Margin of …" or "The Nordics": the capital says nothing of the first word.
                parts = (
                    parts[1:] if len(parts) > 1 and parts[0].lower() in _ORDINARY else parts if len(parts) > 1 else []
                )
            names += [part for part in parts if part.lower() not in _ORDINARY and part not in ("of", "and", "&")]
    # Numbers and dates are looked at elsewhere.
    return tuple(name for name in names if re.search(r"[^\W\d_]", name))


def _marked(word: str) -> bool:
    return bool(re.search(r"\d|[a-z][A-Z]|^[A-Z]{2,}|-", word))


def plain(text: str) -> str:
    """A text for comparing names: lower case, punctuation of names to spaces, padded by spaces."""
    lowered = text.lower().replace("’", "'").replace("'s ", " ")
    return " " + re.sub(r"[^\w%.]+|_|\.(?!\d)", " ", lowered).strip() + " "


def contains_name(haystack: str, name: str) -> bool:
    """Whether a text prepared by `plain` holds a name as whole words."""
    needle = plain(name)
    return needle in haystack or (needle.rstrip().endswith("s") and needle.rstrip()[:-1] + " " in haystack)


def overlap(wanted: Sequence[str], present: Sequence[str]) -> float:
    """Share of the distinct wanted stems that are present; 1 where none is wanted."""
    distinct = set(wanted)
    return len(distinct & set(present)) / len(distinct) if distinct else 1.0
