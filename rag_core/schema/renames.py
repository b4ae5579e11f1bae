"""A set of renames, as the diff finds them and repair applies them. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rag_core.datamodel.catalog import Catalog, CatalogTable
from rag_core.datamodel.drift import Change

TABLE_RENAMES = frozenset({"table_renamed", "table_moved"})


class Renames(NamedTuple):
    """Tables by earlier `schema.table`; columns by (earlier `schema.table`, earlier column name)."""

    tables: dict[str, str]
    columns: dict[tuple[str, str], str]

    def table(self, name: str) -> str:
        """The later name of a table."""
        return self.tables.get(name, name)

    def column(self, table: str, name: str) -> str:
        """The later name of a column of the table that was called `table`."""
        return self.columns.get((table, name), name)

    @property
    def empty(self) -> bool:
        """Whether nothing was renamed."""
        return not self.tables and not self.columns


def proven_renames(changes: Iterable[Change]) -> Renames:
    """The renames among changes that nobody needs to confirm, as repair takes them."""
    tables: dict[str, str] = {}
    columns: dict[tuple[str, str], str] = {}
    for change in changes:
        if change.confidence < 1.0 or change.after is None:
            continue
        if change.kind in TABLE_RENAMES:
            tables[change.table] = change.after
        elif change.kind == "column_renamed" and change.column is not None:
            columns[(change.table, change.column)] = change.after
    return Renames(tables=tables, columns=columns)


def chain_renames(days: Iterable[Iterable[Change]], now: Catalog) -> Renames:
    """Renames of different days as one step from each earlier name to the present one.

    A name that is in use again, for something else, is left out: whoever wrote it may have meant either. So is a rename
    to such a name, because a statement that was rewritten to it could not be told from one that was not.

    Args:
        days: certain renames in the order in which they happened; those of one day happened at once.
        now: the present schema; what it does not bear out is left out, such as a rename that was undone.
    """
    tables: dict[str, str] = {}
    columns: dict[tuple[str, str], str] = {}
    for day in days:
        step = proven_renames(change.model_copy(update={"confidence": 1.0}) for change in day)
        owners = {table: [old for old, new in tables.items() if new == table] for table, _ in step.columns}
        later: dict[tuple[str, str], str] = {}
        for (table, old), new in step.columns.items():
            for owner in (*owners[table], table):
                later[(owner, old)] = new
        columns = {(owner, old): later.get((owner, new), new) for (owner, old), new in columns.items()}
        columns = {**later, **columns}
        tables = {**step.tables, **{old: step.tables.get(new, new) for old, new in tables.items()}}
    present = {table.qualified_name: table for table in now.tables}
    tables = {old: new for old, new in tables.items() if old not in present and new in present}
    kept: dict[tuple[str, str], str] = {}
    reused = {
        (table, old)
        for (table, old), new in columns.items()
        if old != new and (current := present.get(tables.get(table, table))) is not None and current.column(old)
    }
    for (table, old), new in columns.items():
        current = present.get(tables.get(table, table))
        if (table, new) in reused:
            continue
        if current is not None and current.column(old) is None and current.column(new) is not None:
            kept[(table, old)] = new
    return Renames(tables=tables, columns=kept)


def undo_renames(now: Catalog, renames: Renames) -> Catalog:
    """The present schema under the earlier names, as statements that were written before the renames know it."""
    back = {new: old for old, new in renames.tables.items()}
    tables = []
    for table in now.tables:
        earlier = back.get(table.qualified_name, table.qualified_name)
        names = {new: old for (owner, old), new in renames.columns.items() if owner == earlier}
        tables.append(_renamed(table, earlier, names))
    return now.model_copy(update={"tables": tuple(tables)})


def _renamed(table: CatalogTable, earlier: str, names: dict[str, str]) -> CatalogTable:
    if earlier == table.qualified_name and not names:
        return table
    schema_name, name = table.schema_name, table.name
    if earlier != table.qualified_name:
        schema_name, _, name = earlier.partition(".")
    columns = tuple(column.model_copy(update={"name": names.get(column.name, column.name)}) for column in table.columns)
    return table.model_copy(update={"schema_name": schema_name, "name": name, "columns": columns})
