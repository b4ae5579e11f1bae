"""The schema is read once, again when it is too old, and on request."""

from __future__ import annotations

import threading

import pytest

from rag_core.connectors.memory import MemoryWarehouse
from rag_core.datamodel.catalog import Catalog
from rag_core.errors import ServiceUnavailable
from rag_core.schema.cache import CatalogCache
from rag_core.schema.fingerprint import fingerprint
from tests.warehouse_world import world


class Reading:
    """Counts how often the schema is read."""

    def __init__(self) -> None:
        self.count = 0
        self.tables = world().tables

    def __call__(self) -> Catalog:
        self.count += 1
        return world().model_copy(update={"tables": self.tables})


def test_a_snapshot_is_kept_for_its_time() -> None:
    reading, now = Reading(), [0.0]
    cache = CatalogCache(MemoryWarehouse(reading), ttl_seconds=60, clock=lambda: now[0])
    first = cache.current()
    now[0] = 59.0
    assert cache.current() is first
    assert reading.count == 1
    now[0] = 60.0
    assert cache.current() is not first
    assert reading.count == 2


def test_a_refresh_reads_at_once_and_changes_the_fingerprint() -> None:
    reading = Reading()
    cache = CatalogCache(MemoryWarehouse(reading))
    before = cache.fingerprint
    assert before == fingerprint(world())
    reading.tables = reading.tables[:2]
    assert cache.fingerprint == before
    assert len(cache.refresh().tables) == 2
    assert cache.fingerprint != before
    assert len(cache.current().tables) == 2


def test_threads_that_come_together_read_once() -> None:
    reading = Reading()
    cache = CatalogCache(MemoryWarehouse(reading))
    threads = [threading.Thread(target=cache.current) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert reading.count == 1


def test_a_failed_reading_leaves_the_last_one() -> None:
    reading = Reading()
    warehouse = MemoryWarehouse(reading)
    cache = CatalogCache(warehouse)
    kept = cache.current()

    def fail() -> Catalog:
        raise ServiceUnavailable("gone")

    warehouse._catalog = fail
    with pytest.raises(ServiceUnavailable):
        cache.refresh()
    assert cache.current() is kept
