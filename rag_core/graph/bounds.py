"""The time that a question may take, also where it goes on in another process than it began in."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_renewed: ContextVar[float | None] = ContextVar("nightshift_deadline", default=None)


@contextmanager
def renewed_deadline(seconds: float) -> Iterator[None]:
    """Within the block a question has so many seconds, whatever its checkpoint says: another process's clock is none.

    Monotonic clocks begin anew with the machine, and the time between the two processes was nobody's.
    """
    token = _renewed.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _renewed.reset(token)


def is_late(deadline: float) -> bool:
    """Whether the time of a question is used up."""
    renewed = _renewed.get()
    return time.monotonic() > (deadline if renewed is None else renewed)
