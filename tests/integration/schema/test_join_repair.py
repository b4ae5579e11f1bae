"""A joined statement that a model wrote is looked at before it is answered from, and its fault goes back as one."""

from __future__ import annotations

from datetime import date

import pytest

from rag_core.datamodel.plan import SqlStep
from rag_core.policy.rules import Policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.join_check import JoinCheck
from rag_core.semantics.definitions import SemanticModel
from rag_core.workers.sql_worker import SqlWorker
from tests.integration.schema.conftest import Playground

pytestmark = pytest.mark.integration


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("SELECT sum(p.price) AS total FROM sales s JOIN prices p ON s.item = p.item", "join"),
        ("SELECT sum(p.price) AS total FROM sales s JOIN prices p ON s.item = p.item AND s.day = p.day", None),
        ("SELECT count(*) AS n FROM sales s JOIN shops o ON s.shop = o.name", "join"),
    ],
)
def test_a_fault_of_a_join_is_one_that_reflection_knows(playground: Playground, sql: str, fault: str | None) -> None:
    playground.run(
        "CREATE TABLE prices (item int, day date, price numeric); CREATE TABLE shops (name text);"
        "INSERT INTO prices SELECT g % 10, date '2026-01-01' + g / 10, g FROM generate_series(0, 99) AS g;"
        "CREATE TABLE sales (item int, day date, shop text);"
        "INSERT INTO sales SELECT g % 10, date '2026-01-01' + g / 10, 'a' FROM generate_series(0, 99) AS g;"
        "INSERT INTO shops VALUES ('b'), ('c')"
    )
    catalog = playground.warehouse.snapshot()
    guard = SqlGuard(Policy(version=1, schemas=("public",)), catalog)
    worker = SqlWorker(
        warehouse=playground.warehouse,
        guard=guard,
        catalog=catalog,
        semantic_model=SemanticModel(version=1, entities={}, time_dimensions={}, dimensions={}, metrics={}),
        check_joins=JoinCheck(playground.warehouse, guard.check, catalog).require,
    )
    step = SqlStep(step_id="s", task="total", sql=sql)
    outcome, _ = worker.run(step, run_date=date(2026, 7, 1))
    told = outcome.fault
    assert (told.fault_class if told is not None else None) == fault
    assert (outcome.sql is None) is (fault is not None)
