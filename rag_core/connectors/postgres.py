"""PostgreSQL as a warehouse: one read-only transaction a question, exact values, limits that hold."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import psycopg

from rag_core.connectors.base import QueryCost
from rag_core.connectors.catalogs.postgres import read_catalog
from rag_core.connectors.postgres_understanding import KnownObjects, understand
from rag_core.connectors.postgres_wire import SNAPSHOT_SECONDS, TypeKey, WireWarehouse
from rag_core.connectors.sql_files import statement
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import GuardedSql
from rag_core.datamodel.understanding import Understanding

_COMMENT = re.compile(r"\s*--[^\n]*")


class PostgresWarehouse(WireWarehouse):
    """A PostgreSQL database that is only read."""

    _set_up: ClassVar[str] = "catalog/postgres_set_transaction"

    @property
    def dialect(self) -> str:
        """`postgres`."""
        return "postgres"

    def _check_principal(self, principal: str | None) -> None:
        """Any role will do here: whether the login may take it on the server decides."""

    def _read_catalog(self) -> Catalog:
        """Reads the schema that the role can use in a handful of bulk queries of one transaction."""
        self._pool.known_objects = KnownObjects()
        with self.transaction(SNAPSHOT_SECONDS) as (connection, _):
            return read_catalog(connection, dialect=self.dialect)

    def schema_state(self) -> tuple[str, str]:
        """The database's name and a text that any change of the schema changes, without reading the schema.

        It also changes where the schema is written anew as it was, so that only an equal state says something.
        """
        with self._gate.statement(), self.transaction(SNAPSHOT_SECONDS) as (connection, _):
            row = connection.execute(statement("catalog/postgres_read_state")).fetchone()
        assert row is not None
        return str(row[0]), str(row[1])

    def understand(self, query: GuardedSql) -> Understanding:
        """What the server makes of the statement, which it analyses and does not run. Raises as `explain` does."""
        with self._gate.statement(counted=False), self.transaction(query.limits.timeout_seconds) as (connection, _):
            return understand(connection, query.text.encode(), self._pool.known_objects)

    def _plan(self, query: GuardedSql) -> QueryCost:
        """Plans the statement with plain EXPLAIN, which runs nothing."""
        with self.transaction(query.limits.timeout_seconds) as (connection, _):
            # binary=True sends the extended protocol, which takes one statement only, whatever the text holds.
            row = connection.execute(b"EXPLAIN (FORMAT JSON) " + query.text.encode(), binary=True).fetchone()
        plan = row[0][0]["Plan"] if row else {}
        return QueryCost(rows=_number(plan.get("Plan Rows")), cost=_number(plan.get("Total Cost")))

    def _written(self, query: GuardedSql) -> bytes:
        """The statement so that the server fails at a row beyond the byte cap instead of sending it."""
        text = _COMMENT.sub("", statement("catalog/postgres_bound_rows"))
        before, _, after = text.replace("{most_bytes}", str(query.limits.max_bytes)).partition("{guarded_statement}")
        return f"{before}(\n{query.text}\n){after}".encode()  # a comment may end it

    def _read_type_names(self, connection: psycopg.Connection, kinds: list[TypeKey]) -> list[str]:
        connection.execute(statement("catalog/postgres_clear_search_path"))
        names = connection.execute(
            statement("catalog/postgres_format_types"),
            {"type_oids": [oid for oid, _ in kinds], "modifiers": [modifier for _, modifier in kinds]},
        ).fetchall()
        return [name for (name,) in names]


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None
