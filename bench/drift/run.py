"""Seconds and memory of snapshot and diff at 10,000 tables: `python -m bench.drift.run [--postgres]`.

Each figure comes from a process of its own, so that one does not pay for another. With `--postgres` a real PostgreSQL
with that many tables is made in a temporary folder, which takes some minutes.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey, UniqueKey

TABLES = 10_000
COLUMNS = 20
CHANGED_TABLES = 200
BATCH = 500


def build_catalog(*, changed: bool) -> Catalog:
    """A catalog in memory; `changed` renames, drops, adds and widens columns in some tables, and renames ten tables."""
    return Catalog(
        dialect="postgres",
        database="bench",
        taken_at=datetime(2026, 7, 1, tzinfo=UTC),
        tables=tuple(_table(number, changed=changed and number < CHANGED_TABLES) for number in range(TABLES)),
    )


def _table(number: int, *, changed: bool) -> CatalogTable:
    columns = [
        CatalogColumn(
            name=f"column_{place}",
            type="numeric(12,2)" if place % 3 else "character varying(40)",
            nullable=place > 0,
            position=place + 1,
            comment=f"Meaning of column {place} of table {number}",
        )
        for place in range(COLUMNS)
    ]
    if changed:
        columns[3] = columns[3].model_copy(update={"name": f"renamed_{number}"})
        columns[4] = columns[4].model_copy(update={"type": "numeric(14,2)"})
        columns[5] = columns[5].model_copy(update={"name": "added", "position": COLUMNS + 1})
    return CatalogTable(
        schema_name=f"schema_{number % 20}",
        name=f"table_{number}" if not changed or number >= 10 else f"moved_{number}",
        columns=tuple(columns),
        keys=(UniqueKey(name=f"pk_{number}", columns=("column_0",), primary=True),),
        foreign_keys=(
            (ForeignKey(name="fk", columns=("column_1",), target="schema_19.table_9999", target_columns=("column_0",)),)
            if number % 2
            else ()
        ),
        object_id=100_000 + number,
    )


def diff_in_memory() -> dict[str, float]:
    """Two catalogs in memory, compared as a whole."""
    from rag_core.schema.diff import diff_catalogs
    from rag_core.schema.snapshots import describe

    before, after = build_catalog(changed=False), build_catalog(changed=True)
    started = time.perf_counter()
    changes = diff_catalogs(before, after)
    diffed = time.perf_counter()
    describe(after)
    described = time.perf_counter()
    return {"changes": len(changes), "diff_seconds": diffed - started, "fingerprint_seconds": described - diffed}


def check_on_postgres(home: str) -> dict[str, float]:
    """Baseline, unchanged and changed check against a real PostgreSQL."""
    import psycopg

    from rag_core.connectors.embedded import EmbeddedPostgres
    from rag_core.connectors.migrations import migrate
    from rag_core.connectors.store import Store
    from rag_core.connectors.warehouses import open_warehouse
    from rag_core.schema.drift import detect_drift

    server = EmbeddedPostgres(Path(home))
    server.start()
    figures: dict[str, float] = {}
    try:
        server.ensure_database("bench")
        server.ensure_database("store")
        migrate(server.dsn("store"))
        store, warehouse = Store(server.dsn("store")), open_warehouse(server.dsn("bench"))
        with psycopg.connect(server.dsn("bench"), autocommit=True) as connection:
            figures["create_seconds"] = _timed(lambda: _create(connection))
            for name, change in (
                ("baseline", ""),
                ("unchanged", ""),
                ("changed", "".join(f"ALTER TABLE t{n} RENAME c3 TO renamed_{n};" for n in range(CHANGED_TABLES))),
            ):
                if change:
                    connection.execute(change.encode())
                started = time.perf_counter()
                report = detect_drift(warehouse, store)
                figures[f"{name}_seconds"] = time.perf_counter() - started
                assert report.status == name, report.status
                figures[f"{name}_changes"] = len(report.changes)
                figures[f"{name}_mb"] = peak_megabytes()
            started = time.perf_counter()
            warehouse.snapshot()
            figures["snapshot_seconds"] = time.perf_counter() - started
        warehouse.close()
        store.close()
    finally:
        server.stop()
    return figures


def _create(connection: object) -> None:
    columns = ", ".join(f"c{place} numeric(12,2)" for place in range(COLUMNS))
    for start in range(0, TABLES, BATCH):
        text = "".join(f"CREATE TABLE t{number} ({columns});" for number in range(start, start + BATCH))
        connection.execute(text.encode())  # type: ignore[attr-defined]


def _timed(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def peak_megabytes() -> float:
    """Most memory that this process has held so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _child(name: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "bench.drift.run", name, *arguments], check=True)


def main() -> None:
    """Runs each measurement in a process of its own and prints its figures."""
    wanted = sys.argv[1:]
    if wanted[:1] == ["memory"]:
        figures = diff_in_memory()
    elif wanted[:1] == ["server"]:
        figures = check_on_postgres(wanted[1])
    else:
        _child("memory")
        if "--postgres" in wanted:
            with tempfile.TemporaryDirectory(prefix="ns") as home:
                _child("server", home)
        return
    figures["peak_mb"] = peak_megabytes()
    print(", ".join(f"{name} {value:.2f}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
