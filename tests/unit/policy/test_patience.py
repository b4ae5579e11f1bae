"""Statements whose reading would take ever longer: the guard gives up on them, and on no honest one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.policy.literals import tokens_of
from rag_core.policy.rules import Policy
from rag_core.policy.spelling import plain_spelling
from rag_core.policy.sql_guard import SqlGuard

DIALECTS = ("postgres", "redshift", "snowflake", "bigquery", "duckdb")
OPENINGS = (
    "[", "ARRAY[", "date(", "int(", "decimal(", "timestamp(", "time(", "char(", "struct(", "enum(", "object(", "map(",
    "{'a': ", "int[", "varchar[", "(", "coalesce(", "CAST(",
)  # fmt: skip
CLOSING = {"[": "]", "(": ")", "{": "}"}


def guard_for(dialect: str) -> SqlGuard:
    fold = str.upper if dialect == "snowflake" else str
    table = CatalogTable(
        schema_name=fold("public"), name=fold("orders"), columns=(CatalogColumn(name=fold("total"), type="numeric"),)
    )
    catalog = Catalog(
        dialect=dialect,
        database="shop",
        taken_at=datetime(2026, 7, 1, tzinfo=UTC),
        search_path=(fold("public"),),
        tables=(table,),
    )
    return SqlGuard(Policy(version=1, schemas=(fold("public"),)), catalog)


@pytest.mark.parametrize("depth", [15, 300])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_nested_brackets_get_a_verdict(dialect: str, depth: int) -> None:
    """Each would be read for hours where every depth doubles the work."""
    guard = guard_for(dialect)
    for opening in OPENINGS:
        closing = next(CLOSING[sign] for sign in opening if sign in CLOSING)
        for inside in ("1", "total"):
            verdict = guard.check(f"SELECT {opening * depth}{inside}{closing * depth} FROM orders")
            assert verdict.allowed or verdict.code, opening
        assert not guard.check(f"SELECT {opening * depth}").allowed


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_reader_that_goes_back_too_often_says_so(dialect: str) -> None:
    verdict = guard_for(dialect).check(f"SELECT {'ARRAY[' * 40}1{']' * 40} FROM orders")
    assert verdict.code == "too_complex"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_people_nest_is_read(dialect: str) -> None:
    cases = " ".join(
        f"WHEN total > {number} THEN ({number} + (total * (1 - (0.5 / (1 + {number})))))" for number in range(200)
    )
    statement = f"SELECT CASE {cases} ELSE {'(' * 20}total{')' * 20} END AS graded FROM orders"
    assert guard_for(dialect).check(statement).code == "ok"


@pytest.mark.parametrize(
    "statement",
    ["SELECT " + "only(" * 8_000, "SELECT " + "substring(" * 8_000, "SELECT " + "only(" * 8_000 + ")" * 8_000],
)
def test_open_parentheses_are_followed_once(statement: str) -> None:
    assert plain_spelling(statement) == statement


def test_the_end_of_a_text_between_dollars_is_looked_for_once() -> None:
    marks = " ".join(f"$t{number}$" for number in range(4_000))
    assert "".join(token.text for token in tokens_of(marks)) == marks
    assert [token.kind for token in tokens_of("$a$ x $b$ y $a$")] == ["text"]
    assert [token.kind for token in tokens_of("$$'$$")] == ["text"]
    assert tokens_of("$1")[0].kind == "sign"
