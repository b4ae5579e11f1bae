"""How many statements pass at a time and a minute, by a clock of the test's own."""

from __future__ import annotations

import threading

import pytest

from rag_core.connectors.gate import StatementGate, StatementLimits
from rag_core.errors import ServiceUnavailable


class Clock:
    """Seconds that pass only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def gate(clock: Clock, **limits: int) -> StatementGate:
    return StatementGate(StatementLimits(**limits), clock=clock, sleep=clock.sleep)


def test_statements_wait_until_the_oldest_is_a_minute_old() -> None:
    clock = Clock()
    rated = gate(clock, per_minute=3)
    for pause in (0, 10, 10):
        clock.now += pause
        with rated.statement():
            pass
    assert clock.slept == []
    with rated.statement():
        pass
    assert clock.slept == [40.0]
    with rated.statement():
        pass
    assert clock.slept == [40.0, 10.0]


def test_what_is_only_analysed_takes_no_turn() -> None:
    clock = Clock()
    rated = gate(clock, per_minute=1)
    for counted in (False, True, False):
        with rated.statement(counted=counted):
            pass
    assert clock.slept == []
    with rated.statement():
        pass
    assert clock.slept == [60.0]


def test_without_a_rate_nobody_waits() -> None:
    clock = Clock()
    free = gate(clock)
    for _ in range(1_000):
        with free.statement():
            pass
    assert clock.slept == []


def test_a_turn_that_does_not_come_in_time_is_told() -> None:
    clock = Clock()
    hurried = StatementGate(StatementLimits(per_minute=1), wait_seconds=5, clock=clock, sleep=clock.sleep)
    with hurried.statement():
        pass
    with pytest.raises(ServiceUnavailable, match="1 statements a minute are allowed"), hurried.statement():
        pass
    clock.now += 60
    with hurried.statement():
        pass


def test_only_so_many_run_at_once() -> None:
    narrow = StatementGate(StatementLimits(max_concurrent=2), wait_seconds=10)
    running, most = 0, 0
    lock = threading.Lock()
    together = threading.Barrier(2, timeout=10)

    def ask() -> None:
        nonlocal running, most
        with narrow.statement():
            with lock:
                running += 1
                most = max(most, running)
            together.wait()
            with lock:
                running -= 1

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert (running, most) == (0, 2)


def test_a_busy_warehouse_is_told_and_a_fault_gives_the_place_back() -> None:
    narrow = StatementGate(StatementLimits(max_concurrent=1), wait_seconds=0.01)
    with (
        narrow.statement(),
        pytest.raises(ServiceUnavailable, match="MAX_CONCURRENT_STATEMENTS"),
        narrow.statement(),
    ):
        pass
    with pytest.raises(KeyError), narrow.statement():
        raise KeyError
    with narrow.statement():
        pass
