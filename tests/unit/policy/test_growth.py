"""Values that constants alone blow up are refused before the database's planner computes them."""

from __future__ import annotations

import pytest

from rag_core.datamodel.query import Limits
from rag_core.policy.sql_guard import SqlGuard
from tests.warehouse_world import world, world_policy

HUGE = (
    "repeat('x', 300000000)",
    "repeat('x', 3 * 100000000)",
    "repeat('x', 2 ^ 28)",
    "repeat('x', (300000000)::int)",
    "repeat(repeat('x', 10000), 10000)",
    "repeat(upper(repeat('x', 10000)), 10000)",
    "repeat(o.note, 300000000)",
    "lpad('x', 300000000)",
    "rpad(o.note, 300000000, 'y')",
    "replace(repeat('x', 10000), 'x', repeat('y', 10000))",
    "format('%300000000s', 'a')",
    "format('%1$-300000000s', 'a')",
    "format('%*s', 300000000, 'a')",
    "array_fill(0, ARRAY[10000, 10000])",
    "repeat('x' || repeat('y', 999), 100000)",
    "length(repeat('x', 300000000))",
    "repeat('x', 9999999999999999999999999)",
    "repeat('x', (SELECT 300000000))",
    "repeat((SELECT repeat('x', 10000)), (SELECT (SELECT 30000 AS n)))",
    "repeat('x', (SELECT 300000000 FROM orders LIMIT 1))",
    "repeat('x', (VALUES (300000000)))",
    "array_fill(0, ARRAY[(SELECT 100000000)])",
)


@pytest.mark.parametrize("expression", HUGE)
@pytest.mark.parametrize("where", ["SELECT {e} FROM orders o", "SELECT o.id FROM orders o ORDER BY ({e})::text"])
def test_huge_values_are_refused(expression: str, where: str) -> None:
    catalog = world().model_copy(
        update={"functions": {**world().functions, **dict.fromkeys(("array_fill", "repeat", "format"), "immutable")}}
    )
    verdict = SqlGuard(world_policy(), catalog).check(where.replace("{e}", expression))
    assert (verdict.allowed, verdict.code) == (False, "too_large"), verdict.message


def test_several_values_count_together() -> None:
    guard = SqlGuard(world_policy(), world())
    assert guard.check("SELECT repeat('x', 20000000)").allowed
    assert guard.check(f"SELECT {', '.join(['repeat(chr(65), 20000000)'] * 2)}").code == "too_large"
    assert guard.check("SELECT " + ", ".join(["'x'::char(10000000)"] * 4)).code == "too_large"


def test_a_larger_byte_limit_allows_more() -> None:
    sql = "SELECT repeat('x', 50000000)"
    assert SqlGuard(world_policy(), world()).check(sql).code == "too_large"
    assert SqlGuard(world_policy(limits=Limits(max_bytes=100_000_000)), world()).check(sql).allowed


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT repeat('*', o.id) FROM orders o",
        "SELECT repeat('-', 80), lpad(o.note, 40), rpad(o.note, 40, '.') FROM orders o",
        "SELECT format('%-20s|%5s', o.note, o.id) FROM orders o",
        "SELECT replace(o.note, 'a', 'b') FROM orders o",
        "SELECT repeat('x', 0), repeat('x', -5), repeat('', 2000000000)",
        "SELECT g FROM generate_series(1, 100000) AS g",
        "SELECT g FROM generate_series(0, 1000000000, 1000) AS g",
        "SELECT d FROM generate_series('2024-01-01'::date, '2025-01-01', interval '1 day') AS d",
        "SELECT repeat('x', (-8) ^ 0.5)",
        "SELECT repeat('x', 1 / 0)",
    ],
)
def test_honest_uses_are_allowed(sql: str) -> None:
    verdict = SqlGuard(world_policy(), world()).check(sql)
    assert verdict.allowed, verdict.message


@pytest.mark.parametrize(
    "source",
    ["generate_series(1, 1000000000000) AS s", "generate_series(1, 1e12) AS s", "generate_series(0, 1, 1e-12) AS s"],
)
def test_endless_series_are_refused(source: str) -> None:
    assert SqlGuard(world_policy(), world()).check(f"SELECT count(*) FROM {source}").code == "too_large"


@pytest.mark.parametrize("dialect", ["snowflake", "bigquery", "duckdb", "redshift"])
@pytest.mark.parametrize("expression", ["REPEAT('x', 300000000)", "LPAD('x', 300000000, 'y')"])
def test_the_other_dialects_too(dialect: str, expression: str) -> None:
    catalog = world().model_copy(update={"dialect": dialect})
    assert SqlGuard(world_policy(), catalog).check(f"SELECT {expression}").code == "too_large"
