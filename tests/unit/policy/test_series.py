"""Rows of series of constants, to the row."""

from __future__ import annotations

import math

import pytest

from rag_core.policy.sql_guard import SqlGuard
from tests.warehouse_world import world, world_policy

MOST = 10_000_000


def told(sql: str, dialect: str = "postgres") -> tuple[str, str]:
    functions = {**world().functions, "repeat_row": "stable"}
    catalog = world().model_copy(update={"dialect": dialect, "functions": functions})
    verdict = SqlGuard(world_policy(), catalog).check(sql)
    return verdict.code, verdict.message


@pytest.mark.parametrize(
    ("dialect", "source", "rows"),
    [
        ("postgres", "generate_series(1, 10000000)", None),
        ("postgres", "generate_series(1, 10000001)", 10_000_001),
        ("postgres", "generate_series(0, 10000000)", 10_000_001),
        ("postgres", "generate_series(0, 9999999)", None),
        ("postgres", "generate_series(1, 1e12)", 10**12),
        ("postgres", "generate_series(1, 1000000000000)", 10**12),
        ("postgres", "generate_series(-5000000, 5000000)", 10_000_001),
        ("postgres", "generate_series(10000001, 1, -1)", 10_000_001),
        ("postgres", "generate_series(10000000, 1, -1)", None),
        ("postgres", "generate_series(1, -1000000000)", None),
        ("postgres", "generate_series(1, 1000000000, -1)", None),
        ("postgres", "generate_series(1, 1000000000, 0)", None),
        ("postgres", "generate_series(0, 1, 0.0000001)", 10_000_001),
        ("postgres", "generate_series(0, 0.9999999, 0.0000001)", None),
        ("postgres", "generate_series(0.1, 1000000.09, 0.1)", None),
        ("postgres", "generate_series(0.1, 1000000.1, 0.1)", 10_000_001),
        ("postgres", "generate_series(7/2, 10000002)", None),
        ("postgres", "generate_series(7/2, 10000003)", 10_000_001),
        ("postgres", "generate_series(1, 2 ^ 24)", 2**24),
        ("postgres", "generate_series(1, (1000000000)::bigint)", 10**9),
        ("postgres", "generate_series(1, '1000000000'::bigint)", 10**9),
        ("postgres", "generate_series(1, 1e400)", 10**60),
        ("postgres", "generate_series('2024-01-01'::date, '9999-12-31', interval '1 day')", None),
        ("postgres", "generate_series('2024-01-01'::date, '2024-12-31', interval '1 second')", 365 * 86_400 + 1),
        ("postgres", "generate_series('2024-01-01'::timestamp, '2024-04-25 17:46:39', '1 second')", None),
        ("postgres", "generate_series('2024-01-01'::timestamp, '2024-04-25 17:46:40', '1 second')", 10_000_001),
        ("postgres", "generate_series(timestamp '2024-04-25 17:46:40', '2024-01-01', '-1 second')", 10_000_001),
        ("postgres", "generate_series('2024-01-01'::date, '2024-01-02', interval '1 ms')", 86_400_001),
        ("postgres", "generate_series('2024-01-01'::date, '2024-01-02', '00:00:00.001')", 86_400_001),
        ("postgres", "generate_series('2024-01-01'::date, '2024-01-02', interval '1 second' * 0.001)", 86_400_001),
        ("postgres", "generate_series(now() - interval '1 day', now(), interval '1 ms')", 86_400_001),
        ("postgres", "generate_series(current_date - 1, current_date, interval '1 ms')", 86_400_001),
        ("postgres", "generate_series('2000-01-01'::date, '9999-01-01', interval '1 month')", None),
        ("postgres", "generate_series('2000-01-01'::date, '9999-01-01', interval '3 months')", None),
        ("postgres", "generate_series((SELECT 1), 1000000000)", 1_000_000_000),
        ("postgres", "generate_series((SELECT min(id) FROM orders), 1000000000)", None),
        ("duckdb", "range(10000000)", None),
        ("duckdb", "range(10000001)", 10_000_001),
        ("duckdb", "range(1, 10000001)", None),
        ("duckdb", "range(0, 20000001, 2)", 10_000_001),
        ("duckdb", "generate_series(1, 10000001)", 10_000_001),
        ("duckdb", "range(DATE '2024-01-01', DATE '2025-01-01', INTERVAL 1 SECOND)", 366 * 86_400),
        ("duckdb", "repeat_row(1, num_rows = 10000001)", 10_000_001),
        ("bigquery", "UNNEST(GENERATE_ARRAY(0, 10000000))", 10_000_001),
        ("bigquery", "UNNEST(GENERATE_DATE_ARRAY('2020-01-01', '2025-01-01'))", None),
        (
            "bigquery",
            "UNNEST(GENERATE_TIMESTAMP_ARRAY('2024-01-01', '2025-01-01', INTERVAL 1 SECOND))",
            366 * 86_400 + 1,
        ),
        ("snowflake", "TABLE(GENERATOR(ROWCOUNT => 10000000))", None),
        ("snowflake", "TABLE(GENERATOR(ROWCOUNT => 10000001))", 10_000_001),
        ("redshift", "generate_series(1, 10000001)", 10_000_001),
    ],
)
def test_rows(dialect: str, source: str, rows: int | None) -> None:
    code, message = told(f"SELECT count(*) FROM {source} AS s", dialect)
    if rows is None:
        assert code == "ok", message
    else:
        assert code == "too_large", message
        assert f"would give {rows:,} rows" in message or math.isclose(rows, 10**60)
