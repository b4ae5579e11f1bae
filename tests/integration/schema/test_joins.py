"""Joins of the sample warehouse and of made-up schemas, with values looked up for real."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.connectors.base import Warehouse
from rag_core.connectors.warehouses import open_warehouse
from rag_core.policy.rules import load_policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.join_probe import WarehouseProbe, decide_join, pick_join, read_join_decisions
from rag_core.schema.joins import Join, find_joins
from tests.integration.schema.conftest import Playground

pytestmark = pytest.mark.integration


def probed(warehouse: Warehouse, repo_root: Path) -> dict[tuple[str, str], Join]:
    policy = load_policy(repo_root / "config" / "schema_policy.yaml")
    guard = SqlGuard(policy, warehouse.snapshot())
    catalog = guard.visible_catalog
    found = find_joins(catalog, WarehouseProbe(warehouse, guard.check, catalog))
    return {(join.left, join.right): join for join in found}


@pytest.fixture(scope="module")
def sample(reader_dsn: str) -> Iterator[Warehouse]:
    warehouse = open_warehouse(reader_dsn)
    yield warehouse
    warehouse.close()


def test_joins_of_the_sample(sample: Warehouse, repo_root: Path) -> None:
    joins = probed(sample, repo_root)
    declared = joins[("public.order_lines(order_id, order_date)", "public.orders(order_id, order_date)")]
    assert (declared.source, declared.status) == ("foreign_key", "usable")
    for left in ("public.churn_events.customer_id", "ops.support_tickets.customer_id"):
        join = joins[(left, "public.customers.customer_id")]
        assert (join.source, join.status) == ("inferred", "usable")
        assert join.overlap is not None
        assert join.overlap.share == 1.0
    assert not any("pii_raw" in left or "pii_raw" in right for left, right in joins)


def test_values_decide(playground: Playground, repo_root: Path) -> None:
    playground.run(
        "CREATE TABLE customers (id int PRIMARY KEY); INSERT INTO customers SELECT generate_series(1, 500);"
        "CREATE TABLE good (customer_id int); INSERT INTO good SELECT generate_series(1, 400);"
        "CREATE TABLE bad (customer_id int); INSERT INTO bad SELECT generate_series(9001, 9400);"
        "CREATE TABLE half (customer_id int); INSERT INTO half SELECT generate_series(201, 800);"
        "CREATE TABLE texts (customer_id text); INSERT INTO texts VALUES ('1');"
        "CREATE TABLE empty (customer_id int);"
    )
    joins = probed(playground.warehouse, repo_root)
    status = {left.split(".")[1]: join.status for (left, _), join in joins.items()}
    assert status == {
        "good": "usable",
        "bad": "rejected",
        "half": "needs_approval",
        "texts": "rejected",
        "empty": "needs_approval",
    }


def test_decisions_are_kept(playground: Playground) -> None:
    playground.run("CREATE TABLE customers (id int PRIMARY KEY); CREATE TABLE visits (customer_id int)")
    catalog = playground.warehouse.snapshot()
    join = pick_join(find_joins(catalog), "public.visits.customer_id", "public.customers.id")
    assert join.status == "needs_approval"
    decide_join(playground.store, catalog, join, "approved", actor="ada")
    (approved,) = find_joins(catalog, decisions=read_join_decisions(playground.store, catalog))
    assert approved.status == "usable"
    decide_join(playground.store, catalog, join, "rejected", actor="ada")
    (rejected,) = find_joins(catalog, decisions=read_join_decisions(playground.store, catalog))
    assert rejected.status == "rejected"
