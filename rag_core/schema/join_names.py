"""Which key a column's name refers to, and how much it sounds like it. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable, UniqueKey
from rag_core.schema.keys import GENERIC, is_key_name, noun
from rag_core.schema.types import canonical_type
from rag_core.schema.words import name_tokens

EXACT_NAME = 1.0
# A column of the same name as one table's key, which no other table has as its own.
SAME_NAME = 0.95
# `semester` for the number that is the key of semester.
NAMED_AS_TABLE = 0.9
_SHORTEST_SUFFIX = 5
_NUMBERS = frozenset({"smallint", "integer", "bigint"})


class Target(NamedTuple):
    """A unique column, and how much a name sounds like a reference to it, from 0 to 1."""

    table: CatalogTable
    column: CatalogColumn
    likeness: float
    key: UniqueKey


class Candidate(NamedTuple):
    """A column that may refer to a key."""

    table: CatalogTable
    column: CatalogColumn
    target: Target
    likeness: float


class Targets(NamedTuple):
    """The unique columns of a catalog: by the words that others refer to them with, by name, and by name's end."""

    by_words: Mapping[tuple[str, ...], list[Target]]
    by_name: Mapping[str, list[Target]]
    by_suffix: Mapping[str, Target]
    prefix: str


def find_targets(catalog: Catalog) -> Targets:
    """The unique columns of the catalog."""
    by_words: defaultdict[tuple[str, ...], list[Target]] = defaultdict(list)
    by_name: defaultdict[str, list[Target]] = defaultdict(list)
    for table in catalog.tables:
        own = noun(table)
        for key in table.keys:
            column = table.column(key.columns[0]) if len(key.columns) == 1 else None
            if column is None or not column.readable:
                continue
            words = name_tokens(column.name)
            named = set(own) <= set(words)
            generic = set(words) <= GENERIC
            names = {words: EXACT_NAME if named else 0.8} if not generic else {}
            if not named:
                names[(*own, *words)] = EXACT_NAME if generic else 0.85
            number = canonical_type(column.type).name in _NUMBERS
            names.setdefault(own, NAMED_AS_TABLE if number and is_key_name(column.name) else 0.75)
            for name, likeness in names.items():
                by_words[name].append(Target(table, column, likeness, key))
            if not generic and is_key_name(column.name):
                by_name[column.name.lower()].append(Target(table, column, SAME_NAME, key))
    prefix = _shared_prefix(catalog)
    suffixes: defaultdict[str, list[Target]] = defaultdict(list)
    for spelt, found in by_name.items():
        end = spelt.removeprefix(prefix)
        if len(end) >= _SHORTEST_SUFFIX:
            suffixes[end].extend(found)
    return Targets(by_words, by_name, {end: found[0] for end, found in suffixes.items() if len(found) == 1}, prefix)


def find_candidates(table: CatalogTable, column: CatalogColumn, targets: Targets) -> list[Candidate]:
    """The keys that a column may refer to by its name, each once with its best likeness."""
    words = name_tokens(column.name)
    if set(words) <= GENERIC and set(words) != {"name"}:
        words = (*noun(table), *words)
    found: dict[tuple[str, str], Candidate] = {}

    def offer(target: Target, likeness: float) -> None:
        place = target.table.qualified_name, target.column.name
        if place[0] != table.qualified_name and (place not in found or found[place].likeness < likeness):
            found[place] = Candidate(table, column, target, likeness)

    for start in range(len(words)):
        for target in targets.by_words.get(words[start:], ()):
            # A word in front says which role the other table plays: billing_customer_id.
            offer(target, target.likeness * (1.0 if start == 0 else 0.9))
    same = targets.by_name.get(column.name.lower(), [])
    if len(same) == 1:
        offer(same[0], SAME_NAME)
    if not found and targets.prefix:
        rest = column.name.lower().removeprefix(targets.prefix)
        for end, target in targets.by_suffix.items():
            if rest != end and rest.endswith(end):
                offer(target, 0.85)
    return [item for item in found.values() if not _is_own_key(item)]


def _shared_prefix(catalog: Catalog) -> str:
    """Letters that every table's and column's name begins with, as houses with old naming rules have; mostly none."""
    names = [table.name.lower() for table in catalog.tables]
    names += [column.name.lower() for table in catalog.tables for column in table.columns]
    if len(catalog.tables) < 2:
        return ""
    # What the first and the last in order share, all share.
    first, last = min(names), max(names)
    length = next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[:length] if length >= 2 else ""


def _is_own_key(item: Candidate) -> bool:
    """Whether the column is the key that its own table is named after, so that the reference points the other way."""
    keys = {key.columns for key in item.table.keys}
    words = set(name_tokens(item.column.name))
    return (item.column.name,) in keys and (set(noun(item.table)) <= words or words <= GENERIC)
