"""The guard's rewriting keeps values: expressions run raw and through the guard on a real PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rag_core.datamodel.query import GuardedSql, Limits
from rag_core.errors import QueryFault
from rag_core.policy.sql_guard import SqlGuard
from tests.warehouse_world import world_policy

if TYPE_CHECKING:
    from rag_core.connectors.base import Warehouse

pytestmark = pytest.mark.integration

# Allowed, with the value and the type that PostgreSQL gives the text as written.
SAME = """
interval '1 day 2:03'
interval '1 day 2:03' * 2
interval '1 year 2 mons -3 days 04:05:06.789'
interval '-1 day +2:03'
interval '1 day' '2'
interval 'P1Y2M3DT4H5M6S'
interval '1-2'
interval '1 2:03:04'
interval '@ 1 day ago'
interval '90 minutes'
interval '1.5 hours'
interval '1' year
interval '-3' day * 2
interval '3 days'::text
interval $$1 day 1:00$$
'1 day 2:03'::interval
CAST('1 day 2:03' AS interval)
CAST('1.5' AS interval minute)
CAST('1-2' AS interval year to month)
'2 weeks'::interval
date '2024-01-31' + interval '1 month 1 day'
date '2024-03-01' - interval '1 day 12:00'
timestamptz '2024-03-10 23:30-05'::date
timestamptz '2024-03-10 23:30-05'::date::text
timestamp '2024-03-10 23:30:15.7'::timestamp(0)
timestamp with time zone '2024-03-10 23:30-05'::timestamp
timestamp without time zone '2024-03-10 23:30-05'::date
timestamp(0) '2024-03-10 23:30:15.7'
timestamp(0) with time zone '2024-03-10 23:30:15.7+00'
time '10:20:30.6'::time(0)
time with time zone '10:20:30+02'::text
time(0) '10:20:30.6'
date '2024-03-10'::timestamptz
date '2024-03-10'::timestamp::text
date '2024-03-10' - date '2024-03-01'
date'2024-03-10'+5
date /* a comment */ '2024-03-10'
int '5'::text || 'x'
int '7' / 2
numeric '3.14159'::int
numeric(4,1) '3.14159'::text
double precision '1.5'::int
float8 '2.5'::int
real '1.1'::text
bigint '12'::text
boolean 'yes'::int
char 'abc'
char(2) 'abc'
character varying(2) 'abc'::text
varchar 'abc'::varchar(2)
text 'abc'::char(2)
json '{"a": 1}'::text
jsonb '{"a": 1}' -> 'a'
uuid 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::text
bytea '\\x41'::text
inet '10.0.0.1/8'::text
int4range '[1,5)'::text
point '(1,2)'::text
'5'::int::text
'abc'::char(2)
123.456::numeric(5,2)
-5::int
- 2 ^ 2
2 ^ 3 ^ 2
5 / 2
-5 % 3
1e3
.5
5.
1.50
1.5e-3
100000000000
007
B'101'
timestamp '2024-01-01 10:00' AT TIME ZONE 'Europe/Berlin'
timestamptz '2024-01-01 10:00+00' AT TIME ZONE 'America/New_York'
timestamptz '2024-01-01 10:00+00' AT TIME ZONE interval '-5 hours'
extract(epoch FROM interval '1 day 2:03')
extract(hour FROM timestamptz '2024-03-10 23:30-05'::timestamp)
date_trunc('week', date '2024-03-10')
date_trunc('hour', interval '1 day 3:45')
justify_interval(interval '1 mon 35 days 25:00')
(SELECT d FROM (VALUES (date '2024-01-01'::timestamp)) AS v (d) WHERE d < date '2024-02-01'::timestamp)
CASE WHEN date '2024-01-01'::text = '2024-01-01' THEN interval '1 day 2:00' END
current_time IS NOT NULL AND localtime IS NOT NULL AND current_time(0) IS NOT NULL
pg_typeof(current_time)::text
JSON_QUERY(jsonb '{"a": [1]}', '$.a')
ARRAY[interval '1 day 1:00', interval '2' hour]
'a' || E'it\\'s date ''2024''' || $q$ interval '1 day' $q$
'it''s a date ' || date '2024-01-01'
"""
# Refused, for they would come out otherwise, or be an error.
REFUSED = """
1_000
1_5.5
0x1F
1 + 0x10
0b11
0o17
1abc
interval(0) '1.7 seconds'
'1.7 seconds'::interval(0)
interval '1.5' minute
interval '1-2' year to month
interval '1:30' hour to minute
bit '101'
"""


def told(warehouse: Warehouse, text: str) -> Any:
    """Value and type of a statement's only cell."""
    result = warehouse.execute(GuardedSql(text=text, dialect="postgres", limits=Limits()))
    return [(type(cell).__name__, str(cell)) for cell in result.rows[0]]


@pytest.mark.parametrize("expression", [line for line in SAME.splitlines() if line])
def test_values_and_types_are_those_of_the_text(world_warehouse: Warehouse, expression: str) -> None:
    raw = f"SELECT v, pg_typeof(v)::text FROM (SELECT {expression} AS v) AS s"
    verdict = SqlGuard(world_policy(), world_warehouse.snapshot()).check(f"SELECT {expression} AS v")
    try:
        expected = told(world_warehouse, raw)
    except QueryFault:
        # What is an error as written must not become something else.
        assert verdict.query is None or _fails(world_warehouse, verdict.query), verdict
        return
    assert verdict.query is not None, verdict.message
    assert told(world_warehouse, f"SELECT v, pg_typeof(v)::text FROM ({verdict.query.text}) AS s") == expected


def _fails(warehouse: Warehouse, query: GuardedSql) -> bool:
    try:
        warehouse.execute(query)
    except QueryFault:
        return True
    return False


@pytest.mark.parametrize("expression", [line for line in REFUSED.splitlines() if line])
def test_what_would_come_out_otherwise_is_refused_in_words(world_warehouse: Warehouse, expression: str) -> None:
    verdict = SqlGuard(world_policy(), world_warehouse.snapshot()).check(f"SELECT {expression}")
    assert (verdict.allowed, verdict.code) == (False, "unsupported")
    assert "write" in verdict.message
