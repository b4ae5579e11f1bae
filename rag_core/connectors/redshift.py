"""Amazon Redshift, over PostgreSQL's protocol, with what of it Redshift understands."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import psycopg

from rag_core.connectors.base import QueryCost
from rag_core.connectors.catalogs.redshift import read_catalog
from rag_core.connectors.gate import StatementLimits
from rag_core.connectors.postgres_wire import SNAPSHOT_SECONDS, TypeKey, WireWarehouse
from rag_core.connectors.sql_files import statement
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import GuardedSql
from rag_core.errors import ConfigurationError

_PLAN = re.compile(r"cost=[\d.]+\.\.(?P<cost>[\d.]+) rows=(?P<rows>\d+)")


class RedshiftWarehouse(WireWarehouse):
    """A Redshift database that is only read.

    Redshift has no roles to take on, no lock timeout and no EXPLAIN as JSON.
    """

    _set_up: ClassVar[str] = "catalog/redshift_set_transaction"

    def __init__(
        self, dsn: str, *, timezone: str = "UTC", principal: str | None = None, limits: StatementLimits | None = None
    ) -> None:
        self._check_principal(principal)
        super().__init__(dsn, timezone=timezone, limits=limits)

    @property
    def dialect(self) -> str:
        """`redshift`."""
        return "redshift"

    def _check_principal(self, principal: str | None) -> None:
        if principal is not None:
            raise ConfigurationError(
                "Redshift has no SET ROLE: give the principal's own credentials (NIGHTSHIFT_WAREHOUSE__PRINCIPALS)"
            )

    def _read_catalog(self) -> Catalog:
        """Reads the schema with queries that Redshift's catalog, a PostgreSQL 8.0 one, can answer."""
        with self.transaction(SNAPSHOT_SECONDS) as (connection, _):
            return read_catalog(connection)

    def _plan(self, query: GuardedSql) -> QueryCost:
        """Plans the statement; the first line of the plan holds cost and rows."""
        with self.transaction(query.limits.timeout_seconds) as (connection, _):
            row = connection.execute(b"EXPLAIN " + query.text.encode(), binary=True).fetchone()
        match = _PLAN.search(row[0]) if row else None
        if match is None:
            return QueryCost()
        return QueryCost(rows=float(match["rows"]), cost=float(match["cost"]))

    def _read_type_names(self, connection: psycopg.Connection, kinds: list[TypeKey]) -> list[str]:
        found = []
        for oid, modifier in kinds:
            row: Any = connection.execute(
                statement("catalog/redshift_format_type"), {"type_oid": oid, "modifier": modifier}
            ).fetchone()
            found.append(row[0])
        return found
