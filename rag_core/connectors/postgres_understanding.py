"""Asks PostgreSQL what it understands of a statement, without running it, and what the objects are that it names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import psycopg
from psycopg.errors import Diagnostic

from rag_core.connectors.postgres_objects import reading_of
from rag_core.connectors.postgres_tree import Unreadable, parse_tree, unbroken
from rag_core.connectors.sql_files import statement
from rag_core.datamodel.understanding import (
    CHECKED_TEXT,
    FunctionFact,
    Reading,
    RelationFact,
    TypeFact,
    Understanding,
)
from rag_core.errors import QueryFault

_TREE = "parse tree:"
# Numbers below are of objects that came with the server, whose values it reads, writes and compares itself.
_FIRST_OWN = 16_384
# Views within views, and types within the checks of types; deeper ones are refused.
_DEEPEST = 60


class KnownObjects:
    """What is known of one database's functions, operators and types, until its schema is read again.

    It grows as statements name them. Tables and views are asked about each time.
    """

    def __init__(self) -> None:
        self.functions: dict[int, FunctionFact] = {}
        self.operators: dict[int, tuple[int, ...]] = {}
        self.types: dict[int, TypeFact] = {}
        self.checks: dict[int, tuple[Reading, ...]] = {}


def understand(connection: psycopg.Connection, text: bytes, known: KnownObjects) -> Understanding:
    """What the server understands of a statement, in the transaction at hand.

    The server analyses the statement (Parse of the extended protocol: one statement, nothing is run) and tells the
    analysed tree in a notice.

    Raises:
        psycopg.Error: the statement is wrong.
        QueryFault: the tree does not come or cannot be read, or the analysis ran a function of the database's own.
    """
    try:
        tree = parse_tree(unbroken(_told_tree(connection, text)))
        return _Findings(connection, known, reading_of(tree)).complete()
    except Unreadable as error:
        raise QueryFault("not_understood", f"what the database made of the statement cannot be read: {error}") from None


def _told_tree(connection: psycopg.Connection, text: bytes) -> str:
    told: list[str] = []

    def listen(notice: Diagnostic) -> None:
        if notice.message_primary == _TREE and notice.message_detail is not None:
            told.append(notice.message_detail)

    connection.execute(statement("catalog/postgres_tell_tree"))
    connection.add_notice_handler(listen)
    try:
        result = connection.pgconn.prepare(b"", text)
    finally:
        connection.remove_notice_handler(listen)
    if result.status != psycopg.pq.ExecStatus.COMMAND_OK:
        error = psycopg.errors.error_from_result(result)
        # Texts become values while the statement is analysed, and a type's checks may run with them: what they say
        # would tell what they read.
        if told or _ran_something(error.diag):
            raise QueryFault("function_not_allowed", CHECKED_TEXT)
        raise error
    connection.execute(statement("catalog/postgres_hush_tree"))
    if len(told) > 1:
        raise QueryFault("function_not_allowed", CHECKED_TEXT)
    if not told:
        raise QueryFault("not_understood", "the database did not tell what it made of the statement, so it is not run")
    return told[0]


def _ran_something(said: Diagnostic) -> bool:
    """Whether an error was raised within a function or by a domain, and not by what the statement itself says."""
    return bool(said.datatype_name) or not (said.context or "JSON data").startswith("JSON data")


class _Findings:
    """Resolves the objects of a statement, those of its views and checks, and so on until nothing is new."""

    def __init__(self, connection: psycopg.Connection, known: KnownObjects, read: Reading) -> None:
        self._connection = connection
        self._known = known
        self._statement = read
        self._views: dict[int, Reading] = {}
        self._checks: dict[int, tuple[Reading, ...]] = {}
        self._relations: dict[int, RelationFact] = {}
        self._functions: dict[int, FunctionFact] = {}
        self._operators: dict[int, tuple[int, ...]] = {}
        self._types: dict[int, TypeFact] = {}

    def complete(self) -> Understanding:
        """Everything. Raises Unreadable."""
        new = [self._statement]
        for _ in range(_DEEPEST):
            if not new:
                return Understanding(
                    statement=self._statement,
                    views=self._views,
                    checks=self._checks,
                    relations=self._relations,
                    functions=self._functions,
                    operators=self._operators,
                    types=self._types,
                )
            new = self._resolve(new)
        raise Unreadable("it goes too deep")

    def _resolve(self, readings: list[Reading]) -> list[Reading]:
        """Resolves the objects of readings; returns the readings of the views and checks among them."""
        new = self._resolve_relations(readings)
        made = {kind for reading in readings for kind, _ in reading.made}
        own = {kind for reading in readings for kind in reading.seen if kind >= _FIRST_OWN}
        before = set(self._types)
        new += self._resolve_types((made | own) - before)
        self._resolve_operators({number for reading in readings for number in reading.operators})
        called = {number for reading in readings for number in reading.functions}
        implied = {number for numbers in self._operators.values() for number in numbers}
        implied |= {number for kind in self._types.keys() - before for number in self._types[kind].functions}
        self._resolve_functions((called | implied) - {0})
        return new

    def _rows(self, name: str, numbers: Iterable[int], **more: Any) -> list[tuple[Any, ...]]:
        wanted = sorted(numbers)
        if not wanted:
            return []
        query = statement(f"catalog/postgres_resolve_{name}")
        return self._connection.execute(query, {"numbers": wanted, **more}).fetchall()

    def _resolve_relations(self, readings: list[Reading]) -> list[Reading]:
        reads = [read for reading in readings for read in reading.relations]
        columns: dict[int, set[int]] = {}
        for read in reads:
            columns.setdefault(read.relation, set()).update(read.columns)
        numbers = sorted(set().union(*columns.values())) if columns else []
        new = []
        for relation, schema, name, view, places, names, types, definition in self._rows(
            "relations", columns, columns=numbers
        ):
            before = self._relations.get(relation)
            self._relations[relation] = RelationFact(
                schema_name=schema,
                name=name,
                view=view,
                columns={**(before.columns if before else {}), **dict(zip(places, names, strict=True))},
                types=types,
            )
            if definition is not None and relation not in self._views:
                reading = reading_of(parse_tree(definition))
                # Before PostgreSQL 16 a view's definition names the view itself too.
                reading = reading.model_copy(
                    update={"relations": tuple(item for item in reading.relations if item.relation != relation)}
                )
                self._views[relation] = reading
                new.append(reading)
        return new

    def _resolve_types(self, numbers: set[int]) -> list[Reading]:
        known = self._known.types
        new: list[Reading] = []
        waiting = [number for number in numbers if number in known]
        while waiting:
            number = waiting.pop()
            if number not in self._types:
                self._types[number] = known[number]
                waiting += known[number].members
                if number in self._known.checks:
                    self._checks[number] = self._known.checks[number]
                    new += self._checks[number]
        for number, schema, name, builtin, array, members, table, functions, checks in self._rows(
            "types", numbers - known.keys()
        ):
            fact = TypeFact(
                schema_name=schema,
                name=name,
                builtin=builtin,
                array=array,
                members=members,
                table=tuple(table) if table is not None else None,
                functions=functions,
            )
            if checks:
                self._known.checks[number] = self._checks[number] = tuple(map(reading_of, map(parse_tree, checks)))
                new += self._checks[number]
            self._types[number] = known[number] = fact
        return new

    def _resolve_operators(self, numbers: set[int]) -> None:
        known = self._known.operators
        self._operators.update((number, known[number]) for number in numbers if number in known)
        for number, functions in self._rows("operators", numbers - self._operators.keys()):
            self._operators[number] = known[number] = tuple(functions)

    def _resolve_functions(self, numbers: set[int]) -> None:
        known = self._known.functions
        self._functions.update((number, known[number]) for number in numbers if number in known)
        for number, schema, name, volatility, own in self._rows("functions", numbers - self._functions.keys()):
            self._functions[number] = known[number] = FunctionFact(
                schema_name=schema, name=name, volatility=volatility, own=own
            )
