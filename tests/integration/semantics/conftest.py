"""The sample warehouse in PostgreSQL and, table by table, in a DuckDB file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import psycopg
import pytest

from rag_core.connectors.base import Warehouse
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.catalog import CatalogTable
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.model import load_semantic_model

KEPT = re.compile(r"bigint|integer|smallint|numeric|date|boolean|timestamp|double|real", re.IGNORECASE)


@pytest.fixture(scope="module")
def model(repo_root: Path) -> SemanticModel:
    """The sample's semantic model."""
    return load_semantic_model(repo_root / "config" / "semantic_model.yaml")


@pytest.fixture(scope="module")
def warehouse(reader_dsn: str) -> Iterator[Warehouse]:
    """The sample in PostgreSQL."""
    found = open_warehouse(reader_dsn.replace("postgresql://", "postgresql+psycopg://", 1), timezone="UTC")
    yield found
    found.close()


@pytest.fixture(scope="session")
def duckdb_file(reader_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's rows in a DuckDB file, with the same schemas, types and keys."""
    folder = tmp_path_factory.mktemp("duckdb")
    source = open_warehouse(reader_dsn.replace("postgresql://", "postgresql+psycopg://", 1), timezone="UTC")
    tables = [table for table in source.snapshot().tables if table.readable]
    source.close()
    path = folder / "sample.duckdb"
    with psycopg.connect(reader_dsn, autocommit=True) as rows, duckdb.connect(str(path)) as target:
        rows.execute("SET TIME ZONE 'UTC'")
        target.execute("SET TimeZone = 'UTC'")
        for schema in sorted({table.schema_name for table in tables}):
            target.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
        for table in tables:
            _copy(table, rows, target, folder / "rows.csv")
    return path


@pytest.fixture(scope="module")
def duckdb_warehouse(duckdb_file: Path) -> Iterator[Warehouse]:
    """The sample in DuckDB."""
    found = open_warehouse(f"duckdb:///{duckdb_file}", timezone="UTC")
    yield found
    found.close()


def _copy(
    table: CatalogTable, rows: psycopg.Connection[tuple[object, ...]], target: duckdb.DuckDBPyConnection, file: Path
) -> None:
    columns = [column for column in table.columns if column.readable]
    typed = [f'"{column.name}" {column.type if KEPT.match(column.type) else "VARCHAR"}' for column in columns]
    key = next((key for key in table.keys if key.primary), None)
    if key is not None and set(key.columns) <= {column.name for column in columns}:
        typed.append("PRIMARY KEY (" + ", ".join(f'"{name}"' for name in key.columns) + ")")
    name = f'"{table.schema_name}"."{table.name}"'
    target.execute(f"CREATE TABLE {name} ({', '.join(typed)})")
    listed = ", ".join(f'"{column.name}"' for column in columns)
    statement = f"COPY (SELECT {listed} FROM {name}) TO STDOUT (FORMAT csv, HEADER, NULL '\\N')"
    with rows.cursor().copy(statement) as copied, file.open("wb") as written:  # type: ignore[arg-type]
        for block in copied:
            written.write(block)
    target.execute(f"COPY {name} FROM '{file}' (FORMAT csv, HEADER, NULLSTR '\\N', QUOTE '\"', ESCAPE '\"')")
