"""Which columns may be joined: what foreign keys declare, and what names, types, keys and values suggest. Pure.

A foreign key decides. For a column without one, a target must have a unique key that the column's name refers to and
that holds the same sort of values; whether the values are really there is asked of a probe, where one is given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple

from rag_core.datamodel.base import Record
from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.schema.types import canonical_type, same_family
from rag_core.schema.words import name_tokens

JoinStatus = Literal["usable", "needs_approval", "rejected"]
Verdict = Literal["approved", "rejected"]
_GENERIC = frozenset({"id", "identifier", "key", "code", "number", "name", "uuid", "guid"})
_PREFIXES = frozenset(
    {"dimension", "dim", "fact", "fct", "tbl", "table", "stg", "raw", "ref", "lookup", "lkp", "d", "f", "t"}
)
_ENOUGH_VALUES = 20
_ENOUGH_CODES = 3
_COUNTING = frozenset({"smallint", "integer", "bigint", "numeric", "boolean", "date"})
_USABLE_OVERLAP = 0.98
_REJECTED_OVERLAP = 0.5
_GOOD_NAME = 0.9
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

    `left` and `right` are `schema.table.column`, or `schema.table(a, b)` for a key of several columns.
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


class _Target(NamedTuple):
    table: CatalogTable
    column: CatalogColumn
    likeness: float


class _Candidate(NamedTuple):
    table: CatalogTable
    column: CatalogColumn
    target: _Target
    likeness: float


def find_joins(
    catalog: Catalog,
    probe: Probe | None = None,
    *,
    decisions: Mapping[tuple[str, str], Verdict] | None = None,
    need_approval: Iterable[tuple[str, str]] = (),
) -> tuple[Join, ...]:
    """Every join that the schema declares or suggests, declared ones first, then in order of their sides.

    Args:
        catalog: the schema; only what may be read should be in it.
        probe: looks values up in the warehouse; without it no inferred join is usable before somebody approves it.
        decisions: what people decided, by (left, right); it overrules everything.
        need_approval: pairs of `schema.table.column` that the policy wants approved.
    """
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
    targets = _targets(catalog)
    joins: list[Join] = []
    for table in catalog.tables:
        declared = {column for key in table.foreign_keys for column in key.columns}
        for column in table.columns:
            if column.name in declared or not column.readable:
                continue
            candidates = _candidates(table, column, targets)
            joins.extend(_judge(candidates, probe))
    return joins


def _targets(catalog: Catalog) -> dict[tuple[str, ...], list[_Target]]:
    """Unique columns by the words that another table would refer to them with."""
    found: defaultdict[tuple[str, ...], list[_Target]] = defaultdict(list)
    for table in catalog.tables:
        noun = _noun(table)
        for key in table.keys:
            column = table.column(key.columns[0]) if len(key.columns) == 1 else None
            if column is None or not column.readable:
                continue
            words = name_tokens(column.name)
            own = set(noun) <= set(words)
            generic = set(words) <= _GENERIC
            names = {words: 1.0 if own else 0.8} if not generic else {}
            if not own:
                names[(*noun, *words)] = 1.0 if generic else 0.85
                names.setdefault(noun, 0.75)
            for name, likeness in names.items():
                found[name].append(_Target(table, column, likeness))
    return found


def _noun(table: CatalogTable) -> tuple[str, ...]:
    words = name_tokens(table.name)
    while len(words) > 1 and words[0] in _PREFIXES:
        words = words[1:]
    return words


def _candidates(
    table: CatalogTable, column: CatalogColumn, targets: Mapping[tuple[str, ...], list[_Target]]
) -> list[_Candidate]:
    words = name_tokens(column.name)
    if set(words) <= _GENERIC and set(words) != {"name"}:
        words = (*_noun(table), *words)
    found: dict[tuple[str, str], _Candidate] = {}
    for start in range(len(words)):
        for target in targets.get(words[start:], ()):
            if target.table.qualified_name == table.qualified_name:
                continue
            # A word in front says which role the other table plays: billing_customer_id.
            likeness = target.likeness * (1.0 if start == 0 else 0.9)
            key = (target.table.qualified_name, target.column.name)
            if key not in found or found[key].likeness < likeness:
                found[key] = _Candidate(table, column, target, likeness)
    return [item for item in found.values() if not _is_own_key(item)]


def _is_own_key(item: _Candidate) -> bool:
    """Whether the column is the key that its own table is named after, so that the reference points the other way."""
    keys = {key.columns for key in item.table.keys}
    words = set(name_tokens(item.column.name))
    return (item.column.name,) in keys and (set(_noun(item.table)) <= words or words <= _GENERIC)


def _judge(candidates: list[_Candidate], probe: Probe | None) -> list[Join]:
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


def _score(item: _Candidate, fits: bool, overlap: Overlap | None) -> tuple[float, JoinStatus, str]:
    name = f"{item.column.name} names the key {item.target.column.name} of {item.target.table.qualified_name}"
    if not fits:
        types = f"{item.column.type} and {item.target.column.type}"
        return round(0.3 * item.likeness, 3), "rejected", f"{name}, but the types {types} do not fit"
    if overlap is None or overlap.sampled == 0:
        score = round(0.55 * item.likeness + 0.25, 3)
        return score, "needs_approval", f"{name}; whether the values are there was not looked up"
    score = round(0.5 * item.likeness + 0.1 + 0.4 * overlap.share, 3)
    looked_up = f"{name}; {overlap.matched} of {overlap.sampled} values are there"
    if overlap.share < _REJECTED_OVERLAP and overlap.sampled >= _ENOUGH_VALUES:
        return score, "rejected", looked_up
    # Small numbers are found in any key; codes and names are not.
    telling = canonical_type(item.column.type).name not in _COUNTING and overlap.sampled >= _ENOUGH_CODES
    enough = overlap.sampled >= _ENOUGH_VALUES or telling
    if enough and overlap.share >= _USABLE_OVERLAP and item.likeness >= _GOOD_NAME:
        return score, "usable", looked_up
    return score, "needs_approval", looked_up


def _with_decision(join: Join, decided: Mapping[tuple[str, str], Verdict], policy: set[tuple[str, ...]]) -> Join:
    verdict = decided.get((join.left, join.right))
    if verdict is not None:
        status: JoinStatus = "usable" if verdict == "approved" else "rejected"
        return join.model_copy(update={"status": status, "reason": f"{join.reason}; {verdict} by a person"})
    asked = {(join.left.lower(), join.right.lower()), (join.right.lower(), join.left.lower())}
    if asked & policy and join.status == "usable":
        return join.model_copy(
            update={"status": "needs_approval", "reason": f"{join.reason}; the policy wants approval"}
        )
    return join
