"""The form of a table that counts as accepted, where not everything about it is decided yet. Pure.

What was noted needs no decision, so that it must not wait for one: a column that was added beside an undecided change
is watched at once, and its own removal is a change of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rag_core.datamodel.catalog import CatalogColumn, CatalogTable, ForeignKey, UniqueKey
from rag_core.datamodel.drift import DriftEvent
from rag_core.schema.diff_tables import tell_reference
from rag_core.schema.renames import Renames

UNDECIDED = frozenset({"open", "rejected"})
# These say that a column has another name or is gone; they count once everything about their table is decided.
_OF_NAMES = frozenset({"column_renamed", "column_removed"})


class AcceptedForm(NamedTuple):
    """A table as it is accepted, and the numbers of the events whose difference is part of that."""

    table: CatalogTable
    applied: tuple[int, ...]


def accept_noted(
    before: CatalogTable, after: CatalogTable, events: Sequence[DriftEvent], *, proving: bool
) -> AcceptedForm:
    """The accepted form of a table on which something waits for a decision: as before, with what needs none.

    Args:
        before: the table as it was accepted.
        after: the same table as it is now, perhaps under another name.
        events: its active events.
        proving: object ids and the columns' numbers are never given out twice.
    """
    numbered = proving and before.object_id is not None and before.object_id == after.object_id
    waiting = {event.change.column for event in events if event.state in UNDECIDED or event.change.kind in _OF_NAMES}
    free = [event for event in events if event.state not in UNDECIDED and event.change.kind not in _OF_NAMES]
    merged = before
    applied: list[int] = []
    for event in free:
        column = event.change.column
        if column is not None and column in waiting:
            continue
        changed = (
            _with_table_part(merged, after, event)
            if column is None
            else _with_column(merged, after, column, numbered=numbered)
        )
        if changed is not None:
            merged = changed
            applied.append(event.event_id)
    if applied and not numbered:
        merged = _numbered(merged, after)
    return AcceptedForm(merged, tuple(applied))


def accept_decided(
    before: CatalogTable, after: CatalogTable, events: Sequence[DriftEvent], waiting: Renames
) -> CatalogTable:
    """The accepted form of a table on which all is decided while renames of others wait: as now, under their old names.

    Its references and its definition followed those renames without being changed themselves.
    """
    tables = {new: old for old, new in waiting.tables.items()}
    columns = {(owner, new): old for (owner, old), new in waiting.columns.items()}
    references = tuple(_under_old_names(key, tables, columns) for key in after.foreign_keys)
    redefined = any(event.change.kind in ("view_definition_changed", "table_kind_changed") for event in events)
    definition = after.definition if redefined else before.definition
    return after.model_copy(update={"foreign_keys": references, "definition": definition})


def _under_old_names(key: ForeignKey, tables: dict[str, str], columns: dict[tuple[str, str], str]) -> ForeignKey:
    target = tables.get(key.target, key.target)
    targets = tuple(columns.get((target, column), column) for column in key.target_columns)
    return key.model_copy(update={"target": target, "target_columns": targets})


def _with_column(merged: CatalogTable, after: CatalogTable, name: str, *, numbered: bool) -> CatalogTable | None:
    """The table with this column as it is now; None where it is not there now, or its place is taken."""
    found = after.column(name)
    if found is None:
        return None
    others = [column for column in merged.columns if column.name != name]
    if numbered and any(column.position == found.position for column in others):
        return None
    columns = _replaced(merged.columns, found)
    return merged.model_copy(update={"columns": columns})


def _replaced(columns: Iterable[CatalogColumn], found: CatalogColumn) -> tuple[CatalogColumn, ...]:
    kept = list(columns)
    for place, column in enumerate(kept):
        if column.name == found.name:
            kept[place] = found
            return tuple(kept)
    return (*kept, found)


def _with_table_part(merged: CatalogTable, after: CatalogTable, event: DriftEvent) -> CatalogTable | None:
    """The table with the part of it that a noted event is about; None where that part cannot be taken alone."""
    kind, text = event.change.kind, event.change.after or ""
    if kind == "comment_changed":
        return merged.model_copy(update={"comment": after.comment})
    if kind == "partition_key_changed":
        return merged.model_copy(update={"partition_key": after.partition_key})
    if kind == "unique_key_added":
        keys = [key for key in after.keys if not key.primary and ", ".join(key.columns) == text]
        return _with_keys(merged, keys)
    if kind == "foreign_key_added":
        references = [key for key in after.foreign_keys if tell_reference(key) == text and _holds(merged, key.columns)]
        return merged.model_copy(update={"foreign_keys": (*merged.foreign_keys, *references)}) if references else None
    return None


def _with_keys(merged: CatalogTable, keys: list[UniqueKey]) -> CatalogTable | None:
    known = [key for key in keys if _holds(merged, key.columns)]
    return merged.model_copy(update={"keys": (*merged.keys, *known)}) if known else None


def _holds(table: CatalogTable, columns: Iterable[str]) -> bool:
    return all(table.column(name) is not None for name in columns)


def _numbered(merged: CatalogTable, after: CatalogTable) -> CatalogTable:
    """The columns in the order of the table as it is now, numbered anew; what is gone keeps its place behind another.

    The numbers of a table that was built anew say nothing of the one before it.
    """
    present = {column.name for column in after.columns}
    order = [column.name for column in sorted(after.columns, key=lambda item: item.position)]
    names = [name for name in order if merged.column(name) is not None]
    for place, column in enumerate(sorted(merged.columns, key=lambda item: item.position)):
        if column.name not in present:
            names.insert(min(place, len(names)), column.name)
    by_name = {column.name: column for column in merged.columns}
    columns = tuple(by_name[name].model_copy(update={"position": place}) for place, name in enumerate(names, start=1))
    return merged.model_copy(update={"columns": columns})
