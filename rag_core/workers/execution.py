"""The one way of a statement to the warehouse: guard, plan, run."""

from __future__ import annotations

from rag_core.connectors.base import QueryCost, Warehouse
from rag_core.datamodel.base import Record
from rag_core.datamodel.query import GuardVerdict, QueryResult
from rag_core.errors import QueryFault
from rag_core.policy.sql_guard import SqlGuard


class Execution(Record):
    """What became of a statement: the guard's verdict and, where it was allowed, its cost and result.

    `result` is None just where the guard refused; then the database never saw the statement.
    """

    verdict: GuardVerdict
    cost: QueryCost = QueryCost()
    result: QueryResult | None = None


def run_guarded(guard: SqlGuard, warehouse: Warehouse, sql: str) -> Execution:
    """Checks a statement, lets the database plan it, and runs it under the policy's limits.

    Returns the refusal where the guard refuses. Raises QueryFault where the database does not accept or finish the
    statement, ServiceUnavailable where it cannot be reached.
    """
    verdict = guard.check(sql)
    if verdict.query is None:
        return Execution(verdict=verdict)
    cost = warehouse.explain(verdict.query)
    return Execution(verdict=verdict, cost=cost, result=warehouse.execute(verdict.query))


def check_planned(guard: SqlGuard, warehouse: Warehouse, sql: str, *, dialect: str | None = None) -> GuardVerdict:
    """The guard's verdict, made a refusal where the database cannot plan the statement. Nothing is run.

    The guard judges what may be read; types, grouping and the like the database judges better, with plain EXPLAIN.
    Raises ServiceUnavailable where the database cannot be reached.
    """
    verdict = guard.check(sql, dialect)
    if verdict.query is None:
        return verdict
    try:
        warehouse.explain(verdict.query)
    except QueryFault as fault:
        return verdict.model_copy(
            update={
                "allowed": False,
                "code": fault.code,
                "message": fault.message,
                "suggestions": fault.suggestions,
                "query": None,
            }
        )
    return verdict
