"""The databases of the conformance suite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core.connectors.base import Warehouse
from tests.contract.worlds import KINDS, World, build_world


@pytest.fixture(scope="module", params=KINDS)
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One database with the little shop in it; modules that use it run once a database."""
    yield from build_world(request.param, request, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def warehouse(world: World) -> Iterator[Warehouse]:
    """The adapter of that database."""
    opened = world.open()
    yield opened
    opened.close()
