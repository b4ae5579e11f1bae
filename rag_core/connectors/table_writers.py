"""Sessions that write tables of our own into a warehouse: one for each kind of database, each by its own driver.

Only the copy of the result tables uses them, with credentials of its own. Questions never come here: their connections
are read only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import psycopg
from sqlalchemy.engine import URL

from rag_core.connectors.base import TableWriter
from rag_core.connectors.bigquery import import_client, open_client
from rag_core.connectors.dsn import backend_of, libpq_dsn, parse_dsn
from rag_core.connectors.snowflake import SnowflakeSessions
from rag_core.errors import ConfigurationError, ServiceUnavailable

MESSAGE_LENGTH = 300


def open_table_writer(dsn: str, *, setting: str) -> TableWriter:
    """The writer for an SQLAlchemy URL of postgresql, redshift, snowflake, bigquery or duckdb; it connects at once.

    Raises ConfigurationError where the URL or the driver is missing, ServiceUnavailable where nobody answers.
    """
    url = parse_dsn(dsn, setting=setting)
    backend = backend_of(url)
    if backend == "bigquery":
        return BigQueryTableWriter(url, setting=setting)
    openers: dict[str, Callable[[URL], Any]] = {
        "postgresql": _open_postgres,
        "redshift": _open_postgres,
        "snowflake": _open_snowflake,
        "duckdb": _open_duckdb,
    }
    if backend not in openers:
        raise ConfigurationError(f"{setting} names the database {backend!r}; known are: bigquery, {', '.join(openers)}")
    with translated():
        connection = openers[backend](url)
    return DriverTableWriter("postgres" if backend == "postgresql" else backend, connection)


class DriverTableWriter:
    """A writer over a driver of Python's database API, each statement committed unless it stands in a transaction."""

    def __init__(self, dialect: str, connection: Any) -> None:
        self._dialect = dialect
        self._connection = connection

    @property
    def dialect(self) -> str:
        """Name of the dialect."""
        return self._dialect

    def run(self, statements: Sequence[str], *, atomic: bool = False) -> None:
        """Runs the statements in order; `atomic` ones all or none. Raises ServiceUnavailable."""
        with translated():
            cursor = self._connection.cursor()
            try:
                if atomic:
                    cursor.execute("BEGIN")
                for text in statements:
                    cursor.execute(text)
                if atomic:
                    cursor.execute("COMMIT")
            except Exception:
                if atomic:
                    # What cannot be rolled back is a session that is gone, and with it the transaction.
                    with suppress(Exception):
                        cursor.execute("ROLLBACK")
                raise
            finally:
                cursor.close()

    def close(self) -> None:
        """Ends the session."""
        self._connection.close()


class BigQueryTableWriter:
    """A writer over BigQuery's client: each statement is a job, a transaction is a script of several."""

    def __init__(self, url: URL, *, setting: str) -> None:
        if not url.host:
            raise ConfigurationError(f"{setting} must name a project, as in bigquery://project")
        bigquery = import_client()
        options = {key: value for key, value in url.query.items() if isinstance(value, str)}
        with translated():
            self._client = open_client(bigquery, url.host, options)

    @property
    def dialect(self) -> str:
        """`bigquery`."""
        return "bigquery"

    def run(self, statements: Sequence[str], *, atomic: bool = False) -> None:
        """Runs the statements in order; `atomic` ones all or none. Raises ServiceUnavailable."""
        scripts = ["; ".join(("BEGIN TRANSACTION", *statements, "COMMIT TRANSACTION")) + ";"] if atomic else statements
        with translated():
            for text in scripts:
                self._client.query(text).result()

    def close(self) -> None:
        """Ends the session."""
        self._client.close()


@contextmanager
def translated() -> Iterator[None]:
    """Errors of any driver as ServiceUnavailable with one line; our own pass."""
    try:
        yield
    except (ConfigurationError, ServiceUnavailable):
        raise
    except Exception as error:
        line = next((part for part in str(error).splitlines() if part.strip()), type(error).__name__)
        raise ServiceUnavailable(
            f"the result tables cannot be written to the warehouse: {line[:MESSAGE_LENGTH]}"
        ) from error


def _open_postgres(url: URL) -> Any:
    return psycopg.connect(libpq_dsn(url), autocommit=True, connect_timeout=15)


def _open_snowflake(url: URL) -> Any:
    _, connection = SnowflakeSessions(url, "UTC").open(None)
    return connection


def _open_duckdb(url: URL) -> Any:
    try:
        duckdb = import_module("duckdb")
    except ModuleNotFoundError:
        raise ConfigurationError(
            "DuckDB's driver is not installed: pip install 'nightshift-analytics[duckdb]'"
        ) from None
    connection = duckdb.connect(url.database)
    connection.execute("SET TimeZone = 'UTC'")
    return connection
