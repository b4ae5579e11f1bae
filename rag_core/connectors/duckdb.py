"""DuckDB as a warehouse, in this process: read only and without access to other files."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from rag_core.connectors.adapter import Fetched, WarehouseAdapter
from rag_core.connectors.base import QueryCost
from rag_core.connectors.catalogs.duckdb import read_catalog
from rag_core.connectors.deadline import Deadline
from rag_core.connectors.gate import StatementLimits
from rag_core.connectors.rows import fetch_capped
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import GuardedSql, ResultColumn
from rag_core.errors import ConfigurationError, QueryFault, ServiceUnavailable

SNAPSHOT_SECONDS = 120.0
MESSAGE_LENGTH = 400
_ESTIMATE = re.compile(r"~([\d,]+) rows?")
_EDGES = frozenset({"-12-31T23:59:59", "-01-01T00:00:00"})
_CONFIGURATION = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_unsigned_extensions": "false",
}


class DuckDBWarehouse(WarehouseAdapter):
    """A DuckDB file that is only read.

    The file is opened in read-only mode and without access to other files, which cannot be switched on again; only a
    single SELECT is handed to it. Every statement runs on a cursor of its own, so several threads may ask at once.

    Args:
        path: the database file.
        timezone: session time zone.
        principal: not known to DuckDB, which has no roles: anything but None is refused.
        limits: how much is asked at a time.
    """

    def __init__(
        self, path: str, *, timezone: str = "UTC", principal: str | None = None, limits: StatementLimits | None = None
    ) -> None:
        self._check_principal(principal)
        super().__init__(timezone=timezone, principal=None, limits=limits)
        self._path = path
        self._connection: Any = None
        self._lock = threading.Lock()

    @property
    def dialect(self) -> str:
        """`duckdb`."""
        return "duckdb"

    # ------------------------------------------------------------------ inside

    def _check_principal(self, principal: str | None) -> None:
        if principal is not None:
            raise ConfigurationError("DuckDB has no roles, so that a question cannot be asked as another principal")

    def _read_catalog(self) -> Catalog:
        """Reads the schema from DuckDB's catalog functions."""
        with self._cursor(SNAPSHOT_SECONDS) as (cursor, _):
            return read_catalog(cursor)

    def _plan(self, query: GuardedSql) -> QueryCost:
        """Plans the statement, which runs nothing. DuckDB knows rows, no cost."""
        with self._cursor(query.limits.timeout_seconds) as (cursor, _):
            plan = cursor.execute("EXPLAIN " + _single(query.text)).fetchone()
        estimates = _ESTIMATE.findall(plan[1]) if plan else []
        return QueryCost(rows=float(estimates[0].replace(",", "")) if estimates else None)

    def _run(self, query: GuardedSql) -> Fetched:
        with self._cursor(query.limits.timeout_seconds) as (cursor, deadline):
            cursor.execute(_single(query.text))
            columns = tuple(ResultColumn(name=item[0], type=str(item[1])) for item in cursor.description)
            rows, truncated_by = fetch_capped(cursor.fetchmany, query.limits, before_fetch=deadline.check)
        if any(_is_infinite(cell) for row in rows for cell in row):
            raise QueryFault("data", "the result holds an infinite timestamp, which cannot be carried exactly")
        return Fetched(columns, rows, truncated_by)

    def _disconnect(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> Any:
        try:
            import duckdb  # noqa: PLC0415 - heavy
        except ModuleNotFoundError:
            raise ConfigurationError(
                "DuckDB's driver is not installed: pip install 'nightshift-analytics[duckdb]'"
            ) from None
        with self._lock:
            if self._connection is None:
                try:
                    self._connection = duckdb.connect(self._path, read_only=True, config=_CONFIGURATION)
                except duckdb.Error as error:
                    raise ServiceUnavailable(f"cannot open the DuckDB warehouse: {_first_line(error)}") from error
            return duckdb

    @contextmanager
    def _cursor(self, timeout_seconds: float) -> Iterator[tuple[Any, Deadline]]:
        """A cursor in a read-only transaction; errors become QueryFault."""
        duckdb = self._open()
        with self._lock:
            if self._connection is None:
                raise ServiceUnavailable("the DuckDB warehouse was closed")
            cursor = self._connection.cursor()
        deadline = Deadline(timeout_seconds, cursor.interrupt)
        try:
            with deadline:
                # Of this cursor only: the process has one instance of a file, whoever opened it.
                cursor.execute("SET TimeZone = '" + self._timezone.replace("'", "''") + "'")
                cursor.execute("BEGIN TRANSACTION READ ONLY")
                yield cursor, deadline
        except duckdb.InterruptException as error:
            raise deadline.fault() from error
        except duckdb.Error as error:
            raise QueryFault(_fault_code(duckdb, error), _first_line(error)) from error
        finally:
            # Closing a cursor rolls its transaction back.
            cursor.close()


def _is_infinite(cell: Any) -> bool:
    """DuckDB's driver hands infinite timestamps out as the last and the first that Python knows."""
    return isinstance(cell, datetime) and cell.year in (1, 9999) and cell.isoformat()[4:19] in _EDGES


def _single(text: str) -> str:
    """The text, if it is one query. DuckDB would run several; the guard lets only one pass, this makes sure."""
    import duckdb  # noqa: PLC0415 - heavy

    statements = duckdb.extract_statements(text)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise QueryFault("syntax", "exactly one SELECT statement can be run")
    return text


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:MESSAGE_LENGTH] if lines else type(error).__name__


def _fault_code(duckdb: Any, error: Exception) -> str:
    message = str(error)
    if isinstance(error, duckdb.ParserException | duckdb.SyntaxException):
        return "syntax"
    if isinstance(error, duckdb.CatalogException):
        return "unknown_table" if "Table" in message else "type"
    if isinstance(error, duckdb.BinderException):
        if "Ambiguous" in message:
            return "ambiguous_column"
        if "must appear in the GROUP BY" in message:
            return "syntax"
        return "unknown_column" if "not found" in message else "type"
    if isinstance(error, duckdb.PermissionException):
        return "permission"
    if isinstance(error, duckdb.OutOfMemoryException):
        return "too_large"
    if isinstance(error, duckdb.TransactionException | duckdb.IOException):
        return "transient"
    return "permission" if "read-only" in message else "data"
