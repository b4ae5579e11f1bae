"""How much one warehouse is asked: statements at a time, and statements a minute."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rag_core.datamodel.base import Record
from rag_core.errors import ServiceUnavailable

MINUTE_SECONDS = 60.0
WAIT_SECONDS = 120.0


class StatementLimits(Record):
    """What may be asked of a warehouse.

    `max_concurrent` statements run at once in one process, which is also the size of its pool of connections.
    `per_minute` statements begin within any 60 seconds, None for no bound; plans and catalog reads count like
    questions. Whether that bound is this process's or that of all is up to the gate's turns.
    """

    max_concurrent: int = 4
    per_minute: int | None = None


class Turns(Protocol):
    """Hands out turns at a rate. Safe to use from several threads."""

    def take(self) -> float:
        """Takes a turn: 0 where there was one, else the seconds until one may be free."""
        ...


class OwnTurns:
    """Turns of this process alone."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._lock = threading.Lock()
        self._begun: deque[float] = deque()

    def take(self) -> float:
        """Takes a turn: 0 where there was one, else the seconds until one is free."""
        with self._lock:
            now = self._clock()
            while self._begun and now - self._begun[0] >= MINUTE_SECONDS:
                self._begun.popleft()
            if len(self._begun) < self._per_minute:
                self._begun.append(now)
                return 0.0
            return self._begun[0] + MINUTE_SECONDS - now


class StatementGate:
    """Lets statements through under the limits; the rest wait their turn. Safe to use from several threads.

    Args:
        limits: what may run.
        wait_seconds: how long a statement waits before it is given up.
        clock: monotonic seconds.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        limits: StatementLimits,
        *,
        wait_seconds: float = WAIT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.limits = limits
        self._wait = wait_seconds
        self._clock = clock
        self._sleep = sleep
        self._slots = threading.BoundedSemaphore(limits.max_concurrent)
        # A warehouse that several processes ask is given shared turns in place of these.
        self.turns: Turns | None = OwnTurns(limits.per_minute, clock) if limits.per_minute is not None else None

    @contextmanager
    def statement(self, *, counted: bool = True) -> Iterator[None]:
        """Holds one of the places while a statement runs. Raises ServiceUnavailable where none became free in time.

        One that is only analysed is not `counted` among those of a minute: it is planned or run after that, or not.
        """
        ends = self._clock() + self._wait
        if not self._slots.acquire(timeout=self._wait):
            raise ServiceUnavailable(
                f"the warehouse was busy for {self._wait:g} seconds: {self.limits.max_concurrent} statements run at "
                "once (NIGHTSHIFT_WAREHOUSE__MAX_CONCURRENT_STATEMENTS)"
            )
        try:
            if counted:
                self._keep_rate(ends)
            yield
        finally:
            self._slots.release()

    def _keep_rate(self, ends: float) -> None:
        while self.turns is not None:
            pause = self.turns.take()
            if pause <= 0:
                return
            if self._clock() + pause > ends:
                raise ServiceUnavailable(
                    f"{self.limits.per_minute} statements a minute are allowed, and no turn comes within "
                    f"{self._wait:g} seconds (NIGHTSHIFT_WAREHOUSE__STATEMENTS_PER_MINUTE)"
                )
            self._sleep(pause)
