"""Texts that the generator writes as they are hold plain words, so that no quoted name becomes SQL."""

from __future__ import annotations

import pytest
from sqlglot import exp

from rag_core.policy.refusal import Refusal
from rag_core.policy.sql_guard import SqlGuard
from rag_core.policy.words import check_words
from tests.warehouse_world import world, world_policy

SMUGGLED = (
    'SELECT EXTRACT("year FROM now()), token FROM public.secrets --" FROM now())',
    'SELECT EXTRACT("year FROM created_at), total FROM public.orders --" FROM now()) FROM orders',
    'SELECT 1 FROM customers ORDER BY EXTRACT("year FROM now()) UNION SELECT token FROM secrets --" FROM now())',
    'SELECT make_interval("days => 1), token FROM secrets --" => 1)',
    'SELECT * FROM make_interval("days => 1), public.secrets --" => 1)',
)


@pytest.mark.parametrize("sql", SMUGGLED)
def test_a_quoted_name_never_becomes_sql(sql: str) -> None:
    verdict = SqlGuard(world_policy(), world()).check(sql)
    assert (verdict.allowed, verdict.code) == (False, "unsupported_syntax"), verdict.query


@pytest.mark.parametrize("written_in", ["snowflake", "bigquery", "duckdb", "redshift", "mysql", "tsql"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT EXTRACT({q}year FROM now()), token FROM public.secrets --{q} FROM created_at) FROM orders",
        "SELECT DATE_TRUNC('day'', created_at), token FROM public.secrets --', created_at) FROM orders",
        "SELECT DATE_PART('day FROM created_at), token FROM public.secrets --', created_at) FROM orders",
        "SELECT DATEDIFF({q}day, id, id), token FROM public.secrets --{q}, created_at, created_at) FROM orders",
        "SELECT DATEADD({q}day, id, id), token FROM public.secrets --{q}, 1, created_at) FROM orders",
        "SELECT INTERVAL '1' {q}day', token FROM public.secrets --{q} FROM orders",
        "SELECT id FROM orders ORDER BY note COLLATE {q}C FROM secrets --{q}",
        "SELECT CAST(id AS {q}integer), token FROM public.secrets --{q}) FROM orders",
    ],
)
def test_neither_does_one_of_another_dialect(sql: str, written_in: str) -> None:
    quote = "`" if written_in in ("bigquery", "mysql") else '"'
    verdict = SqlGuard(world_policy(), world()).check(sql.replace("{q}", quote), written_in)
    if verdict.query is not None:
        # Allowed only where it stays a text or a quoted name.
        read = SqlGuard(world_policy(), world()).check(verdict.query.text)
        assert read.allowed, (verdict.query.text, read.message)


@pytest.mark.parametrize(
    "node",
    [
        exp.Var(this="DAY) , x"),
        exp.Identifier(this="a b", quoted=False),
        exp.Literal(this="1; 2", is_string=False),
        exp.HexString(this="0'"),
        exp.DataType(this=exp.DType.USERDEFINED, kind='a) "'),
        exp.Join(side="LEFT JOIN x,"),
    ],
)
def test_whatever_node_holds_it(node: exp.Expr) -> None:
    with pytest.raises(Refusal, match="plain word"):
        check_words(node)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT EXTRACT(\"YEAR\" FROM created_at), EXTRACT('year' FROM created_at) FROM orders",
        'SELECT make_interval("days" => 1), make_interval(days => 2)',
        "SELECT sum(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders",
        "SELECT id AS \"a , b\", payload -> 'a b, c', 'x -- y', x'1f', 1.5e-3 FROM orders",
        "SELECT id FROM orders TABLESAMPLE BERNOULLI (50) FETCH FIRST 2 ROWS ONLY",
        "SELECT 1::double precision, 'x'::character varying(3), '1'::numeric(3, 1)[]",
    ],
)
def test_plain_words_stay(sql: str) -> None:
    verdict = SqlGuard(world_policy(), world()).check(sql)
    assert verdict.allowed, verdict.message


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SHA2_BINARY(note, '256(note), token FROM public.secrets --') FROM orders",
        "SELECT SHA2(note, '256(note), (SELECT token FROM secrets), (') FROM orders",
        "SELECT SHA2_HEX(note, '256 , x') FROM orders",
    ],
)
def test_no_text_becomes_a_part_of_a_translation(sql: str) -> None:
    functions = {**world().functions, "sha256": "immutable"}
    guard = SqlGuard(world_policy(), world().model_copy(update={"functions": functions}))
    assert guard.check(sql, "snowflake").code == "unsupported_syntax"
    assert guard.check("SELECT SHA2_BINARY(note, '256') FROM orders", "snowflake").code != "unsupported_syntax"


@pytest.mark.parametrize(
    ("sql", "written_in"),
    [
        ("SELECT id FROM orders WHERE note = 'it''s -- (a) text, \\ ; $1' AND note LIKE '%''%'", "postgres"),
        ("SELECT payload -> 'a b' ->> 'it''s', payload #>> '{a,\"b c\"}' FROM orders", "postgres"),
        ("SELECT to_char(created_at, 'YYYY-MM-DD, HH24:MI:SS') AS \"a (b), c\" FROM orders", "postgres"),
        ("SELECT note FROM orders WHERE created_at > '2026-01-01 10:00:00' AND note = 'it\\'s'", "bigquery"),
        ("SELECT payload:\"a b\"::string FROM orders WHERE note = 'x, (y)'", "snowflake"),
        ("SELECT created_at + INTERVAL '1 day' FROM orders WHERE note = 'a; b'", "duckdb"),
    ],
)
def test_texts_may_hold_anything(sql: str, written_in: str) -> None:
    verdict = SqlGuard(world_policy(), world()).check(sql, written_in)
    assert verdict.allowed, verdict.message


def test_a_generator_that_stumbles_refuses() -> None:
    verdict = SqlGuard(world_policy(), world()).check(
        "SELECT COMBINED_PARAMETERIZED_AGG(id, id, id) FROM orders", "duckdb"
    )
    assert not verdict.allowed
