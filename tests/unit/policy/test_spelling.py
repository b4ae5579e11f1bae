"""Other spellings of PostgreSQL: read where they mean the same, refused with another form where they do not."""

from __future__ import annotations

import pytest

from rag_core.policy.refusal import Refusal
from rag_core.policy.spelling import plain_spelling
from rag_core.policy.sql_guard import SqlGuard
from tests.warehouse_world import world, world_policy


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("ORDER BY a USING >", "ORDER BY a DESC"),
        ("ORDER BY a USING < NULLS FIRST", "ORDER BY a ASC NULLS FIRST"),
        ("ORDER BY a USING>,b", "ORDER BY a DESC,b"),
        ("JOIN t USING (id)", "JOIN t USING (id)"),
        ("FROM ONLY (t)", "FROM ONLY t"),
        ('FROM ONLY ("S" . "t") AS x', 'FROM ONLY "S" . "t" AS x'),
        ("substring(a similar '%' escape '#')", "substring(a , '%' , '#')"),
        ("substring((a) similar b || 'c' escape '#')", "substring((a) , b || 'c' , '#')"),
        ("substring(a from 2 for 3)", "substring(a from 2 for 3)"),
        ("substring(CASE WHEN a similar to 'b' escape '#' THEN 'x' END, 1)",) * 2,
        ("collation for (a)", "pg_collation_for (a)"),
        ("SELECT 'a'\n'b'", "SELECT 'ab'"),
        ("SELECT 'a' -- more\n 'b'\n\n'c''d'", "SELECT 'abc''d'"),
        ("SELECT E'a\\n'\n'b'", "SELECT E'a\\nb'"),
        ("SELECT 'ORDER BY a USING >'", "SELECT 'ORDER BY a USING >'"),
        ('SELECT "using" > 1', 'SELECT "using" > 1'),
        ("SELECT t.using > 1", "SELECT t.using > 1"),
        ("SELECT a @> b, a <@ b, a @@ b, a @? b", "SELECT a @> b, a <@ b, a @@ b, a @? b"),
    ],
)
def test_what_means_the_same(written: str, read: str) -> None:
    assert " ".join(plain_spelling(written).split()) == " ".join(read.split())


@pytest.mark.parametrize(
    ("written", "suggested"),
    [
        ("SELECT @ -5", "abs(x)"),
        ("SELECT @a", "abs(x)"),
        ("SELECT |/ 25 + 11", "sqrt(x)"),
        ("SELECT ||/ 27", "cbrt(x)"),
        ("SELECT u.id FROM a JOIN b USING (id) AS u", "USING (id)"),
        ("SELECT a ORDER BY a USING ~<~", "ASC"),
        ("SELECT a ORDER BY a USING >=", "ASC"),
        ("SELECT a IS NOT NFC NORMALIZED", "x = normalize(x, NFC)"),
        ("SELECT now() AT LOCAL", "AT TIME ZONE 'UTC'"),
        ("SELECT * FROM JSON_TABLE(a, '$' COLUMNS (b text))", "jsonb_to_recordset(x) AS t(a integer)"),
    ],
)
def test_what_is_refused_with_another_form(written: str, suggested: str) -> None:
    with pytest.raises(Refusal) as caught:
        plain_spelling(written)
    assert (caught.value.code, caught.value.suggestions[0]) == ("unsupported_syntax", suggested)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 'a' 'b'",
        "SELECT 'a'/**/'b'",
        "SELECT 'a' /* \n */ 'b'",
        "SELECT 'a' /* */ \n 'b'",
        "SELECT 'a'\nE'b'",
        "SELECT 'a' \n $$b$$",
        "SELECT 'a' U&'b'",
        "SELECT E'a' 'b'",
        "SELECT 'a'\u00a0\n'b'",
    ],
)
def test_texts_side_by_side_are_a_fault_as_in_the_database(sql: str) -> None:
    assert SqlGuard(world_policy(), world()).check(sql).code == "syntax"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM orders WHERE id = SOME(ARRAY[1, 2])",
        "SELECT id FROM orders WHERE id <> ALL(ARRAY[1, 2])",
        "SELECT id FROM orders WHERE id = ANY(ARRAY[1, 2])",
        "SELECT JSON_VALUE(payload, '$.a' RETURNING integer DEFAULT 0 ON EMPTY) FROM orders",
        "SELECT JSON_OBJECT('a' VALUE note) FROM orders",
        "SELECT JSON_OBJECTAGG(note VALUE id) FROM orders",
        "SELECT * FROM customers c JOIN ((VALUES (1, 'a')) AS v(id, x) JOIN orders o ON o.id = v.id) ON v.id = c.id",
        "SELECT path '((0,0),(1,1))', box '(1,1),(0,0)', circle '<(0,0),1>', lseg '[(0,0),(1,1)]'",
        "SELECT id FROM ONLY (orders)",
        "SELECT substring(note similar '%#\"o_#\"%' escape '#') FROM orders",
        "SELECT id FROM orders ORDER BY id USING >",
    ],
)
def test_honest_forms_are_allowed(sql: str) -> None:
    verdict = SqlGuard(world_policy(), world()).check(sql)
    assert verdict.allowed, verdict.message


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM ONLY (secrets)",
        "SELECT id FROM orders WHERE total = SOME(ARRAY[1, 2])",
        "SELECT JSON_VALUE(payload, '$.a' RETURNING integer DEFAULT total ON EMPTY) FROM orders",
        "SELECT JSON_OBJECTAGG(note VALUE total) FROM orders",
        "SELECT * FROM customers c JOIN ((VALUES ((SELECT token FROM secrets))) AS v(x) JOIN orders o ON true) ON true",
        "SELECT substring(total::text similar '%' escape '#') FROM orders",
        "SELECT id FROM orders ORDER BY total USING >",
        "SELECT JSON_OBJECTAGG(note VALUE id WITH UNIQUE KEYS) FROM orders",
    ],
)
def test_what_is_hidden_stays_hidden_in_them(sql: str) -> None:
    assert not SqlGuard(world_policy(), world()).check(sql).allowed
