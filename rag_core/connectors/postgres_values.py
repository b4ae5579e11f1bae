"""Values and errors of PostgreSQL: loaders that lose nothing, SQLSTATE to fault codes."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import partial
from typing import Any

import psycopg
from psycopg.types.datetime import IntervalLoader
from psycopg.types.json import set_json_loads

from rag_core.connectors.deadline import timeout_message
from rag_core.errors import QueryFault

_BY_SQLSTATE = {
    "42601": "syntax",
    "42P01": "unknown_table",
    "3F000": "unknown_table",
    "42703": "unknown_column",
    "42702": "ambiguous_column",
    "42P09": "ambiguous_column",
    "42883": "type",
    "42804": "type",
    "42846": "type",
    "42P18": "type",
    "42704": "type",
    "42725": "type",
    "22P02": "type",
    "42501": "permission",
    "25006": "permission",
    "57014": "timeout",
    "55P03": "transient",
}
_BY_CLASS = {
    "08": "transient",
    "22": "data",
    "40": "transient",
    "42": "syntax",
    "53": "transient",
    "54": "too_large",
    "57": "transient",
}
MESSAGE_LENGTH = 400


class CalendarIntervalLoader(IntervalLoader):
    """Keeps intervals with months or years as PostgreSQL writes them: a month has no fixed number of days."""

    def load(self, data: bytes | bytearray | memoryview) -> Any:
        """A timedelta, or the text where the interval holds months or years."""
        text = bytes(data)
        if b"mon" in text or b"year" in text:
            return text.decode()
        return super().load(data)


def configure_values(connection: psycopg.Connection) -> None:
    """Sets the loaders of a connection: JSON numbers exact, calendar intervals as text."""
    set_json_loads(partial(json.loads, parse_float=Decimal), connection)
    connection.adapters.register_loader("interval", CalendarIntervalLoader)


def fault_code(sqlstate: str | None) -> str:
    """Our word for a SQLSTATE (PostgreSQL documentation, appendix A); `data` for a value the client cannot hold."""
    if sqlstate is None:
        return "data"
    return _BY_SQLSTATE.get(sqlstate) or _BY_CLASS.get(sqlstate[:2], "other")


def query_fault(error: psycopg.Error, timeout_seconds: float) -> QueryFault:
    """The fault for a database error. Hints are left out: they name columns that the policy may hide."""
    code = fault_code(error.sqlstate)
    if code == "timeout":
        message = timeout_message(timeout_seconds)
    else:
        message = (error.diag.message_primary or str(error).strip() or type(error).__name__).splitlines()[0]
    return QueryFault(code, message[:MESSAGE_LENGTH], sqlstate=error.sqlstate)
