"""A store of its own for each test, and folders with documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from ingestion.config import IngestionRules
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.migrations import migrate
from rag_core.connectors.store import Store

if TYPE_CHECKING:
    from rag_core.connectors.embedded import EmbeddedPostgres

_NUMBERS = count(1)


@pytest.fixture(name="make_store")
def fixture_make_store(pg_server: EmbeddedPostgres) -> Iterator[Callable[[], Store]]:
    """Makes empty, migrated stores that are dropped after the test."""
    made: list[tuple[str, Store]] = []

    def make() -> Store:
        name = f"ingestion_{next(_NUMBERS)}"
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


@pytest.fixture(name="store")
def fixture_store(make_store: Callable[[], Store]) -> Store:
    """One empty, migrated store."""
    return make_store()


@pytest.fixture(name="words")
def fixture_words() -> WordHashEmbedder:
    """An embedder without weights that counts its work."""
    return WordHashEmbedder()


@pytest.fixture(name="rules")
def fixture_rules() -> IngestionRules:
    """The rules as they are without a file."""
    return IngestionRules()


@pytest.fixture(name="folder")
def fixture_folder(tmp_path: Path) -> Path:
    """Three Markdown documents."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "disk.md").write_text(
        "---\ntitle: Disk full\nservice: api\ndate: 2026-01-02\n---\n\n# Disk full\n\nDelete old logs.\n\n"
        "## Escalation\n\nCall the platform team.\n",
        encoding="utf-8",
    )
    (folder / "leader.md").write_text("# No leader\n\nRestart the quorum of etcd.\n", encoding="utf-8")
    (folder / "market.md").write_text("# Market\n\nThe market grows by 5 percent.\n", encoding="utf-8")
    return folder
