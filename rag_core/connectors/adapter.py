"""What every warehouse adapter does alike: waits its turn, times a statement, and stands for one principal."""

from __future__ import annotations

import copy
import time
from abc import ABC, abstractmethod
from typing import NamedTuple, Self

from rag_core.connectors.base import QueryCost
from rag_core.connectors.gate import StatementGate, StatementLimits, Turns
from rag_core.connectors.rows import Row
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import GuardedSql, QueryResult, ResultColumn, TruncatedBy


class Fetched(NamedTuple):
    """What a statement gave: columns, rows up to the caps, and the cap that cut them."""

    columns: tuple[ResultColumn, ...]
    rows: tuple[Row, ...]
    truncated_by: TruncatedBy | None


class WarehouseAdapter(ABC):
    """The common part of the adapters; a subclass knows one database.

    Args:
        timezone: session time zone of every statement.
        principal: role whose grants and row policies decide; None keeps the login's.
        limits: how much the warehouse is asked at a time.
    """

    def __init__(self, *, timezone: str, principal: str | None, limits: StatementLimits | None) -> None:
        self._timezone = timezone
        self._principal = principal
        self._gate = StatementGate(limits or StatementLimits())
        self._owns_connections = True

    @property
    @abstractmethod
    def dialect(self) -> str:
        """sqlglot's name of the SQL dialect."""

    @property
    def principal(self) -> str | None:
        """The role that statements run as; None for the login's own."""
        return self._principal

    def for_principal(self, principal: str | None) -> Self:
        """The same warehouse, asked as another role, over the same connections and under the same limits.

        Closing it closes nothing. Raises ConfigurationError where the database knows no roles to take on.
        """
        self._check_principal(principal)
        view = copy.copy(self)
        view._principal = principal
        view._owns_connections = False
        return view

    def share_turns(self, turns: Turns) -> None:
        """Lets statements wait for turns that others take too, for this warehouse and its views."""
        self._gate.turns = turns

    def snapshot(self) -> Catalog:
        """Reads the schema that the principal can use."""
        with self._gate.statement():
            return self._read_catalog()

    def explain(self, query: GuardedSql) -> QueryCost:
        """Lets the database plan the statement, which runs nothing."""
        with self._gate.statement():
            return self._plan(query)

    def execute(self, query: GuardedSql) -> QueryResult:
        """Runs the statement and fetches up to its limits; `seconds` are without the wait for a turn."""
        with self._gate.statement():
            started = time.monotonic()
            columns, rows, truncated_by = self._run(query)
            return QueryResult(
                columns=columns,
                rows=rows,
                truncated_by=truncated_by,
                own_limit=query.own_limit,
                row_limited=query.row_limited,
                seconds=round(time.monotonic() - started, 6),
            )

    def close(self) -> None:
        """Closes every connection; of a warehouse that stands for a principal only, nothing."""
        if self._owns_connections:
            self._disconnect()

    # ------------------------------------------------------------------ what a database does its own way

    @abstractmethod
    def _check_principal(self, principal: str | None) -> None:
        """Raises ConfigurationError where the database cannot take on the role."""

    @abstractmethod
    def _read_catalog(self) -> Catalog:
        """The schema."""

    @abstractmethod
    def _plan(self, query: GuardedSql) -> QueryCost:
        """What the planner expects."""

    @abstractmethod
    def _run(self, query: GuardedSql) -> Fetched:
        """Columns and rows up to the caps."""

    @abstractmethod
    def _disconnect(self) -> None:
        """Gives every connection back."""
