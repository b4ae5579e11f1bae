"""What differs between two snapshots of a schema. Pure: it takes values and returns values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import translate
from functools import cache
from typing import NamedTuple

from rag_core.datamodel.catalog import Catalog, CatalogTable
from rag_core.datamodel.drift import Change, DriftRules
from rag_core.schema.change import ChangeMaker, in_order
from rag_core.schema.diff_tables import diff_columns, diff_keys, diff_table
from rag_core.schema.pairs import (
    PROVING_DIALECTS,
    ColumnPairs,
    Key,
    RenameDecisions,
    TablePair,
    TablePairs,
    pair_columns,
    pair_tables,
)
from rag_core.schema.rename import ValueProfile
from rag_core.schema.renames import Renames, proven_renames

__all__ = ["NO_DECISIONS", "diff_catalogs", "matches", "proven_renames"]

NO_DECISIONS = RenameDecisions()


class _Watched(NamedTuple):
    """The tables that are compared, and what is said of those that are not."""

    before: dict[Key, CatalogTable]
    after: dict[Key, CatalogTable]
    changes: list[Change]


def diff_catalogs(
    before: Catalog,
    after: Catalog,
    *,
    rules: DriftRules | None = None,
    earlier_rules: DriftRules | None = None,
    decisions: RenameDecisions = NO_DECISIONS,
    profiles: Mapping[tuple[str, str], ValueProfile] | None = None,
) -> tuple[Change, ...]:
    """Every difference of two complete snapshots, the gravest first.

    Args:
        before: the earlier snapshot.
        after: the later one, of the same database.
        rules: what is watched and how grave each kind is.
        earlier_rules: the rules at the time of the earlier snapshot, where they were others.
        decisions: renames that people confirmed or refused.
        profiles: what columns hold, by `schema.table` and column, for renames that nothing proves.

    Raises:
        ValueError: a snapshot is incomplete; what it lacks was not dropped.
    """
    if not (before.complete and after.complete):
        raise ValueError("an incomplete snapshot must not be compared")
    wanted = rules if rules is not None else DriftRules()
    maker = ChangeMaker(wanted)
    proving = before.dialect in PROVING_DIALECTS and before.dialect == after.dialect
    watched = _watch(before, after, wanted, earlier_rules or wanted, maker)
    tables = pair_tables(
        watched.before, watched.after, proving=proving, threshold=wanted.rename_threshold, decisions=decisions
    )
    pairs = [pair for pair in tables.pairs if not _is_same(pair)]
    columns = [
        pair_columns(pair, proving=proving, threshold=wanted.rename_threshold, decisions=decisions, profiles=profiles)
        for pair in pairs
    ]
    renames = _renames(pairs, columns)
    changes = [*watched.changes, *_diff_presence(tables, before, after, maker)]
    if proving:
        changes += _set_aside(tables, watched, maker)
    gone = {table.name for table in tables.gone}
    for pair, its_columns in zip(pairs, columns, strict=True):
        changes.extend(diff_table(pair, renames, maker, after.dialect))
        changes.extend(diff_columns(pair, its_columns, maker))
        changes.extend(diff_keys(pair, its_columns, renames, gone, maker))
    return in_order(changes)


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a dotted name fits one of the patterns with `*`, without regard to case."""
    return _compiled(tuple(patterns)).match(name.lower()) is not None


@cache
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(translate(pattern.lower()) for pattern in patterns) or r"(?!)")


def _is_same(pair: TablePair) -> bool:
    """Whether nothing differs but counts and object ids; most tables of a large schema end here."""
    before, after = pair.before, pair.after
    return (
        before.columns == after.columns
        and before.keys == after.keys
        and before.foreign_keys == after.foreign_keys
        and (before.schema_name, before.name, before.kind) == (after.schema_name, after.name, after.kind)
        and (before.comment, before.readable) == (after.comment, after.readable)
        and (before.definition, before.partition_key) == (after.definition, after.partition_key)
    )


def _renames(pairs: list[TablePair], columns: list[ColumnPairs]) -> Renames:
    return Renames(
        tables={
            pair.before.qualified_name: pair.after.qualified_name
            for pair in pairs
            if pair.before.qualified_name != pair.after.qualified_name
        },
        columns={
            (pair.before.qualified_name, old): new
            for pair, its_columns in zip(pairs, columns, strict=True)
            for old, new in its_columns.renames.items()
        },
    )


def _watch(before: Catalog, after: Catalog, rules: DriftRules, earlier: DriftRules, maker: ChangeMaker) -> _Watched:
    old = {(table.schema_name, table.name): table for table in before.tables}
    new = {(table.schema_name, table.name): table for table in after.tables}
    changes: list[Change] = []
    dropped: set[Key] = set()
    for key, table in old.items():
        was_watched = not matches(table.qualified_name, earlier.ignore_tables)
        is_watched = not matches(table.qualified_name, rules.ignore_tables)
        if not is_watched or (key in new and not was_watched):
            dropped.add(key)
        if key in new and was_watched != is_watched:
            kind = "monitoring_started" if is_watched else "monitoring_stopped"
            changes.append(maker.make(kind, table.qualified_name))  # type: ignore[arg-type]
    dropped |= {key for key, table in new.items() if matches(table.qualified_name, rules.ignore_tables)}
    return _Watched(
        before={key: _without(table, rules) for key, table in old.items() if key not in dropped},
        after={key: _without(table, rules) for key, table in new.items() if key not in dropped},
        changes=changes,
    )


def _without(table: CatalogTable, rules: DriftRules) -> CatalogTable:
    prefix = table.qualified_name
    kept = tuple(column for column in table.columns if not matches(f"{prefix}.{column.name}", rules.ignore_columns))
    return table if len(kept) == len(table.columns) else table.model_copy(update={"columns": kept})


def _diff_presence(tables: TablePairs, before: Catalog, after: Catalog, maker: ChangeMaker) -> list[Change]:
    changes: list[Change] = []
    closed_before, closed_after = set(before.closed_schemas), set(after.closed_schemas)
    old = {table.qualified_name: table for table in before.tables}
    for gone in tables.gone:
        if old[gone.name].schema_name in closed_after:
            changes.append(maker.make("access_lost", gone.name, before="readable", after="schema closed"))
        else:
            kind = old[gone.name].kind
            changes.append(maker.make("table_removed", gone.name, before=kind, candidates=gone.candidates))
    for table in tables.new:
        if table.schema_name in closed_before:
            changes.append(maker.make("access_gained", table.qualified_name, before="schema closed", after="readable"))
        else:
            changes.append(maker.make("table_added", table.qualified_name, after=table.kind))
    for pair in tables.pairs:
        if pair.before.qualified_name != pair.after.qualified_name:
            changes.append(_renamed(pair, maker))
    return changes


def _set_aside(tables: TablePairs, watched: _Watched, maker: ChangeMaker) -> list[Change]:
    """Tables that were built anew while the earlier one is kept under a new name, with some of the rows or all.

    Under a name that was there before, the earlier one is the last of many builds.
    """
    aside = {
        table.object_id: table.qualified_name
        for key, table in watched.after.items()
        if key not in watched.before and table.object_id is not None
    }
    return [
        maker.make(
            "table_recreated",
            pair.before.qualified_name,
            before=f"kept as {aside[pair.before.object_id]}",
            after=pair.after.kind,
            # Most often it holds what the earlier one held.
            milder="risky",
        )
        for pair in tables.pairs
        if pair.before.qualified_name == pair.after.qualified_name
        and pair.before.object_id != pair.after.object_id
        and pair.before.object_id in aside
    ]


def _renamed(pair: TablePair, maker: ChangeMaker) -> Change:
    moved = pair.before.schema_name != pair.after.schema_name and pair.before.name == pair.after.name
    return maker.make(
        "table_moved" if moved else "table_renamed",
        pair.before.qualified_name,
        before=pair.before.qualified_name,
        after=pair.after.qualified_name,
        confidence=pair.confidence,
        candidates=pair.candidates,
    )
