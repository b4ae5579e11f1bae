"""What differs between a table before and after. Pure."""

from __future__ import annotations

from typing import Literal

from rag_core.datamodel.catalog import CatalogColumn, CatalogTable, ForeignKey
from rag_core.datamodel.drift import Change, ChangeKind
from rag_core.schema.change import ChangeMaker
from rag_core.schema.definitions import same_definition
from rag_core.schema.pairs import ColumnPair, ColumnPairs, TablePair
from rag_core.schema.renames import Renames
from rag_core.schema.types import canonical_type, compare_types

_TYPE_KINDS: dict[Literal["widened", "narrowed", "changed"], ChangeKind] = {
    "widened": "type_widened",
    "narrowed": "type_narrowed",
    "changed": "type_changed",
}


def diff_table(pair: TablePair, renames: Renames, maker: ChangeMaker, dialect: str) -> list[Change]:
    """Differences of the table itself: access, kind, view definition, partitioning, comment."""
    before, after = pair.before, pair.after
    name = before.qualified_name
    changes: list[Change] = []
    if before.readable != after.readable:
        kind: ChangeKind = "access_gained" if after.readable else "access_lost"
        changes.append(maker.make(kind, name, before=_access(before.readable), after=_access(after.readable)))
    if before.kind != after.kind:
        changes.append(maker.make("table_kind_changed", name, before=before.kind, after=after.kind))
    elif before.partition_key != after.partition_key:
        changes.append(
            maker.make("partition_key_changed", name, before=before.partition_key, after=after.partition_key)
        )
    if not same_definition(before.definition, after.definition, renames, dialect):
        changes.append(maker.make("view_definition_changed", name, before=before.definition, after=after.definition))
    if before.comment != after.comment:
        changes.append(maker.make("comment_changed", name, before=before.comment, after=after.comment))
    return changes


def diff_columns(pair: TablePair, columns: ColumnPairs, maker: ChangeMaker) -> list[Change]:
    """Differences of the columns. Columns that the role lost with their table are part of that change."""
    table = pair.before.qualified_name
    changes = [
        maker.make(
            "column_removed", table, gone.name, before=_type_of(pair.before, gone.name), candidates=gone.candidates
        )
        for gone in columns.gone
    ]
    changes += [maker.make("column_added", table, column.name, after=_text(column)) for column in columns.new]
    same_access = pair.before.readable == pair.after.readable
    for item in columns.pairs:
        changes.extend(_diff_column(table, item, maker, same_access=same_access))
    order_before = [item.before.name for item in sorted(columns.pairs, key=lambda item: item.before.position)]
    order_after = [item.before.name for item in sorted(columns.pairs, key=lambda item: item.after.position)]
    if order_before != order_after and not any(item.recreated for item in columns.pairs):
        changes.append(
            maker.make("column_order_changed", table, before=", ".join(order_before), after=", ".join(order_after))
        )
    return changes


def _diff_column(table: str, item: ColumnPair, maker: ChangeMaker, *, same_access: bool) -> list[Change]:
    before, after = item.before, item.after
    name = before.name
    changes: list[Change] = []
    if before.name != after.name:
        changes.append(
            maker.make(
                "column_renamed",
                table,
                name,
                before=before.name,
                after=after.name,
                confidence=item.confidence,
                candidates=item.candidates,
            )
        )
    elif item.recreated:
        changes.append(maker.make("column_recreated", table, name, before=_text(before), after=_text(after)))
    changes.extend(_diff_type(table, before, after, maker))
    if before.nullable != after.nullable and not item.recreated:
        kind: ChangeKind = "became_nullable" if after.nullable else "became_not_null"
        changes.append(maker.make(kind, table, name, before=_null(before), after=_null(after)))
    if before.generated != after.generated or (after.generated and before.default != after.default):
        changes.append(maker.make("generation_changed", table, name, before=before.default, after=after.default))
    elif before.default != after.default:
        changes.append(maker.make("default_changed", table, name, before=before.default, after=after.default))
    if before.comment != after.comment:
        changes.append(maker.make("comment_changed", table, name, before=before.comment, after=after.comment))
    if same_access and before.readable != after.readable:
        access: ChangeKind = "access_gained" if after.readable else "access_lost"
        changes.append(maker.make(access, table, name, before=_access(before.readable), after=_access(after.readable)))
    return changes


def _diff_type(table: str, before: CatalogColumn, after: CatalogColumn, maker: ChangeMaker) -> list[Change]:
    name = before.name
    kept = compare_types(before.type, after.type)
    labels, new_labels = before.enum_labels, after.enum_labels
    if kept != "equal":
        renamed_enum = bool(labels) and labels == new_labels
        return [
            maker.make(
                _TYPE_KINDS[kept],
                table,
                name,
                before=canonical_type(before.type).text,
                after=canonical_type(after.type).text,
                # An enum under another name has the same values: only casts to it break.
                milder="compatible" if renamed_enum else None,
            )
        ]
    if labels == new_labels:
        return []
    lost = [label for label in labels if label not in new_labels]
    found = [label for label in new_labels if label not in labels]
    if not lost and not found:
        return [maker.make("enum_order_changed", table, name, before=", ".join(labels), after=", ".join(new_labels))]
    if len(labels) == len(new_labels) and len(lost) == len(found):
        return [
            maker.make("enum_value_renamed", table, name, before=old, after=new)
            for old, new in zip(labels, new_labels, strict=True)
            if old != new
        ]
    return [
        *(maker.make("enum_value_removed", table, name, before=label) for label in lost),
        *(maker.make("enum_value_added", table, name, after=label) for label in found),
    ]


def diff_keys(
    pair: TablePair, columns: ColumnPairs, renames: Renames, gone_tables: set[str], maker: ChangeMaker
) -> list[Change]:
    """Differences of primary, unique and foreign keys. Names of keys do not matter; renamed columns are followed.

    A key that went with its column, or a reference whose target table was dropped, is part of that change.
    """
    table = pair.before.qualified_name
    names = columns.renames
    gone = {item.name for item in columns.gone}
    return [
        *_diff_unique(pair, table, names, gone, maker),
        *_diff_references(pair, table, names, gone, renames, gone_tables, maker),
    ]


def _diff_unique(
    pair: TablePair, table: str, names: dict[str, str], gone: set[str], maker: ChangeMaker
) -> list[Change]:
    old_primary, new_primary = _primary(pair.before), _primary(pair.after)
    followed = tuple(names.get(column, column) for column in old_primary)
    after_keys = {frozenset(key.columns) for key in pair.after.keys}
    changes: list[Change] = []
    if set(followed) != set(new_primary) and not set(old_primary) & gone:
        kept = bool(old_primary) and any(key <= set(followed) for key in after_keys)
        changes.append(
            maker.make(
                "primary_key_changed",
                table,
                before=", ".join(old_primary) or None,
                after=", ".join(new_primary) or None,
                # Rows stay unique by the earlier key, or had none: no saved join can fan out.
                milder="compatible" if kept or not old_primary else None,
            )
        )
    before_keys = {
        frozenset(names.get(column, column) for column in key.columns): key
        for key in pair.before.keys
        if not set(key.columns) & gone
    }
    for columns, key in before_keys.items():
        if not key.primary and not any(other <= columns for other in after_keys):
            changes.append(maker.make("unique_key_removed", table, before=", ".join(key.columns)))
    for key in pair.after.keys:
        if not key.primary and frozenset(key.columns) not in before_keys:
            changes.append(maker.make("unique_key_added", table, after=", ".join(key.columns)))
    return changes


def _diff_references(
    pair: TablePair,
    table: str,
    names: dict[str, str],
    gone: set[str],
    renames: Renames,
    gone_tables: set[str],
    maker: ChangeMaker,
) -> list[Change]:
    followed = {}
    for key in pair.before.foreign_keys:
        if set(key.columns) & gone or key.target in gone_tables:
            continue
        later = tuple(names.get(column, column) for column in key.columns)
        target_columns = tuple(renames.column(key.target, column) for column in key.target_columns)
        followed[(later, renames.table(key.target), target_columns)] = key
    after = {(key.columns, key.target, key.target_columns): key for key in pair.after.foreign_keys}
    lost = {identity: key for identity, key in followed.items() if identity not in after}
    found = {identity: key for identity, key in after.items() if identity not in followed}
    changes: list[Change] = []
    for identity, key in lost.items():
        successor = next((item for item in found if item[0] == identity[0]), None)
        if successor is None:
            changes.append(maker.make("foreign_key_removed", table, before=tell_reference(key)))
        else:
            new = tell_reference(found.pop(successor))
            changes.append(maker.make("foreign_key_changed", table, before=tell_reference(key), after=new))
    changes.extend(maker.make("foreign_key_added", table, after=tell_reference(key)) for key in found.values())
    return changes


def _primary(table: CatalogTable) -> tuple[str, ...]:
    return next((key.columns for key in table.keys if key.primary), ())


def tell_reference(key: ForeignKey) -> str:
    """A reference as changes of it name it."""
    return f"({', '.join(key.columns)}) -> {key.target} ({', '.join(key.target_columns)})"


def _text(column: CatalogColumn) -> str:
    return canonical_type(column.type).text + ("" if column.nullable else " not null")


def _type_of(table: CatalogTable, name: str) -> str | None:
    column = table.column(name)
    return _text(column) if column is not None else None


def _null(column: CatalogColumn) -> str:
    return "nullable" if column.nullable else "not null"


def _access(readable: bool) -> str:
    return "readable" if readable else "not readable"
