"""Whether a column or table that appeared is one that vanished, where no catalog proves it. Pure.

Nothing is decided by letters alone: the words of the names, the type, whether it may be NULL, the place among the
neighbours, the comment and, where given, the values count together, and a differing number or dictionary word forbids
the match.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rag_core.datamodel.base import Record
from rag_core.datamodel.catalog import CatalogTable
from rag_core.datamodel.drift import RenameCandidate
from rag_core.schema.types import canonical_type, compare_types, same_family
from rag_core.schema.words import WordMatch, digits, is_known, match_words, name_tokens, vocabulary

_WEIGHTS = {"name": 0.55, "type": 0.2, "nullable": 0.05, "place": 0.15, "comment": 0.2, "values": 0.3}
_CANDIDATE = 0.5
# What the type of a date or time says anyway: opened and opened_at.
_TIME_WORDS = ("at", "on", "date", "time", "timestamp", "datetime", "day")
# Where only a person can tell: below every sensible threshold, above what is listed.
_PERSON = 0.75
# With so many different values, columns that share most of them are one column even under a doubtful name, and columns
# that share none are two. Either way a person confirms: below 20 a code or a flag would decide.
_ENOUGH_VALUES, _SAME_VALUES, _OTHER_VALUES, _BY_VALUES = 20, 0.8, 0.05, 0.85


class ValueProfile(Record):
    """What a column holds: share of NULLs, of distinct values, and some of the values as text."""

    null_share: float
    distinct_share: float
    sample: frozenset[str] = frozenset()


class RenameSubject(Record):
    """A column with its surroundings. `place` is its position among the columns, from 0; `table` the table's name."""

    name: str
    type: str
    nullable: bool = True
    comment: str | None = None
    previous: str | None = None
    next: str | None = None
    place: int = 0
    table: str = ""
    profile: ValueProfile | None = None


class RenameScore(NamedTuple):
    """A score between 0 and 1 with the reason in words; `vetoed` where the names forbid the match."""

    score: float
    reason: str
    vetoed: bool = False


class Proposal(NamedTuple):
    """What became of one vanished name: `target` is the index of its only good successor, or None."""

    target: int | None
    score: float
    candidates: tuple[tuple[int, RenameScore], ...]


def subjects(
    table: CatalogTable, profiles: Mapping[tuple[str, str], ValueProfile] | None = None
) -> dict[str, RenameSubject]:
    """The columns of a table with their surroundings and, where known, their values, by name."""
    columns = sorted(table.columns, key=lambda column: column.position)
    names = [column.name for column in columns]
    return {
        column.name: RenameSubject(
            name=column.name,
            type=column.type,
            nullable=column.nullable,
            comment=column.comment,
            previous=names[place - 1] if place else None,
            next=names[place + 1] if place + 1 < len(names) else None,
            place=place,
            table=table.name,
            profile=(profiles or {}).get((table.qualified_name, column.name)),
        )
        for place, column in enumerate(columns)
    }


def score_rename(before: RenameSubject, after: RenameSubject) -> RenameScore:
    """How likely `after` is `before` under another name."""
    context = (*name_tokens(before.table), *name_tokens(after.table))
    if _is_time(before.type) and _is_time(after.type):
        context += _TIME_WORDS
    name = _score_names(before.name, after.name, context)
    if name.vetoed:
        return name
    kept = compare_types(before.type, after.type)
    parts = {
        "name": name.score,
        "type": {"equal": 1.0, "widened": 0.9, "narrowed": 0.7, "changed": 0.2}[kept],
        "nullable": 1.0 if before.nullable == after.nullable else 0.4,
        "place": _score_place(before, after),
    }
    if before.comment and after.comment:
        parts["comment"] = _score_comments(before.comment, after.comment)
    if before.profile is not None and after.profile is not None:
        parts["values"] = _score_values(before.profile, after.profile)
    total = sum(_WEIGHTS[part] for part in parts)
    score = sum(_WEIGHTS[part] * value for part, value in parts.items()) / total
    if kept == "changed" and not same_family(before.type, after.type):
        score = min(score, _PERSON)
    if name.score <= _PERSON - 0.2:
        score = min(score, _PERSON)
    shared = _shared_values(before.profile, after.profile)
    if shared is not None and shared >= _SAME_VALUES and kept != "changed":
        return RenameScore(round(max(score, _BY_VALUES), 3), f"{name.reason}; they hold the same values")
    if shared is not None and shared <= _OTHER_VALUES:
        return RenameScore(round(min(score, _PERSON), 3), f"{name.reason}; they hold other values")
    return RenameScore(round(score, 3), name.reason)


def propose_renames(
    scores: Sequence[Sequence[RenameScore]], threshold: float, refused: frozenset[tuple[int, int]] = frozenset()
) -> list[Proposal]:
    """Pairs what vanished (rows) with what appeared (columns).

    A pair is proposed where its score reaches the threshold and no other pair of the same row or column does; pairs
    that somebody `refused` count as vetoed. Everything over a half is listed as a candidate, best first.
    """
    good = {
        (i, j)
        for i, row in enumerate(scores)
        for j, score in enumerate(row)
        if score.score >= threshold and not score.vetoed and (i, j) not in refused
    }
    proposals = []
    for i, row in enumerate(scores):
        listed = sorted(
            (
                (j, score)
                for j, score in enumerate(row)
                if score.score >= _CANDIDATE and not score.vetoed and (i, j) not in refused
            ),
            key=lambda item: (-item[1].score, item[0]),
        )
        mine = [j for a, j in sorted(good) if a == i]
        alone = len(mine) == 1 and sum(j == mine[0] for _, j in good) == 1
        target = mine[0] if alone else None
        proposals.append(Proposal(target, row[target].score if target is not None else 0.0, tuple(listed)))
    return proposals


def score_table_rename(before: CatalogTable, after: CatalogTable) -> RenameScore:
    """How likely a table that appeared is one that vanished: words of the name, and the columns they share."""
    name = _score_names(before.name, after.name, ())
    if name.vetoed:
        return name
    old = {(column.name, column.type) for column in before.columns}
    new = {(column.name, column.type) for column in after.columns}
    shared = len(old & new) / len(old | new) if old | new else 0.0
    same_schema = 1.0 if before.schema_name == after.schema_name else 0.5
    score = 0.4 * name.score + 0.5 * shared + 0.1 * same_schema
    if shared < 0.5 or before.kind != after.kind:
        score = min(score, _PERSON)
    return RenameScore(round(score, 3), f"{name.reason}; {shared:.0%} of the columns are the same")


def listed(names: Sequence[str], candidates: Sequence[tuple[int, RenameScore]]) -> tuple[RenameCandidate, ...]:
    """Candidates as they are shown, at most five."""
    return tuple(
        RenameCandidate(object=names[j], score=score.score, reason=score.reason) for j, score in candidates[:5]
    )


def _is_time(text: str) -> bool:
    return canonical_type(text).name.startswith(("timestamp", "date"))


def _score_names(before: str, after: str, context: tuple[str, ...]) -> RenameScore:
    old, new = name_tokens(before), name_tokens(after)
    if digits(old) != digits(new):
        return RenameScore(0.0, "the numbers in the names differ", vetoed=True)
    if before.lower() == after.lower():
        return RenameScore(1.0, "the names differ in case only")
    match = match_words(old, new)
    if not match.missing and not match.added:
        same = tuple(sorted(old)) == tuple(sorted(new))
        return RenameScore(match.similarity, "the same words" if same else "the words mean the same")
    if match.missing and match.added:
        return _score_replaced(match)
    return _score_extra(match, context)


def _score_replaced(match: WordMatch) -> RenameScore:
    """Both names have a word that the other lacks."""
    words = f"{' '.join(match.missing)} and {' '.join(match.added)}"
    if all(is_known(word) for word in (*match.missing, *match.added)):
        return RenameScore(0.0, f"{words} are different words", vetoed=True)
    share = match.shared / (match.shared + max(len(match.missing), len(match.added)))
    return RenameScore(round(0.6 * share, 3), f"{words} may be different words")


def _score_extra(match: WordMatch, context: tuple[str, ...]) -> RenameScore:
    """Only one of the names has further words."""
    extra = match.missing or match.added
    if match.shared == 0:
        return RenameScore(0.0, "no word in common", vetoed=True)
    if all(word in context for word in extra) and not match.inner:
        return RenameScore(0.95 * match.similarity, f"only the table's word {' '.join(extra)} differs")
    reason = f"only one has the word {' '.join(extra)}"
    lexicon = vocabulary()
    changes = [word for word in extra if word in lexicon.modifiers and word not in lexicon.qualifiers]
    if changes or match.trailing or len(extra) > 1:
        return RenameScore(0.5 * match.similarity, reason)
    return RenameScore((0.6 if match.inner else 0.8) * match.similarity, reason)


def _score_place(before: RenameSubject, after: RenameSubject) -> float:
    same = (before.previous == after.previous) + (before.next == after.next)
    if before.place == after.place:
        return 1.0 if same else 0.7
    return {2: 1.0, 1: 0.5, 0: 0.1}[same]


def _score_comments(before: str, after: str) -> float:
    if before.strip() == after.strip():
        return 1.0
    old, new = set(name_tokens(before)), set(name_tokens(after))
    return len(old & new) / len(old | new) if old | new else 0.5


def _shared_values(before: ValueProfile | None, after: ValueProfile | None) -> float | None:
    """The share of values that two columns have in common; None where they have too few different ones to tell."""
    if before is None or after is None or min(len(before.sample), len(after.sample)) < _ENOUGH_VALUES:
        return None
    return len(before.sample & after.sample) / min(len(before.sample), len(after.sample))


def _score_values(before: ValueProfile, after: ValueProfile) -> float:
    shape = 1 - min(1.0, abs(before.null_share - after.null_share) + abs(before.distinct_share - after.distinct_share))
    if not before.sample or not after.sample:
        return shape
    overlap = len(before.sample & after.sample) / min(len(before.sample), len(after.sample))
    return 0.4 * shape + 0.6 * overlap
