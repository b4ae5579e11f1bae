"""The rate of statements holds over processes that share a store."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Iterator

import pytest

from rag_core.connectors.gate import StatementGate, StatementLimits
from rag_core.connectors.shared_turns import SharedTurns
from rag_core.connectors.store import Store
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.query import GuardedSql
from rag_core.errors import ServiceUnavailable

pytestmark = pytest.mark.integration

RATE = 5
WINDOW = 3.0
STATEMENTS = 6


@pytest.fixture
def store(store_dsn: str) -> Iterator[Store]:
    opened = Store(store_dsn)
    with opened.connection() as connection:
        connection.execute("TRUNCATE nightshift.warehouse_turn")
    yield opened
    opened.close()


def ask_in_a_process(dsn: str, begun: multiprocessing.Queue[float]) -> None:
    """Begins statements as fast as the shared turns let it, and tells when by the machine's clock."""
    own = Store(dsn)
    gate = StatementGate(StatementLimits(per_minute=RATE))
    gate.turns = SharedTurns(own, "one", RATE, window_seconds=WINDOW)
    for _ in range(STATEMENTS):
        with gate.statement():
            begun.put(time.time())
    own.close()


def test_two_processes_share_one_rate(store_dsn: str, store: Store) -> None:
    context = multiprocessing.get_context("spawn")
    begun: multiprocessing.Queue[float] = context.Queue()
    processes = [context.Process(target=ask_in_a_process, args=(store_dsn, begun)) for _ in range(2)]
    for process in processes:
        process.start()
    moments = sorted(begun.get(timeout=120) for _ in range(2 * STATEMENTS))
    for process in processes:
        process.join(timeout=60)
        assert process.exitcode == 0
    with store.connection() as connection:
        row = connection.execute("SELECT begun FROM nightshift.warehouse_turn WHERE warehouse = 'one'").fetchone()
    assert row is not None
    # Twelve statements at five a window take more than two windows, whoever asked; one process alone would need one.
    assert moments[-1] - moments[0] > WINDOW * 1.5
    assert len(row[0]) <= RATE


def test_no_window_holds_more_than_the_rate(store: Store) -> None:
    turns = SharedTurns(store, "many", 3, window_seconds=60)
    taken: list[float] = []
    threads = [threading.Thread(target=lambda: taken.append(turns.take())) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(taken) == 12
    assert sum(pause == 0 for pause in taken) == 3
    assert all(0 < pause <= 60 for pause in taken if pause)
    assert SharedTurns(store, "another", 3, window_seconds=60).take() == 0


def test_a_window_that_is_over_opens_again(store: Store) -> None:
    turns = SharedTurns(store, "short", 1, window_seconds=0.2)
    assert turns.take() == 0
    pause = turns.take()
    while pause > 0:
        time.sleep(pause)
        pause = turns.take()
    # A lower rate counts what began under the higher one.
    wide = SharedTurns(store, "narrowed", 3, window_seconds=60)
    assert [wide.take() for _ in range(3)] == [0, 0, 0]
    assert SharedTurns(store, "narrowed", 1, window_seconds=60).take() > 0


def test_two_logins_of_a_warehouse_share_its_turns(store: Store, sample_warehouse_dsn: str, reader_dsn: str) -> None:
    limits = StatementLimits(per_minute=2)
    opened = [
        open_warehouse(dsn, limits=limits, turns=lambda name, rate: SharedTurns(store, name, rate))
        for dsn in (sample_warehouse_dsn, reader_dsn)
    ]
    query = GuardedSql(text="SELECT 1 AS one", dialect="postgres")
    for warehouse in opened:
        warehouse._gate._wait = 0.2  # type: ignore[attr-defined]
        assert warehouse.execute(query).rows == ((1,),)
    for warehouse in opened:
        with pytest.raises(ServiceUnavailable, match="2 statements a minute"):
            warehouse.execute(query)
        warehouse.close()
    with store.connection() as connection:
        names = [name for (name,) in connection.execute("SELECT warehouse FROM nightshift.warehouse_turn").fetchall()]
    assert len(names) == 1
    assert "nightshift_reader" not in names[0]
