"""What databases that speak PostgreSQL's protocol share: a pool, read-only transactions, limits that hold."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from rag_core.connectors.deadline import Deadline
from rag_core.connectors.postgres_values import configure_values, query_fault
from rag_core.connectors.rows import Row
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import connection_problem
from rag_core.datamodel.query import GuardedSql, QueryResult, ResultColumn, TruncatedBy
from rag_core.errors import ServiceUnavailable

WHAT = "warehouse (NIGHTSHIFT_WAREHOUSE__DSN)"
SNAPSHOT_SECONDS = 120.0
CONNECT_SECONDS = 10
TypeKey = tuple[int, int]


class WireWarehouse(ABC):
    """A database that is only read.

    Every statement runs in its own READ ONLY transaction that is rolled back, so no setting outlives it. Safe to use
    from several threads; at most `max_connections` statements run at once, the rest wait.

    Args:
        dsn: libpq URL.
        timezone: session time zone of every transaction.
        principal: role whose grants and row policies decide (`SET LOCAL ROLE`); None keeps the login role.
        max_connections: size of the pool.
    """

    # File of the statement that sets a transaction up; its first column is the timeout that now holds.
    _set_up: ClassVar[str]

    def __init__(
        self, dsn: str, *, timezone: str = "UTC", principal: str | None = None, max_connections: int = 4
    ) -> None:
        self._dsn = dsn
        self._timezone = timezone
        self._principal = principal
        self._max_connections = max_connections
        self._pool: ConnectionPool[psycopg.Connection] | None = None
        self._pool_lock = threading.Lock()
        self._type_names: dict[tuple[int, int], str] = {}

    def execute(self, query: GuardedSql) -> QueryResult:
        """Runs the statement and fetches up to its limits."""
        started = time.monotonic()
        with self.transaction(query.limits.timeout_seconds) as (connection, check_deadline):
            columns, rows, truncated_by = self._fetch(connection, query, check_deadline)
        return QueryResult(
            columns=columns,
            rows=rows,
            truncated_by=truncated_by,
            own_limit=query.own_limit,
            seconds=round(time.monotonic() - started, 6),
        )

    def close(self) -> None:
        """Closes every connection."""
        with self._pool_lock:
            if self._pool is not None:
                self._pool.close()
                self._pool = None

    # ------------------------------------------------------------------ inside

    def _open_pool(self) -> ConnectionPool[psycopg.Connection]:
        with self._pool_lock:
            if self._pool is None:
                # The pool would retry in the background; one plain attempt tells at once what is wrong.
                try:
                    psycopg.connect(self._dsn, **self._connect_arguments()).close()
                except psycopg.OperationalError as error:
                    raise connection_problem(error, what=WHAT) from error
                self._pool = ConnectionPool(
                    self._dsn,
                    kwargs=self._connect_arguments(),
                    min_size=0,
                    max_size=self._max_connections,
                    timeout=60,
                    configure=self._configure,
                    open=True,
                )
            return self._pool

    def _connect_arguments(self) -> dict[str, Any]:
        # A pooler between us and the server may refuse start-up parameters and cannot keep prepared statements.
        return {
            "connect_timeout": CONNECT_SECONDS,
            "prepare_threshold": None,
            "client_encoding": "utf8",
            # Tells the database's owner whose queries these are.
            "application_name": "nightshift",
        }

    def _configure(self, connection: psycopg.Connection) -> None:
        connection.read_only = True
        configure_values(connection)

    @contextmanager
    def transaction(self, timeout_seconds: float) -> Iterator[tuple[psycopg.Connection, Callable[[], None]]]:
        """A READ ONLY transaction that ends in a rollback; errors become QueryFault or ServiceUnavailable."""
        pool = self._open_pool()
        try:
            with pool.connection() as connection:
                deadline = Deadline(timeout_seconds, partial(connection.cancel_safe, timeout=5.0))
                try:
                    with deadline:
                        self._prepare_transaction(connection, timeout_seconds)
                        yield connection, deadline.check
                except psycopg.Error as error:
                    if connection.broken:
                        raise ServiceUnavailable(f"the connection to the {WHAT} broke: {_last_line(error)}") from error
                    if deadline.passed:
                        raise deadline.fault() from error
                    raise query_fault(error, timeout_seconds) from error
                finally:
                    if not connection.closed:
                        connection.rollback()
        except PoolTimeout as error:
            raise ServiceUnavailable(f"no connection to the {WHAT} became free within 60 seconds") from error
        except psycopg.OperationalError as error:
            raise connection_problem(error, what=WHAT) from error

    def _prepare_transaction(self, connection: psycopg.Connection, timeout_seconds: float) -> None:
        timeout = str(max(1, round(timeout_seconds * 1000)))
        row = connection.execute(statement(self._set_up), {"timeout": timeout, "timezone": self._timezone}).fetchone()
        if row is None or row[0] in ("0", ""):
            raise ServiceUnavailable(f"the {WHAT} did not accept a statement timeout, so nothing was run on it")
        if self._principal is not None:
            connection.execute(statement("catalog/postgres_set_role"), {"principal": self._principal})

    @abstractmethod
    def _fetch(
        self, connection: psycopg.Connection, query: GuardedSql, check: Callable[[], None]
    ) -> tuple[tuple[ResultColumn, ...], tuple[Row, ...], TruncatedBy | None]:
        """Columns, rows up to the caps, and the cap that cut them."""

    @abstractmethod
    def _read_type_names(self, connection: psycopg.Connection, kinds: list[TypeKey]) -> list[str]:
        """Canonical names of types, each given by oid and modifier."""

    def _names_of_types(self, connection: psycopg.Connection, kinds: list[TypeKey]) -> dict[TypeKey, str]:
        """Canonical type names by oid and modifier; asked of the server once each."""
        unknown = sorted({kind for kind in kinds if kind not in self._type_names})
        if unknown:
            names = self._read_type_names(connection, unknown)
            self._type_names.update(zip(unknown, names, strict=True))
        return self._type_names


def _last_line(error: psycopg.Error) -> str:
    lines = str(error).strip().splitlines()
    return lines[-1].strip() if lines else type(error).__name__
