"""Words for BM25: the same function for the index and for a query, so that what was written can be found.

Identifiers are kept whole and in parts: `KubePodCrashLooping` gives `kubepodcrashloop`, `kube`, `pod`, `crash` and
`loop`, so it is found by its name, by a part of it, and by plain words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from threading import Lock

import Stemmer

# Raise it with any change below: documents indexed under another number are indexed again.
TOKENS_VERSION = 2

# A title or heading says what a chunk is about: one occurrence there counts as this many in the text.
CONTEXT_WEIGHT = 1

MAX_TERM_LENGTH = 64

_STOP_WORDS = """
    a about after all also am an and any are as at be been before being both but by can could did do does doing done
    for from get had has have having he her here him his how i if in into is it its itself just like may me might more
    most must my no nor not of on once only or other our out over own per please same shall she should so some such than
    that the their them then there these they this those through to too under until up us very via was we were what when
    where which while who whom why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

# Scripts that write words without spaces between them; pairs of characters stand in for words.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# Indic vowel signs are marks, which \w leaves out.
_WORD = r"\w\u0900-\u0dff"
_RAW = re.compile(rf"[{_WORD}][{_WORD}.\-/\\:@#+=&%$~'\u2019]*")
_SOFT = ".-/\\:@=&%$~'\u2019_"
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_SEGMENTS = re.compile(r"[/\\:@=&%$~]+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_PLURAL_ACRONYM = re.compile(r"^[A-Z]{2,}s$")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_COMBINING = re.compile("[\u0300-\u036f]+")

# Its own cache is off: what is asked again is at hand below.
_STEMMER = Stemmer.Stemmer("english", 0)
# It keeps the word that it works on in itself: two threads at once would get parts of each other's words.
_STEMMER_LOCK = Lock()


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """English stem (Snowball) of a lower-case word; words that are not ASCII letters stay as they are."""
    return english_stem(word) if word.isascii() and word.isalpha() else word


def english_stem(word: str) -> str:
    """What Snowball makes of any lower-case word. Safe to use from several threads."""
    with _STEMMER_LOCK:
        stemmed: str = _STEMMER.stemWord(word)
    return stemmed


def normalise(text: str) -> str:
    """Compatibility forms made alike, accents of Latin letters and thousands separators removed; case is kept."""
    if "," in text:
        text = _THOUSANDS.sub("", text)
    if text.isascii():
        return text
    decomposed = _COMBINING.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", decomposed)


def tokenize(text: str) -> list[str]:
    """Terms of a text in order, without stop words. Any text is accepted; nothing in it is an operator."""
    terms: list[str] = []
    for raw in raw_words(text):
        terms.extend(terms_of(raw))
    return terms


def raw_words(text: str) -> list[str]:
    """Words and identifiers of a text in order, as they stand there once normalised."""
    return _RAW.findall(normalise(text))


def distinct_terms(text: str) -> set[str]:
    """The terms of a text, each once: less work than `tokenize` where neither order nor count is wanted."""
    found: set[str] = set()
    for raw in set(raw_words(text)):
        found.update(terms_of(raw))
    return found


def term_counts(text: str, context: str = "", *, context_weight: int = CONTEXT_WEIGHT) -> Counter[str]:
    """How often each term stands in a chunk, its context (title and headings) counted `context_weight` times."""
    counts = Counter(tokenize(text))
    for term, count in Counter(tokenize(context)).items():
        counts[term] += count * context_weight
    return counts


@lru_cache(maxsize=200_000)
def terms_of(match: str) -> tuple[str, ...]:
    """Terms of one raw word, without stop words: the identifier whole and its parts, each once."""
    raw = match.rstrip(_SOFT)
    if raw.isascii() and raw.isalpha() and (raw.islower() or raw.istitle() or raw.isupper()):
        # A plain word, as most are: all below would come to the same.
        plain: dict[str, None] = {}
        _add_word(raw.lower(), plain)
        return tuple(plain)
    if not raw.isascii() and _UNSPACED_RUN.search(raw):
        return _unspaced_terms(raw)
    found: dict[str, None] = {}  # a dict keeps the order; one occurrence counts each of its forms once
    for segment in _SEGMENTS.split(raw):
        _add_segment(segment.strip(_SOFT), found)
    if len(found) > 1 and _SEGMENTS.search(raw):
        _add(raw.lower(), found)
    return tuple(found)


def _add_segment(segment: str, found: dict[str, None]) -> None:
    word = re.sub(r"['\u2019](s|S)$", "", segment).replace("'", "").replace("\u2019", "")
    if not word:
        return
    if _PLURAL_ACRONYM.match(word) or (word.isalpha() and (word.islower() or word.isupper() or word.istitle())):
        _add_word(word.lower(), found)
        return
    if word.isdigit():
        _add(word, found)
        return
    # Stemmed as a whole too: typed in small letters a name cannot be told from a word.
    _add(stem(word.lower()), found)
    for part in _PARTS.findall(word):
        if len(part) > 2 or (len(part) == 2 and part.isalpha()):
            _add_word(part.lower(), found)


def _add_word(word: str, found: dict[str, None]) -> None:
    if word not in STOP_WORDS:
        _add(stem(word), found)


def _add(term: str, found: dict[str, None]) -> None:
    if term and term not in STOP_WORDS and not _lone_letter(term):
        found[term[:MAX_TERM_LENGTH]] = None


def _lone_letter(term: str) -> bool:
    return len(term) == 1 and term.isascii() and term.isalpha()


def _unspaced_terms(raw: str) -> tuple[str, ...]:
    terms: list[str] = []
    position = 0
    for run in _UNSPACED_RUN.finditer(raw):
        terms.extend(_rest(raw[position : run.start()]))
        text = run.group()
        terms.extend([text] if len(text) == 1 else [text[at : at + 2] for at in range(len(text) - 1)])
        position = run.end()
    terms.extend(_rest(raw[position:]))
    return tuple(terms)


def _rest(text: str) -> tuple[str, ...]:
    stripped = text.strip(_SOFT)
    return terms_of(stripped) if stripped else ()
