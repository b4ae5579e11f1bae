"""Which tables and columns go onto a schema card: scored by names, comments and values, within a budget. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from rag_core.datamodel.catalog import CatalogColumn, CatalogTable
from rag_core.schema.types import canonical_type
from rag_core.schema.words import name_tokens

MIN_TABLES = 3
# Part of the budget that heads and keys may take before columns are chosen.
TABLES_SHARE = 0.6
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_STOP = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at by did do does each for from had has have how in is it its many me much of on or our
        over per show that the their there they this to was we were what when where which who with""",
    )
)
_TIME_WORDS = frozenset(
    re.findall(r"\w+", "day week month year quarter date time last past recent since before after between daily weekly "
               "monthly yearly earliest latest first today yesterday ago")
)  # fmt: skip
_TIMES = frozenset({"date", "timestamp", "timestamp with time zone", "time"})
_LONG_ENOUGH = 4


def name_words(text: str) -> list[str]:
    """Words of a name or sentence in lower case, plural endings taken off, so that `OrderLines` meets `order line`."""
    return [_singular(part.lower()) for part in _PARTS.findall(text) if part.lower() not in _STOP]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


class Scored(NamedTuple):
    """A table with its score for a question, and the scores of its columns by name."""

    score: float
    table: CatalogTable
    columns: Mapping[str, float]
    values: Mapping[str, tuple[str, ...]]


class _Names(NamedTuple):
    words: frozenset[str]
    spelt: str


def _names(name: str) -> _Names:
    return _Names(frozenset(name_words(name)) | frozenset(name_tokens(name)), re.sub(r"[^a-z]", "", name.lower()))


def _likeness(word: str, names: _Names) -> float:
    """How much a word of the question is in a name: whole, as a part of it, or by its beginning."""
    if word in names.words:
        return 1.0
    if len(word) >= _LONG_ENOUGH and word in names.spelt:
        return 0.8
    if len(word) > _LONG_ENOUGH and word[:_LONG_ENOUGH] in names.spelt:
        return 0.5
    return 0.0


def score_tables(
    question: str, tables: Sequence[CatalogTable], values: Mapping[str, Iterable[str]] | None = None
) -> list[Scored]:
    """Each table with its score for the question, best first, ties by name.

    A word that few tables know weighs more. In a table's name it counts three times, the more the more of the name it
    is; in a column's name twice, in a comment once. `values` are known values by `schema.table.column`; one that
    stands in the question counts four, for its table and its column.
    """
    wanted = Counter(name_words(question))
    lowered = f" {' '.join(name_words(question))} "
    named = [_names(table.name) for table in tables]
    columns = [[_names(column.name) for column in table.columns] for table in tables]
    comments = [_comment_words(table) for table in tables]
    holders: Counter[str] = Counter()
    for index in range(len(tables)):
        known = (named[index], *columns[index])
        holders.update(
            word for word in wanted if word in comments[index] or any(_likeness(word, names) for names in known)
        )
    weights = {word: math.log(1 + len(tables) / (1 + holders[word])) for word in wanted}
    found = []
    for index, table in enumerate(tables):
        whole = 0.5 + 0.5 * _covered(named[index], wanted)
        score = sum(
            weight * (3 * whole * _likeness(word, named[index]) + (word in comments[index]))
            for word, weight in weights.items()
        )
        by_column, held = _score_columns(table, columns[index], weights, lowered, values or {})
        score += sum(max(2 * weight * _likeness(word, names) for names in columns[index] or [_names("")])
                     for word, weight in weights.items())  # fmt: skip
        score += 4 * sum(len(matched) for matched in held.values())
        found.append(Scored(round(score, 6), table, by_column, held))
    return sorted(found, key=lambda item: (-item.score, item.table.qualified_name))


def _covered(names: _Names, wanted: Mapping[str, int]) -> float:
    """Share of a table's own words that the question names."""
    words = names.words
    return len(words & set(wanted)) / len(words) if words else 0.0


def _comment_words(table: CatalogTable) -> frozenset[str]:
    texts = [table.comment or "", *(column.comment or "" for column in table.columns)]
    labels = [label for column in table.columns for label in column.enum_labels]
    return frozenset(name_words(" ".join([*texts, *labels])))


def _score_columns(
    table: CatalogTable,
    names: Sequence[_Names],
    weights: Mapping[str, float],
    lowered: str,
    values: Mapping[str, Iterable[str]],
) -> tuple[dict[str, float], dict[str, tuple[str, ...]]]:
    """The score of each column, and the known values of the table that stand in the question."""
    timely = any(word in _TIME_WORDS or re.fullmatch(r"(19|20)\d\d", word) for word in weights)
    scores: dict[str, float] = {}
    held: dict[str, tuple[str, ...]] = {}
    for column, own in zip(table.columns, names, strict=True):
        comment = frozenset(name_words(" ".join([column.comment or "", *column.enum_labels])))
        score = sum(weight * (2 * _likeness(word, own) + (word in comment)) for word, weight in weights.items())
        known = (*column.enum_labels, *values.get(f"{table.qualified_name}.{column.name}", ()))
        matched = tuple(value for value in known if _stands_in(value, lowered))
        if matched:
            score += 4.0
            held[column.name] = matched
        if timely and canonical_type(column.type).name.split("(")[0] in _TIMES:
            score += 1.5
        if own.words & {"name", "title"} or own.spelt.endswith("name"):
            score += 0.7
        scores[column.name] = score
    return scores, held


def _stands_in(value: str, lowered: str) -> bool:
    words = name_words(value)
    return bool(words) and f" {' '.join(words)} " in lowered


class Chosen(NamedTuple):
    """A table on the card with the columns that stand on it, in the table's order."""

    table: CatalogTable
    columns: tuple[CatalogColumn, ...]
    values: Mapping[str, tuple[str, ...]]


Links = Mapping[str, Mapping[str, frozenset[str]]]
Size = Callable[[CatalogTable, CatalogColumn | None], int]


def choose(scored: Sequence[Scored], links: Links, budget: float, size: Size) -> list[Chosen]:
    """The tables of a card and their columns, in no order.

    The best tables come first with their keys and the columns that join them, then the columns of all of them by their
    scores, until the budget is used. At least three tables are taken, and nothing that has no score beyond them.

    Args:
        scored: the tables, best first.
        links: by table, the tables it is joined with and its own columns that do it.
        budget: characters.
        size: characters of a column's line, or of a table's head where the column is None.
    """
    taken: dict[str, set[str]] = {}
    used = 0.0
    for item in scored:
        if len(taken) >= MIN_TABLES and (item.score <= 0 or used >= budget * TABLES_SHARE):
            break
        used += _take(item, taken, links, size, used, budget)
    for item in scored:
        name = item.table.qualified_name
        around = {other for other in links.get(name, {}) if other in taken}
        if name not in taken and _links_apart(around, links) and used < budget:
            used += _take(item, taken, links, size, used, budget)
    by_name = {item.table.qualified_name: item for item in scored}
    best = max((item.score for item in scored), default=0.0) or 1.0
    rest = [
        (-(item.columns[column.name] + 3 * item.score / best), name, position, column)
        for name, item in by_name.items()
        if name in taken
        for position, column in enumerate(item.table.columns)
        if column.readable and column.name not in taken[name]
    ]
    for _, name, _, column in sorted(rest, key=lambda row: row[:3]):
        cost = size(by_name[name].table, column)
        if used + cost <= budget:
            taken[name].add(column.name)
            used += cost
    return [
        Chosen(
            by_name[name].table,
            tuple(column for column in by_name[name].table.columns if column.name in columns),
            by_name[name].values,
        )
        for name, columns in taken.items()
    ]


def _take(item: Scored, taken: dict[str, set[str]], links: Links, size: Size, used: float, budget: float) -> float:
    """Takes a table with its keys, its joining columns and what the question names; gives what that costs."""
    table = item.table
    keys = {column for key in table.keys if key.primary for column in key.columns}
    keys |= {column for columns in links.get(table.qualified_name, {}).values() for column in columns}
    cost = float(size(table, None))
    columns: set[str] = set()
    ordered = sorted(
        (column for column in table.columns if column.readable),
        key=lambda column: (column.name not in keys, -item.columns[column.name], column.name),
    )
    for column in ordered:
        wanted = column.name in keys or item.columns[column.name] >= 1.0
        if wanted and (used + cost + size(table, column) <= budget or not columns):
            cost += size(table, column)
            columns.add(column.name)
    taken[table.qualified_name] = columns
    return cost


def _links_apart(around: set[str], links: Links) -> bool:
    """Whether two of the tables are joined by nothing else than what links them here."""
    return any(one < other and other not in links.get(one, {}) for one in around for other in around)
