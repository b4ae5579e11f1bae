"""A warehouse that lets no statement run before what the database understands of it was judged."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol, TypeGuard, runtime_checkable

from rag_core.connectors.base import QueryCost, Warehouse
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import GuardedSql, QueryResult
from rag_core.datamodel.understanding import Understanding
from rag_core.errors import QueryFault
from rag_core.policy.refusal import Refusal
from rag_core.policy.sql_guard import SqlGuard

MOST_KEPT = 2_000


@runtime_checkable
class Understands(Protocol):
    """What a warehouse has besides that can tell how it understands a statement."""

    def understand(self, query: GuardedSql) -> Understanding:
        """The objects that the statement will touch; runs nothing. Raises as `Warehouse.explain` does."""
        ...

    def schema_state(self) -> tuple[str, str]:
        """The database's name, and a text that any change of the schema changes."""
        ...


class TellingWarehouse(Warehouse, Understands, Protocol):
    """A warehouse that tells how it understands a statement."""


def tells(warehouse: Warehouse) -> TypeGuard[TellingWarehouse]:
    """Whether a warehouse can tell. Redshift, over the same protocol, cannot, nor can those of other protocols."""
    return isinstance(warehouse, Understands)


class JudgedWarehouse:
    """A warehouse to which no statement comes whose meaning to the database was not judged.

    A judgement holds as long as the guard that made it, that is, as long as the schema it rests on.

    Args:
        warehouse: the database.
        guard: the guard over the schema as it is known now.
    """

    def __init__(self, warehouse: TellingWarehouse, guard: Callable[[], SqlGuard]) -> None:
        self._warehouse = warehouse
        self._guard = guard
        self._judged_by: SqlGuard | None = None
        self._judged: set[GuardedSql] = set()
        self._conditions: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def dialect(self) -> str:
        """The warehouse's dialect."""
        return self._warehouse.dialect

    def snapshot(self) -> Catalog:
        """The warehouse's schema."""
        return self._warehouse.snapshot()

    def schema_state(self) -> tuple[str, str]:
        """As `PostgresWarehouse.schema_state`."""
        return self._warehouse.schema_state()

    def explain(self, query: GuardedSql) -> QueryCost:
        """What the planner expects. Raises QueryFault with the guard's code where the statement is refused."""
        self._require(query)
        return self._warehouse.explain(query)

    def execute(self, query: GuardedSql) -> QueryResult:
        """Runs the statement. Raises QueryFault with the guard's code where it is refused."""
        self._require(query)
        return self._warehouse.execute(query)

    def for_principal(self, principal: str | None) -> JudgedWarehouse:
        """The same as another one sees it, under the same guard."""
        return JudgedWarehouse(self._warehouse.for_principal(principal), self._guard)

    def judged_by(self, guard: Callable[[], SqlGuard]) -> JudgedWarehouse:
        """The same under another guard: what one principal may read is not what another may."""
        return JudgedWarehouse(self._warehouse, guard)

    def close(self) -> None:
        """Closes the warehouse."""
        self._warehouse.close()

    def _require(self, query: GuardedSql) -> None:
        guard = self._guard()
        with self._lock:
            if self._judged_by is not guard or len(self._judged) >= MOST_KEPT:
                self._judged_by, self._judged, self._conditions = guard, set(), {}
            if query in self._judged:
                return
        try:
            conditions = {name: self._condition(guard, name) for name in query.tables}
            guard.check_understood(query, self._warehouse.understand(query), conditions)
        except Refusal as refusal:
            raise QueryFault(refusal.code, refusal.message, suggestions=refusal.suggestions) from None
        with self._lock:
            if self._judged_by is guard:
                self._judged.add(query)

    def _condition(self, guard: SqlGuard, table: str) -> str:
        """The policy's filter of a table's rows as the database understands it; empty where it has none."""
        kept = self._conditions.get(table) if self._judged_by is guard else None
        if kept is not None:
            return kept
        probe = guard.filter_probe(table)
        understood = self._warehouse.understand(probe) if probe is not None else None
        condition = understood.condition_of(table) if understood is not None else ""
        with self._lock:
            if self._judged_by is guard:
                self._conditions[table] = condition
        return condition


def judged(warehouse: Warehouse, guard: Callable[[], SqlGuard]) -> Warehouse:
    """The warehouse so that no statement runs before it was judged by `guard`, where the database can tell."""
    if isinstance(warehouse, JudgedWarehouse):
        return warehouse.judged_by(guard)
    return JudgedWarehouse(warehouse, guard) if tells(warehouse) else warehouse
