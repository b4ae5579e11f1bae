"""Fixtures that every test may use. Services are real; each session has servers and databases of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

if TYPE_CHECKING:
    from rag_core.connectors.base import Embedder
    from rag_core.connectors.embedded import EmbeddedPostgres

ROOT = Path(__file__).resolve().parents[1]

# A developer's own settings must not reach the tests.
for name in [key for key in os.environ if key.startswith("NIGHTSHIFT_")]:
    if not name.startswith("NIGHTSHIFT_LLM__"):
        del os.environ[name]
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(scope="session")
def repo_root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data beside the checkout; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("NIGHTSHIFT_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the shared data folder is not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def pg_server() -> Iterator[EmbeddedPostgres]:
    """A PostgreSQL of this session, in a folder with a short path (unix sockets allow about 100 bytes)."""
    from rag_core.connectors.embedded import EmbeddedPostgres

    folder = Path(tempfile.mkdtemp(prefix="ns"))
    server = EmbeddedPostgres(folder)
    server.start()
    try:
        with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
            # It need not outlive the machine, so no commit of a test waits for the disk.
            for name in ("fsync", "synchronous_commit", "full_page_writes"):
                connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(name)))
            connection.execute("SELECT pg_reload_conf()")
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def create_store(pg_server: EmbeddedPostgres) -> Callable[[str], str]:
    """Creates an empty, migrated store under a new name and returns its URL.

    Each is a copy of one that was migrated once: the migrations themselves are what `tests/sql` runs from the first on.
    """
    from rag_core.connectors.migrations import migrate

    template = "store_template"
    pg_server.ensure_database(template)
    migrate(pg_server.dsn(template))

    def create(name: str) -> str:
        with psycopg.connect(pg_server.dsn("postgres"), autocommit=True) as connection:
            statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
            connection.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))
        return pg_server.dsn(name)

    return create


@pytest.fixture(scope="session")
def store_dsn(create_store: Callable[[str], str]) -> str:
    """A migrated store with the role for BI tools."""
    from rag_core.provision import ensure_bi_role

    dsn = create_store("nightshift_test")
    ensure_bi_role(dsn)
    return dsn


@pytest.fixture(scope="session")
def sample_warehouse_dsn(pg_server: EmbeddedPostgres) -> str:
    """The sample warehouse, loaded, as its owner."""
    from rag_core.provision import ensure_reader_role
    from sample.warehouse.load import load_warehouse

    pg_server.ensure_database("warehouse_test")
    dsn = pg_server.dsn("warehouse_test")
    load_warehouse(dsn)
    ensure_reader_role(dsn)
    return dsn


@pytest.fixture(scope="session")
def reader_dsn(pg_server: EmbeddedPostgres, sample_warehouse_dsn: str) -> str:
    """The sample warehouse as the role that may only read."""
    from rag_core.connectors.embedded import READER_ROLE

    assert sample_warehouse_dsn
    return pg_server.dsn("warehouse_test", READER_ROLE)


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    """The packaged embedding model."""
    from rag_core.connectors.embedder import load_embedder

    return load_embedder("packaged:all-minilm-l6-v2", batch_size=32)
