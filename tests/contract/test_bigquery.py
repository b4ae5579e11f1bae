"""BigQuery's adapter by its real client, against a local stand-in of the REST API."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from rag_core.connectors.base import Warehouse
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.query import GuardedSql, Limits
from rag_core.errors import ConfigurationError, QueryFault, ServiceUnavailable
from rag_core.policy.rules import ColumnRules, Policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.workers.execution import run_guarded
from tests.contract.worlds import SLOW

pytest.importorskip("google.cloud.bigquery")

if TYPE_CHECKING:
    from tests.contract.bigquery_stand_in import BigQueryStandIn


@pytest.fixture
def stand_in() -> Iterator[BigQueryStandIn]:
    from tests.contract.bigquery_stand_in import BigQueryStandIn

    served = BigQueryStandIn()
    yield served
    served.close()


@pytest.fixture
def client(stand_in: BigQueryStandIn) -> Iterator[Warehouse]:
    opened = open_warehouse(stand_in.dsn)
    yield opened
    opened.close()


def guarded(sql: str, **limits: float) -> GuardedSql:
    return GuardedSql(text=sql, dialect="bigquery", limits=Limits.model_validate(limits))


def test_the_snapshot_tells_what_only_bigquery_has(client: Warehouse) -> None:
    catalog = client.snapshot()
    assert (catalog.dialect, catalog.database, catalog.search_path) == ("bigquery", "acme", ("shop",))
    assert catalog.user_functions == ("mine",)
    things, dear, makers = (catalog.table(f"shop.{name}") for name in ("things", "dear", "makers"))
    assert things is not None
    assert dear is not None
    assert makers is not None
    assert (things.row_estimate, things.partition_key, things.comment) == (3, "made_at", "Everything sold.")
    assert (dear.row_estimate, dear.comment, makers.comment) == (None, None, None)
    baskets = catalog.table("shop.baskets")
    assert baskets is not None
    assert [column.type for column in baskets.columns[1:]] == [
        "STRUCT<name STRING, city STRING>",
        "ARRAY<STRUCT<sku STRING, count INT64>>",
    ]


def test_structs_and_nested_fields_come_whole(client: Warehouse) -> None:
    guard = SqlGuard(Policy(version=1, schemas=("shop",)), client.snapshot())
    whole = run_guarded(guard, client, "SELECT buyer, items FROM shop.baskets").result
    assert whole is not None
    assert [column.type for column in whole.columns] == [
        "STRUCT<name STRING, city STRING>",
        "ARRAY<STRUCT<sku STRING, count INT64>>",
    ]
    assert whole.rows == (
        ({"name": "Ann", "city": "Turku"}, [{"sku": "a", "count": 2}, {"sku": "b", "count": 9007199254740993}]),
    )
    fields = run_guarded(guard, client, "SELECT b.buyer.city AS city FROM shop.baskets AS b").result
    assert fields is not None
    assert fields.rows == (("Turku",),)
    hidden = Policy(version=1, schemas=("shop",), columns=ColumnRules(exclude=("shop.baskets.buyer",)))
    refused = SqlGuard(hidden, client.snapshot()).check("SELECT b.buyer.city FROM shop.baskets AS b")
    assert refused.code == "column_excluded"


def test_what_a_job_is_told(client: Warehouse, stand_in: BigQueryStandIn) -> None:
    client.execute(guarded("SELECT thing_id FROM shop.things", timeout_seconds=9))
    configuration: dict[str, Any] = list(stand_in.jobs.values())[-1]["configuration"]
    assert configuration["labels"] == {"app": "nightshift"}
    assert configuration["jobTimeoutMs"] in ("9000", 9000)
    assert configuration["query"]["maximumBytesBilled"] == "5000"
    assert configuration["query"]["useLegacySql"] is False
    assert configuration["query"]["connectionProperties"] == [{"key": "time_zone", "value": "UTC"}]


def test_the_cost_of_a_dry_run_is_its_bytes(client: Warehouse) -> None:
    assert client.explain(guarded("SELECT * FROM shop.things")).cost == 2048.0


def test_a_slow_job_is_cancelled(client: Warehouse, stand_in: BigQueryStandIn) -> None:
    with pytest.raises(QueryFault) as caught:
        client.execute(guarded(SLOW, timeout_seconds=1))
    assert caught.value.code == "timeout"
    assert stand_in.cancelled


def test_the_guard_knows_bigquerys_names(client: Warehouse) -> None:
    guard = SqlGuard(Policy(version=1, schemas=("shop",)), client.snapshot())
    execution = run_guarded(guard, client, "SELECT maker_id, price FROM `acme.shop.things` WHERE THING_ID = 1")
    assert execution.result is not None
    assert execution.result.rows == ((1, Decimal("10.50")),)
    assert execution.verdict.columns == ("shop.things.maker_id", "shop.things.price", "shop.things.thing_id")
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


def test_a_column_that_is_computed_from_a_hidden_one_is_hidden(stand_in: BigQueryStandIn, client: Warehouse) -> None:
    stand_in.database.execute(
        "UPDATE meta.COLUMNS SET is_generated = 'ALWAYS', generation_expression = 'AI.EMBED(maker_id)' "
        "WHERE column_name = 'feeling'"
    )
    catalog = client.snapshot()
    things = catalog.table("shop.things")
    assert things is not None
    made = things.column("feeling")
    assert made is not None
    assert (made.generated, made.default) == (True, "AI.EMBED(maker_id)")
    rules = ColumnRules(exclude=("shop.things.maker_id",))
    guard = SqlGuard(Policy(version=1, schemas=("shop",), columns=rules), catalog)
    assert guard.check("SELECT feeling FROM shop.things").code == "column_excluded"
