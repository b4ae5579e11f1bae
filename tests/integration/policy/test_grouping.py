"""Grouping by the primary key of a table of which something is hidden, run on a real PostgreSQL."""

from __future__ import annotations

import pytest

from rag_core.connectors.base import Warehouse
from rag_core.policy.rules import ColumnMask, ColumnRules, Policy, RowFilter
from rag_core.policy.sql_guard import SqlGuard
from rag_core.workers.execution import check_planned, run_guarded

pytestmark = pytest.mark.integration

POLICIES = {
    "open": Policy(version=1, schemas=("public",)),
    "excluded": Policy(version=1, schemas=("public",), columns=ColumnRules(exclude=("public.orders.total",))),
    "masked": Policy(
        version=1, schemas=("public",), columns=ColumnRules(mask=(ColumnMask(column="public.orders.update"),))
    ),
    "filtered": Policy(version=1, schemas=("public",), row_filters=(RowFilter(table="public.orders", where="id > 0"),)),
}
GROUPED = [
    "SELECT o.id, o.note, count(*) FROM orders o GROUP BY o.id ORDER BY o.id",
    "SELECT id, note, customer_id FROM orders GROUP BY id ORDER BY created_at, id",
    "SELECT o.id AS k, o.note FROM orders o GROUP BY k ORDER BY 1",
    "SELECT o.id, o.note FROM orders o GROUP BY 1 ORDER BY 1",
    "SELECT orders.id, upper(orders.note) FROM public.orders GROUP BY orders.id ORDER BY 1",
    "SELECT o.id, o.note, count(c.id) FROM orders o LEFT JOIN customers c ON c.id = o.customer_id "
    "GROUP BY o.id ORDER BY o.id",
    "SELECT o.id, c.name, o.note, c.country FROM orders o JOIN customers c ON c.id = o.customer_id "
    "GROUP BY o.id, c.id ORDER BY o.id",
    "SELECT o.id FROM orders o GROUP BY o.id HAVING length(o.note) > 1 ORDER BY o.note",
    "SELECT o.id, (SELECT c.name FROM customers c WHERE c.id = o.customer_id) AS n FROM orders o "
    "GROUP BY o.id ORDER BY 1",
    "SELECT id, payload FROM (SELECT o.id, o.payload FROM orders o GROUP BY o.id) AS x ORDER BY id",
    "WITH g AS (SELECT o.id, o.note, max(o.created_at) AS m FROM orders o GROUP BY o.id) "
    "SELECT note, m FROM g ORDER BY 1",
    'SELECT a.id, a.note, b."Order" FROM orders a JOIN orders b ON a.id = b.id GROUP BY a.id, b.id ORDER BY 1',
]


@pytest.mark.parametrize("sql", GROUPED)
def test_a_key_determines_its_table_whatever_is_hidden(world_warehouse: Warehouse, sql: str) -> None:
    catalog = world_warehouse.snapshot()
    rows = {}
    for name, policy in POLICIES.items():
        execution = run_guarded(SqlGuard(policy, catalog), world_warehouse, sql)
        assert execution.result is not None, execution.verdict.message
        rows[name] = execution.result.rows
    assert rows["open"]
    assert all(found == rows["open"] for found in rows.values())


def test_a_star_of_the_grouped_table_is_expanded_without_what_is_hidden(world_warehouse: Warehouse) -> None:
    guard = SqlGuard(POLICIES["excluded"], world_warehouse.snapshot())
    execution = run_guarded(guard, world_warehouse, "SELECT o.* FROM orders o GROUP BY o.id ORDER BY o.id")
    assert execution.result is not None
    assert "total" not in [column.name for column in execution.result.columns]
    assert execution.result.row_count == 5


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT customer_id, note FROM orders GROUP BY customer_id",
        "SELECT o.note FROM orders o GROUP BY ROLLUP (o.id)",
        "SELECT o.id, c.name FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY o.id",
    ],
)
def test_what_the_key_does_not_determine_is_still_refused(world_warehouse: Warehouse, sql: str) -> None:
    catalog = world_warehouse.snapshot()
    for name, policy in POLICIES.items():
        verdict = check_planned(SqlGuard(policy, catalog), world_warehouse, sql)
        assert (name, verdict.allowed, verdict.code) == (name, False, "syntax")


def test_the_excluded_column_is_no_way_in(world_warehouse: Warehouse) -> None:
    guard = SqlGuard(POLICIES["excluded"], world_warehouse.snapshot())
    for sql in (
        "SELECT o.id, o.total FROM orders o GROUP BY o.id",
        "SELECT o.id FROM orders o GROUP BY o.id HAVING o.total > 1",
        "SELECT o.id FROM orders o GROUP BY o.id, o.total",
    ):
        assert guard.check(sql).code == "column_excluded"


def test_a_masked_key_determines_nothing(world_warehouse: Warehouse) -> None:
    masked = Policy(version=1, schemas=("public",), columns=ColumnRules(mask=(ColumnMask(column="public.orders.id"),)))
    guard = SqlGuard(masked, world_warehouse.snapshot())
    verdict = check_planned(guard, world_warehouse, "SELECT o.id, o.note FROM orders o GROUP BY o.id")
    assert (verdict.allowed, verdict.code) == (False, "syntax")
