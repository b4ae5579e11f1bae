"""A set of renames, as the diff finds them and repair applies them. Pure."""

from __future__ import annotations

from typing import NamedTuple


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
