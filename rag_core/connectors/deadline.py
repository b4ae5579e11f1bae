"""The client's own clock over a query."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rag_core.errors import QueryFault

# The server's own timeout comes first; the client's deadline is for a server that does not keep it.
GRACE_SECONDS = 0.5


def timeout_message(seconds: float) -> str:
    """What is said of a statement that took too long."""
    return f"stopped after {seconds:g} seconds: narrow the time range or aggregate more"


class Deadline:
    """Cancels what runs once the time is over, also where the server's own timeout was switched off.

    Args:
        seconds: the time that the statement may take; the deadline is half a second later.
        cancel: stops what runs; called from another thread, at most once.
    """

    def __init__(self, seconds: float, cancel: Callable[[], object]) -> None:
        self._seconds = seconds
        self._cancel = cancel
        self._ends = time.monotonic() + seconds + GRACE_SECONDS
        self._lock = threading.Lock()
        self._active = False
        self._timer = threading.Timer(seconds + GRACE_SECONDS, self._stop)
        self._timer.daemon = True

    @property
    def passed(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self._ends

    def check(self) -> None:
        """Raises QueryFault where the time is over; a cursor that yields a row now and then outlives other timers."""
        if self.passed:
            raise self.fault()

    def fault(self) -> QueryFault:
        """The fault of a statement that took too long."""
        return QueryFault("timeout", timeout_message(self._seconds), sqlstate="57014")

    def _stop(self) -> None:
        # Under the lock, so that a query which has just ended never costs the next user of the connection its own.
        with self._lock:
            if self._active:
                self._cancel()

    def __enter__(self) -> Deadline:
        self._active = True
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._active = False
