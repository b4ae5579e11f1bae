"""Gold statements with tokens dropped, swapped, doubled and thrown in: the guard never raises, there is a verdict."""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path

import pytest

from bench.schema.guard_fuzz import DIALECTS, mangled_statements

pytestmark = pytest.mark.integration
STATEMENTS = 500


@pytest.mark.parametrize("dialect", DIALECTS)
def test_there_is_always_a_verdict(dialect: str, shared_data: Path, caplog: pytest.LogCaptureFixture) -> None:
    source = mangled_statements(shared_data, dialect, seed=1)
    codes: Counter[str] = Counter()
    for _ in range(STATEMENTS):
        guard, sql = next(source)
        with caplog.at_level(logging.WARNING, logger="rag_core.policy.sql_guard"):
            verdict = guard.check(sql)
        assert verdict.allowed == (verdict.query is not None)
        assert verdict.code
        assert verdict.message
        assert not caplog.records, f"the guard stumbled over {sql!r}"
        codes[verdict.code] += 1
    # The statements are odd, but not so odd that only the parser sees them.
    assert len(codes) >= 5
    assert codes["ok"] >= STATEMENTS / 50
