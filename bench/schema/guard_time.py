"""What the guard costs a statement beside EXPLAIN: `python -m bench.schema.guard_time --data FOLDER`.

Processor time of each gold statement of defog for PostgreSQL (all variants of its columns), the least of five checks by
a warm guard (whatever else runs on the machine slows the others), and the same as a ratio to reading and writing the
statement with the parser alone; then those for Snowflake and BigQuery. Beside it the judgement on what PostgreSQL
understood of the statement: elapsed time, as the server works too, next to that of EXPLAIN, and our own processor time.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import sqlglot

from bench.schema.databases import load_defog, open_policy, server
from bench.schema.gold import described, questions, statements
from rag_core.policy.judged import tells
from rag_core.policy.sql_guard import SqlGuard


def _seconds(work: Callable[[str], object], sql: str) -> float:
    taken = []
    for _ in range(5):
        started = time.process_time()
        work(sql)
        taken.append(time.process_time() - started)
    return min(taken)


def _of_dialect(data: Path, dialect: str) -> list[float]:
    """The guard's time for each gold statement of a dialect, over the catalogs that the data describe."""
    guards: dict[str, SqlGuard] = {}
    taken = []
    for database, sql in statements(data / "defog", dialect):
        if database not in guards:
            catalog = described(data / "defog", database, dialect)
            guards[database] = SqlGuard(open_policy(catalog), catalog)
            guards[database].check("SELECT 1")
        taken.append(_seconds(guards[database].check, sql))
    return taken


def _told(what: str, seconds: list[float], kind: str) -> str:
    p95 = sorted(seconds)[int(len(seconds) * 0.95)]
    return f"{what}: median {median(seconds) * 1000:.2f} ms, p95 {p95 * 1000:.2f} ms {kind}"


def _read_and_write(sql: str) -> str:
    return sqlglot.parse_one(sql, dialect="postgres").sql(dialect="postgres")


def main() -> None:
    """Prints median and p95 in milliseconds, and the median of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds defog")
    data = parser.parse_args().data
    guarded: list[float] = []
    ratios: list[float] = []
    judged: list[float] = []
    judged_here: list[float] = []
    planned: list[float] = []
    with server() as started:
        warehouses = load_defog(started, data)
        catalogs = {name: warehouse.snapshot() for name, warehouse in warehouses.items()}
        guards = {name: SqlGuard(open_policy(catalog), catalog) for name, catalog in catalogs.items()}
        for guard in guards.values():
            guard.check("SELECT 1")
        for question in questions(data / "defog"):
            for sql in question.statements:
                plain = _seconds(_read_and_write, sql)
                guarded.append(_seconds(guards[question.database].check, sql))
                ratios.append(guarded[-1] / max(plain, 1e-6))
                guard, warehouse = guards[question.database], warehouses[question.database]
                query = guard.check(sql).query
                if query is None or not tells(warehouse):
                    parser.error(f"not allowed, or not a database that tells what it understood: {sql}")
                started_at, worked = time.perf_counter(), time.process_time()
                guard.check_understood(query, warehouse.understand(query))
                judged.append(time.perf_counter() - started_at)
                judged_here.append(time.process_time() - worked)
                started_at = time.perf_counter()
                warehouse.explain(query)
                planned.append(time.perf_counter() - started_at)
        for warehouse in warehouses.values():
            warehouse.close()
    print(f"{len(guarded)} statements, load {os.getloadavg()[0]:.1f}")
    print(_told("guard", guarded, "of processor time"))
    for dialect in ("snowflake", "bigquery"):
        print(_told(f"guard, {dialect}", _of_dialect(data, dialect), "of processor time"))
    print(_told("judgement on what the database understood", judged, "elapsed"))
    print(_told("of that our own work", judged_here, "of processor time"))
    print(_told("EXPLAIN", planned, "elapsed"))
    print(f"median ratio to the parser's own reading and writing: {median(ratios):.2f}")


if __name__ == "__main__":
    main()
