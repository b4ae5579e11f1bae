"""Whatever somebody writes, there is a verdict: odd text is refused, and so is what the guard stumbles over itself."""

from __future__ import annotations

import logging

import pytest

from rag_core.policy.resolve import Resolver
from rag_core.policy.sql_guard import SqlGuard
from tests.warehouse_world import table, world, world_policy

DIALECTS = ("postgres", "redshift", "snowflake", "bigquery", "duckdb")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM ANY..t",
        "SELECT * FROM advising..",
        "SELECT * FROM public..orders",
        "SELECT u.a FROM LATERAL . x u",
        "SELECT LATERAL.first_name, ",
        "SELECT 1 FROM orders, LATERAL . x",
        "SELECT * FROM orders ONLY ( s",
        "SELECT (SELECT 1 FROM ANY..t) FROM orders",
        "SELECT id FROM orders WHERE id IN (SELECT a FROM a..b..c)",
    ],
)
def test_odd_text_is_refused(dialect: str, sql: str, caplog: pytest.LogCaptureFixture) -> None:
    verdict = SqlGuard(world_policy(), world().model_copy(update={"dialect": dialect})).check(sql)
    assert (verdict.allowed, verdict.query) == (False, None)
    assert "stumbled" not in caplog.text, "each cause is known and refused for what it is"


def test_a_missing_schema_is_told() -> None:
    guard = SqlGuard(world_policy(), world().model_copy(update={"dialect": "snowflake"}))
    verdict = guard.check("SELECT * FROM WORLD..ORDERS")
    assert (verdict.code, verdict.message) == (
        "unsupported_syntax", "write the schema of ORDERS between the two points",
    )  # fmt: skip


@pytest.mark.parametrize("fault", [AttributeError("x"), AssertionError(), OverflowError("x"), UnicodeError("x")])
def test_a_fault_of_the_guard_refuses_and_is_logged(
    fault: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def stumble(*_: object) -> None:
        raise fault

    guard = SqlGuard(world_policy(), world())
    monkeypatch.setattr(Resolver, "resolve", stumble)
    with caplog.at_level(logging.WARNING):
        verdict = guard.check("SELECT id FROM orders")
    assert (verdict.allowed, verdict.code, verdict.query) == (False, "unsupported_syntax", None)
    (record,) = caplog.records
    assert record.exc_info is not None
    assert record.exc_info[1] is fault


def test_a_view_whose_definition_makes_the_parser_stumble_is_hidden() -> None:
    views = (table("public", "odd", "x", kind="view", definition="SELECT LATERAL.first_name, "),)
    catalog = world().model_copy(update={"tables": (*world().tables, *views)})
    guard = SqlGuard(world_policy(), catalog)
    assert not guard.check("SELECT x FROM odd").allowed
    assert "odd" not in {item.name for item in guard.visible_catalog.tables}
