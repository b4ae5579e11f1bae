"""The months of the facts: two batches may publish the first run of a month at once, with readers beside them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from threading import Barrier

import psycopg
import pytest
from psycopg_pool import ConnectionPool

from rag_core.reports.writer import prepare_partitions

pytestmark = pytest.mark.integration

FACTS = ("fact_answer", "fact_answer_cell", "fact_evidence", "fact_sql_execution", "fact_validation")


def _partitions(connection: psycopg.Connection, month: str) -> set[str]:
    rows = connection.execute(
        "SELECT parent.relname FROM pg_inherits AS link JOIN pg_class AS child ON child.oid = link.inhrelid"
        " JOIN pg_class AS parent ON parent.oid = link.inhparent"
        " WHERE child.relnamespace = 'reports'::regnamespace AND child.relkind = 'r' AND child.relname LIKE %s",
        (f"%\\_{month}",),
    ).fetchall()
    return {row[0] for row in rows}


def test_two_first_runs_of_a_month_do_not_deadlock(store: ConnectionPool, connection: psycopg.Connection) -> None:
    month = date(2031, 5, 1)
    both_have_read = Barrier(2, timeout=30)

    def first_run_of_a_month() -> None:
        with store.connection() as own:
            # As in publishing: the history is read first, and its lock is held until the end.
            own.execute("SELECT count(*) FROM reports.fact_answer")
            both_have_read.wait()
            prepare_partitions(own, month)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(first_run_of_a_month) for _ in range(2)]:
            done.result(timeout=60)
    assert _partitions(connection, "2031_05") == set(FACTS)


def test_a_new_month_does_not_wait_for_readers(store: ConnectionPool, connection: psycopg.Connection) -> None:
    with store.connection() as reader, store.connection() as writer:
        reader.execute("SELECT count(*) FROM reports.fact_answer, reports.fact_evidence")
        writer.execute("SET LOCAL lock_timeout = '2s'")
        prepare_partitions(writer, date(2031, 6, 15))
        writer.commit()
    assert _partitions(connection, "2031_06") == set(FACTS)


def test_a_month_has_the_keys_and_indexes_of_its_fact(store: ConnectionPool, connection: psycopg.Connection) -> None:
    with store.connection() as own:
        prepare_partitions(own, date(2031, 7, 31))
        prepare_partitions(own, date(2031, 7, 1))
    loose = connection.execute(
        "SELECT i.indexrelid::regclass::text FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid"
        " WHERE c.relnamespace = 'reports'::regnamespace AND c.relname LIKE '%\\_2031\\_07'"
        " AND NOT EXISTS (SELECT 1 FROM pg_inherits AS link WHERE link.inhrelid = i.indexrelid)"
    ).fetchall()
    without_key = connection.execute(
        "SELECT c.relname FROM pg_class AS c WHERE c.relnamespace = 'reports'::regnamespace"
        " AND c.relkind = 'r' AND c.relname LIKE '%\\_2031\\_07'"
        " AND NOT EXISTS (SELECT 1 FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisprimary)"
    ).fetchall()
    assert loose == []
    assert without_key == []
    assert _partitions(connection, "2031_07") == set(FACTS)
