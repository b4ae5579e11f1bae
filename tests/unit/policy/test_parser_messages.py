"""What is said of a statement that cannot be parsed names nothing of the parser's insides."""

from __future__ import annotations

import pytest

from rag_core.policy.sql_guard import SqlGuard
from tests.warehouse_world import world, world_policy

GUARD = SqlGuard(world_policy(), world())


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT 1 === 2", "something is missing (line 1, column 12)"),
        ("SELECT 1 +", "something is missing (line 1, column 10)"),
        ("SELECT * FROM orders WHERE", "something is missing (line 1, column 26)"),
        ("SELECT FROM WHERE", "Expected table name but got WHERE (line 1, column 17)"),
        ("SELECT id FROM orders JOIN", "Expected table name but got the end (line 1, column 26)"),
        ("SELECT 'abc", "a text, a name or a comment is not closed"),
        ("SELECT /* a", "a text, a name or a comment is not closed"),
        ("SELECT CASE", "Expected END after CASE (line 1, column 11)"),
    ],
)
def test_messages(sql: str, said: str) -> None:
    verdict = GUARD.check(sql)
    assert (verdict.code, verdict.message) == ("syntax", f"the statement cannot be parsed: {said}")
