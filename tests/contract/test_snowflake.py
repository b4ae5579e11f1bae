"""Snowflake's adapter over fakesnow, which lacks SHOW KEYS of a database, EXPLAIN USING JSON and duplicate names."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest

from rag_core.connectors.base import Warehouse
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.query import GuardedSql, Limits
from rag_core.errors import QueryFault

fakesnow = pytest.importorskip("fakesnow")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def warehouse() -> Iterator[Warehouse]:
    with fakesnow.patch():
        import snowflake.connector

        connection = snowflake.connector.connect(database="DB1", schema="SHOP")
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE things (thing_id integer, price number(12,2), made timestamp_tz)")
        cursor.execute("INSERT INTO things VALUES (1, 10.50, NULL), (2, NULL, NULL), (3, 7.25, NULL)")
        opened = open_warehouse("snowflake://ann:secret@acme/DB1/SHOP?warehouse=W&role=READER")
        yield opened
        opened.close()


def guarded(sql: str, **limits: float) -> GuardedSql:
    return GuardedSql(text=sql, dialect="snowflake", limits=Limits.model_validate(limits))


def test_values_come_exact_with_their_types(warehouse: Warehouse) -> None:
    result = warehouse.execute(guarded("SELECT thing_id, price, 'x' AS a FROM things ORDER BY thing_id"))
    assert [column.name for column in result.columns] == ["THING_ID", "PRICE", "A"]
    assert result.columns[1].type == "NUMBER(12,2)"
    assert result.rows[0] == (1, Decimal("10.50"), "x")


def test_the_row_cap_holds(warehouse: Warehouse) -> None:
    result = warehouse.execute(guarded("SELECT thing_id FROM things", max_rows=2))
    assert (result.row_count, result.truncated_by) == (2, "rows")


@pytest.mark.parametrize(("sql", "code"), [("SELECT 1 FROM nope", "unknown_table"), ("SELECT FROM WHERE", "syntax")])
def test_faults_have_codes(warehouse: Warehouse, sql: str, code: str) -> None:
    with pytest.raises(QueryFault) as caught:
        warehouse.execute(guarded(sql))
    assert caught.value.code == code
    assert "\n" not in caught.value.message
