"""Joins are looked at before anybody answers from them, with values of a real PostgreSQL."""

from __future__ import annotations

import pytest

from rag_core.errors import QueryFault
from rag_core.policy.rules import Policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.join_check import JoinCheck
from rag_core.schema.join_probe import WarehouseProbe
from rag_core.schema.joins import find_joins
from tests.integration.schema.conftest import Playground

pytestmark = pytest.mark.integration

WORLD = """
CREATE TABLE customers (customer_id int PRIMARY KEY, region text, code text);
INSERT INTO customers SELECT g, 'r' || g % 3, 'c' || g FROM generate_series(1, 50) AS g;
CREATE TABLE orders (order_id int PRIMARY KEY, customer_id int REFERENCES customers, amount numeric);
INSERT INTO orders SELECT g, g % 50 + 1, g FROM generate_series(1, 200) AS g;
CREATE TABLE visits (visit_id int PRIMARY KEY, customer_id int, region text, customer_code text, shop text);
INSERT INTO visits SELECT g, g % 50 + 1, 'r' || g % 3, 'c' || (g % 50 + 1), 's' || g FROM generate_series(1, 90) AS g;
CREATE TABLE prices (item int, day date, price numeric);
INSERT INTO prices SELECT g % 10, date '2026-01-01' + g / 10, g FROM generate_series(0, 99) AS g;
CREATE TABLE sales (item int, day date, count int);
INSERT INTO sales SELECT g % 10, date '2026-01-01' + g / 10, 1 FROM generate_series(0, 99) AS g;
"""


@pytest.fixture
def check(playground: Playground) -> tuple[SqlGuard, JoinCheck]:
    playground.run(WORLD)
    catalog = playground.warehouse.snapshot()
    guard = SqlGuard(Policy(version=1, schemas=("public",)), catalog)
    probe = WarehouseProbe(playground.warehouse, guard.check, catalog)
    return guard, JoinCheck(playground.warehouse, guard.check, catalog, find_joins(catalog, probe, unique=probe.unique))


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("SELECT 1 FROM orders o JOIN customers c ON c.customer_id = o.customer_id", None),
        ("SELECT 1 FROM orders o JOIN customers c USING (customer_id)", None),
        ("SELECT 1 FROM visits v JOIN customers c ON c.customer_id = v.customer_id", None),
        ("SELECT 1 FROM sales s JOIN prices p ON s.item = p.item AND s.day = p.day", None),
        ("SELECT 1 FROM customers WHERE code IN (SELECT customer_code FROM visits)", None),
        ("SELECT region, count(*) FROM customers GROUP BY region", None),
        ("SELECT sum(p.price) FROM sales s JOIN prices p ON s.item = p.item", "fan_out"),
        ("SELECT DISTINCT s.item FROM sales s JOIN prices p ON s.item = p.item", None),
        ("SELECT count(DISTINCT s.day) FROM sales s JOIN prices p ON s.item = p.item", None),
        ("SELECT count(*) FROM visits v JOIN customers c ON v.region = c.region", "fan_out"),
        ("SELECT avg(amount) FROM orders o JOIN visits v USING (customer_id)", "fan_out"),
        ("SELECT 1 FROM visits v JOIN customers c ON v.shop = c.code", "empty"),
        ("SELECT 1 FROM visits v JOIN customers c ON v.customer_code::int = c.customer_id", None),
        ("SELECT 1 FROM visits v JOIN sales s ON v.shop = s.item", "type_mismatch"),
        ("SELECT count(*) FROM visits v JOIN customers c ON lower(v.region) = lower(c.region)", "fan_out"),
        ("SELECT count(*) FROM visits v JOIN customers c ON upper(v.customer_code) = upper(c.code)", None),
        ("SELECT 1 FROM visits v JOIN customers c ON v.customer_code = c.customer_id::text", "empty"),
        ("SELECT 1 FROM visits v JOIN customers c ON v.customer_code = 'c' || c.customer_id", None),
        ("SELECT count(*) FROM visits v JOIN customers c ON left(v.customer_code, 1) = left(c.code, 1)", "fan_out"),
        ("SELECT 1 FROM visits v, customers c WHERE trim(v.shop) = c.code", "empty"),
        ("SELECT sum(o.amount) FROM orders o JOIN customers c ON o.customer_id::text = c.customer_id::text", None),
        ("SELECT sum(p.price) FROM sales s JOIN prices p ON s.item = p.item AND s.day::text = p.day::text", None),
    ],
)
def test_what_is_wrong_with_a_join_is_told(check: tuple[SqlGuard, JoinCheck], sql: str, kind: str | None) -> None:
    guard, joins = check
    query = guard.check(sql).query
    assert query is not None
    fault = joins.fault(query)
    assert (fault.kind if fault is not None else None) == kind
    if fault is not None:
        with pytest.raises(QueryFault) as caught:
            joins.require(query)
        assert (caught.value.code, caught.value.message) == ("join", fault.message)
        assert "\n" not in fault.message


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM visits v JOIN customers c ON c.customer_id = v.customer_id",
        "WITH v AS (SELECT customer_id AS x FROM visits) SELECT 1 FROM v JOIN customers c ON c.customer_id = v.x",
        "SELECT 1 FROM customers WHERE customer_id = ANY (SELECT customer_id FROM visits)",
        "SELECT customer_id FROM customers INTERSECT SELECT customer_id FROM visits",
    ],
)
def test_what_people_rejected_or_have_not_approved_is_not_used(playground: Playground, sql: str) -> None:
    playground.run(WORLD)
    catalog = playground.warehouse.snapshot()
    guard = SqlGuard(Policy(version=1, schemas=("public",)), catalog)
    query = guard.check(sql).query
    assert query is not None
    pair = ("public.visits.customer_id", "public.customers.customer_id")
    unlooked = find_joins(catalog)
    waiting = [join.model_copy(update={"confidence": 0.7}) for join in unlooked if join.left == pair[0]]
    kinds = []
    for known in (
        waiting,
        find_joins(catalog, decisions={pair: "rejected"}),
        find_joins(catalog, decisions={pair: "approved"}),
    ):
        fault = JoinCheck(playground.warehouse, guard.check, catalog, known).fault(query)
        kinds.append(fault.kind if fault is not None else None)
    assert kinds == ["needs_approval", "rejected", None]


def test_values_are_looked_at_once(check: tuple[SqlGuard, JoinCheck], monkeypatch: pytest.MonkeyPatch) -> None:
    guard, joins = check
    asked: list[str] = []
    execute = joins._warehouse.execute
    monkeypatch.setattr(joins._warehouse, "execute", lambda query: (asked.append(query.text), execute(query))[1])
    query = guard.check("SELECT count(*) FROM sales s JOIN prices p ON s.item = p.item").query
    assert query is not None
    assert [joins.fault(query) is not None for _ in range(3)] == [True, True, True]
    assert len(asked) == 1
    assert asked[0].count("LIMIT 20000") == 2


@pytest.mark.parametrize(
    "sql",
    [
        "WITH s AS (SELECT item, sum(count) AS n FROM sales GROUP BY item), "
        "p AS (SELECT item, avg(price) AS price FROM prices GROUP BY item) "
        "SELECT sum(n * price) FROM s JOIN p USING (item)",
        "SELECT 1 FROM visits v JOIN (SELECT 's' || item AS shop FROM sales) s ON s.shop = v.shop",
    ],
)
def test_values_of_derived_tables_are_not_judged_by_those_of_their_columns(
    check: tuple[SqlGuard, JoinCheck], sql: str
) -> None:
    guard, joins = check
    query = guard.check(sql).query
    assert query is not None
    assert query.derived_joins
    assert joins.fault(query) is None
