"""Picks the warehouse adapter by the URL."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy.engine import URL

from rag_core.connectors.adapter import WarehouseAdapter
from rag_core.connectors.base import Warehouse
from rag_core.connectors.bigquery import BigQueryWarehouse
from rag_core.connectors.dsn import WAREHOUSE_BACKENDS, backend_of, libpq_dsn, masked_dsn, parse_dsn
from rag_core.connectors.duckdb import DuckDBWarehouse
from rag_core.connectors.gate import StatementLimits, Turns
from rag_core.connectors.postgres import PostgresWarehouse
from rag_core.connectors.redshift import RedshiftWarehouse
from rag_core.connectors.snowflake import SnowflakeWarehouse
from rag_core.errors import ConfigurationError

SETTING = "NIGHTSHIFT_WAREHOUSE__DSN"


def open_warehouse(
    dsn: str,
    *,
    timezone: str = "UTC",
    principal: str | None = None,
    limits: StatementLimits | None = None,
    turns: Callable[[str, int], Turns] | None = None,
) -> Warehouse:
    """The adapter for an SQLAlchemy URL; it connects when it is first used.

    Args:
        dsn: URL of postgresql, redshift, snowflake, bigquery or duckdb, with or without a driver's name.
        timezone: session time zone of every query.
        principal: database role to take on for every query; `Warehouse.for_principal` asks as another one.
        limits: statements at a time and statements a minute.
        turns: makes turns out of a warehouse's name (its URL without the login) and the statements a minute, where
            others ask it too; without it the rate is this process's own.

    Raises:
        ConfigurationError: not a URL, an unknown database, one that has no roles while a principal is given, or its
            driver is not installed.
    """
    url = parse_dsn(dsn, setting=SETTING)
    adapter = _open(url, timezone=timezone, principal=principal, limits=limits)
    if turns is not None and limits is not None and limits.per_minute is not None:
        adapter.share_turns(turns(_name(url), limits.per_minute))
    return adapter


def _name(url: URL) -> str:
    """The warehouse whoever logs in, without secrets."""
    bare = URL.create(backend_of(url), host=url.host, port=url.port, database=url.database, query=url.query)
    return masked_dsn(bare.render_as_string(hide_password=False))


def _open(url: URL, *, timezone: str, principal: str | None, limits: StatementLimits | None) -> WarehouseAdapter:
    backend = backend_of(url)
    if backend == "postgresql":
        return PostgresWarehouse(libpq_dsn(url), timezone=timezone, principal=principal, limits=limits)
    if backend == "redshift":
        return RedshiftWarehouse(libpq_dsn(url), timezone=timezone, principal=principal, limits=limits)
    if backend == "snowflake":
        return SnowflakeWarehouse(url, timezone=timezone, principal=principal, limits=limits)
    if backend == "bigquery":
        return BigQueryWarehouse(url, timezone=timezone, principal=principal, limits=limits)
    if backend == "duckdb":
        if not url.database or url.database == ":memory:":
            raise ConfigurationError(f"{SETTING} must name a DuckDB file, as in duckdb:///warehouse.duckdb")
        return DuckDBWarehouse(url.database, timezone=timezone, principal=principal, limits=limits)
    raise ConfigurationError(f"{SETTING} names the database {backend!r}; known are: {', '.join(WAREHOUSE_BACKENDS)}")
