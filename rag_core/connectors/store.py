"""The store: a pool of connections to PostgreSQL with pgvector."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from rag_core.errors import ServiceUnavailable


def connection_problem(error: psycopg.OperationalError, *, what: str) -> ServiceUnavailable:
    """One clear line for a connection that failed; libpq's text names host and role, never the password."""
    # The first line says what happened; what follows are hints. Of several hosts the first one's line is told.
    lines = [line.strip().removeprefix("- ") for line in str(error).splitlines() if line.strip()]
    told = next((line for line in lines if not line.startswith("Multiple connection attempts")), "no reason given")
    return ServiceUnavailable(f"cannot connect to the {what}: {told.removeprefix('connection failed: ')}")


class Store:
    """Connections to the store, for several threads. Open it once a process and close it."""

    def __init__(self, dsn: str, *, max_connections: int = 8, wait_seconds: float = 30.0) -> None:
        self.dsn = dsn
        self._pool: ConnectionPool[psycopg.Connection] | None = None
        self._max_connections = max_connections
        self._wait_seconds = wait_seconds

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection]:
        """A connection in a transaction that is committed at the end of the block and rolled back on an error."""
        if self._pool is None:
            # The pool would retry in the background for half a minute; one plain attempt tells at once what is wrong.
            try:
                psycopg.connect(self.dsn, connect_timeout=10).close()
            except psycopg.OperationalError as error:
                raise connection_problem(error, what="store (NIGHTSHIFT_STORE__DSN)") from error
            self._pool = ConnectionPool(
                self.dsn,
                min_size=1,
                max_size=self._max_connections,
                open=True,
                timeout=self._wait_seconds,
                # A restarted server leaves dead connections behind; one is looked at before it is handed out.
                check=ConnectionPool.check_connection,
            )
        try:
            with self._pool.connection() as connection:
                yield connection
        except PoolTimeout as error:
            raise ServiceUnavailable(f"the store gave no connection within {self._wait_seconds:.0f} seconds") from error

    def close(self) -> None:
        """Closes every connection."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None
