"""Snowflake's adapter by its real driver, against a local stand-in of the service that the driver speaks to."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from rag_core.connectors.base import Warehouse
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.query import GuardedSql, Limits
from rag_core.errors import QueryFault, ServiceUnavailable
from rag_core.policy.rules import ColumnRules, Policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.workers.execution import run_guarded
from tests.contract.worlds import SLOW

pytest.importorskip("snowflake.connector", reason="needs the extra `snowflake`")

if TYPE_CHECKING:
    from tests.contract.snowflake_stand_in import SnowflakeStandIn


@pytest.fixture
def stand_in() -> Iterator[SnowflakeStandIn]:
    from tests.contract.snowflake_stand_in import SnowflakeStandIn

    served = SnowflakeStandIn()
    yield served
    served.close()


@pytest.fixture
def client(stand_in: SnowflakeStandIn) -> Iterator[Warehouse]:
    opened = open_warehouse(stand_in.dsn)
    yield opened
    opened.close()


def guarded(sql: str, **limits: float) -> GuardedSql:
    return GuardedSql(text=sql, dialect="snowflake", limits=Limits.model_validate(limits))


def test_the_catalog_queries_are_read_into_tables_and_keys(client: Warehouse) -> None:
    catalog = client.snapshot()
    assert (catalog.database, catalog.search_path, catalog.user_functions) == ("DB1", ("SHOP",), ("mine",))
    things, dear = catalog.table("SHOP.THINGS"), catalog.table("SHOP.DEAR")
    assert things is not None
    assert dear is not None
    assert [column.type for column in things.columns] == [
        "NUMBER(38,0)",
        "NUMBER(38,0)",
        "NUMBER(12,2)",
        "TEXT(10)",
        "TIMESTAMP_LTZ",
        "TEXT(16777216)",
    ]
    assert (things.row_estimate, things.columns[5].default, things.columns[0].comment) == (3, "'x'", None)
    assert (dear.kind, dear.definition) == ("view", "SELECT thing_id, price FROM shop.things WHERE price > 100")


def test_names_fold_to_upper_case(client: Warehouse) -> None:
    guard = SqlGuard(Policy(version=1, schemas=("SHOP",)), client.snapshot())
    assert guard.check("SELECT thing_id FROM things").tables == ("SHOP.THINGS",)
    assert guard.check('SELECT "thing_id" FROM things').code == "quoting"
    assert guard.check("SELECT Mixed FROM things").code == "unknown_column"
    assert guard.check('SELECT "Mixed Name" FROM Shop."THINGS"').columns == ("SHOP.THINGS.Mixed Name",)
    assert guard.check("SELECT * FROM information_schema.tables").code == "catalog_closed"


def test_variant_is_read_exactly(client: Warehouse) -> None:
    guard = SqlGuard(Policy(version=1, schemas=("SHOP",)), client.snapshot())
    execution = run_guarded(guard, client, "SELECT event_id, payload FROM events ORDER BY event_id")
    assert execution.result is not None
    assert [column.type for column in execution.result.columns] == ["NUMBER(38,0)", "VARIANT"]
    assert execution.result.rows == ((1, {"kind": "sale", "amount": Decimal("10.10"), "tags": ["a", "b"]}), (2, None))
    path = guard.check("SELECT e.payload:kind::string AS kind FROM events e WHERE e.payload:amount > 1")
    assert path.columns == ("SHOP.EVENTS.PAYLOAD",)
    hidden = Policy(version=1, schemas=("SHOP",), columns=ColumnRules(exclude=("shop.events.payload",)))
    refused = SqlGuard(hidden, client.snapshot()).check("SELECT payload:kind FROM events")
    assert refused.code == "column_excluded"


def test_every_statement_carries_its_tag_and_its_limits(client: Warehouse, stand_in: SnowflakeStandIn) -> None:
    client.execute(guarded("SELECT 1 AS one", timeout_seconds=7))
    sent = stand_in.parameters[-1]
    assert (sent["QUERY_TAG"], sent["STATEMENT_TIMEOUT_IN_SECONDS"], sent["MULTI_STATEMENT_COUNT"]) == (
        "nightshift",
        7,
        1,
    )
    assert (sent["TIMEZONE"], sent["ROLE"]) == ("UTC", "READER")


def test_a_statement_that_outlives_its_deadline_is_cancelled_by_its_id(
    client: Warehouse, stand_in: SnowflakeStandIn
) -> None:
    with pytest.raises(QueryFault) as caught:
        client.execute(guarded(SLOW, timeout_seconds=1))
    assert (caught.value.code, len(stand_in.aborted) > 0) == ("timeout", True)
    assert client.execute(guarded("SELECT 1 AS one")).rows == ((1,),)


def test_rows_are_those_of_the_principals_role(client: Warehouse, stand_in: SnowflakeStandIn) -> None:
    seen = {
        role: [row[0] for row in client.for_principal(role).execute(guarded("SELECT v FROM tenants ORDER BY v")).rows]
        for role in ("ANN", "BOB", None)
    }
    assert seen == {"ANN": [1], "BOB": [2, 3], None: []}
    assert {session["ROLE"] for session in stand_in.sessions.values()} == {"ANN", "BOB", "READER"}


# With more of its log the driver writes more in front of a message.
@pytest.mark.parametrize("level", ["WARNING", "INFO", "DEBUG"])
def test_what_is_wrong_is_told_in_one_line_without_secrets(
    stand_in: SnowflakeStandIn, caplog: pytest.LogCaptureFixture, level: str
) -> None:
    caplog.set_level(level, logger="snowflake.connector")
    wrong = open_warehouse(stand_in.dsn.replace(":secret@", ":hush@"))
    with pytest.raises(ServiceUnavailable) as caught:
        wrong.snapshot()
    assert "Incorrect username or password" in str(caught.value)
    assert "hush" not in str(caught.value)
    assert "\n" not in str(caught.value)
    fault = None
    opened = open_warehouse(stand_in.dsn)
    try:
        opened.execute(guarded("SELECT nope FROM things"))
    except QueryFault as error:
        fault = error
    opened.close()
    assert fault is not None
    assert (fault.code, fault.message.startswith("SQL compilation error")) == ("unknown_column", True)
