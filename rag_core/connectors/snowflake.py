"""Snowflake as a warehouse. Its driver is imported when the warehouse is first used."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from sqlalchemy.engine import URL

from rag_core.connectors.adapter import Fetched, WarehouseAdapter
from rag_core.connectors.base import QueryCost
from rag_core.connectors.catalogs.snowflake import read_catalog
from rag_core.connectors.deadline import Deadline
from rag_core.connectors.gate import StatementLimits
from rag_core.connectors.one_query import one_query
from rag_core.connectors.rows import Row, fetch_capped
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import GuardedSql, ResultColumn
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


# Parameters of the URL that the driver wants as numbers.
_NUMBERS = frozenset({"port", "login_timeout", "network_timeout", "socket_timeout"})
# Where its logger tells of more than warnings, the driver writes the query's id too, or None, or the number once more.
_NUMBERS_IN_FRONT = re.compile(r"\A\d{6}(?: \(\w{5}\))?: (?:(?:[0-9a-f-]{36}|None|\d{1,6}): )?")
_SEMI_STRUCTURED = frozenset({"VARIANT", "OBJECT", "ARRAY", "MAP"})
FIRST_LOOK_SECONDS = 0.02
LAST_LOOK_SECONDS = 1.0


class SnowflakeSessions:
    """The sessions of one login, one a role; each may run several statements at once.

    Args:
        url: snowflake://user:password@account/database/schema?warehouse=W&role=R
        timezone: session time zone.
    """

    def __init__(self, url: URL, timezone: str) -> None:
        self._url = url
        self._timezone = timezone
        self._lock = threading.Lock()
        self._connections: dict[str | None, Any] = {}

    def open(self, principal: str | None) -> tuple[Any, Any]:
        """The driver and the session of a role. Raises ConfigurationError, ServiceUnavailable."""
        try:
            from snowflake import connector  # noqa: PLC0415 - heavy
        except ModuleNotFoundError:
            raise ConfigurationError(
                "Snowflake's driver is not installed: pip install 'nightshift-analytics[snowflake]'"
            ) from None
        with self._lock:
            if principal not in self._connections:
                try:
                    self._connections[principal] = connector.connect(**self._arguments(principal))
                except connector.errors.Error as error:
                    reason = _first_line(error)
                    raise ServiceUnavailable(f"cannot connect to the Snowflake warehouse: {reason}") from error
            return connector, self._connections[principal]

    def close(self) -> None:
        """Ends every session."""
        with self._lock:
            for connection in self._connections.values():
                connection.close()
            self._connections.clear()

    def _arguments(self, principal: str | None) -> dict[str, Any]:
        database, _, schema = (self._url.database or "").partition("/")
        query: dict[str, Any] = {
            key: int(value) if key in _NUMBERS and value.isdigit() else value
            for key, value in self._url.query.items()
            if isinstance(value, str)
        }
        if principal is not None:
            query["role"] = principal
        return {
            "account": self._url.host,
            "user": self._url.username,
            "password": str(self._url.password) if self._url.password is not None else None,
            "database": database or None,
            "schema": schema or None,
            "login_timeout": 30,
            "application": "nightshift",
            # Our sessions hold no statements that should outlive them; newer drivers ask for a decision.
            "enable_server_session_keep_alive_auto_detection": False,
            # The driver would ask the clouds' metadata services where it runs, only to report it.
            "platform_detection_timeout_seconds": 0.0,
            "session_parameters": {
                "TIMEZONE": self._timezone,
                "QUERY_TAG": "nightshift",
                "MULTI_STATEMENT_COUNT": 1,
                "CLIENT_TELEMETRY_ENABLED": False,
            },
            **query,
        }


class SnowflakeWarehouse(WarehouseAdapter):
    """A Snowflake database that is only read.

    Snowflake has no read-only transactions: the guard lets only queries through, the adapter looks once more, and the
    role should have no other rights. A request holds one statement (MULTI_STATEMENT_COUNT), carries the query tag
    `nightshift`, and is stopped by the server's own timeout and by the client's deadline. Statements are sent
    asynchronously, because only then does the driver know the id that a running statement is cancelled by.

    Args:
        url: snowflake://user:password@account/database/schema?warehouse=W&role=R
        timezone: session time zone.
        principal: role of the session in place of the URL's.
        limits: how much is asked at a time.
    """

    def __init__(
        self, url: URL, *, timezone: str = "UTC", principal: str | None = None, limits: StatementLimits | None = None
    ) -> None:
        super().__init__(timezone=timezone, principal=principal, limits=limits)
        self._sessions = SnowflakeSessions(url, timezone)

    @property
    def dialect(self) -> str:
        """`snowflake`."""
        return "snowflake"

    # ------------------------------------------------------------------ inside

    def _check_principal(self, principal: str | None) -> None:
        """Any role will do here: whether the user may take it on Snowflake decides."""

    def _read_catalog(self) -> Catalog:
        """Reads the schema of the URL's database."""
        with self._cursor(SNAPSHOT_SECONDS) as (_, cursor, _):
            return read_catalog(cursor)

    def _plan(self, query: GuardedSql) -> QueryCost:
        """Compiles the statement; the cost is the bytes that its partitions hold."""
        text = one_query(query.text, self.dialect)
        with self._cursor(query.limits.timeout_seconds) as (_, cursor, _):
            row = cursor.execute(
                "EXPLAIN USING JSON " + text, num_statements=1, _statement_params=_statement_timeout(query)
            ).fetchone()
        stats = json.loads(row[0]).get("GlobalStats", {}) if row else {}
        assigned = stats.get("bytesAssigned")
        return QueryCost(cost=float(assigned) if assigned is not None else None)

    def _run(self, query: GuardedSql) -> Fetched:
        text = one_query(query.text, self.dialect)
        with self._cursor(query.limits.timeout_seconds) as (connection, cursor, deadline):
            cursor.execute_async(text, num_statements=1, _statement_params=_statement_timeout(query))
            statement_id = cursor.sfqid
            pause = FIRST_LOOK_SECONDS
            while connection.is_still_running(connection.get_query_status_throw_if_error(statement_id)):
                if deadline.passed:
                    cursor.abort_query(statement_id)
                    raise deadline.fault()
                time.sleep(pause)
                pause = min(pause * 1.5, LAST_LOOK_SECONDS)
            cursor.query_result(statement_id)
            columns = tuple(ResultColumn(name=item.name, type=_type_name(item)) for item in cursor.description)
            rows, truncated_by = fetch_capped(cursor.fetchmany, query.limits, before_fetch=deadline.check)
        return Fetched(columns, _with_documents(columns, rows), truncated_by)

    def _disconnect(self) -> None:
        self._sessions.close()

    @contextmanager
    def _cursor(self, timeout_seconds: float) -> Iterator[tuple[Any, Any, Deadline]]:
        """The session, a cursor and its deadline; errors become QueryFault."""
        connector, connection = self._sessions.open(self._principal)
        cursor = connection.cursor()
        deadline = Deadline(timeout_seconds, lambda: cursor.sfqid and cursor.abort_query(cursor.sfqid))
        try:
            with deadline:
                yield connection, cursor, deadline
        except connector.errors.Error as error:
            if deadline.passed:
                raise deadline.fault() from error
            code = _BY_NUMBER.get(abs(error.errno or 0), "")
            if not code and isinstance(error, connector.errors.OperationalError):
                raise ServiceUnavailable(f"the Snowflake warehouse cannot be used: {_first_line(error)}") from error
            raise QueryFault(code or "other", _first_line(error), sqlstate=error.sqlstate) from error
        finally:
            cursor.close()


def _with_documents(columns: tuple[ResultColumn, ...], rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Semi-structured cells, which the driver hands out as JSON text, as values; their numbers stay exact."""
    places = [index for index, column in enumerate(columns) if column.type in _SEMI_STRUCTURED]
    if not places:
        return rows
    return tuple(tuple(_document(cell) if index in places else cell for index, cell in enumerate(row)) for row in rows)


def _document(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    try:
        return json.loads(cell, parse_float=Decimal)
    except ValueError:
        # Snowflake writes `undefined` in arrays with gaps, which is no JSON: the text is exact.
        return cell


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
    """The message without Snowflake's numbers and query id in front, on one line."""
    message = " ".join(str(getattr(error, "msg", None) or error).split())
    return _NUMBERS_IN_FRONT.sub("", message)[:MESSAGE_LENGTH]
