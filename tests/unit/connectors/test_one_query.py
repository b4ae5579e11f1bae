"""The last look at a statement before a database that has no read-only transactions."""

from __future__ import annotations

import pytest

from rag_core.connectors.one_query import one_query
from rag_core.errors import QueryFault


@pytest.mark.parametrize("dialect", ["snowflake", "bigquery"])
@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("INSERT INTO a VALUES (1)", "permission"),
        ("WITH a AS (DELETE FROM b WHERE TRUE) SELECT 1", "permission"),
        ("MERGE INTO a USING b ON a.x = b.x WHEN MATCHED THEN DELETE", "permission"),
        ("CREATE TABLE x (i int)", "permission"),
        ("TRUNCATE TABLE x", "permission"),
        ("CALL f()", "permission"),
        ("EXECUTE IMMEDIATE 'DROP TABLE x'", "permission"),
        ("GRANT SELECT ON a TO b", "permission"),
        ("COMMIT", "permission"),
        ("SELECT 1; SELECT 2", "syntax"),
        ("SELECT FROM WHERE", "syntax"),
        ("", "syntax"),
    ],
)
def test_what_is_no_single_query_is_not_sent(dialect: str, sql: str, code: str) -> None:
    with pytest.raises(QueryFault) as caught:
        one_query(sql, dialect)
    assert caught.value.code == code
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("dialect", ["snowflake", "bigquery"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "(SELECT 1) UNION ALL (SELECT 2)",
        "WITH a AS (SELECT 1 AS x) SELECT x FROM a",
        "SELECT 'DELETE FROM a'",
    ],
)
def test_queries_pass_unchanged(dialect: str, sql: str) -> None:
    assert one_query(sql, dialect) == sql
