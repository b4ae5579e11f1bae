"""Names: how each dialect folds them, how they are quoted, and what a misspelt one may have meant."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from rag_core.datamodel.base import Record

PROPOSED = 0.8
LISTED = 0.6
MOST_SUGGESTIONS = 5
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)
_PLAIN = {
    "lower": re.compile(r"[a-z_][a-z0-9_]*\Z"),
    "upper": re.compile(r"[A-Z_][A-Z0-9_]*\Z"),
    "any": re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z"),
}


# PostgreSQL cuts longer names off, in bytes, and reads on as if they had been written so.
_LONGEST = 63


def clipped(name: str) -> str:
    """A name as PostgreSQL reads it: its first 63 bytes of UTF-8, no character halved."""
    return name if len(name) * 4 <= _LONGEST else name.encode()[:_LONGEST].decode(errors="ignore")


@dataclass(frozen=True)
class NameRules:
    """How a dialect compares identifiers.

    `folding` is what happens to unquoted names: lower (PostgreSQL), upper (Snowflake), or any, where case never
    matters, quoted or not (BigQuery's columns, DuckDB, Redshift as it comes).
    """

    dialect: str
    folding: str

    def key(self, name: str, *, quoted: bool) -> str:
        """What a written name is compared by. Only ASCII letters are folded, as PostgreSQL does in UTF-8."""
        if self.folding == "any":
            return name.translate(_LOWER)
        if self.dialect == "postgres":
            name = clipped(name)
        if quoted:
            return name
        return name.translate(_LOWER if self.folding == "lower" else _UPPER)

    def identifier_key(self, identifier: exp.Expr) -> str:
        """The same for a parsed identifier."""
        quoted = isinstance(identifier, exp.Identifier) and bool(identifier.args.get("quoted"))
        return self.key(identifier.name, quoted=quoted)

    def catalog_key(self, name: str) -> str:
        """The same for a name as the catalog spells it."""
        return self.key(name, quoted=True)

    def written(self, name: str) -> str:
        """The catalog's name as it must be written in a statement, quoted where it has to be."""
        return self.identifier(name).sql(dialect=self.dialect)

    def identifier(self, name: str) -> exp.Identifier:
        """The catalog's name as an identifier, quoted where it has to be."""
        plain = _PLAIN[self.folding].match(name) is not None and name.upper() not in _keywords(self.dialect)
        return exp.Identifier(this=name, quoted=not plain)


# Reserved words of PostgreSQL that sqlglot's tokenizer does not know; quoting a name too often does no harm.
_RESERVED = frozenset(
    {
        "ANALYSE", "ASYMMETRIC", "AUTHORIZATION", "BOTH", "CHECK", "COLLATION", "COLUMN", "CONCURRENTLY",
        "DEFERRABLE", "DO", "FREEZE", "GRANT", "INITIALLY", "LEADING", "NOTNULL", "ONLY", "OVERLAPS", "PLACING",
        "PRIMARY", "REFERENCES", "SIMILAR", "SYMMETRIC", "TRAILING", "USER", "VARIADIC",
    }
)  # fmt: skip


@cache
def _keywords(dialect: str) -> frozenset[str]:
    keywords = Dialect.get_or_raise(dialect).tokenizer_class.KEYWORDS
    return _RESERVED | {word for keyword in keywords for word in keyword.split()}


@cache
def name_rules(dialect: str) -> NameRules:
    """The rules of a dialect; unknown ones fold like PostgreSQL."""
    folding = {"snowflake": "upper", "bigquery": "any", "duckdb": "any", "redshift": "any"}.get(dialect, "lower")
    return NameRules(dialect=dialect, folding=folding)


class Suggestion(Record):
    """A known name that a misspelt one may have meant; `score` is between 0 and 1."""

    name: str
    score: float


@cache
def _words(name: str) -> str:
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return "_".join(part for part in re.split(r"[^a-z0-9]+", spaced.lower()) if part)


def similarity(left: str, right: str) -> float:
    """Likeness of two names: 1 where only case, separators or a plural differ, else difflib's ratio of their words."""
    one, two = _words(left), _words(right)
    if not one or not two:
        return 0.0
    if one.replace("_", "") == two.replace("_", ""):
        return 1.0
    if one.removesuffix("s") == two.removesuffix("s"):
        return 0.97
    ratio = SequenceMatcher(None, one, two, autojunk=False).ratio()
    shared = set(one.split("_")) & set(two.split("_"))
    whole = len(shared) / max(len(set(one.split("_"))), len(set(two.split("_"))))
    return round(max(ratio, (ratio + whole) / 2), 4)


def near_misses(wanted: str, known: Iterable[tuple[str, str]], *, most: int = MOST_SUGGESTIONS) -> list[Suggestion]:
    """The known names most like `wanted`, best first, ties in order of the name.

    Args:
        wanted: the name as written.
        known: pairs of what to compare with and what to suggest.
        most: how many at most.
    """
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(_words(wanted))
    found: dict[str, float] = {}
    for compared, name in known:
        matcher.set_seq1(_words(compared))
        if matcher.real_quick_ratio() < LISTED or matcher.quick_ratio() < LISTED:
            continue
        score = similarity(wanted, compared)
        if score >= LISTED:
            found[name] = max(score, found.get(name, 0.0))
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:most]
    return [Suggestion(name=name, score=score) for name, score in ranked]


def asked_back(suggestions: list[Suggestion]) -> str:
    """The end of a refusal's sentence: a question where one name is very like, a list where some are a little."""
    proposed = [item.name for item in suggestions if item.score > PROPOSED]
    if proposed:
        return f"; did you mean {' or '.join(proposed[:2])}?"
    if suggestions:
        return f"; the most similar are {', '.join(item.name for item in suggestions)}"
    return ""
