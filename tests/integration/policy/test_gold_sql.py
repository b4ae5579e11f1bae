"""No honest query refused: gold SQL that others wrote, read in place, and run as the guard rewrites it."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from bench.schema.gold import described, statements
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.query import GuardedSql, Limits
from rag_core.errors import QueryFault
from rag_core.policy.rules import Policy
from rag_core.policy.sql_guard import SqlGuard

if TYPE_CHECKING:
    from rag_core.connectors.base import Warehouse
    from rag_core.connectors.embedded import EmbeddedPostgres

pytestmark = pytest.mark.integration


@pytest.mark.parametrize(("dialect", "at_least"), [("bigquery", 200), ("snowflake", 150)])
def test_gold_sql_of_other_dialects_is_allowed(shared_data: Path, dialect: str, at_least: int) -> None:
    folder = shared_data / "defog"
    found = statements(folder, dialect)
    assert len(found) >= at_least
    guards: dict[str, SqlGuard] = {}
    refused = []
    for database, sql in found:
        if database not in guards:
            catalog = described(folder, database, dialect)
            schemas = tuple(sorted({table.schema_name for table in catalog.tables}))
            guards[database] = SqlGuard(Policy(version=1, schemas=schemas), catalog)
        verdict = guards[database].check(sql)
        if not verdict.allowed:
            refused.append((verdict.message, sql))
    assert refused == []


@pytest.fixture(scope="module")
def loaded(pg_server: EmbeddedPostgres, shared_data: Path) -> dict[str, str]:
    """URLs of the six databases, loaded."""
    urls = {}
    for path in sorted((shared_data / "defog" / "db").glob("*.sql")):
        name = f"gold_{path.stem}"
        pg_server.ensure_database(name)
        urls[path.stem] = pg_server.dsn(name)
        with psycopg.connect(urls[path.stem], autocommit=True) as connection:
            connection.execute(path.read_bytes())
    return urls


def outcome(warehouse: Warehouse, query: GuardedSql) -> tuple[str, list[str], list[str]]:
    """What became of a statement: fault, column types, rows in no order."""
    try:
        result = warehouse.execute(query)
    except QueryFault as fault:
        return fault.code, [], []
    return "", [column.type for column in result.columns], sorted(map(repr, result.rows))


def test_gold_sql_means_the_same_after_the_guard(loaded: dict[str, str], shared_data: Path) -> None:
    found = statements(shared_data / "defog", "postgres")
    assert len(found) >= 250
    refused, different = [], []
    for database, group in itertools.groupby(sorted(found), key=lambda pair: pair[0]):
        warehouse = open_warehouse(loaded[database])
        catalog = warehouse.snapshot()
        schemas = tuple(sorted({table.schema_name for table in catalog.tables}))
        policy = Policy(version=1, schemas=schemas, limits=Limits(max_rows=100_000))
        guard = SqlGuard(policy, catalog)
        for _, sql in group:
            verdict = guard.check(sql)
            if verdict.query is None:
                refused.append((database, verdict.message, sql))
                continue
            plain = verdict.query.model_copy(update={"text": sql.rstrip("; \n")})
            expected, got = outcome(warehouse, plain), outcome(warehouse, verdict.query)
            if expected != got:
                different.append((sql, verdict.query.text, expected, got))
        warehouse.close()
    assert refused == []
    assert different == []
