"""A join that needs approval is found wherever it is written: through derived tables, queries, rows, INTERSECT."""

from __future__ import annotations

import pytest

from rag_core.policy.rules import ColumnRules, JoinRule, JoinRules
from rag_core.policy.sql_guard import SqlGuard
from tests.warehouse_world import world, world_policy

LEFT, RIGHT = "public.orders.customer_id", "public.customers.id"
JOINED = (
    "SELECT 1 FROM orders o JOIN customers c ON o.customer_id = c.id",
    "SELECT 1 FROM orders o, customers c WHERE c.id = o.customer_id",
    "WITH a AS (SELECT customer_id AS x FROM orders) SELECT 1 FROM a JOIN customers c ON a.x = c.id",
    "WITH a (x) AS (SELECT customer_id FROM orders), b AS (SELECT x y FROM a) SELECT 1 FROM b, customers WHERE y = id",
    "SELECT 1 FROM (SELECT customer_id AS x FROM orders) a JOIN (SELECT id AS y FROM customers) b ON x = y",
    "SELECT 1 FROM (SELECT * FROM orders) a JOIN (SELECT * FROM customers) b ON a.customer_id = b.id",
    "SELECT 1 FROM (SELECT o.* FROM orders o) a (i, k) JOIN customers b ON a.k = b.id",
    "SELECT 1 FROM (SELECT customer_id + 0 AS x FROM orders) a JOIN customers c ON c.id = a.x",
    "SELECT 1 FROM (SELECT max(customer_id) FROM orders GROUP BY note) a JOIN customers c ON c.id = a.max",
    "SELECT 1 FROM (SELECT customer_id AS id FROM orders) a JOIN customers c USING (id)",
    "SELECT 1 FROM (SELECT customer_id AS id FROM orders) a NATURAL JOIN (SELECT id FROM customers) c",
    "SELECT name FROM customers WHERE id IN (SELECT customer_id FROM orders)",
    "SELECT name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)",
    "SELECT name FROM customers WHERE id IN ((SELECT customer_id FROM orders))",
    "SELECT name FROM customers WHERE id IN (SELECT 1 UNION SELECT customer_id FROM orders)",
    "SELECT name FROM customers WHERE id IN (WITH q AS (SELECT customer_id AS x FROM orders) SELECT x FROM q)",
    "SELECT name FROM customers WHERE id = ANY (SELECT customer_id FROM orders)",
    "SELECT name FROM customers WHERE id <> ALL (SELECT customer_id FROM orders)",
    "SELECT name FROM customers WHERE id = ANY (ARRAY(SELECT customer_id FROM orders))",
    "SELECT name FROM customers WHERE id = (SELECT max(customer_id) FROM orders)",
    "SELECT name FROM customers WHERE id = ANY (SELECT unnest(array_agg(customer_id)) FROM orders)",
    "SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)",
    "SELECT name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM (SELECT customer_id x FROM orders) o WHERE x = c.id)",
    "SELECT name FROM customers c WHERE EXISTS (SELECT customer_id FROM orders INTERSECT SELECT c.id)",
    "SELECT id FROM customers INTERSECT SELECT customer_id FROM orders",
    "SELECT id FROM customers EXCEPT ALL SELECT customer_id FROM orders",
    "SELECT name, id FROM customers INTERSECT (SELECT note, customer_id FROM orders UNION SELECT note, 1 FROM orders)",
    "SELECT 1 FROM orders o, customers c WHERE (o.customer_id, o.note) = (c.id, c.name)",
    "SELECT 1 FROM orders o, customers c WHERE ROW(o.customer_id, o.note) = ROW(c.id, c.name)",
    "SELECT 1 FROM orders o WHERE (o.note, o.customer_id) IN (SELECT name, id FROM customers)",
    "SELECT 1 FROM orders o, LATERAL (SELECT id AS x FROM customers) c WHERE o.customer_id = c.x",
    "SELECT 1 FROM orders o, customers c WHERE CASE c.id WHEN o.customer_id THEN true END",
    "SELECT 1 FROM orders o, customers c WHERE nullif(c.id, o.customer_id) IS NULL",
    "SELECT c.id = o.customer_id AS same FROM orders o, customers c",
    "SELECT 1 FROM orders o, customers c WHERE o.customer_id - c.id BETWEEN 0 AND 0",
    "SELECT count(*) FILTER (WHERE o.customer_id = c.id) FROM orders o, customers c",
    "SELECT 1 FROM orders o, customers c GROUP BY o.id HAVING max(o.customer_id) = max(c.id)",
    "WITH RECURSIVE r (x, y) AS (SELECT customer_id, 1 FROM orders UNION ALL SELECT y, x FROM r) "
    "SELECT 1 FROM r JOIN customers c ON c.id = r.y",
    "SELECT 1 FROM (VALUES (1)) v (n), orders o, customers c WHERE o.customer_id + n = c.id + n",
    "SELECT 1 FROM orders o, LATERAL (VALUES (o.customer_id)) v (x) JOIN customers c ON c.id = v.x",
    "SELECT 1 FROM orders o, unnest(ARRAY[o.customer_id]) AS u JOIN customers c ON c.id = u",
    "SELECT 1 FROM (orders o CROSS JOIN customers c) AS j (a, k) WHERE k = j.id",
    "SELECT 1 FROM orders o JOIN customers c ON (o).customer_id = (c).id",
    "SELECT 1 FROM generate_series(1, 9) AS g JOIN orders o ON o.customer_id = g JOIN customers c ON c.id = g",
    "SELECT 1 FROM (VALUES (1), (2)) v (n), orders o, customers c WHERE o.customer_id = v.n AND v.n = c.id",
    "SELECT 1 FROM (SELECT customer_id x FROM orders UNION ALL SELECT 1) a JOIN customers c ON a.x = c.id",
)
APART = (
    "SELECT 1 FROM orders o JOIN customers c ON o.id = c.id",
    "SELECT o.customer_id, c.id FROM orders o, customers c WHERE o.customer_id = 1 AND c.id = 1",
    "SELECT 1 FROM (VALUES (1, 2)) v (n, m), orders o, customers c WHERE o.customer_id = v.n AND v.m = c.id",
    "SELECT concat(o.customer_id, c.id) FROM orders o, customers c WHERE o.note = c.name",
    "WITH a AS (SELECT customer_id AS x, id AS y FROM orders) SELECT a.x FROM a JOIN customers c ON a.y = c.id",
    "SELECT customer_id FROM orders UNION SELECT id FROM customers",
    "SELECT name, id FROM customers INTERSECT SELECT note, id FROM orders",
    "SELECT name FROM customers WHERE name IN (SELECT note FROM orders WHERE customer_id > 5) AND id > 3",
    "SELECT name FROM customers WHERE id > 1 AND EXISTS (SELECT customer_id FROM orders)",
    "SELECT 1 FROM (SELECT customer_id AS x, note AS y FROM orders) a JOIN customers c ON a.y = c.name WHERE c.id = 3",
    "WITH RECURSIVE r (x) AS (SELECT 1 UNION SELECT x + 1 FROM r WHERE x < 5) SELECT 1 FROM r, customers WHERE id = x",
    "SELECT CASE WHEN o.customer_id = 1 THEN c.id END FROM orders o, customers c WHERE o.id = c.id",
)


def guard(*, approved: tuple[tuple[str, str], ...] = ()) -> SqlGuard:
    policy = world_policy(columns=ColumnRules(), joins=JoinRules(need_approval=(JoinRule(left=LEFT, right=RIGHT),)))
    catalog = world()
    known = {**catalog.functions, **dict.fromkeys(("array_agg", "unnest", "max", "nullif"), "immutable")}
    return SqlGuard(policy, catalog.model_copy(update={"functions": known}), approved_joins=approved)


@pytest.mark.parametrize("sql", JOINED)
def test_it_is_found(sql: str) -> None:
    verdict = guard().check(sql)
    assert verdict.code == "join_needs_approval", (verdict.code, verdict.message)
    opened = guard(approved=((RIGHT, LEFT),)).check(sql)
    assert opened.allowed, opened.message


@pytest.mark.parametrize("sql", APART)
def test_others_stay_open(sql: str) -> None:
    verdict = guard().check(sql)
    assert verdict.allowed, verdict.message


@pytest.mark.parametrize(
    "sql",
    [
        "WITH a AS (SELECT customer_id AS x FROM orders) SELECT 1 FROM a JOIN customers c ON a.x = c.id",
        "SELECT name FROM customers WHERE id = ANY (SELECT customer_id FROM orders)",
        "SELECT 1 FROM orders o, customers c WHERE (o.note, o.customer_id) = (c.name, c.id)",
        "SELECT id FROM customers INTERSECT SELECT customer_id FROM orders",
        "SELECT 1 FROM (SELECT customer_id AS id FROM orders) a JOIN customers c USING (id)",
    ],
)
def test_the_statement_tells_what_it_joins_through_derived_tables(sql: str) -> None:
    query = guard(approved=((LEFT, RIGHT),)).check(sql).query
    assert query is not None
    assert (RIGHT, LEFT) in query.derived_joins
    assert (RIGHT, LEFT) not in query.joins


@pytest.mark.parametrize(
    ("sql", "joined"),
    [
        (
            "SELECT 1 FROM (SELECT note AS x FROM orders UNION ALL SELECT token FROM q) a, customers c WHERE x = name",
            {"public.orders.note", "public.order_ids.id"},
        ),
        ("SELECT 1 FROM (SELECT note || customer_id AS x FROM orders, q) a JOIN customers c ON a.x = c.name", set()),
        (
            "SELECT 1 FROM (SELECT upper(note) AS x FROM orders) a JOIN customers c ON a.x = c.name",
            {"public.orders.note"},
        ),
    ],
)
def test_branches_count_and_mixtures_do_not(sql: str, joined: set[str]) -> None:
    query = guard(approved=((LEFT, RIGHT),)).check(f"WITH q AS (SELECT id AS token FROM order_ids) {sql}").query
    assert query is not None
    told = {side for pair in query.derived_joins for side in pair if side != "public.customers.name"}
    assert told == joined


def test_what_is_compared_as_it_stands_is_told_once() -> None:
    query = guard(approved=((LEFT, RIGHT),)).check(JOINED[0]).query
    assert query is not None
    assert (query.joins, query.derived_joins) == (((RIGHT, LEFT),), ())
