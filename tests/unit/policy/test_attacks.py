"""Every kind of harm in every position where it can stand."""

from __future__ import annotations

import pytest

from rag_core.policy.sql_guard import SqlGuard
from tests.attacks import (
    DISGUISES,
    EXPRESSION_POSITIONS,
    FROM_POSITIONS,
    HARMFUL_EXPRESSIONS,
    HARMFUL_SOURCES,
    HARMFUL_STATEMENTS,
)
from tests.warehouse_world import world, world_policy

GUARD = SqlGuard(world_policy(), world())


def allowed(statements: list[str]) -> list[str]:
    return [f"{sql}  =>  {GUARD.check(sql).query}" for sql in statements if GUARD.check(sql).allowed]


@pytest.mark.parametrize("position", EXPRESSION_POSITIONS)
@pytest.mark.parametrize("kind", HARMFUL_EXPRESSIONS)
def test_harmful_expressions_are_refused_in_every_position(kind: str, position: str) -> None:
    template = EXPRESSION_POSITIONS[position]
    assert allowed([template.replace("{e}", expression) for expression in HARMFUL_EXPRESSIONS[kind]]) == []


@pytest.mark.parametrize("position", FROM_POSITIONS)
@pytest.mark.parametrize("kind", HARMFUL_SOURCES)
def test_harmful_sources_are_refused_in_every_position(kind: str, position: str) -> None:
    template = FROM_POSITIONS[position]
    assert allowed([template.replace("{f}", source) for source in HARMFUL_SOURCES[kind]]) == []


@pytest.mark.parametrize("disguise", DISGUISES)
def test_statements_that_are_no_single_query_are_refused(disguise: str) -> None:
    assert allowed([DISGUISES[disguise].replace("{s}", statement) for statement in HARMFUL_STATEMENTS]) == []


@pytest.mark.parametrize("position", EXPRESSION_POSITIONS)
def test_harmless_expressions_are_allowed_in_every_position(position: str) -> None:
    # The templates must not be refused for their own sake, or the tests above would prove nothing.
    for expression in ("1", "o.id", "lower(o.note)", "random()", "'DELETE FROM orders'", "json_build_object('a', 1)"):
        if "o." in expression and position == "no from":
            continue
        verdict = GUARD.check(EXPRESSION_POSITIONS[position].replace("{e}", expression))
        assert verdict.allowed, (expression, verdict.message)


@pytest.mark.parametrize("position", FROM_POSITIONS)
def test_harmless_sources_are_allowed_in_every_position(position: str) -> None:
    for source in ("customers s", "(SELECT 1 AS x) s", "generate_series(1, 2) s", "order_ids s", "(TABLE customers) s"):
        verdict = GUARD.check(FROM_POSITIONS[position].replace("{f}", source))
        assert verdict.allowed, (source, verdict.message)
