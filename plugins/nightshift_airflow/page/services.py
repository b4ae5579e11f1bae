"""The services of the api-server's process: opened with the first request that needs them, and kept."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from rag_core.connectors.store import Store
from rag_core.errors import ServiceUnavailable
from rag_core.wiring import Services, open_services

logger = logging.getLogger(__name__)

T = TypeVar("T")

# Questions, plans made anew and documents wait in one line: each may take all that this process can give.
MAX_WAITING = 8
# After this long, what may have changed outside is read again before the next question.
FRESH_SECONDS = 300.0
# Built from the outside world; the connections and the embedding model outlive them.
_CHANGING = (
    "catalog_cache",
    "policy",
    "semantic_model",
    "values",
    "search",
    "orchestrator",
    "batch_runner",
    "schema_gate",
)


class PageServices:
    """Services for many threads. Heavy libraries load with the first question or search, never with a page."""

    def __init__(self, opener: Callable[[], Services] = open_services) -> None:
        self._opener = opener
        self._services: Services | None = None
        self._opening = threading.RLock()
        self._building = threading.RLock()
        self._built_at = 0.0
        self._line = ThreadPoolExecutor(max_workers=1, thread_name_prefix="nightshift")
        self._waiting: dict[str, Future[object]] = {}
        atexit.register(self.close)

    @property
    def services(self) -> Services:
        """The services; what is light of them may be used by any thread."""
        with self._opening:
            if self._services is None:
                self._services = self._opener()
            return self._services

    @property
    def store(self) -> Store:
        """Connections to the store."""
        with self._opening:
            return self.services.store

    def build(self, pick: Callable[[Services], T]) -> T:
        """A part of the services that takes long to make, such as the orchestrator: made by one thread at a time.

        What it was made from is read again when it is older than five minutes.
        """
        services = self.services
        with self._building:
            if time.monotonic() - self._built_at > FRESH_SECONDS:
                for name in _CHANGING:
                    services.__dict__.pop(name, None)
                self._built_at = time.monotonic()
            return pick(services)

    def submit(self, name: str, work: Callable[[], object]) -> None:
        """Does the work after what waits already. The same name is not taken twice at once.

        Raises ServiceUnavailable where too much waits.
        """
        with self._opening:
            self._waiting = {key: future for key, future in self._waiting.items() if not future.done()}
            if name in self._waiting:
                return
            if len(self._waiting) >= MAX_WAITING:
                raise ServiceUnavailable(f"{MAX_WAITING} things are being worked on: try again in a minute")
            self._waiting[name] = self._line.submit(_logged, name, work)

    def is_waiting(self, name: str) -> bool:
        """Whether this is being worked on, or waits for it, in this process."""
        future = self._waiting.get(name)
        return future is not None and not future.done()

    def wait(self, work: Callable[[], T]) -> T:
        """Does the work in its turn and returns what it returns."""
        return self._line.submit(work).result()

    def close(self) -> None:
        """Gives back every connection."""
        self._line.shutdown(wait=False, cancel_futures=True)
        with self._opening:
            if self._services is not None:
                self._services.close()
                self._services = None


def _logged(name: str, work: Callable[[], object]) -> object:
    try:
        return work()
    except Exception:
        logger.exception("%s did not end well", name)
        raise
