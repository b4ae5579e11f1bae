"""Constants of PostgreSQL: which texts become casts, and which are left alone or refused."""

from __future__ import annotations

import pytest

from rag_core.policy.literals import plain_literals
from rag_core.policy.refusal import Refusal


@pytest.mark.parametrize(
    ("sql", "plain"),
    [
        ("date '2024-01-01'::text", "CAST('2024-01-01' AS date) ::text"),
        ("DATE'2024-01-01'", "CAST('2024-01-01' AS DATE)"),
        ("timestamp with time zone 'x'", "CAST('x' AS timestamp with time zone)"),
        ("time (0) without time zone 'x'", "CAST('x' AS time(0 ) without time zone)"),
        ("interval '1 day 2:03'", "CAST('1 day 2:03' AS interval)"),
        ("interval '5' day", "CAST('5 day' AS interval)"),
        ("interval '5' days", "CAST('5' AS interval)  days"),
        ("double precision '1'", "CAST('1' AS double precision)"),
        ("char 'abc'", "CAST('abc' AS bpchar)"),
    ],
)
def test_a_type_before_a_text_becomes_a_cast(sql: str, plain: str) -> None:
    assert plain_literals(sql).strip() == plain


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 'date ''x''', E'date \\'x\\'', $q$date 'x'$q$, $$date 'x'$$",
        "SELECT 1 -- date 'x'\n, /* date 'x' /* date 'y' */ date 'z' */ 2",
        "SELECT x AT TIME ZONE 'UTC', trim(both 'x' FROM y), a LIKE 'x' ESCAPE '!'",
        "SELECT \"date\" 'x', t.date 'x', x::date, CAST(x AS date), date, U&'d\\0061'",
        "SELECT a1_2, t1.x, 1.5e-3, .5, 5., a[1:2], 1+1, 'unterminated",
        "SELECT position('date' IN 'x'), date_trunc('day', x), date('x'), coalesce(a, 1) 'x'",
    ],
)
def test_everything_else_is_left_alone(sql: str) -> None:
    assert plain_literals(sql) == sql


@pytest.mark.parametrize(
    "sql", ["1_000", "0xFF", "0b1", "0o7", "1abc", "interval(3) '1'", "interval '1.5' minute", "date '2024' '-01-01'"]
)
def test_what_cannot_be_said_otherwise_is_refused(sql: str) -> None:
    with pytest.raises(Refusal, match="write"):
        plain_literals(f"SELECT {sql}")
