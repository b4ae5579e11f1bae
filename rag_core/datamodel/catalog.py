"""What is known of a warehouse's schema."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from rag_core.datamodel.base import Record

TableKind = Literal["table", "partitioned_table", "view", "materialized_view", "foreign_table"]


class CatalogColumn(Record):
    """A column as the catalog spells it.

    `type` is the database's canonical type text (PostgreSQL: format_type); `position` the ordinal or attnum, which
    proves a rename where it is stable.
    """

    name: str
    type: str
    nullable: bool = True
    position: int = 0
    default: str | None = None
    generated: bool = False
    comment: str | None = None
    enum_labels: tuple[str, ...] = ()
    readable: bool = True


class UniqueKey(Record):
    """A primary or unique key."""

    name: str
    columns: tuple[str, ...]
    primary: bool = False


class ForeignKey(Record):
    """A declared reference; `target` is `schema.table`."""

    name: str
    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]


class CatalogTable(Record):
    """A relation that questions may be asked of. Partitions are folded into their parent.

    `row_limited` says that the database shows this role only some of its rows.
    """

    schema_name: str
    name: str
    kind: TableKind = "table"
    columns: tuple[CatalogColumn, ...] = ()
    keys: tuple[UniqueKey, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    comment: str | None = None
    row_estimate: int | None = None
    definition: str | None = None
    partition_key: str | None = None
    object_id: int | None = None
    readable: bool = True
    row_limited: bool = False

    @property
    def qualified_name(self) -> str:
        """`schema.table`, as the catalog spells both."""
        return f"{self.schema_name}.{self.name}"

    def column(self, name: str) -> CatalogColumn | None:
        """The column of exactly this name, or None."""
        return next((column for column in self.columns if column.name == name), None)


class UserOperator(Record):
    """An operator that somebody made in this database: its symbol and the function that it runs, lower case."""

    symbol: str
    function: str


class UserCast(Record):
    """A cast that somebody made in this database, and the function that it runs, lower case.

    The types are written as `CatalogColumn.type`; `implicit` casts need not be written in a statement.
    """

    source: str
    target: str
    function: str
    implicit: bool = False


class CheckedType(Record):
    """A type whose values are checked by an expression when they are made: a domain, or a type made of one.

    `type` is written as `CatalogColumn.type`, `definition` as the database writes the constraint.
    """

    type: str
    definition: str


class Inheritance(Record):
    """A table and one that it inherits from, directly or through others; both as (schema, table).

    Whoever reads the ancestor reads the child's rows too.
    """

    child: tuple[str, str]
    ancestor: tuple[str, str]


class Catalog(Record):
    """A snapshot of a warehouse's schema at one moment.

    An incomplete snapshot (`complete=False`, with `reason`) must never be compared with another.
    `functions` maps a lower-case function name to the most dangerous volatility of its overloads
    (immutable < stable < volatile), empty where the database does not tell. `user_functions` are those of them that
    somebody wrote in this database (neither built in nor of an extension), `user_operators` and `user_casts` the
    operators and the casts that run a function and are as little built in, `checked_types` the types whose values are
    checked. `inheritance` leaves partitions out.
    `closed_schemas` exist, but the role may not look into them, so that their absence from `tables` does not mean they
    were dropped.
    """

    dialect: str
    database: str
    taken_at: datetime
    tables: tuple[CatalogTable, ...] = ()
    functions: dict[str, Literal["immutable", "stable", "volatile"]] = {}
    user_functions: tuple[str, ...] = ()
    user_operators: tuple[UserOperator, ...] = ()
    user_casts: tuple[UserCast, ...] = ()
    checked_types: tuple[CheckedType, ...] = ()
    inheritance: tuple[Inheritance, ...] = ()
    search_path: tuple[str, ...] = ("public",)
    closed_schemas: tuple[str, ...] = ()
    complete: bool = True
    reason: str | None = None

    def table(self, qualified_name: str) -> CatalogTable | None:
        """The table called `schema.table`, or None."""
        return next((table for table in self.tables if table.qualified_name == qualified_name), None)
