"""A key word that a model took for an alias: PostgreSQL refuses it, and the statement runs with it quoted."""

from __future__ import annotations

from datetime import date

import pytest

from rag_core.datamodel.plan import SqlStep
from rag_core.policy.rules import Policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.semantics.definitions import SemanticModel
from rag_core.workers.sql_worker import SqlWorker
from tests.integration.schema.conftest import Playground

pytestmark = pytest.mark.integration


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(order.item) AS n FROM sales AS order JOIN shops AS user ON order.shop = user.name",
        "SELECT COUNT(item) AS order, shop AS n FROM sales GROUP BY shop ORDER BY order DESC",
        "WITH user AS (SELECT item FROM sales) SELECT COUNT(user.item) AS n FROM user",
    ],
)
def test_a_key_word_for_a_name_runs_in_the_end(playground: Playground, sql: str) -> None:
    playground.run(
        "CREATE TABLE sales (item int, shop text); CREATE TABLE shops (name text);"
        "INSERT INTO sales SELECT g, 'a' FROM generate_series(1, 7) AS g; INSERT INTO shops VALUES ('a')"
    )
    catalog = playground.warehouse.snapshot()
    worker = SqlWorker(
        warehouse=playground.warehouse,
        guard=SqlGuard(Policy(version=1, schemas=("public",)), catalog),
        catalog=catalog,
        semantic_model=SemanticModel(version=1, entities={}, time_dimensions={}, dimensions={}, metrics={}),
    )
    outcome, _ = worker.run(SqlStep(step_id="s", task="count", sql=sql), run_date=date(2026, 7, 1))
    assert outcome.sql is not None, outcome.fault
    assert outcome.sql.result.rows[0][0] == 7
    assert outcome.repaired.startswith("alias: ")
