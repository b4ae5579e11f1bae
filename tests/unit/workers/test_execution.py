"""Guard, plan, run: in this order, and no further than allowed."""

from __future__ import annotations

import pytest

from rag_core.connectors.memory import MemoryWarehouse
from rag_core.datamodel.query import QueryResult, ResultColumn
from rag_core.errors import QueryFault
from rag_core.policy.sql_guard import SqlGuard
from rag_core.workers.execution import check_planned, run_guarded
from tests.warehouse_world import world, world_policy

GUARD = SqlGuard(world_policy(), world())
RESULT = QueryResult(columns=(ResultColumn(name="name", type="text"),), rows=(("ann",),))


def test_an_allowed_statement_runs_as_it_was_rewritten() -> None:
    warehouse = MemoryWarehouse(world(), {"SELECT name FROM public.customers LIMIT 1": RESULT})
    execution = run_guarded(GUARD, warehouse, "SELECT name FROM customers LIMIT 1 -- one")
    assert execution.result is not None
    assert (execution.result.rows, execution.result.own_limit) == ((("ann",),), 1)
    assert execution.cost.rows == 1
    assert warehouse.asked == ["SELECT name FROM public.customers LIMIT 1"]


def test_a_refused_statement_never_reaches_the_warehouse() -> None:
    warehouse = MemoryWarehouse(world(), {})
    execution = run_guarded(GUARD, warehouse, "SELECT token FROM secrets")
    assert (execution.verdict.code, execution.result) == ("table_excluded", None)
    assert check_planned(GUARD, warehouse, "SELECT token FROM secrets").code == "table_excluded"
    assert warehouse.asked == []


def test_what_the_database_cannot_plan_is_not_run() -> None:
    fault = QueryFault("type", "no such operator", sqlstate="42883")
    warehouse = MemoryWarehouse(world(), {"SELECT name + 1 FROM public.customers": fault})
    with pytest.raises(QueryFault, match="no such operator"):
        run_guarded(GUARD, warehouse, "SELECT name + 1 FROM customers")
    verdict = check_planned(GUARD, warehouse, "SELECT name + 1 FROM customers")
    assert (verdict.allowed, verdict.code, verdict.message, verdict.query) == (False, "type", "no such operator", None)
    assert warehouse.asked == []
