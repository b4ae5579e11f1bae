"""Names of columns and tables as words: split, abbreviations spelt out, compared word by word. Pure."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_SHORT_ENDS = frozenset({"id", "no", "nr", "dt", "cd", "ts", "at", "nm", "on"})
_MIN_SPLIT = 5
_MIN_TYPO = 6
_MIN_TWO_TYPOS = 9
SYNONYM, SHORTENED, MISSPELT = 0.95, 0.92, 0.92


class Vocabulary(NamedTuple):
    """The words of `vocabulary.toml`; `concepts` maps a word to the numbers of its groups of synonyms."""

    abbreviations: dict[str, tuple[str, ...]]
    concepts: dict[tuple[str, ...], frozenset[int]]
    fillers: frozenset[str]
    modifiers: frozenset[str]
    qualifiers: frozenset[str]
    known: frozenset[str]


class WordMatch(NamedTuple):
    """How the words of two names correspond.

    `similarity` lies between 0 and 1 over the words that have a partner; `missing` and `added` have none; `shared` is
    the number of pairs; `inner` says that an added or missing word stands between two that match.
    """

    similarity: float
    shared: int
    missing: tuple[str, ...]
    added: tuple[str, ...]
    trailing: bool
    inner: bool


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary, read once."""
    content = tomllib.loads((Path(__file__).parent / "vocabulary.toml").read_text(encoding="utf-8"))
    concepts: dict[tuple[str, ...], set[int]] = {}
    for number, group in enumerate(content["synonyms"]["groups"]):
        for phrase in group:
            concepts.setdefault(tuple(singular(word) for word in phrase.split()), set()).add(number)
    abbreviations = {short: tuple(full.split()) for short, full in content["abbreviations"].items()}
    listed = {singular(word) for word in content["words"]["list"].split()}
    spelt_out = {singular(word) for full in abbreviations.values() for word in full}
    meant = {word for phrase in concepts for word in phrase}
    modifiers = frozenset(singular(word) for word in content["synonyms"]["modifiers"])
    return Vocabulary(
        abbreviations=abbreviations,
        concepts={phrase: frozenset(numbers) for phrase, numbers in concepts.items()},
        fillers=frozenset(singular(word) for word in content["synonyms"]["fillers"]),
        modifiers=modifiers,
        qualifiers=frozenset(content["synonyms"]["qualifiers"]),
        known=frozenset(listed | spelt_out | meant | modifiers),
    )


def singular(word: str) -> str:
    """The word without a plural ending."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def is_known(word: str) -> bool:
    """Whether it is a dictionary word rather than an abbreviation or a misspelling."""
    return word in vocabulary().known


@lru_cache(maxsize=100_000)
def name_tokens(name: str) -> tuple[str, ...]:
    """The words of a name in lower case, abbreviations spelt out, plural endings taken off; digits are words too."""
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    words: list[str] = []
    for part in _PARTS.findall(plain):
        for piece in _split(part.lower()):
            for word in vocabulary().abbreviations.get(piece, (piece,)):
                # zip_code is a postal code, not a postal code code
                if not words or words[-1] != singular(word) or word.isdigit():
                    words.append(singular(word))
    return tuple(words)


def digits(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """The numbers among the words, in order of size, without leading zeros."""
    return tuple(sorted(token.lstrip("0") or "0" for token in tokens if token.isdigit()))


def match_words(before: tuple[str, ...], after: tuple[str, ...]) -> WordMatch:
    """Pairs the words of two names: equal ones first, then synonyms, shortenings and misspellings."""
    fillers = vocabulary().fillers
    left = [word for word in before if word not in fillers and not word.isdigit()] or list(before)
    right = [word for word in after if word not in fillers and not word.isdigit()] or list(after)
    if "".join(left) == "".join(right):
        return WordMatch(1.0, len(left), (), (), False, False)
    scores: list[float] = []
    paired_left, paired_right = _pair_phrases(left, right, scores)
    for relation in (lambda a, b: 1.0 if a == b else 0.0, _relation):
        for i, a in enumerate(left):
            if i in paired_left:
                continue
            options = [(relation(a, b), -j) for j, b in enumerate(right) if j not in paired_right]
            best, minus_j = max(options, default=(0.0, 0))
            if best > 0:
                paired_left.add(i)
                paired_right.add(-minus_j)
                scores.append(best)
    missing = [(i, word) for i, word in enumerate(left) if i not in paired_left]
    added = [(j, word) for j, word in enumerate(right) if j not in paired_right]
    return WordMatch(
        similarity=sum(scores) / len(scores) if scores else 0.0,
        shared=len(scores),
        missing=tuple(word for _, word in missing),
        added=tuple(word for _, word in added),
        trailing=any(i == len(left) - 1 for i, _ in missing) or any(j == len(right) - 1 for j, _ in added),
        inner=any(0 < i < len(left) - 1 for i, _ in missing) or any(0 < j < len(right) - 1 for j, _ in added),
    )


def _pair_phrases(left: list[str], right: list[str], scores: list[float]) -> tuple[set[int], set[int]]:
    """Pairs synonyms of which at least one has two words, such as surname and last name."""
    paired_left: set[int] = set()
    paired_right: set[int] = set()
    for size_left, size_right in ((1, 2), (2, 1), (2, 2)):
        for i in range(len(left) - size_left + 1):
            for j in range(len(right) - size_right + 1):
                a, b = tuple(left[i : i + size_left]), tuple(right[j : j + size_right])
                here, there = set(range(i, i + size_left)), set(range(j, j + size_right))
                if here & paired_left or there & paired_right or a == b:
                    continue
                if vocabulary().concepts.get(a, frozenset()) & vocabulary().concepts.get(b, frozenset()):
                    paired_left |= here
                    paired_right |= there
                    scores.append(SYNONYM)
    return paired_left, paired_right


@lru_cache(maxsize=100_000)
def _relation(a: str, b: str) -> float:
    concepts = vocabulary().concepts
    if concepts.get((a,), frozenset()) & concepts.get((b,), frozenset()):
        return SYNONYM
    if is_known(a) and is_known(b):
        return 0.0
    short, full = sorted((a, b), key=len)
    if len(short) >= 2 and not is_known(short) and short[0] == full[0] and _shortens(short, full):
        return SHORTENED
    allowed = 2 if len(short) >= _MIN_TWO_TYPOS else 1
    if len(short) >= _MIN_TYPO and short[0] == full[0] and edit_distance(a, b) <= allowed:
        return MISSPELT
    return 0.0


def _shortens(short: str, full: str) -> bool:
    """Whether `short` is the beginning of `full` (three letters at least) or `full` without (some) vowels."""
    if len(short) >= 3 and full.startswith(short):
        return True
    if short in (full.translate(_NO_VOWELS), full[0] + full[1:].translate(_NO_VOWELS)):
        return True
    letters = iter(full)
    if len(short) < 3 or short[-1] != full[-1] or not all(letter in letters for letter in short):
        return False
    return len(full) - len(short) <= 2 or not set(short[1:-1]) & set("aeiou")


_NO_VOWELS = str.maketrans("", "", "aeiou")


@lru_cache(maxsize=100_000)
def _split(token: str) -> tuple[str, ...]:
    """A token without separators in known words, such as `orderdate`; itself where it is one or cannot be split."""
    words = vocabulary()
    if len(token) < _MIN_SPLIT or singular(token) in words.known or token in words.abbreviations or token.isdigit():
        return (token,)
    for cut in range(len(token) - 2, 1, -1):
        head, tail = token[:cut], token[cut:]
        good_head = (len(head) >= 3 and head in words.abbreviations) or singular(head) in words.known
        good_tail = tail in _SHORT_ENDS or (
            len(tail) >= 3 and (singular(tail) in words.known or tail in words.abbreviations)
        )
        if good_head and good_tail:
            return (head, tail)
    return (token,)


def edit_distance(a: str, b: str) -> int:
    """Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours (Damerau 1964)."""
    rows = [list(range(len(b) + 1))]
    for i, left in enumerate(a, 1):
        row = [i]
        for j, right in enumerate(b, 1):
            cost = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                cost = min(cost, rows[i - 2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]
