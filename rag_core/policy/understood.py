"""Judges what the database understood of a statement, by the same policy that the guard judged its words by.

The guard reads SQL with a parser of its own, and there are spellings that the database takes for something else. Here
nothing is spelt any more: the relations, functions and types are those that the database will touch. What the guard did
not allow, and what cannot be placed, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import sqlglot
from sqlglot import exp

from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import GuardedSql
from rag_core.datamodel.understanding import (
    CHECKED_TEXT,
    WHOLE_ROW,
    FunctionFact,
    Reading,
    RelationFact,
    RelationRead,
    TypeFact,
    Understanding,
)
from rag_core.policy.access import Access, TableAccess
from rag_core.policy.functions import FunctionGuard
from rag_core.policy.nodes import OBJECT_TYPES
from rag_core.policy.refusal import Refusal
from rag_core.policy.rules import Policy
from rag_core.policy.views import VIEW_KINDS, ViewGuard

_SYSTEM = "pg_catalog"
_CATALOGS = re.compile(r"pg_|information_schema$")


class UnderstoodGuard:
    """Judges what the database says it understood of one statement.

    Args:
        policy: what may be read.
        catalog: the schema that the statement was checked against.
        access: the policy applied to it.
        views: the guard's judgement on views.
        query: the statement as the guard allowed it.
        understood: what the database made of it.
        conditions: the condition of each table's row filters, as the database understands it, by `schema.table`.
    """

    def __init__(
        self,
        policy: Policy,
        catalog: Catalog,
        access: Access,
        views: ViewGuard,
        query: GuardedSql,
        understood: Understanding,
        conditions: Mapping[str, str],
    ) -> None:
        self._catalog, self._access, self._views = catalog, access, views
        self._query, self._understood, self._conditions = query, understood, conditions
        # The names of the functions are the database's, so it is they and not the catalog's that the lists are held to.
        facts = understood.functions.values()
        self._functions = FunctionGuard(
            policy.functions,
            Catalog(
                dialect=catalog.dialect,
                database=catalog.database,
                taken_at=datetime.min.replace(tzinfo=UTC),
                functions={fact.name: fact.volatility for fact in _by_danger(facts)},
                user_functions=tuple(fact.name for fact in facts if fact.own),
            ),
        )
        self._reasons: dict[int, Refusal | None] = {}
        self._checks: dict[int, bool] = {}
        self._filter_tables, self._filter_columns = self._names_in_filters()

    def check(self) -> None:
        """Raises Refusal where the database would touch what the policy does not open for this statement."""
        statement = self._understood.statement
        if not statement.only_reads:
            raise Refusal("not_understood", "the database understands the statement as more than a query")
        column_types: set[int] = set()
        for read in statement.relations:
            fact = self._relation(read.relation)
            self._check_direct(read, fact)
            column_types.update(fact.types)
        self._check_runs(statement)
        known = self._with_members(column_types)
        for kind, function in statement.made:
            self._check_made(kind, function, known)
        seen: set[int] = set()
        for read in statement.relations:
            self._check_view(read.relation, seen)

    # ------------------------------------------------------------------ relations

    def _relation(self, number: int) -> RelationFact:
        fact = self._understood.relations.get(number)
        if fact is None:
            raise Refusal("not_understood", "the database reads a table that it does not name")
        return fact

    def _check_direct(self, read: RelationRead, fact: RelationFact) -> None:
        if _CATALOGS.match(fact.schema_name):
            raise Refusal("catalog_closed", "the statement reads a catalog, which is closed: it names hidden objects")
        if fact.name in self._filter_tables:
            return  # the policy's own filters ask it, whatever it opens of it
        name = f"{fact.schema_name}.{fact.name}"
        table = self._catalog.table(name)
        if name not in self._query.tables:
            raise Refusal(
                "table_excluded", "the database reads another table than the statement names", ("schema.table",)
            )
        if table is None:
            raise Refusal("table_excluded", "the database reads a table that was not there when its schema was read")
        access = self._access.allow(table)
        if access.row_filters and not self._filtered(read, name):
            raise Refusal("table_excluded", f"the statement reads rows of {name} that the policy's filter hides")
        for number in read.columns:
            self._check_column(number, read, fact, access)

    def _filtered(self, read: RelationRead, name: str) -> bool:
        return bool(read.condition) and read.condition == self._conditions.get(name)

    def _check_column(self, number: int, read: RelationRead, fact: RelationFact, access: TableAccess) -> None:
        name = f"{fact.schema_name}.{fact.name}"
        if number < WHOLE_ROW:
            raise Refusal(
                "column_excluded", f"the statement reads a column of {name} that the database keeps for itself"
            )
        if number == WHOLE_ROW:
            if access.hidden or access.masks:
                raise Refusal("column_excluded", f"the statement reads whole rows of {name}: name columns instead")
            return
        column = fact.columns.get(number)
        if column is None:
            raise Refusal("not_understood", f"the database reads a column of {name} that it does not name")
        if column in access.visible.values() and column not in access.masks:
            return
        if column not in self._filter_columns or not self._filtered(read, name):
            raise Refusal("column_excluded", f"the statement reads a column of {name} that the policy hides")

    def _names_in_filters(self) -> tuple[frozenset[str], frozenset[str]]:
        """Names of the tables and columns that the policy's own filters of the statement's tables ask."""
        tables: set[str] = set()
        columns: set[str] = set()
        known = (self._catalog.table(name) for name in self._query.tables)
        for condition in (
            text for table in known if table is not None for text in self._access.allow(table).row_filters
        ):
            for node in sqlglot.parse_one(condition, read=self._catalog.dialect).find_all(exp.Table, exp.Column):
                key = self._access.rules.identifier_key(node.this)
                (tables if isinstance(node, exp.Table) else columns).add(key)
        return frozenset(tables), frozenset(columns)

    # ------------------------------------------------------------------ views

    def _check_view(self, number: int, seen: set[int]) -> None:
        """Judges what a view reads and runs, and the views beneath, unless the policy vouches for it."""
        fact = self._relation(number)
        if number in seen or not fact.view:
            return
        seen.add(number)
        name = f"{fact.schema_name}.{fact.name}"
        table = self._catalog.table(name)
        if table is not None and table.kind in VIEW_KINDS and self._access.vouched(table):
            return
        reading = self._understood.views.get(number)
        if reading is None:
            raise _view_refused(name, "cannot be looked into")
        if not reading.only_reads:
            raise _view_refused(name, "does more than read")
        for read in reading.relations:
            self._check_beneath(name, read)
            self._check_view(read.relation, seen)
        try:
            self._check_runs(reading)
        except Refusal as refusal:
            raise _view_refused(name, f"runs what a statement must not: {refusal.message}") from None
        if any(self._runs_check(kind) for kind, _ in reading.made):
            raise _view_refused(name, "makes values of a type whose check runs what a statement must not")

    def _check_beneath(self, view: str, read: RelationRead) -> None:
        fact = self._relation(read.relation)
        if _CATALOGS.match(fact.schema_name):
            raise _view_refused(view, "reads a catalog, which is closed")
        table = self._catalog.table(f"{fact.schema_name}.{fact.name}")
        if table is None:
            if self._access.may_hide(fact.schema_name, fact.name):
                raise _view_refused(view, f"reads {fact.name}, of which the policy hides something")
            return
        hidden = self._access.hidden_columns(table)
        columns = {fact.columns.get(number, "") for number in read.columns}
        if hidden is None or hidden & columns or (hidden and WHOLE_ROW in read.columns):
            raise _view_refused(view, f"reads what the policy hides of {table.qualified_name}")

    # ------------------------------------------------------------------ functions

    def _check_runs(self, reading: Reading) -> None:
        """Judges the functions of a reading: those called, those of its operators, and those of its types."""
        numbers = {*reading.functions}
        for operator in reading.operators:
            if operator not in self._understood.operators:
                raise Refusal("not_understood", "the database computes with an operator that it does not name")
            numbers.update(self._understood.operators[operator])
        types = self._with_members({*reading.seen, *(kind for kind, _ in reading.made)})
        for kind in types:
            fact = self._understood.types.get(kind)
            numbers.update(fact.functions if fact is not None else ())
        for number in sorted(numbers - {0}):
            self._check_function(number)

    def _check_function(self, number: int) -> None:
        fact = self._understood.functions.get(number)
        if fact is None:
            raise Refusal("not_understood", "the database runs a function that it does not name")
        # Positions in the database's log: their comparisons only begin with the letters of the closed functions.
        if not (fact.schema_name == _SYSTEM and fact.name.startswith("pg_lsn_")):
            self._functions.check_called(fact.name)

    # ------------------------------------------------------------------ types

    def _with_members(self, numbers: Iterable[int]) -> set[int]:
        """The types and all that they are made of."""
        found: set[int] = set()
        waiting = list(numbers)
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                fact = self._understood.types.get(number)
                waiting += fact.members if fact is not None else ()
        return found

    def _check_made(self, kind: int, function: int, column_types: set[int]) -> None:
        """Judges a type of which the statement makes a value, other than by reading a column."""
        if function:
            maker = self._understood.functions.get(function)
            # The guard has its result written as a text.
            if maker is not None and (maker.schema_name, maker.name) == (_SYSTEM, "pg_typeof"):
                return
        for member in self._with_members((kind,)):
            fact = self._understood.types.get(member)
            if fact is None:
                raise Refusal("not_understood", "the database makes a value of a type that it does not name")
            self._check_type(fact, known=member in column_types)
        if self._runs_check(kind):
            raise Refusal("function_not_allowed", CHECKED_TEXT, ("CAST(value AS text)",))

    def _check_type(self, fact: TypeFact, *, known: bool) -> None:
        system = fact.schema_name == _SYSTEM
        if (system and (fact.name in OBJECT_TYPES or fact.table is not None)) or (
            not system and _CATALOGS.match(fact.schema_name)
        ):
            raise Refusal(
                "catalog_closed",
                "a value of the statement takes a type that turns numbers and texts into names of objects",
                ("CAST(value AS text)",),
            )
        if fact.table is not None:
            self._check_row_type(fact.table)
        elif not (fact.builtin or fact.array or known or self._access.opens(fact.schema_name)):
            raise Refusal("schema_not_allowed", "a value of the statement takes a type of a schema that is not opened")

    def _check_row_type(self, of_table: tuple[str, str]) -> None:
        """Judges a row type as the table is; the statement may not have named it, so neither does the refusal."""
        table = self._catalog.table(".".join(of_table))
        try:
            access = self._access.allow(table) if table is not None else None
            if table is not None:
                self._views.check(table)
        except Refusal:
            access = None
        if access is None:
            raise Refusal("table_excluded", "a value of the statement takes the row of a table that is not opened")
        if access.hidden or access.masks:
            raise Refusal(
                "column_excluded",
                "a value of the statement takes the row of a table of which the policy hides columns",
                ("name columns instead",),
            )

    def _runs_check(self, kind: int) -> bool:
        """Whether a value of the type is checked by what a statement must not run."""
        if kind not in self._checks:
            self._checks[kind] = False  # a check that makes values of its own type cannot be written
            self._checks[kind] = any(
                self._refuses(reading)
                for member in self._with_members((kind,))
                for reading in self._understood.checks.get(member, ())
            )
        return self._checks[kind]

    def _refuses(self, reading: Reading) -> bool:
        try:
            self._check_runs(reading)
        except Refusal:
            return True
        return bool(reading.relations) or any(self._runs_check(kind) for kind, _ in reading.made)


def _by_danger(facts: Iterable[FunctionFact]) -> list[FunctionFact]:
    """The most dangerous of the same name last."""
    return sorted(facts, key=lambda fact: ("immutable", "stable", "volatile").index(fact.volatility))


def _view_refused(view: str, reason: str) -> Refusal:
    return Refusal("table_excluded", f"the view {view} {reason}; the policy would have to name it under tables.include")
