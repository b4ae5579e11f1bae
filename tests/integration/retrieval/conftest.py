"""An index that search is tried on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.stores import MakeStore, dropped_stores

if TYPE_CHECKING:
    from rag_core.connectors.embedded import EmbeddedPostgres


@pytest.fixture(name="make_store", scope="module")
def fixture_make_store(pg_server: EmbeddedPostgres, create_store: Callable[[str], str]) -> Iterator[MakeStore]:
    """Makes empty, migrated stores that are dropped after the module."""
    with dropped_stores(pg_server, create_store) as make:
        yield make
