"""What a database understood of a statement, told by the objects that it will touch.

Objects are numbers of the database's own (PostgreSQL: OIDs); the facts beside the readings give them their names.
"""

from __future__ import annotations

from typing import Literal

from rag_core.datamodel.base import Record

# The number of a column that stands for the whole row; columns that every table has besides are below it.
WHOLE_ROW = 0
# Said whether such a check let the text through or not: the answer would tell what the check reads.
CHECKED_TEXT = (
    "a value of the statement takes a type whose values are checked by something of this database's own, "
    "which a statement must not run"
)


class RelationRead(Record):
    """A relation that is read, with the numbers of the columns read.

    `condition` is the condition under which its rows are read where it stands alone in a query, the same text for the
    same condition; empty where it does not stand alone, or is read without one.
    """

    relation: int
    columns: tuple[int, ...] = ()
    condition: str = ""


class Reading(Record):
    """The objects in one piece of SQL: a statement, a view's definition, or the check of a type.

    `made` are types of which it makes values, each with the function that makes it or 0; `seen` are types of values
    that are already there and with which something is run. `only_reads` is false where anything is written or locked.
    """

    relations: tuple[RelationRead, ...] = ()
    functions: tuple[int, ...] = ()
    operators: tuple[int, ...] = ()
    made: tuple[tuple[int, int], ...] = ()
    seen: tuple[int, ...] = ()
    only_reads: bool = True


class RelationFact(Record):
    """A relation; `columns` are the names of those that were read by number, `types` those of all its columns."""

    schema_name: str
    name: str
    view: bool = False
    columns: dict[int, str] = {}
    types: tuple[int, ...] = ()


class FunctionFact(Record):
    """A function; `own` ones are neither built in nor of an extension."""

    schema_name: str
    name: str
    volatility: Literal["immutable", "stable", "volatile"]
    own: bool


class TypeFact(Record):
    """A type.

    `members` are the types that it is made of (base, element, fields, bounds), `table` the `schema.table` whose row it
    is, `functions` what the database runs by itself to read, write, compare or sort its values; `builtin` says that it
    came with the database or an extension.
    """

    schema_name: str
    name: str
    builtin: bool
    array: bool = False
    members: tuple[int, ...] = ()
    table: tuple[str, str] | None = None
    functions: tuple[int, ...] = ()


class Understanding(Record):
    """What the database made of a statement, of the views it reads (by relation) and of types' checks (by type)."""

    statement: Reading
    views: dict[int, Reading] = {}
    checks: dict[int, tuple[Reading, ...]] = {}
    relations: dict[int, RelationFact] = {}
    functions: dict[int, FunctionFact] = {}
    operators: dict[int, tuple[int, ...]] = {}
    types: dict[int, TypeFact] = {}

    def condition_of(self, table: str) -> str:
        """The condition under which the outermost query that reads `schema.table` does; empty where there is none."""
        for read in self.statement.relations:
            fact = self.relations.get(read.relation)
            if fact is not None and f"{fact.schema_name}.{fact.name}" == table:
                return read.condition
        return ""
