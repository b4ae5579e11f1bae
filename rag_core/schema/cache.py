"""The warehouse's schema, read once and kept for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rag_core.connectors.base import Warehouse
from rag_core.datamodel.catalog import Catalog
from rag_core.schema.fingerprint import fingerprint

DAY_SECONDS = 86_400.0


class CatalogCache:
    """Keeps the last snapshot of one warehouse. Safe to use from several threads: one of them reads, the rest wait.

    Args:
        warehouse: where the schema is read.
        ttl_seconds: age at which a snapshot is read anew.
        clock: monotonic seconds.
    """

    def __init__(
        self, warehouse: Warehouse, *, ttl_seconds: float = DAY_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._warehouse = warehouse
        self._ttl = ttl_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._catalog: Catalog | None = None
        self._fingerprint = ""
        self._read_at = 0.0

    def current(self) -> Catalog:
        """The schema, read where there is none yet or the last one is too old. Raises ServiceUnavailable."""
        with self._lock:
            if self._catalog is None or self._clock() - self._read_at >= self._ttl:
                return self._read()
            return self._catalog

    def refresh(self) -> Catalog:
        """Reads the schema anew, after drift or where a name was not found. Raises ServiceUnavailable."""
        with self._lock:
            return self._read()

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the current schema."""
        self.current()
        with self._lock:
            return self._fingerprint

    def _read(self) -> Catalog:
        catalog = self._warehouse.snapshot()
        self._catalog, self._fingerprint = catalog, fingerprint(catalog)
        self._read_at = self._clock()
        return catalog
