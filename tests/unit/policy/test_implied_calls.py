"""Functions that run without being called: by views, operators and casts of the database's own."""

from __future__ import annotations

import pytest

from rag_core.datamodel.catalog import Catalog, UserCast, UserOperator
from rag_core.policy.implied import symbols_of
from rag_core.policy.rules import ColumnRules, FunctionRules, TableRules
from rag_core.policy.sql_guard import SqlGuard
from tests.warehouse_world import table, world, world_policy


def own_world(*, casts: tuple[UserCast, ...] = (), operators: tuple[UserOperator, ...] = ()) -> Catalog:
    """The world with views that call functions, with operators and with casts."""
    catalog = world()
    views = (
        table("public", "calls", "x", kind="view", definition="SELECT public.leak() AS x"),
        table("public", "calls_inside", "x", kind="view", definition="SELECT x FROM public.calls"),
        table("public", "writes", "x", kind="view", definition="SELECT id, public.wr() AS x FROM public.orders"),
        table("public", "draws", "x", kind="view", definition="SELECT nextval('public.sq'::regclass) AS x"),
        table("public", "operates", "x", kind="view", definition="SELECT 1 OPERATOR(public.===) 1 AS x"),
        table("public", "counts", "x", kind="view", definition="SELECT count(*), lower(max(note)) FROM public.orders"),
        table("public", "tickets", "id:integer", "segment:public.segment"),
    )  # fmt: skip
    return catalog.model_copy(
        update={"tables": (*catalog.tables, *views), "user_casts": casts, "user_operators": operators}
    )


LEAKING = UserOperator(symbol="%", function="leak")
STRANGE = UserOperator(symbol="===", function="leak")


@pytest.mark.parametrize("hides", [True, False])
@pytest.mark.parametrize("view", ["calls", "calls_inside", "writes", "draws"])
def test_views_that_run_functions_are_refused(view: str, hides: bool) -> None:
    policy = world_policy() if hides else world_policy(tables=TableRules(), columns=ColumnRules())
    verdict = SqlGuard(policy, own_world()).check(f"SELECT * FROM {view}")
    assert (verdict.allowed, verdict.code) == (False, "table_excluded"), verdict.message
    assert view not in {item.name for item in SqlGuard(policy, own_world()).visible_catalog.tables}


def test_views_that_run_operators_are_refused() -> None:
    assert not SqlGuard(world_policy(), own_world(operators=(STRANGE,))).check("SELECT * FROM operates").allowed


def test_views_that_only_compute_stay_open() -> None:
    assert SqlGuard(world_policy(), own_world()).check("SELECT * FROM counts").allowed


def test_the_policy_opens_a_view_or_its_function() -> None:
    named = world_policy(tables=TableRules(include=("*.*", "public.calls"), exclude=("public.secrets",)))
    allowed = world_policy(functions=FunctionRules(allow=("leak",)))
    for policy in (named, allowed):
        assert SqlGuard(policy, own_world()).check("SELECT * FROM calls").allowed


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name % 1 FROM customers",
        "SELECT name%1 FROM customers",
        "SELECT name /* x */ % /* y */ 1 FROM customers",
        "SELECT id FROM customers WHERE id IN (SELECT id % 2 FROM orders)",
        "SELECT 'a' || (name % 1) FROM customers",
        'SELECT "name"%1 FROM customers',
    ],
)
def test_operators_of_the_database_are_refused(sql: str) -> None:
    verdict = SqlGuard(world_policy(), own_world(operators=(LEAKING,))).check(sql)
    assert verdict.code == "function_not_allowed"
    assert "the operator % has a meaning of this database's own" in verdict.message
    assert SqlGuard(world_policy(), own_world()).check(sql).allowed
    opened = world_policy(functions=FunctionRules(allow=("leak",)))
    assert SqlGuard(opened, own_world(operators=(LEAKING,))).check(sql).allowed


def test_operators_in_texts_and_other_operators_do_not_count() -> None:
    guard = SqlGuard(world_policy(), own_world(operators=(LEAKING,)))
    for sql in ("SELECT 'a % b', id + 1 FROM orders -- %", "SELECT id AS \"a % b\" FROM orders WHERE note LIKE '%x'"):
        assert guard.check(sql).allowed


def test_an_operator_that_runs_a_built_in_function_is_harmless() -> None:
    operator = UserOperator(symbol="%", function="similarity")
    assert SqlGuard(world_policy(), own_world(operators=(operator,))).check("SELECT name % 1 FROM customers").allowed


@pytest.mark.parametrize(
    ("sql", "symbols"),
    [
        ("a IN (1)", {"=", "<>"}),
        ("a LIKE 'x'", {"~~", "!~~"}),
        ("CASE a WHEN 1 THEN 2 END", {"="}),
        ("a === b", {"=", "==", "==="}),
        ("a != b", {"!", "=", "!=", "<>"}),
        ("E'a\\'%' || $q$ % $q$ || '%''%'", {"|", "||"}),
        ("a BETWEEN 1 AND 2", {"<", ">", "<=", ">="}),
    ],
)
def test_symbols(sql: str, symbols: set[str]) -> None:
    assert symbols_of(sql) == symbols


ENUM = UserCast(source="public.segment", target="integer", function="leak")
IMPLICIT = ENUM.model_copy(update={"implicit": True})
BUILT_IN = UserCast(source="integer", target="boolean", function="leak")


@pytest.mark.parametrize(
    ("cast", "sql"),
    [
        (ENUM, "SELECT segment::int FROM tickets"),
        (ENUM, "SELECT CAST(segment AS integer) FROM tickets"),
        (ENUM, "SELECT CAST(ARRAY[segment] AS int[]) FROM tickets"),
        (ENUM, "SELECT s::int4 FROM (SELECT segment AS s FROM tickets) t"),
        (ENUM, "SELECT 'a'::public.segment::int"),
        (ENUM, "SELECT segment::public.some_domain FROM tickets"),
        (IMPLICIT, "SELECT abs(segment) FROM tickets"),
        (BUILT_IN, "SELECT id::boolean FROM orders"),
        (BUILT_IN, "SELECT CAST(1 AS bool)"),
        (BUILT_IN.model_copy(update={"implicit": True}), "SELECT 1"),
    ],
)
def test_casts_of_the_database_are_refused(cast: UserCast, sql: str) -> None:
    verdict = SqlGuard(world_policy(), own_world(casts=(cast,))).check(sql)
    assert (verdict.code, "a cast from" in verdict.message) == ("function_not_allowed", True)
    assert SqlGuard(world_policy(), own_world()).check(sql).allowed
    opened = world_policy(functions=FunctionRules(allow=("leak",)))
    assert SqlGuard(opened, own_world(casts=(cast,))).check(sql).allowed


@pytest.mark.parametrize(
    ("cast", "sql"),
    [
        (ENUM, "SELECT id::int FROM orders"),
        (ENUM, "SELECT segment::text, id FROM tickets"),
        (IMPLICIT, "SELECT id FROM orders"),
        (BUILT_IN, "SELECT id::text FROM orders"),
    ],
)
def test_casts_between_other_types_are_allowed(cast: UserCast, sql: str) -> None:
    assert SqlGuard(world_policy(), own_world(casts=(cast,))).check(sql).allowed
