"""The databases of the measurements, loaded into an embedded PostgreSQL of their own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from rag_core.connectors.base import Warehouse
from rag_core.connectors.embedded import EmbeddedPostgres
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import Limits
from rag_core.policy.rules import Policy


@contextmanager
def server() -> Iterator[EmbeddedPostgres]:
    """A PostgreSQL in a folder of its own that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="ns"))
    started = EmbeddedPostgres(folder)
    started.start()
    try:
        yield started
    finally:
        started.stop()
        shutil.rmtree(folder, ignore_errors=True)


def load_northwind(started: EmbeddedPostgres, shared: Path) -> Warehouse:
    """Northwind: 14 tables with declared keys."""
    started.ensure_database("northwind")
    with psycopg.connect(started.dsn("northwind"), autocommit=True) as connection:
        connection.execute((shared / "northwind" / "northwind.sql").read_bytes())
    return open_warehouse(started.dsn("northwind"))


def load_sample(started: EmbeddedPostgres) -> Warehouse:
    """The sample warehouse."""
    from sample.warehouse.load import load_warehouse

    started.ensure_database("sample")
    load_warehouse(started.dsn("sample"))
    return open_warehouse(started.dsn("sample"))


def load_defog(started: EmbeddedPostgres, shared: Path) -> dict[str, Warehouse]:
    """The six databases of defog's questions by name."""
    opened = {}
    for path in sorted((shared / "defog" / "db").glob("*.sql")):
        name = f"defog_{path.stem}"
        started.ensure_database(name)
        with psycopg.connect(started.dsn(name), autocommit=True) as connection:
            connection.execute(path.read_bytes())
        opened[path.stem] = open_warehouse(started.dsn(name))
    return opened


def open_policy(catalog: Catalog) -> Policy:
    """A policy that opens everything in a catalog."""
    schemas = tuple(sorted({table.schema_name for table in catalog.tables}))
    return Policy(version=1, schemas=schemas, limits=Limits(max_rows=100_000))


def without_foreign_keys(catalog: Catalog) -> Catalog:
    """The same catalog with every foreign key hidden."""
    return catalog.model_copy(
        update={"tables": tuple(table.model_copy(update={"foreign_keys": ()}) for table in catalog.tables)}
    )
