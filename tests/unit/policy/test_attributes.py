"""Names after a point: fields stay open, functions that are called like fields are judged as functions."""

from __future__ import annotations

import pytest

from rag_core.policy.rules import FunctionRules
from rag_core.policy.sql_guard import SqlGuard
from tests.warehouse_world import world, world_policy

SQL = (
    "SELECT (o.note).{f} FROM orders o",
    "SELECT ('a'::text).{f}",
    "SELECT f.{f} FROM unnest(ARRAY['a']) AS f",
    "SELECT 1 FROM orders o ORDER BY (o.note || 'a').{f}",
    "SELECT s.x FROM (SELECT (note).{f} AS x FROM orders) s",
)


@pytest.mark.parametrize("sql", SQL)
@pytest.mark.parametrize("function", ["pg_read_file", "pg_sleep", "PG_READ_FILE", '"nextval"', "leak", "wr", "dblink"])
def test_functions_called_like_fields_are_refused(sql: str, function: str) -> None:
    verdict = SqlGuard(world_policy(), world()).check(sql.replace("{f}", function))
    assert (verdict.allowed, verdict.code) == (False, "function_not_allowed"), verdict.message


@pytest.mark.parametrize("sql", SQL)
@pytest.mark.parametrize("name", ["age", "cardinality", "street", "f1", '"Größe"'])
def test_fields_and_harmless_functions_stay_open(sql: str, name: str) -> None:
    verdict = SqlGuard(world_policy(), world()).check(sql.replace("{f}", name))
    assert verdict.allowed, verdict.message


def test_the_policy_opens_them_like_other_functions() -> None:
    policy = world_policy(functions=FunctionRules(allow=("leak",)))
    assert SqlGuard(policy, world()).check("SELECT (o.note).leak FROM orders o").allowed


@pytest.mark.parametrize("call", ["SELECT ('a'::text).{f}", "SELECT {f}('a')", 'SELECT (o.note)."{f}" FROM orders o'])
def test_a_name_is_as_long_as_postgresql_reads_it(call: str) -> None:
    name = "leaking_" * 7 + "leaking"
    catalog = world()
    catalog = catalog.model_copy(update={"user_functions": (name,), "functions": {**catalog.functions, name: "stable"}})
    guard = SqlGuard(world_policy(), catalog)
    assert len(name) == 63
    for written in (name, f"{name}_", f"{name}é"):
        assert guard.check(call.replace("{f}", written)).code == "function_not_allowed"


@pytest.mark.parametrize("dialect", ["duckdb", "bigquery", "snowflake"])
def test_elsewhere_a_point_calls_nothing(dialect: str) -> None:
    catalog = world().model_copy(update={"dialect": dialect})
    verdict = SqlGuard(world_policy(), catalog).check("SELECT payload.version FROM orders")
    assert verdict.code != "function_not_allowed", verdict.message
