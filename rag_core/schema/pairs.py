"""Which table and which column of a later snapshot is which of the earlier one. Pure.

Names decide first, so that a table that is rebuilt every night is no drift. Where a name vanished, or where the tables
behind names changed places, PostgreSQL's (object id, attribute number) proves what each is called now; elsewhere a
rename is only proposed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rag_core.datamodel.base import Record
from rag_core.datamodel.catalog import CatalogColumn, CatalogTable
from rag_core.datamodel.drift import RenameCandidate
from rag_core.schema.rename import (
    RenameScore,
    ValueProfile,
    listed,
    propose_renames,
    score_rename,
    score_table_rename,
    subjects,
)

# Dialects whose object ids and column positions are never given out twice.
PROVING_DIALECTS = frozenset({"postgres"})
# Comparing everything with everything is for a few names; whole schemas that vanish are held anyway.
MAX_COMPARISONS = 250_000

Key = tuple[str, str]


class RenameDecisions(Record):
    """What people decided: pairs of (earlier, later) objects, `schema.table` or `schema.table.column`."""

    confirmed: tuple[tuple[str, str], ...] = ()
    refused: tuple[tuple[str, str], ...] = ()


class TablePair(NamedTuple):
    """A table before and after."""

    before: CatalogTable
    after: CatalogTable
    confidence: float = 1.0
    candidates: tuple[RenameCandidate, ...] = ()


class Gone(NamedTuple):
    """A table or column that vanished, with what may have become of it."""

    name: str
    candidates: tuple[RenameCandidate, ...]


class TablePairs(NamedTuple):
    """All tables of two snapshots; `gone` and `new` by qualified name."""

    pairs: tuple[TablePair, ...]
    gone: tuple[Gone, ...]
    new: tuple[CatalogTable, ...]


class ColumnPair(NamedTuple):
    """A column before and after; `recreated` where it was dropped and added again under its name."""

    before: CatalogColumn
    after: CatalogColumn
    confidence: float = 1.0
    candidates: tuple[RenameCandidate, ...] = ()
    recreated: bool = False


class ColumnPairs(NamedTuple):
    """All columns of a table before and after."""

    pairs: tuple[ColumnPair, ...]
    gone: tuple[Gone, ...]
    new: tuple[CatalogColumn, ...]

    @property
    def renames(self) -> dict[str, str]:
        """Earlier to later name of the columns whose name changed."""
        return {pair.before.name: pair.after.name for pair in self.pairs if pair.before.name != pair.after.name}


def pair_tables(
    before: Mapping[Key, CatalogTable],
    after: Mapping[Key, CatalogTable],
    *,
    proving: bool,
    threshold: float,
    decisions: RenameDecisions,
) -> TablePairs:
    """Pairs tables by name, then by what people decided, then by proof, then by likeness."""
    taken = _taken_names(before, after) if proving else frozenset()
    pairs = [TablePair(table, after[key]) for key, table in before.items() if key in after and key not in taken]
    gone = {table.qualified_name: table for key, table in before.items() if key not in after or key in taken}
    new = {table.qualified_name: table for key, table in after.items() if key not in before or key in taken}
    for old, name in _confirmed(decisions.confirmed, gone, new):
        pairs.append(TablePair(gone.pop(old), new.pop(name)))
    if proving:
        by_id = {table.object_id: table for table in new.values() if table.object_id is not None}
        for old, table in list(gone.items()):
            match = by_id.get(table.object_id) if table.object_id is not None else None
            if match is not None and match.qualified_name in new:
                pairs.append(TablePair(gone.pop(old), new.pop(match.qualified_name)))
    found, lost = _by_likeness(list(gone.values()), list(new.values()), threshold, decisions)
    pairs.extend(found)
    likely = {pair.after.qualified_name for pair in found}
    return TablePairs(tuple(pairs), tuple(lost), tuple(table for name, table in new.items() if name not in likely))


def _taken_names(before: Mapping[Key, CatalogTable], after: Mapping[Key, CatalogTable]) -> frozenset[Key]:
    """Names behind which another table stands now, while the one that had the name is there under another.

    The other table is one that was watched under a name of its own, or a new one with less than half of the columns.
    A new table that has more of them is taken for the same, built anew with the old one kept aside.
    """
    earlier = {table.object_id: key for key, table in before.items() if table.object_id is not None}
    later = {table.object_id: key for key, table in after.items() if table.object_id is not None}
    places: dict[Key, Key] = {}
    for key, table in before.items():
        other = after.get(key)
        place = later.get(table.object_id) if table.object_id is not None else None
        if other is None or place is None or place == key:
            continue
        columns = {column.name for column in other.columns}
        kept = sum(column.name in columns for column in table.columns)
        if other.object_id in earlier or 2 * kept < len(table.columns):
            places[key] = place
    # A name to which a table moved must be free for it: not one behind which its own table was built anew.
    while blocked := [
        key for key, place in places.items() if place in before and place in after and place not in places
    ]:
        for key in blocked:
            del places[key]
    return frozenset(places)


def _by_likeness(
    gone: Sequence[CatalogTable], new: Sequence[CatalogTable], threshold: float, decisions: RenameDecisions
) -> tuple[list[TablePair], list[Gone]]:
    if len(gone) * len(new) > MAX_COMPARISONS or not new:
        return [], [Gone(table.qualified_name, ()) for table in gone]
    names = [table.qualified_name for table in new]
    scores = [[score_table_rename(old, table) for table in new] for old in gone]
    refused = _refused(decisions, [table.qualified_name for table in gone], names)
    pairs, lost = [], []
    for old, proposal in zip(gone, propose_renames(scores, threshold, refused), strict=True):
        candidates = listed(names, proposal.candidates)
        if proposal.target is None:
            lost.append(Gone(old.qualified_name, candidates))
        else:
            pairs.append(TablePair(old, new[proposal.target], min(proposal.score, 0.99), candidates))
    return pairs, lost


def pair_columns(
    pair: TablePair,
    *,
    proving: bool,
    threshold: float,
    decisions: RenameDecisions,
    profiles: Mapping[tuple[str, str], ValueProfile] | None = None,
) -> ColumnPairs:
    """Pairs the columns of one table; both tables hold only the columns that are watched.

    `profiles` tell, by table and column, what columns hold; they count where nothing proves a rename.
    """
    before = {column.name: column for column in pair.before.columns}
    after = {column.name: column for column in pair.after.columns}
    table_before, table_after = pair.before.qualified_name, pair.after.qualified_name
    pairs: list[ColumnPair] = []
    same_table = proving and pair.before.object_id is not None and pair.before.object_id == pair.after.object_id
    if same_table:
        by_position = {column.position: column for column in pair.after.columns}
        for name, column in list(before.items()):
            match = by_position.get(column.position)
            if match is not None:
                pairs.append(ColumnPair(before.pop(name), after.pop(match.name)))
    for name in list(before):
        if name in after:
            pairs.append(ColumnPair(before.pop(name), after.pop(name), recreated=same_table))
    prefixed_before = {f"{table_before}.{name}": name for name in before}
    prefixed_after = {f"{table_after}.{name}": name for name in after}
    for old, new in _confirmed(decisions.confirmed, prefixed_before, prefixed_after):
        pairs.append(ColumnPair(before.pop(prefixed_before[old]), after.pop(prefixed_after[new])))
    gone: list[Gone] = []
    if before:
        found, gone = _columns_by_likeness(pair, list(before), list(after), threshold, decisions, profiles)
        for old_name, new_name, score, candidates in found:
            pairs.append(ColumnPair(before.pop(old_name), after.pop(new_name), score, candidates))
    return ColumnPairs(tuple(pairs), tuple(gone), tuple(after.values()))


def _columns_by_likeness(
    pair: TablePair,
    before: list[str],
    after: list[str],
    threshold: float,
    decisions: RenameDecisions,
    profiles: Mapping[tuple[str, str], ValueProfile] | None,
) -> tuple[list[tuple[str, str, float, tuple[RenameCandidate, ...]]], list[Gone]]:
    if len(before) * len(after) > MAX_COMPARISONS or not after:
        return [], [Gone(name, ()) for name in before]
    old, new = subjects(pair.before, profiles), subjects(pair.after, profiles)
    scores: list[list[RenameScore]] = [[score_rename(old[a], new[b]) for b in after] for a in before]
    names = [f"{pair.after.qualified_name}.{name}" for name in after]
    refused = _refused(decisions, [f"{pair.before.qualified_name}.{name}" for name in before], names)
    found, lost = [], []
    for name, proposal in zip(before, propose_renames(scores, threshold, refused), strict=True):
        candidates = listed(names, proposal.candidates)
        if proposal.target is None:
            lost.append(Gone(name, candidates))
        else:
            # Only the catalog or a person makes a rename certain.
            found.append((name, after[proposal.target], min(proposal.score, 0.99), candidates))
    return found, lost


def _confirmed(
    decisions: Iterable[tuple[str, str]], gone: Mapping[str, object], new: Mapping[str, object]
) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for old, name in decisions:
        if old in gone and name in new and old not in found and name not in found.values():
            found[old] = name
    return list(found.items())


def _refused(decisions: RenameDecisions, before: list[str], after: list[str]) -> frozenset[tuple[int, int]]:
    pairs = set(decisions.refused)
    if not pairs:
        return frozenset()
    return frozenset((i, j) for i, a in enumerate(before) for j, b in enumerate(after) if (a, b) in pairs)
