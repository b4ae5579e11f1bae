"""A last look at a statement where the database has no read-only transactions to fall back on."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from rag_core.errors import QueryFault

_WRITES = (exp.DML, exp.DDL, exp.Command, exp.Into, exp.Drop, exp.Alter, exp.TruncateTable, exp.Set, exp.Use)


def one_query(text: str, dialect: str) -> str:
    """The text, if it is one statement that only reads.

    The guard lets nothing else through. BigQuery and Snowflake would run whatever the login may, so that the adapter
    makes sure by itself, as a read-only transaction does elsewhere. Raises QueryFault.
    """
    try:
        parsed = [tree for tree in sqlglot.parse(text, read=dialect) if tree is not None]
    except SqlglotError as error:
        details = getattr(error, "errors", None) or [{}]
        reason = details[0].get("description") or "invalid syntax"
        raise QueryFault("syntax", f"the statement cannot be parsed: {reason.split(' but got ')[0]}") from None
    if len(parsed) != 1:
        raise QueryFault("syntax", "exactly one statement can be run")
    # A query is DML to sqlglot as well: SELECT's own class is asked for by name.
    for node in parsed[0].walk():
        if isinstance(node, _WRITES) and not isinstance(node, exp.Query):
            raise QueryFault("permission", f"only queries are run, no {node.key.upper()}")
    if not isinstance(parsed[0], exp.Query | exp.Values):
        raise QueryFault("permission", f"only queries are run, no {parsed[0].key.upper()}")
    return text
