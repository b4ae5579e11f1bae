"""A store of its own for each test, and folders with documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ingestion.config import IngestionRules
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.store import Store
from tests.stores import MakeStore, dropped_stores

if TYPE_CHECKING:
    from rag_core.connectors.embedded import EmbeddedPostgres


@pytest.fixture(name="make_store")
def fixture_make_store(pg_server: EmbeddedPostgres, create_store: Callable[[str], str]) -> Iterator[MakeStore]:
    """Makes empty, migrated stores that are dropped after the test."""
    with dropped_stores(pg_server, create_store) as make:
        yield make


@pytest.fixture(name="store")
def fixture_store(make_store: MakeStore) -> Store:
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
