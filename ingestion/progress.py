"""How far an ingest is, on standard error: a bar where a person looks, plain lines where it goes to a file."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

SECONDS_BETWEEN_LINES = 10.0


def remaining_seconds(done: int, total: int, seconds: float) -> float | None:
    """Seconds that the rest takes at the pace so far, None where nothing is done yet."""
    return seconds / done * max(total - done, 0) if done else None


def spoken_time(seconds: float) -> str:
    """Seconds in words, in the unit that fits."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3600:.1f} h"


class IngestProgress:
    """Tells done and total with an estimate of the rest. Use it as a context manager.

    Args:
        console: where it is told; a terminal gets a bar that vanishes, anything else a line now and then.
        clock: seconds that only grow; tests pass their own.
    """

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._started = self._told = clock()
        self._what = ""
        self._bar: Progress | None = None
        if console.is_terminal:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[note]}"),
                TimeRemainingColumn(),
            )
            self._bar = Progress(*columns, console=console, transient=True)
            self._task = self._bar.add_task("Looking for documents", total=None, note="")

    def __enter__(self) -> IngestProgress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, what: str, done: int, total: int, note: str) -> None:
        """Says how far it is. `what` names what is counted, such as documents; another one begins a new estimate."""
        now = self._clock()
        if what != self._what:
            self._what, self._started, self._told = what, now, now
            if self._bar is not None:
                self._bar.reset(self._task, description=what.capitalize(), total=total)
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, note=note)
        elif now - self._told >= SECONDS_BETWEEN_LINES:
            self._told = now
            left = remaining_seconds(done, total, now - self._started)
            rest = f", about {spoken_time(left)} left" if left is not None and done < total else ""
            self._console.print(f"{done} of {total} {what}, {note}{rest}", markup=False, highlight=False)
