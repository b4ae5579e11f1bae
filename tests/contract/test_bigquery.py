"""BigQuery's adapter by its real client, against a local stand-in of the REST API."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from rag_core.connectors.base import Warehouse
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.query import GuardedSql, Limits
from rag_core.errors import ConfigurationError, QueryFault, ServiceUnavailable
from rag_core.policy.rules import Policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.workers.execution import run_guarded

pytest.importorskip("google.cloud.bigquery")

if TYPE_CHECKING:
    from tests.contract.bigquery_stand_in import StandIn

SCHEMA = """
CREATE SCHEMA shop;
CREATE SCHEMA meta;
CREATE TABLE shop.things (thingId BIGINT, price DECIMAL(12, 2), name VARCHAR, made DATE);
INSERT INTO shop.things VALUES (1, 10.50, 'a', '2026-01-31'), (2, NULL, 'b', NULL), (3, 7.25, 'c', NULL);
CREATE TABLE meta.TABLES AS SELECT 'shop' AS table_schema, 'things' AS table_name, 'BASE TABLE' AS table_type
UNION ALL SELECT 'shop', 'dear', 'VIEW';
CREATE TABLE meta.VIEWS AS SELECT 'shop' AS table_schema, 'dear' AS table_name,
'SELECT thingId FROM `acme.shop.things`' AS view_definition;
CREATE TABLE meta.COLUMNS AS SELECT * FROM (VALUES
('things', 'thingId', 'INT64', 'NO', 1, 'NULL', 'NEVER', 'NO'),
('things', 'price', 'NUMERIC(12, 2)', 'YES', 2, 'NULL', 'NEVER', 'NO'),
('things', 'name', 'STRING', 'YES', 3, 'NULL', 'NEVER', 'NO'),
('things', 'made', 'DATE', 'YES', 4, 'CURRENT_DATE()', 'NEVER', 'NO'),
('dear', 'thingId', 'INT64', 'YES', 1, 'NULL', 'NEVER', 'NO')
) AS c (table_name, column_name, data_type, is_nullable, ordinal_position, column_default, is_generated, is_hidden);
CREATE TABLE meta.COLUMN_FIELD_PATHS AS
SELECT 'things' AS table_name, 'price' AS field_path, 'In EUR.' AS description;
CREATE TABLE meta.KEY_COLUMN_USAGE AS
SELECT 'things' AS table_name, 'pk' AS constraint_name, 'thingId' AS column_name, 1 AS ordinal_position;
CREATE TABLE meta.TABLE_CONSTRAINTS AS SELECT 'pk' AS constraint_name, 'PRIMARY KEY' AS constraint_type;
CREATE TABLE meta.CONSTRAINT_COLUMN_USAGE AS SELECT 'pk' AS constraint_name, 'shop' AS table_schema,
'things' AS table_name, 'thingId' AS column_name;
CREATE TABLE meta.ROUTINES AS SELECT 'Mine' AS routine_name;
"""


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    from tests.contract.bigquery_stand_in import StandIn

    served = StandIn(SCHEMA)
    yield served
    served.close()


@pytest.fixture
def warehouse(stand_in: StandIn) -> Iterator[Warehouse]:
    opened = open_warehouse(f"bigquery://acme/shop?api_endpoint={stand_in.url}&maximum_bytes_billed=5000&location=EU")
    yield opened
    opened.close()


def guarded(sql: str, **limits: float) -> GuardedSql:
    return GuardedSql(text=sql, dialect="bigquery", limits=Limits.model_validate(limits))


def test_the_snapshot_tells_the_schema(warehouse: Warehouse) -> None:
    catalog = warehouse.snapshot()
    assert (catalog.dialect, catalog.database, catalog.search_path) == ("bigquery", "acme", ("shop",))
    assert catalog.user_functions == ("mine",)
    things, dear = catalog.table("shop.things"), catalog.table("shop.dear")
    assert things is not None
    assert dear is not None
    assert [(column.name, column.type, column.nullable, column.comment) for column in things.columns] == [
        ("thingId", "INT64", False, None),
        ("price", "NUMERIC(12, 2)", True, "In EUR."),
        ("name", "STRING", True, None),
        ("made", "DATE", True, None),
    ]
    assert [column.default for column in things.columns] == [None, None, None, "CURRENT_DATE()"]
    assert [(key.columns, key.primary) for key in things.keys] == [(("thingId",), True)]
    assert (dear.kind, dear.definition) == ("view", "SELECT thingId FROM `acme.shop.things`")


def test_values_limits_and_what_a_job_is_told(warehouse: Warehouse, stand_in: StandIn) -> None:
    sql = "SELECT thingId, price, name, made, 1.5 AS f, TRUE AS b FROM shop.things ORDER BY thingId"
    result = warehouse.execute(guarded(sql, max_rows=2, timeout_seconds=9))
    assert [(column.name, column.type) for column in result.columns][:4] == [
        ("thingId", "INT64"),
        ("price", "NUMERIC"),
        ("name", "STRING"),
        ("made", "DATE"),
    ]
    assert result.rows[0][:4] == (1, Decimal("10.50"), "a", date(2026, 1, 31))
    assert (result.row_count, result.truncated_by) == (2, "rows")
    configuration: dict[str, Any] = list(stand_in.jobs.values())[-1]["resource"]["configuration"]
    assert configuration["labels"] == {"app": "nightshift"}
    assert configuration["jobTimeoutMs"] in ("9000", 9000)
    assert configuration["query"]["maximumBytesBilled"] == "5000"
    assert configuration["query"]["useLegacySql"] is False
    assert configuration["query"]["connectionProperties"] == [{"key": "time_zone", "value": "UTC"}]


def test_the_cost_of_a_dry_run_is_its_bytes(warehouse: Warehouse) -> None:
    assert warehouse.explain(guarded("SELECT * FROM shop.things")).cost == 2048.0


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT nope FROM shop.things", "unknown_column"),
        ("SELECT 1 FROM shop.nope", "unknown_table"),
    ],
)
def test_faults_have_codes(warehouse: Warehouse, sql: str, code: str) -> None:
    for call in (warehouse.explain, warehouse.execute):
        with pytest.raises(QueryFault) as caught:
            call(guarded(sql))
        assert caught.value.code == code


def test_a_slow_job_is_cancelled(warehouse: Warehouse, stand_in: StandIn) -> None:
    stand_in.slow_seconds = 30
    started = time.monotonic()
    with pytest.raises(QueryFault) as caught:
        warehouse.execute(guarded("SELECT 1", timeout_seconds=1))
    assert caught.value.code == "timeout"
    assert time.monotonic() - started < 8
    assert stand_in.cancelled


def test_the_guard_and_the_adapter_work_together(warehouse: Warehouse) -> None:
    guard = SqlGuard(Policy(version=1, schemas=("shop",)), warehouse.snapshot())
    execution = run_guarded(guard, warehouse, "SELECT name, price FROM `acme.shop.things` WHERE THINGID = 3")
    assert execution.result is not None
    assert execution.result.rows == (("c", Decimal("7.25")),)
    assert execution.verdict.columns == ("shop.things.name", "shop.things.price", "shop.things.thingId")
    assert guard.check("SELECT * FROM shop.INFORMATION_SCHEMA.TABLES").code == "catalog_closed"
    assert not guard.check("SELECT * FROM EXTERNAL_QUERY('c', 'SELECT 1')").allowed
    assert not guard.check("SELECT Mine(1)").allowed


def test_what_is_missing_is_told() -> None:
    with pytest.raises(ConfigurationError, match="must name a project"):
        open_warehouse("bigquery://")
    with pytest.raises(ConfigurationError, match="maximum_bytes_billed"):
        open_warehouse("bigquery://acme/shop?maximum_bytes_billed=lots")
    with pytest.raises(ConfigurationError, match="SET ROLE"):
        open_warehouse("bigquery://acme/shop", principal="ann")
    with pytest.raises(ServiceUnavailable):
        open_warehouse("bigquery://acme/shop?credentials_path=nowhere.json").snapshot()
