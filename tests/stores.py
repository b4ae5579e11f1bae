"""Stores of a test or a module of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

from rag_core.connectors.store import Store

if TYPE_CHECKING:
    from rag_core.connectors.embedded import EmbeddedPostgres

MakeStore = Callable[[], Store]
_NUMBERS = count(1)


@contextmanager
def dropped_stores(server: EmbeddedPostgres, create_store: Callable[[str], str]) -> Iterator[MakeStore]:
    """Gives what makes empty, migrated stores; all that it made are closed and dropped at the end."""
    made: list[tuple[str, Store]] = []

    def make() -> Store:
        name = f"store_{next(_NUMBERS)}"
        store = Store(create_store(name))
        made.append((name, store))
        return store

    yield make
    for name, store in made:
        store.close()
        with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
