"""The judgement on what a database understood, on facts as PostgreSQL tells them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pydantic import SecretStr

from rag_core.connectors.base import QueryCost
from rag_core.connectors.memory import MemoryWarehouse
from rag_core.datamodel.query import GuardedSql, QueryResult
from rag_core.datamodel.understanding import (
    FunctionFact,
    Reading,
    RelationFact,
    RelationRead,
    TypeFact,
    Understanding,
)
from rag_core.errors import QueryFault
from rag_core.policy.judged import JudgedWarehouse, judged, tells
from rag_core.policy.refusal import Refusal
from rag_core.policy.rules import FunctionRules
from rag_core.policy.sql_guard import SqlGuard
from rag_core.settings import Settings, WarehouseSettings
from rag_core.wiring import Services
from tests.warehouse_world import world, world_policy

ORDERS, SECRETS, VIEW, CATALOG = 16384, 16390, 16400, 1259
RELATIONS = {
    ORDERS: RelationFact(schema_name="public", name="orders", columns={1: "id", 5: "total"}, types=(23,)),
    SECRETS: RelationFact(schema_name="public", name="secrets", columns={1: "token"}),
    VIEW: RelationFact(schema_name="public", name="order_ids", view=True, columns={1: "id"}),
    CATALOG: RelationFact(schema_name="pg_catalog", name="pg_class"),
}
FUNCTIONS = {
    65: FunctionFact(schema_name="pg_catalog", name="int4eq", volatility="immutable", own=False),
    66: FunctionFact(schema_name="pg_catalog", name="pg_read_file", volatility="volatile", own=False),
    16500: FunctionFact(schema_name="public", name="lower", volatility="immutable", own=True),
    16501: FunctionFact(schema_name="public", name="similarity", volatility="immutable", own=False),
}
TYPES = {
    23: TypeFact(schema_name="pg_catalog", name="int4", builtin=True),
    1007: TypeFact(schema_name="pg_catalog", name="_int4", builtin=True, array=True, members=(23,)),
    2205: TypeFact(schema_name="pg_catalog", name="regclass", builtin=True),
    16600: TypeFact(schema_name="public", name="named", builtin=False, members=(2205, 23)),
    16601: TypeFact(schema_name="public", name="_named", builtin=False, array=True, members=(16600,)),
    16602: TypeFact(schema_name="public", name="secrets", builtin=False, table=("public", "secrets")),
    16603: TypeFact(schema_name="public", name="checked", builtin=False, members=(23,)),
    16604: TypeFact(schema_name="hidden", name="label", builtin=False),
    16605: TypeFact(schema_name="public", name="odd", builtin=False, functions=(16500,)),
    16606: TypeFact(schema_name="extensions", name="geometry", builtin=True),
}
QUERY = GuardedSql(text="SELECT 1", dialect="postgres", tables=("public.orders", "public.order_ids"))


def understanding(statement: Reading, **more: object) -> Understanding:
    return Understanding.model_validate(
        {
            "statement": statement,
            "relations": RELATIONS,
            "functions": FUNCTIONS,
            "operators": {96: (65,), 97: (66,), 98: (65, 16500)},
            "types": TYPES,
            **more,
        }
    )


def reads(relation: int, *columns: int) -> Reading:
    return Reading(relations=(RelationRead(relation=relation, columns=columns),))


def code_of(guard: SqlGuard, statement: Reading, conditions: Mapping[str, str] | None = None, **more: object) -> str:
    try:
        guard.check_understood(QUERY, understanding(statement, **more), conditions)
    except Refusal as refusal:
        return refusal.code
    return ""


@pytest.fixture(scope="module")
def guard() -> SqlGuard:
    return SqlGuard(world_policy(), world())


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        (Reading(), ""),
        (Reading(only_reads=False), "not_understood"),
        (reads(ORDERS, 1), ""),
        (reads(ORDERS, 5), "column_excluded"),
        (reads(ORDERS, 0), "column_excluded"),
        (reads(ORDERS, -1), "column_excluded"),
        (reads(ORDERS, 9), "not_understood"),
        (reads(SECRETS, 1), "table_excluded"),
        (reads(CATALOG), "catalog_closed"),
        (reads(99), "not_understood"),
        (Reading(functions=(65,), operators=(96,)), ""),
        (Reading(functions=(66,)), "function_not_allowed"),
        (Reading(operators=(97,)), "function_not_allowed"),
        (Reading(operators=(98,)), "function_not_allowed"),
        (Reading(functions=(16500,)), "function_not_allowed"),
        (Reading(functions=(16501,)), ""),
        (Reading(functions=(99,)), "not_understood"),
        (Reading(operators=(99,)), "not_understood"),
        (Reading(made=((23, 0), (1007, 0), (16606, 0))), ""),
        (Reading(made=((2205, 0),)), "catalog_closed"),
        (Reading(made=((16601, 0),)), "catalog_closed"),
        (Reading(seen=(2205, 16601)), ""),
        (Reading(made=((16602, 0),)), "table_excluded"),
        (Reading(seen=(16602,)), ""),
        (Reading(made=((16604, 0),)), "schema_not_allowed"),
        (Reading(seen=(16605,)), "function_not_allowed"),
        (Reading(made=((99, 0),)), "not_understood"),
    ],
)
def test_objects_are_judged_by_the_policy(guard: SqlGuard, statement: Reading, code: str) -> None:
    assert code_of(guard, statement) == code


def test_a_type_of_a_column_may_be_made_also_from_a_schema_that_is_not_opened(guard: SqlGuard) -> None:
    statement = Reading(relations=(RelationRead(relation=ORDERS),), made=((16604, 0),))
    orders = RELATIONS[ORDERS].model_copy(update={"types": (16604,)})
    assert code_of(guard, statement, relations={**RELATIONS, ORDERS: orders}) == ""


@pytest.mark.parametrize(
    ("check", "code"),
    [
        (Reading(operators=(96,)), ""),
        (Reading(functions=(66,)), "function_not_allowed"),
        (Reading(made=((16605, 0),)), "function_not_allowed"),
        (reads(ORDERS, 1), "function_not_allowed"),
    ],
)
def test_checks_of_types_count_where_a_value_is_made(guard: SqlGuard, check: Reading, code: str) -> None:
    checks = {16603: (check,)}
    assert code_of(guard, Reading(made=((16603, 0),)), checks=checks) == code
    assert code_of(guard, Reading(seen=(16603,)), checks=checks) == ""


@pytest.mark.parametrize(
    ("view", "code"),
    [
        (reads(ORDERS, 1), ""),
        (reads(ORDERS, 5), "table_excluded"),
        (reads(ORDERS, 0), "table_excluded"),
        (reads(SECRETS, 1), "table_excluded"),
        (reads(CATALOG), "table_excluded"),
        (Reading(functions=(16500,)), "table_excluded"),
        (Reading(operators=(97,)), "table_excluded"),
        (Reading(made=((2205, 0),)), ""),
    ],
)
def test_views_are_looked_into(guard: SqlGuard, view: Reading, code: str) -> None:
    assert code_of(guard, reads(VIEW, 1), views={VIEW: view}) == code
    vouching = world_policy(tables={"include": ("*.*", "public.order_ids"), "exclude": ("public.secrets",)})
    assert code_of(SqlGuard(vouching, world()), reads(VIEW, 1), views={VIEW: view}) == ""


def test_a_view_that_is_not_told_is_refused(guard: SqlGuard) -> None:
    assert code_of(guard, reads(VIEW, 1)) == "table_excluded"


def test_functions_that_the_policy_names_are_allowed_and_those_it_denies_are_not() -> None:
    allowing = SqlGuard(world_policy(functions=FunctionRules(allow=("lower",), deny=("int4eq",))), world())
    assert code_of(allowing, Reading(functions=(16500,))) == ""
    assert code_of(allowing, Reading(operators=(96,))) == "function_not_allowed"


@pytest.mark.parametrize(("condition", "code"), [("", "table_excluded"), ("other", "table_excluded"), ("filter", "")])
def test_rows_are_read_under_the_policys_own_filter_only(guard: SqlGuard, condition: str, code: str) -> None:
    filtered = SqlGuard(world_policy(row_filters=({"table": "public.orders", "where": "total > 5"},)), world())
    statement = Reading(relations=(RelationRead(relation=ORDERS, columns=(1, 5), condition=condition),))
    assert code_of(filtered, statement, conditions={"public.orders": "filter"}) == code
    assert code_of(guard, statement, conditions={"public.orders": "filter"}) == "column_excluded"
    assert code_of(filtered, statement) == "table_excluded"


def test_another_table_that_a_filter_asks_is_the_policys() -> None:
    where = "EXISTS (SELECT 1 FROM public.secrets)"
    asking = SqlGuard(world_policy(row_filters=({"table": "public.orders", "where": where},)), world())
    orders = RelationRead(relation=ORDERS, columns=(1,), condition="filter")
    customers = RelationFact(schema_name="public", name="customers", columns={1: "id"})
    for name, code in (("secrets", ""), ("customers", "table_excluded")):
        statement = Reading(relations=(orders, RelationRead(relation=16391)))
        relations = {**RELATIONS, 16391: customers.model_copy(update={"name": name})}
        assert code_of(asking, statement, conditions={"public.orders": "filter"}, relations=relations) == code


class Telling(MemoryWarehouse):
    """A double that tells what it was made to understand, and counts what it is asked."""

    understood = understanding(reads(ORDERS, 1))
    looked = 0

    def understand(self, query: GuardedSql) -> Understanding:
        self.looked += 1
        return self.understood

    def schema_state(self) -> tuple[str, str]:
        return "world", "1"

    def explain(self, query: GuardedSql) -> QueryCost:
        return QueryCost(cost=1.0)

    def execute(self, query: GuardedSql) -> QueryResult:
        return QueryResult(columns=(), rows=())


def test_no_statement_runs_before_it_was_judged() -> None:
    warehouse = Telling(world())
    guards = [SqlGuard(world_policy(), world())]
    assert tells(warehouse)
    checked = JudgedWarehouse(warehouse, lambda: guards[-1])
    assert checked.explain(QUERY).cost == 1.0
    checked.execute(QUERY)
    assert warehouse.looked == 1
    # Another guard, as after a new reading of the schema, judges anew.
    guards.append(SqlGuard(world_policy(), world()))
    checked.execute(QUERY)
    assert warehouse.looked == 2
    warehouse.understood = understanding(reads(SECRETS, 1))
    other = QUERY.model_copy(update={"text": "SELECT 2"})
    for run in (checked.explain, checked.execute, checked.for_principal(None).execute):
        with pytest.raises(QueryFault) as refused:
            run(other)
        assert refused.value.code == "table_excluded"
        assert refused.value.suggestions


def test_a_warehouse_that_cannot_tell_is_left_as_it_is() -> None:
    memory = MemoryWarehouse(world())
    assert not tells(memory)
    assert judged(memory, lambda: SqlGuard(world_policy(), world())) is memory


def test_each_principal_has_its_own_guard() -> None:
    login, ann = (
        SqlGuard(world_policy(**changes), world()) for changes in ({}, {"tables": {"exclude": ("*.orders",)}})
    )
    warehouse = judged(Telling(world()), lambda: login)
    warehouse.execute(QUERY)
    with pytest.raises(QueryFault):
        judged(warehouse.for_principal("ann"), lambda: ann).execute(QUERY)


@pytest.mark.parametrize(
    ("dsn", "told"),
    [
        ("postgresql://reader@127.0.0.1:1/warehouse", True),
        ("redshift://reader@127.0.0.1:1/warehouse", False),
        ("duckdb:///nothing.duckdb", False),
    ],
)
def test_every_postgresql_that_questions_reach_is_judged(dsn: str, told: bool) -> None:
    settings = Settings(warehouse=WarehouseSettings(dsn=SecretStr(dsn)), _env_file=None)  # type: ignore[call-arg]
    with Services(settings) as services:
        assert isinstance(services.warehouse, JudgedWarehouse) is told
