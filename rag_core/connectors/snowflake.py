"""Snowflake as a warehouse. Its driver is imported when the warehouse is first used."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.engine import URL

from rag_core.connectors.base import QueryCost
from rag_core.connectors.catalogs.snowflake import read_catalog
from rag_core.connectors.deadline import Deadline
from rag_core.connectors.rows import fetch_capped
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import GuardedSql, QueryResult, ResultColumn
from rag_core.errors import ConfigurationError, QueryFault, ServiceUnavailable

SNAPSHOT_SECONDS = 300.0
MESSAGE_LENGTH = 400
# Error numbers of Snowflake's compiler and executor.
_BY_NUMBER = {
    1003: "syntax",
    1789: "syntax",
    2003: "unknown_table",
    2043: "unknown_table",
    904: "unknown_column",
    2028: "ambiguous_column",
    2004: "ambiguous_column",
    979: "syntax",
    1044: "type",
    1104: "syntax",
    2140: "type",
    2141: "type",
    3001: "permission",
    3540: "permission",
    604: "timeout",
    630: "timeout",
}


class SnowflakeWarehouse:
    """A Snowflake database, read by one statement at a time on each connection.

    Snowflake has no read-only transactions: the guard lets only queries through, and the role should have no other
    rights. A request holds one statement (MULTI_STATEMENT_COUNT), carries the query tag `nightshift`, and is stopped
    by the server's own timeout and by the client's deadline.

    Args:
        url: snowflake://user:password@account/database/schema?warehouse=W&role=R
        timezone: session time zone.
        principal: role of the session in place of the URL's.
    """

    def __init__(self, url: URL, *, timezone: str = "UTC", principal: str | None = None) -> None:
        self._url = url
        self._timezone = timezone
        self._principal = principal
        self._connection: Any = None
        self._lock = threading.Lock()

    @property
    def dialect(self) -> str:
        """`snowflake`."""
        return "snowflake"

    def snapshot(self) -> Catalog:
        """Reads the schema of the URL's database."""
        with self._cursor(SNAPSHOT_SECONDS) as (cursor, _):
            return read_catalog(cursor)

    def explain(self, query: GuardedSql) -> QueryCost:
        """Compiles the statement; the cost is the bytes that its partitions hold."""
        with self._cursor(query.limits.timeout_seconds) as (cursor, _):
            row = cursor.execute(
                "EXPLAIN USING JSON " + query.text, num_statements=1, _statement_params=_statement_timeout(query)
            ).fetchone()
        stats = json.loads(row[0]).get("GlobalStats", {}) if row else {}
        assigned = stats.get("bytesAssigned")
        return QueryCost(cost=float(assigned) if assigned is not None else None)

    def execute(self, query: GuardedSql) -> QueryResult:
        """Runs the statement and fetches up to its limits."""
        started = time.monotonic()
        with self._cursor(query.limits.timeout_seconds) as (cursor, deadline):
            cursor.execute(query.text, num_statements=1, _statement_params=_statement_timeout(query))
            columns = tuple(ResultColumn(name=item.name, type=_type_name(item)) for item in cursor.description)
            rows, truncated_by = fetch_capped(cursor.fetchmany, query.limits, before_fetch=deadline.check)
        return QueryResult(
            columns=columns,
            rows=rows,
            truncated_by=truncated_by,
            own_limit=query.own_limit,
            seconds=round(time.monotonic() - started, 6),
        )

    def close(self) -> None:
        """Ends the session."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    # ------------------------------------------------------------------ inside

    def _connect(self) -> Any:
        try:
            from snowflake import connector  # noqa: PLC0415 - heavy
        except ModuleNotFoundError:
            raise ConfigurationError(
                "Snowflake's driver is not installed: pip install 'nightshift-analytics[snowflake]'"
            ) from None
        with self._lock:
            if self._connection is None:
                try:
                    self._connection = connector.connect(**self._arguments())
                except connector.errors.Error as error:
                    reason = _first_line(error)
                    raise ServiceUnavailable(f"cannot connect to the Snowflake warehouse: {reason}") from error
            return connector

    def _arguments(self) -> dict[str, Any]:
        database, _, schema = (self._url.database or "").partition("/")
        query = {key: value for key, value in self._url.query.items() if isinstance(value, str)}
        if self._principal is not None:
            query["role"] = self._principal
        return {
            "account": self._url.host,
            "user": self._url.username,
            "password": str(self._url.password) if self._url.password is not None else None,
            "database": database or None,
            "schema": schema or None,
            "login_timeout": 30,
            "session_parameters": {
                "TIMEZONE": self._timezone,
                "QUERY_TAG": "nightshift",
                "MULTI_STATEMENT_COUNT": 1,
            },
            **query,
        }

    @contextmanager
    def _cursor(self, timeout_seconds: float) -> Iterator[tuple[Any, Deadline]]:
        """A cursor with a timeout of its own; errors become QueryFault."""
        connector = self._connect()
        cursor = self._connection.cursor()
        deadline = Deadline(timeout_seconds, lambda: cursor.sfqid and cursor.abort_query(cursor.sfqid))
        try:
            with deadline:
                yield cursor, deadline
        except connector.errors.Error as error:
            if deadline.passed:
                raise deadline.fault() from error
            code = _BY_NUMBER.get(abs(error.errno or 0), "")
            if not code and isinstance(error, connector.errors.OperationalError):
                raise ServiceUnavailable(f"the Snowflake warehouse cannot be used: {_first_line(error)}") from error
            raise QueryFault(code or "other", _first_line(error), sqlstate=error.sqlstate) from error
        finally:
            cursor.close()


def _statement_timeout(query: GuardedSql) -> dict[str, int]:
    """The timeout as a parameter of the statement, not of the session, which several threads share."""
    return {"STATEMENT_TIMEOUT_IN_SECONDS": max(1, round(query.limits.timeout_seconds))}


def _type_name(column: Any) -> str:
    from snowflake.connector.constants import FIELD_ID_TO_NAME  # noqa: PLC0415 - heavy

    name = str(FIELD_ID_TO_NAME[column.type_code])
    if name == "FIXED":
        return f"NUMBER({column.precision},{column.scale})"
    return {"REAL": "FLOAT"}.get(name, name)


def _first_line(error: Exception) -> str:
    """The message without Snowflake's query id in front, on one line."""
    message = " ".join(str(getattr(error, "msg", None) or error).split())
    return message[:MESSAGE_LENGTH]
