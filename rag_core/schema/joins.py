"""Which columns may be joined: what foreign keys declare, and what names, types, keys and values suggest. Pure.

A foreign key decides. For a column without one, a target must have a unique key that the column's name refers to and
that holds the same sort of values; whether the values are really there is asked of a probe, where one is given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from rag_core.datamodel.base import Record
from rag_core.datamodel.catalog import Catalog, CatalogTable, UniqueKey
from rag_core.schema.join_names import SAME_NAME, Candidate, find_candidates, find_targets
from rag_core.schema.keys import INFERRED, Uniqueness, noun, with_inferred_keys
from rag_core.schema.types import canonical_type, same_family
from rag_core.schema.words import name_tokens

JoinStatus = Literal["usable", "needs_approval", "rejected"]
Verdict = Literal["approved", "rejected"]
_ENOUGH_VALUES = 20
_ENOUGH_CODES = 3
_COUNTING = frozenset({"smallint", "integer", "bigint", "numeric", "boolean", "date"})
_USABLE_OVERLAP = 0.98
_REJECTED_OVERLAP = 0.5
_GOOD_NAME = 0.9
# Text that is found whole in a key tells more than a name; the name must hint at it all the same.
_HINTING_NAME = 0.65
_USABLE_SCORE = 0.8
_LEAD = 0.1


class Overlap(Record):
    """How many distinct values of a column were looked up in a key, and how many were found."""

    sampled: int
    matched: int

    @property
    def share(self) -> float:
        """Share of the values that were found, 0 where none were looked up."""
        return self.matched / self.sampled if self.sampled else 0.0


# Looks values of (table, column) up in (table, key column); None where it cannot tell.
Probe = Callable[[str, str, str, str], Overlap | None]


class Join(Record):
    """A pair of columns (or of column lists) that rows may be joined by; `right` is unique in its table.

    `left` and `right` are `schema.table.column`, or `schema.table(a, b)` for a key of several columns. `decided` is
    what a person said, None where nobody did.
    """

    left: str
    right: str
    source: Literal["foreign_key", "inferred"]
    confidence: float
    status: JoinStatus
    left_table: str
    left_columns: tuple[str, ...]
    right_table: str
    right_columns: tuple[str, ...]
    reason: str = ""
    overlap: Overlap | None = None
    decided: Verdict | None = None


def find_joins(
    catalog: Catalog,
    probe: Probe | None = None,
    *,
    unique: Uniqueness | None = None,
    decisions: Mapping[tuple[str, str], Verdict] | None = None,
    need_approval: Iterable[tuple[str, str]] = (),
) -> tuple[Join, ...]:
    """Every join that the schema declares or suggests, declared ones first, then in order of their sides.

    Args:
        catalog: the schema; only what may be read should be in it.
        probe: looks values up in the warehouse; without it no inferred join is usable before somebody approves it.
        unique: tells whether a column's values stand once only, for tables that declare no key; without it such tables
            are joined to by nobody.
        decisions: what people decided, by (left, right); it overrules everything.
        need_approval: pairs of `schema.table.column` that the policy wants approved.
    """
    catalog = with_inferred_keys(catalog, unique)
    found = [*_declared(catalog), *_inferred(catalog, probe)]
    policy = {tuple(side.lower() for side in pair) for pair in need_approval}
    decided = dict(decisions or {})
    joins = [_with_decision(join, decided, policy) for join in found]
    return tuple(sorted(joins, key=lambda join: (join.source != "foreign_key", join.left, join.right)))


def side_name(table: str, columns: tuple[str, ...]) -> str:
    """One side of a join as text."""
    return f"{table}.{columns[0]}" if len(columns) == 1 else f"{table}({', '.join(columns)})"


def _declared(catalog: Catalog) -> list[Join]:
    return [
        Join(
            left=side_name(table.qualified_name, key.columns),
            right=side_name(key.target, key.target_columns),
            source="foreign_key",
            confidence=1.0,
            status="usable",
            left_table=table.qualified_name,
            left_columns=key.columns,
            right_table=key.target,
            right_columns=key.target_columns,
            reason="declared as a foreign key",
        )
        for table in catalog.tables
        for key in table.foreign_keys
    ]


def _inferred(catalog: Catalog, probe: Probe | None) -> list[Join]:
    targets = find_targets(catalog)
    joins: list[Join] = []
    for table in catalog.tables:
        declared = {column for key in table.foreign_keys for column in key.columns}
        for column in table.columns:
            if column.name in declared or not column.readable:
                continue
            joins.extend(_judge(find_candidates(table, column, targets), probe))
    joins.extend(_composite(catalog, probe))
    return _without_doubles(joins, catalog)


def _composite(catalog: Catalog, probe: Probe | None) -> list[Join]:
    """Joins to keys of several columns, where a table has columns of just these names and types."""
    joins = []
    for target in catalog.tables:
        own = noun(target)
        for key in target.keys:
            words = [name_tokens(name) for name in key.columns]
            # Without its own name among them, columns such as (year, month) are everybody's.
            if len(key.columns) < 2 or not any(set(own) <= set(part) for part in words):
                continue
            for table in catalog.tables:
                columns = [table.column(name) for name in key.columns]
                taken = {column for known in table.foreign_keys for column in known.columns}
                if table is target or None in columns or taken.intersection(key.columns):
                    continue
                join = _judge_composite(table, target, key, probe)
                if join is not None:
                    joins.append(join)
    return joins


def _judge_composite(table: CatalogTable, target: CatalogTable, key: UniqueKey, probe: Probe | None) -> Join | None:
    overlaps = []
    for name in key.columns:
        left, right = table.column(name), target.column(name)
        if left is None or right is None or not same_family(left.type, right.type):
            return None
        if probe is not None:
            overlaps.append(probe(table.qualified_name, name, target.qualified_name, name))
    known = [overlap for overlap in overlaps if overlap is not None]
    least = min(known, key=lambda overlap: overlap.share) if known and len(known) == len(overlaps) else None
    found = least is not None and least.sampled > 0 and least.share >= _USABLE_OVERLAP
    score = round(0.6 + 0.4 * least.share, 3) if least is not None and least.sampled else 0.75
    return Join(
        left=side_name(table.qualified_name, key.columns),
        right=side_name(target.qualified_name, key.columns),
        source="inferred",
        confidence=score,
        status="usable" if found else "needs_approval",
        left_table=table.qualified_name,
        left_columns=key.columns,
        right_table=target.qualified_name,
        right_columns=key.columns,
        reason=f"{', '.join(key.columns)} are the key of {target.qualified_name}",
        overlap=least,
    )


def _without_doubles(joins: list[Join], catalog: Catalog) -> list[Join]:
    """Of several usable joins of two tables only the best ones stay usable.

    A name that was copied together with a key is no second way to join, and single columns of a key of several columns
    do not make its rows unique.
    """
    primary = {(table.qualified_name, key.columns) for table in catalog.tables for key in table.keys if key.primary}
    by_tables: defaultdict[tuple[str, str], list[Join]] = defaultdict(list)
    for join in joins:
        if join.status == "usable":
            by_tables[join.left_table, join.right_table].append(join)
    kept = []
    for join in joins:
        others = by_tables[join.left_table, join.right_table]
        by_key = any((other.right_table, other.right_columns) in primary for other in others)
        if join.status == "usable" and by_key and (join.right_table, join.right_columns) not in primary:
            reason = f"{join.reason}; the tables are joined by the primary key already"
            join = join.model_copy(update={"status": "needs_approval", "reason": reason})
        kept.append(join)
    return kept


def _judge(candidates: list[Candidate], probe: Probe | None) -> list[Join]:
    judged: list[tuple[float, Join]] = []
    for item in candidates:
        fits = same_family(item.column.type, item.target.column.type)
        left, right = item.table.qualified_name, item.target.table.qualified_name
        overlap = probe(left, item.column.name, right, item.target.column.name) if probe is not None and fits else None
        score, status, reason = _score(item, fits, overlap)
        judged.append(
            (
                score,
                Join(
                    left=side_name(left, (item.column.name,)),
                    right=side_name(right, (item.target.column.name,)),
                    source="inferred",
                    confidence=score,
                    status=status,
                    left_table=left,
                    left_columns=(item.column.name,),
                    right_table=right,
                    right_columns=(item.target.column.name,),
                    reason=reason,
                    overlap=overlap,
                ),
            )
        )
    usable = sorted((score for score, join in judged if join.status == "usable"), reverse=True)
    rivals = len(usable) > 1
    return [
        join.model_copy(update={"status": "needs_approval", "reason": join.reason + "; another table fits as well"})
        if rivals and join.status == "usable" and score < usable[0] + _LEAD and usable[1] > usable[0] - _LEAD
        else join
        for score, join in judged
    ]


def _score(item: Candidate, fits: bool, overlap: Overlap | None) -> tuple[float, JoinStatus, str]:
    name = f"{item.column.name} names the key {item.target.column.name} of {item.target.table.qualified_name}"
    if not fits:
        types = f"{item.column.type} and {item.target.column.type}"
        return round(0.3 * item.likeness, 3), "rejected", f"{name}, but the types {types} do not fit"
    if item.target.key.name == INFERRED:
        name += ", whose values stand once in a sample"
    if overlap is None:
        score = round(0.55 * item.likeness + 0.25, 3)
        return score, "needs_approval", f"{name}; whether the values are there was not looked up"
    if overlap.sampled == 0:
        score = round(0.6 * item.likeness + 0.25, 3)
        # Nothing can be looked up for an empty table; for two columns of one name that no other key has, it need not.
        alike = item.column.name.lower() == item.target.column.name.lower() and item.likeness >= SAME_NAME
        usable: JoinStatus = "usable" if alike and score >= _USABLE_SCORE else "needs_approval"
        return score, usable, f"{name}; there are no values to look up"
    score = round(0.5 * item.likeness + 0.1 + 0.4 * overlap.share, 3)
    looked_up = f"{name}; {overlap.matched} of {overlap.sampled} values are there"
    if overlap.share < _REJECTED_OVERLAP and overlap.sampled >= _ENOUGH_VALUES:
        return score, "rejected", looked_up
    # Small numbers are found in any key; codes and names are not, and a name that says it all needs few of them.
    telling = canonical_type(item.column.type).name not in _COUNTING and overlap.sampled >= _ENOUGH_CODES
    enough = overlap.sampled >= _ENOUGH_VALUES or telling or item.likeness >= SAME_NAME
    sounds = item.likeness >= (_HINTING_NAME if telling else _GOOD_NAME)
    if enough and sounds and overlap.share >= _USABLE_OVERLAP and score >= _USABLE_SCORE:
        return score, "usable", looked_up
    return score, "needs_approval", looked_up


def _with_decision(join: Join, decided: Mapping[tuple[str, str], Verdict], policy: set[tuple[str, ...]]) -> Join:
    verdict = decided.get((join.left, join.right))
    if verdict is not None:
        status: JoinStatus = "usable" if verdict == "approved" else "rejected"
        reason = f"{join.reason}; {verdict} by a person"
        return join.model_copy(update={"status": status, "reason": reason, "decided": verdict})
    asked = {(join.left.lower(), join.right.lower()), (join.right.lower(), join.left.lower())}
    if asked & policy and join.status == "usable":
        return join.model_copy(
            update={"status": "needs_approval", "reason": f"{join.reason}; the policy wants approval"}
        )
    return join
