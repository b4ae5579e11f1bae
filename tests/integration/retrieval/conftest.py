"""An index that search is tried on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from rag_core.connectors.migrations import migrate
from rag_core.connectors.store import Store

if TYPE_CHECKING:
    from rag_core.connectors.embedded import EmbeddedPostgres

_NUMBERS = count(1)


@pytest.fixture(name="make_store", scope="module")
def fixture_make_store(pg_server: EmbeddedPostgres) -> Iterator[Callable[[], Store]]:
    """Makes empty, migrated stores that are dropped after the module."""
    made: list[tuple[str, Store]] = []

    def make() -> Store:
        name = f"retrieval_{next(_NUMBERS)}"
        pg_server.ensure_database(name)
        migrate(pg_server.dsn(name))
        store = Store(pg_server.dsn(name))
        made.append((name, store))
        return store

    yield make
    for name, store in made:
        store.close()
        with psycopg.connect(pg_server.dsn("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
