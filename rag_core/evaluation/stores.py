"""A store for one measurement, empty and migrated."""

from __future__ import annotations

import psycopg
from psycopg import sql

from rag_core.connectors.embedded import EmbeddedPostgres
from rag_core.connectors.migrations import migrate
from rag_core.connectors.sql_files import template


def fresh_store(server: EmbeddedPostgres, name: str) -> str:
    """Makes the database anew and migrates it; its URL."""
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
        connection.execute(template("evaluation/drop_database").format(database=sql.Identifier(name)))
    server.ensure_database(name)
    dsn = server.dsn(name)
    migrate(dsn)
    return dsn
