"""Names after a point on Redshift: columns and fields of SUPER values, nothing that may be a function or a cast."""

from __future__ import annotations

import pytest

from rag_core.policy.sql_guard import SqlGuard
from tests.warehouse_world import table, world, world_policy

HARMLESS = (
    "SELECT o.id, orders.note FROM orders o, orders",
    "SELECT (o).id FROM orders o",
    "SELECT e.body.name.first FROM events e",
    "SELECT body.name FROM events",
    "SELECT e.body[0].name FROM events e",
    "SELECT (e.body).name FROM events e",
    "SELECT x.body.name FROM (SELECT body FROM events) x",
    "SELECT x.b.name FROM (SELECT e.body AS b FROM events e) x",
    "WITH q AS (SELECT body.name AS n FROM events) SELECT q.n.first FROM q",
    "SELECT (JSON_PARSE(note)).name FROM orders",
    "SELECT (note::super).name FROM orders",
    "SELECT s.max, s.count, s.id FROM (SELECT max(id), count(*), id FROM orders GROUP BY id) s",
    "SELECT g.g FROM generate_series(1, 3) AS g",
    "SELECT g.generate_series FROM generate_series(1, 3) AS g",
    "SELECT s.case FROM (SELECT CASE WHEN id = 1 THEN 2 END FROM orders) s",
)
REFUSED = (
    "SELECT ('secrets'::text).regclass",
    "SELECT (16390).regclass FROM orders",
    "SELECT (o.id).regclass FROM orders o",
    "SELECT (id).text FROM orders",
    "SELECT o.note.regclass FROM orders o",
    "SELECT note.some_function_made_today FROM orders",
    "SELECT (o.note).lower FROM orders o",
    "SELECT (note || 'a').some_domain FROM orders",
    "SELECT (o).some_function_made_today FROM orders o",
    "SELECT x.some_function_made_today FROM (SELECT max(id) FROM orders) x",
    "SELECT (x).some_function_made_today FROM (SELECT max(id) FROM orders) x",
    "SELECT x.n.regclass FROM (SELECT note AS n FROM orders) x",
    "SELECT x.b.regclass FROM (SELECT lower(body) AS b FROM events) x",
    "SELECT x.b.regclass FROM (SELECT body AS b FROM events UNION ALL SELECT note FROM orders) x",
    "SELECT (g).regclass FROM generate_series(1, 3) AS g",
    "SELECT g.regclass FROM generate_series(1, 3) AS g",
    "SELECT id FROM orders WHERE (SELECT note).regclass IS NULL",
)


def guard() -> SqlGuard:
    events = table("public", "events", "id:integer", "body:super")
    catalog = world()
    return SqlGuard(
        world_policy(), catalog.model_copy(update={"dialect": "redshift", "tables": (*catalog.tables, events)})
    )


@pytest.mark.parametrize("sql", HARMLESS)
def test_columns_and_fields_are_read(sql: str) -> None:
    verdict = guard().check(sql)
    assert verdict.allowed, verdict.message


@pytest.mark.parametrize("sql", REFUSED)
def test_what_may_be_a_function_or_a_cast_is_refused(sql: str) -> None:
    verdict = guard().check(sql)
    assert not verdict.allowed
    assert verdict.code in ("unsupported_syntax", "unknown_column", "function_not_allowed"), verdict.message
