"""What databases that speak PostgreSQL's protocol share: a pool, read-only transactions, limits that hold."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any, ClassVar, cast

import psycopg
from psycopg.pq.abc import PGresult
from psycopg_pool import ConnectionPool, PoolTimeout

from rag_core.connectors.adapter import Fetched, WarehouseAdapter
from rag_core.connectors.deadline import Deadline
from rag_core.connectors.gate import StatementLimits
from rag_core.connectors.postgres_understanding import KnownObjects
from rag_core.connectors.postgres_values import configure_values, query_fault
from rag_core.connectors.rows import Row, RowTooLarge, fetch_capped
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import connection_problem
from rag_core.datamodel.query import GuardedSql, Limits, ResultColumn, TruncatedBy
from rag_core.errors import ConfigurationError, ServiceUnavailable

WHAT = "warehouse (NIGHTSHIFT_WAREHOUSE__DSN)"
SNAPSHOT_SECONDS = 120.0
CONNECT_SECONDS = 10
TypeKey = tuple[int, int]
# How the failure begins that `postgres_bound_rows` makes of a row beyond the byte cap.
TOO_LARGE = "nightshift: a row of "


class WirePool:
    """A pool of connections to one server, opened when it is first needed.

    Args:
        dsn: libpq URL.
        size: connections at most.
    """

    def __init__(self, dsn: str, size: int) -> None:
        self._dsn = dsn
        self._size = size
        self._lock = threading.Lock()
        self._pool: ConnectionPool[psycopg.Connection] | None = None
        # Canonical names by oid and modifier: they are the server's, whoever asks.
        self.type_names: dict[TypeKey, str] = {}
        self.known_objects = KnownObjects()

    def open(self) -> ConnectionPool[psycopg.Connection]:
        """The pool. Raises ServiceUnavailable where the server cannot be reached."""
        with self._lock:
            if self._pool is None:
                # The pool would retry in the background; one plain attempt tells at once what is wrong.
                try:
                    psycopg.connect(self._dsn, **_connect_arguments()).close()
                except psycopg.OperationalError as error:
                    raise connection_problem(error, what=WHAT) from error
                self._pool = ConnectionPool(
                    self._dsn,
                    kwargs=_connect_arguments(),
                    min_size=0,
                    max_size=self._size,
                    timeout=60,
                    configure=_configure,
                    open=True,
                )
            return self._pool

    def close(self) -> None:
        """Closes every connection."""
        with self._lock:
            if self._pool is not None:
                self._pool.close()
                self._pool = None


class WireWarehouse(WarehouseAdapter):
    """A database that is only read.

    Every statement runs in its own READ ONLY transaction that is rolled back, so no setting outlives it. Safe to use
    from several threads.

    Args:
        dsn: libpq URL.
        timezone: session time zone of every transaction.
        principal: role whose grants and row policies decide (`SET LOCAL ROLE`); None keeps the login role.
        limits: how much is asked at a time; the pool has as many connections.
    """

    # File of the statement that sets a transaction up; its first column is the timeout that now holds.
    _set_up: ClassVar[str]

    def __init__(
        self, dsn: str, *, timezone: str = "UTC", principal: str | None = None, limits: StatementLimits | None = None
    ) -> None:
        super().__init__(timezone=timezone, principal=principal, limits=limits)
        self._pool = WirePool(dsn, self._gate.limits.max_concurrent)

    @contextmanager
    def transaction(self, timeout_seconds: float) -> Iterator[tuple[psycopg.Connection, Callable[[], None]]]:
        """A READ ONLY transaction that ends in a rollback; errors become QueryFault or ServiceUnavailable."""
        pool = self._pool.open()
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
            try:
                connection.execute(statement("catalog/postgres_set_role"), {"principal": self._principal})
            except (psycopg.errors.InvalidParameterValue, psycopg.errors.InsufficientPrivilege) as error:
                reason = _last_line(error)
                raise ConfigurationError(f"the {WHAT} cannot be asked as {self._principal}: {reason}") from error

    def _run(self, query: GuardedSql) -> Fetched:
        with self.transaction(query.limits.timeout_seconds) as (connection, check_deadline):
            return self._fetch(connection, query, check_deadline)

    def _fetch(self, connection: psycopg.Connection, query: GuardedSql, check: Callable[[], None]) -> Fetched:
        """Columns, rows up to the caps, and the cap that cut them.

        Rows are taken from the wire one by one, so that neither side collects what the caps then cut off; what is not
        wanted any more is cancelled. (A FETCH from a cursor would first be stored as a whole by the server.)
        """
        text = self._written(query)
        described = _described(connection, text)
        places = range(described.nfields)
        kinds = [(described.ftype(index), described.fmod(index)) for index in places]
        labels = [(described.fname(index) or b"").decode() for index in places]
        rows, truncated_by = _stream(connection, text, query.limits, check)
        # Cancelling ends the transaction; the names of types are asked for in the next one.
        connection.rollback()
        names = self._names_of_types(connection, kinds)
        columns = tuple(ResultColumn(name=label, type=names[kind]) for label, kind in zip(labels, kinds, strict=True))
        return Fetched(columns, rows, truncated_by)

    def _written(self, query: GuardedSql) -> bytes:
        """The statement as it is sent."""
        return query.text.encode()

    def _disconnect(self) -> None:
        self._pool.close()

    @abstractmethod
    def _read_type_names(self, connection: psycopg.Connection, kinds: list[TypeKey]) -> list[str]:
        """Canonical names of types, in order."""

    def _names_of_types(self, connection: psycopg.Connection, kinds: list[TypeKey]) -> dict[TypeKey, str]:
        """Canonical type names by oid and modifier; asked of the server once each."""
        known = self._pool.type_names
        unknown = sorted({kind for kind in kinds if kind not in known})
        if unknown:
            known.update(zip(unknown, self._read_type_names(connection, unknown), strict=True))
        return known


def _described(connection: psycopg.Connection, text: bytes) -> PGresult:
    """What the statement will send, also where it sends no row. Raises psycopg.Error where it is wrong."""
    for result in (connection.pgconn.prepare(b"", text), connection.pgconn.describe_prepared(b"")):
        if result.status != psycopg.pq.ExecStatus.COMMAND_OK:
            raise psycopg.errors.error_from_result(result)
    return result


def _stream(
    connection: psycopg.Connection, text: bytes, limits: Limits, check: Callable[[], None]
) -> tuple[tuple[Row, ...], TruncatedBy | None]:
    with connection.cursor() as cursor:
        stream = cast("Generator[Row]", cursor.stream(text))
        try:
            return fetch_capped(lambda size: _next_rows(stream, size), limits, before_fetch=check)
        finally:
            # What was not fetched is cancelled; without this it would all be sent.
            stream.close()


def _next_rows(stream: Generator[Row], size: int) -> Iterator[Row]:
    try:
        yield from islice(stream, size)
    except psycopg.errors.InvalidTextRepresentation as error:
        if TOO_LARGE not in str(error):
            raise
        raise RowTooLarge from error


def _connect_arguments() -> dict[str, Any]:
    # A pooler between us and the server may refuse start-up parameters and cannot keep prepared statements.
    return {
        "connect_timeout": CONNECT_SECONDS,
        "prepare_threshold": None,
        "client_encoding": "utf8",
        # Tells the database's owner whose queries these are.
        "application_name": "nightshift",
    }


def _configure(connection: psycopg.Connection) -> None:
    connection.read_only = True
    configure_values(connection)


def _last_line(error: psycopg.Error) -> str:
    lines = str(error).strip().splitlines()
    return lines[-1].strip() if lines else type(error).__name__
