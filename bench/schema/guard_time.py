"""What the guard costs a statement beside EXPLAIN: `python -m bench.schema.guard_time --data FOLDER`.

Processor time of each gold statement of defog for PostgreSQL (all variants of its columns), each checked once with a
warm guard, and the same as a ratio to reading and writing the statement with the parser alone.
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
from bench.schema.gold import questions
from rag_core.policy.sql_guard import SqlGuard


def _seconds(work: Callable[[str], object], sql: str) -> float:
    started = time.process_time()
    work(sql)
    return time.process_time() - started


def _read_and_write(sql: str) -> str:
    return sqlglot.parse_one(sql, dialect="postgres").sql(dialect="postgres")


def main() -> None:
    """Prints median and p95 in milliseconds, and the median of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds defog")
    data = parser.parse_args().data
    guarded: list[float] = []
    ratios: list[float] = []
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
        for warehouse in warehouses.values():
            warehouse.close()
    p95 = sorted(guarded)[int(len(guarded) * 0.95)]
    print(f"{len(guarded)} statements, load {os.getloadavg()[0]:.1f}")
    print(f"guard: median {median(guarded) * 1000:.2f} ms, p95 {p95 * 1000:.2f} ms of processor time")
    print(f"median ratio to the parser's own reading and writing: {median(ratios):.2f}")


if __name__ == "__main__":
    main()
