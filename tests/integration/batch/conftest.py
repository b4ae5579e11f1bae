"""A runner over a real store, with an orchestrator that says what the test wants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest

from rag_core.batch.runner import BatchRunner
from rag_core.connectors.store import Store
from tests.integration.batch.scripted import ScriptedOrchestrator


@pytest.fixture
def store(store_dsn: str) -> Iterator[Store]:
    """The session's store; each test uses a batch name of its own."""
    opened = Store(store_dsn)
    yield opened
    opened.close()


@pytest.fixture
def connection(store_dsn: str) -> Iterator[psycopg.Connection]:
    """The owner's own look at the store."""
    with psycopg.connect(store_dsn, autocommit=True) as opened:
        yield opened


@pytest.fixture
def bi_connection(store_dsn: str) -> Iterator[psycopg.Connection]:
    """The store as a BI tool sees it."""
    with psycopg.connect(store_dsn.replace("postgres@", "nightshift_bi@"), autocommit=True) as opened:
        yield opened


MakeRunner = Callable[[ScriptedOrchestrator], BatchRunner]


@pytest.fixture
def make_runner(store: Store, tmp_path: Path) -> MakeRunner:
    """A runner over the store that writes its reports into the test's folder."""

    def make(orchestrator: ScriptedOrchestrator) -> BatchRunner:
        return BatchRunner(
            store=store, orchestrator=lambda _: cast(Any, orchestrator), reports_folder=tmp_path / "reports"
        )

    return make
