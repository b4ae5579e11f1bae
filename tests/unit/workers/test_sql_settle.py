from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.datamodel.evidence import SqlEvidence
from rag_core.datamodel.query import QueryResult, ResultColumn
from rag_core.workers.outcome import Fault, StepOutcome
from rag_core.workers.sql_repair.shape import Shape
from rag_core.workers.sql_settle import MENDED_EMPTY, UNMENDED, describe, settle

CATALOG = Catalog(
    dialect="postgres",
    database="d",
    taken_at=datetime(2026, 1, 1, tzinfo=UTC),
    tables=(
        CatalogTable(
            schema_name="public",
            name="orders",
            columns=(
                CatalogColumn(name="order_id", type="bigint"),
                CatalogColumn(name="state", type="text"),
                CatalogColumn(name="parts", type="integer"),
            ),
        ),
    ),
)
SHAPE = Shape(CATALOG, (), {"public.orders.state": ("open", "closed")})


class World:
    """Answers statements from a table of rows or faults, and counts what it was asked."""

    def __init__(self, answers: dict[str, list[tuple[Any, ...]] | Fault]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def act(self, sql: str) -> StepOutcome:
        self.asked.append(sql)
        found = self.answers[sql]
        if isinstance(found, Fault):
            return StepOutcome(step_id="s1", fault=found.model_copy(update={"sql": sql}))
        result = QueryResult(columns=(ResultColumn(name="n", type="text"),), rows=tuple(found))
        evidence = SqlEvidence(
            marker="", step_id="s1", task="t", sql=sql, result=result, tables=("public.orders",), strategy="model"
        )
        return StepOutcome(step_id="s1", sql=evidence)


def unknown(name: str) -> Fault:
    return Fault(fault_class="unknown_column", code="unknown_column", message=f"unknown column {name}")


def settled(world: World, sql: str) -> Any:
    return settle(sql, world.act(sql), world.act, SHAPE)


def test_a_statement_that_runs_is_never_touched() -> None:
    sql = "select count(*) from orders where state = 'open'"
    world = World({sql: [(4,)]})
    found = settled(world, sql)
    assert found.mended.sql == sql
    assert found.mended.mends == ()
    assert world.asked == [sql]


def test_faults_are_mended_one_after_the_other() -> None:
    sql = "SELECT orderid, COUNT(*) FROM orders"
    named = "SELECT orders.order_id AS orderid, COUNT(*) FROM orders"
    group = Fault(
        fault_class="syntax", code="syntax", message='column "orders.order_id" must appear in the GROUP BY clause'
    )
    world = World({sql: unknown("orderid"), named: group, f"{named} GROUP BY orders.order_id": [(1,)]})
    found = settled(world, sql)
    assert found.outcome.sql is not None
    assert [mend.kind for mend in found.mended.mends] == ["column_name", "group_by"]
    assert describe(found.mended) == "column name: orderid to orders.order_id; group by: orders.order_id"
    assert found.mended.confidence < 0.8


def test_what_mending_does_not_bring_to_run_keeps_its_first_fault() -> None:
    sql, mended = "SELECT orderid FROM orders", "SELECT orders.order_id AS orderid FROM orders"
    other = Fault(fault_class="timeout", code="timeout", message="too slow")
    found = settled(World({sql: unknown("orderid"), mended: other}), sql)
    assert found.outcome.fault is not None
    assert (found.outcome.fault.code, found.outcome.fault.sql) == (UNMENDED, sql)
    assert found.outcome.fault.fault_class == "unknown_column"  # a chat model may still be asked again
    assert "no statement for it could be proven by the schema" in found.outcome.fault.message
    assert found.mended.mends == ()


def test_a_fault_that_is_not_the_statements_is_told_as_it_is() -> None:
    slow = Fault(fault_class="timeout", code="timeout", message="too slow")
    found = settled(World({"SELECT 1 FROM orders": slow}), "SELECT 1 FROM orders")
    assert found.outcome.fault is not None
    assert (found.outcome.fault.code, found.outcome.fault.message) == ("timeout", "too slow")


def test_a_mended_statement_that_finds_nothing_is_no_answer() -> None:
    sql, mended = "SELECT orderid FROM orders", "SELECT orders.order_id AS orderid FROM orders"
    found = settled(World({sql: unknown("orderid"), mended: []}), sql)
    assert found.outcome.sql is None
    assert found.outcome.fault is not None
    assert found.outcome.fault.code == MENDED_EMPTY
    assert "no row" in found.outcome.fault.message


def test_an_empty_result_of_a_statement_that_ran_stays() -> None:
    sql = "SELECT order_id FROM orders WHERE state = 'lost'"
    found = settled(World({sql: []}), sql)
    assert found.outcome.sql is not None
    assert found.mended.mends == ()


def test_a_value_is_spelt_as_it_is_held_where_nothing_was_found() -> None:
    sql, mended = (
        "SELECT COUNT(*) FROM orders WHERE state = 'Open'",
        "SELECT COUNT(*) FROM orders WHERE state = 'open'",
    )
    found = settled(World({sql: [(0,)], mended: [(7,)]}), sql)
    assert found.outcome.sql is not None
    assert found.outcome.sql.result.rows == ((7,),)
    # Not where it finds nothing either.
    again = settled(World({sql: [(0,)], mended: [(0,)]}), sql)
    assert (again.mended.sql, again.mended.mends) == (sql, ())


def test_whole_numbers_are_divided_exactly_only_where_it_makes_a_difference() -> None:
    sql = "SELECT SUM(parts) / COUNT(*) FROM orders"
    exact = "SELECT CAST(SUM(parts) AS DECIMAL) / COUNT(*) FROM orders"
    found = settled(World({sql: [(2,)], exact: [(2.5,)]}), sql)
    assert found.mended.sql == exact
    same = settled(World({sql: [(2,)], exact: [(2,)]}), sql)
    assert same.mended.sql == sql


def test_the_policys_refusal_of_a_mended_statement_is_not_mended_around() -> None:
    sql, mended = "SELECT orderid FROM orders", "SELECT orders.order_id AS orderid FROM orders"
    refusal = Fault(fault_class="policy", code="excluded_column", message="column order_id is excluded")
    world = World({sql: unknown("orderid"), mended: refusal})
    found = settled(world, sql)
    assert found.outcome.sql is None
    assert world.asked == [sql, mended]
