"""What is known of a schema beyond its catalog: looked up once a schema, kept in the store, within its time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from rag_core.connectors.base import PLAIN, Decoding, Warehouse
from rag_core.datamodel.answer import Usage
from rag_core.datamodel.plan import SqlStep
from rag_core.datamodel.query import GuardedSql, QueryResult
from rag_core.errors import QueryFault, ServiceUnavailable
from rag_core.policy.rules import ColumnMask, ColumnRules, Policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.card_values import CardValueIndex
from rag_core.schema.join_check import JoinCheck
from rag_core.schema.join_probe import decide_join, pick_join
from rag_core.schema.joins import Join, find_joins
from rag_core.schema.knowledge import SchemaKnowledge
from rag_core.schema.lookups import Lookups, TimeBudget, scope_of
from rag_core.semantics.definitions import SemanticModel
from rag_core.workers.sql_worker import SqlThought, SqlWorker
from tests.integration.schema.conftest import Playground

pytestmark = pytest.mark.integration

# The buyer of a visit is a customer, which only half of its name says and no key declares.
WORLD = """
CREATE TABLE customers (customer_id int PRIMARY KEY, country text, secret text);
INSERT INTO customers SELECT g, (ARRAY['Germany', 'France'])[g % 2 + 1], 's' || g % 3 FROM generate_series(1, 50) AS g;
CREATE TABLE orders (order_id int PRIMARY KEY, customer_id int, amount numeric);
INSERT INTO orders SELECT g, g % 50 + 1, g FROM generate_series(1, 200) AS g;
CREATE TABLE visits (visit_id int PRIMARY KEY, client_customer_id int);
INSERT INTO visits SELECT g, g % 90 + 1 FROM generate_series(1, 270) AS g;
"""
POLICY = Policy(version=1, schemas=("public",), columns=ColumnRules(exclude=("public.customers.secret",)))
VISITS = "SELECT count(*) AS n FROM visits v JOIN customers c ON v.client_customer_id = c.customer_id"
ORDERS = "SELECT sum(o.amount) AS n FROM orders o JOIN customers c ON o.customer_id = c.customer_id"


class Watched:
    """A warehouse that counts what is executed, and may fail."""

    def __init__(self, warehouse: Warehouse, fail: Callable[[int], None] | None = None) -> None:
        self._warehouse = warehouse
        self._fail = fail
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._warehouse, name)

    def execute(self, query: GuardedSql) -> QueryResult:
        self.asked.append(query.text)
        if self._fail is not None:
            self._fail(len(self.asked))
        return self._warehouse.execute(query)


def knowledge(
    playground: Playground, policy: Policy = POLICY, *, fail: Callable[[int], None] | None = None, **arguments: Any
) -> tuple[SchemaKnowledge, SqlGuard, Watched]:
    """As a process has it that has just started."""
    watched: Any = Watched(playground.warehouse, fail)
    guard = SqlGuard(policy, playground.warehouse.snapshot())
    given = {"identity": "reader", **arguments}
    return SchemaKnowledge(watched, playground.store, policy=lambda: guard.policy, **given), guard, watched


def test_a_schema_is_looked_up_once_and_by_no_second_process(playground: Playground) -> None:
    playground.run(WORLD)
    first, guard, asked = knowledge(playground)
    known = first.known(guard.visible_catalog, guard.check)
    assert known.values == {"public.customers.country": ("France", "Germany")}
    assert ("public.orders.customer_id", "usable") in [(join.left, join.status) for join in known.joins]
    assert known.left_out == 0
    looks = len(asked.asked)
    assert looks > 2
    assert first.known(guard.visible_catalog, guard.check) == known
    assert len(asked.asked) == looks

    second, other_guard, later = knowledge(playground)
    assert second.known(other_guard.visible_catalog, other_guard.check) == known
    assert later.asked == []


def test_what_is_kept_holds_for_one_policy_one_schema_one_reader_and_one_day(playground: Playground) -> None:
    playground.run(WORLD)
    first, guard, _ = knowledge(playground)
    first.known(guard.visible_catalog, guard.check)
    kept = playground.rows("SELECT subject, found::text FROM nightshift.value_lookup")
    assert kept
    assert not any("secret" in f"{subject} {found}" or "s1" in found for subject, found in kept)

    hidden = POLICY.model_copy(
        update={"columns": ColumnRules(mask=(ColumnMask(column="public.customers.country", replace_with="hidden"),))}
    )
    masked, masked_guard, asked = knowledge(playground, hidden)
    assert "Germany" not in str(masked.known(masked_guard.visible_catalog, masked_guard.check).values)
    assert asked.asked

    other, other_guard, asked = knowledge(playground, identity="somebody else")
    other.known(other_guard.visible_catalog, other_guard.check)
    assert asked.asked

    unnamed, unnamed_guard, asked = knowledge(playground, identity=None)
    count = playground.rows("SELECT count(*) FROM nightshift.value_lookup")
    unnamed.known(unnamed_guard.visible_catalog, unnamed_guard.check)
    assert asked.asked
    assert playground.rows("SELECT count(*) FROM nightshift.value_lookup") == count

    playground.run("ALTER TABLE customers ADD COLUMN segment text DEFAULT 'small'")
    grown, grown_guard, asked = knowledge(playground)
    assert grown.known(grown_guard.visible_catalog, grown_guard.check).values["public.customers.segment"] == ("small",)

    scope = scope_of(guard.visible_catalog, guard.policy, "reader")
    day = datetime.now(UTC) + timedelta(hours=24)
    subject = "public.customers.country"
    assert Lookups(playground.store, scope).get("values", subject) == ["France", "Germany"]
    assert Lookups(playground.store, scope, now=lambda: day).get("values", subject) is None
    late = Lookups(playground.store, scope, now=lambda: day)
    late.put("values", "public.a.b", ["x"])
    late.save()
    assert playground.rows("SELECT subject FROM nightshift.value_lookup") == [("public.a.b",)]


def test_what_there_is_no_time_for_is_left_out_and_read_by_the_next_process(playground: Playground) -> None:
    playground.run(WORLD + "CREATE TABLE shops (shop_name text); INSERT INTO shops VALUES ('Mall'); ANALYZE;")
    late, guard, asked = knowledge(playground, value_seconds=0.0, join_seconds=0.0)
    known = late.known(guard.visible_catalog, guard.check)
    assert (known.values, asked.asked) == ({}, [])
    assert known.left_out >= 3
    assert all(join.status != "usable" for join in known.joins)

    ticks = iter([0.0, 0.0, 9.0, 9.0, 9.0])
    kept = Lookups(playground.store, scope_of(guard.visible_catalog, guard.policy, "reader"))
    index = CardValueIndex(playground.warehouse, guard.check, kept=kept, seconds=5.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rag_core.schema.card_values.TimeBudget", lambda s, **_: TimeBudget(s, clock=lambda: next(ticks)))
        assert index.of(guard.visible_catalog) == {"public.shops.shop_name": ("Mall",)}, "the smallest table is first"
    assert index.left_out == 1

    after, _, later = knowledge(playground)
    known = after.known(guard.visible_catalog, guard.check)
    assert set(known.values) == {"public.customers.country", "public.shops.shop_name"}
    assert known.left_out == 0
    assert not any("shop_name" in text and "card_value" in text for text in later.asked)


def test_no_more_statements_are_made_than_are_allowed(playground: Playground) -> None:
    playground.run(WORLD + "CREATE TABLE shops (shop_name text); INSERT INTO shops VALUES ('Mall');")
    few, guard, asked = knowledge(playground, looks=1)
    known = few.known(guard.visible_catalog, guard.check)
    assert (len(known.values), len(asked.asked)) == (1, 2), "one for values, one for joins"
    assert known.left_out >= 2


@pytest.mark.parametrize("fault", [ServiceUnavailable("gone"), QueryFault("transient", "try later")])
def test_a_warehouse_that_fails_costs_what_is_not_read_and_keeps_nothing_wrong(
    playground: Playground, fault: Exception
) -> None:
    def fail(_: int) -> None:
        raise fault

    playground.run(WORLD)
    broken, guard, asked = knowledge(playground, fail=fail)
    known = broken.known(guard.visible_catalog, guard.check)
    assert known.values == {}
    assert known.left_out >= 1
    if isinstance(fault, ServiceUnavailable):
        assert len(asked.asked) == 2, "one of the values, one of the joins: then it is known to be gone"
    assert playground.rows("SELECT * FROM nightshift.value_lookup") == []


def test_a_join_below_the_bound_is_refused_until_somebody_approves_it(playground: Playground) -> None:
    playground.run(WORLD)
    schema, guard, _ = knowledge(playground)
    catalog = guard.visible_catalog
    query = guard.check(VISITS).query
    assert query is not None
    join = pick_join(
        schema.known(catalog, guard.check).joins, "public.visits.client_customer_id", "public.customers.customer_id"
    )
    assert (join.status, join.confidence < 0.8) == ("needs_approval", True)
    with pytest.raises(QueryFault) as waiting:
        schema.require(query, catalog, guard.check)
    assert waiting.value.code == "join_needs_approval"
    command = "nightshift schema approve-join public.visits.client_customer_id public.customers.customer_id"
    assert command in waiting.value.message

    decide_join(playground.store, catalog, join, "approved", actor="ann")
    schema.require(query, catalog, guard.check)
    assert "usable" in {
        found.status for found in schema.known(catalog, guard.check).joins if found.left == join.left
    }, "the card tells it from now on"
    decide_join(playground.store, catalog, join, "rejected", actor="ann")
    with pytest.raises(QueryFault) as refused:
        schema.require(query, catalog, guard.check)
    assert refused.value.code == "join_rejected"

    sure = guard.check(ORDERS).query
    assert sure is not None
    schema.require(sure, catalog, guard.check)


def test_a_join_of_a_statement_is_looked_up_where_there_was_no_time_for_the_schema(playground: Playground) -> None:
    playground.run(WORLD)
    schema, guard, asked = knowledge(playground, value_seconds=0.0, join_seconds=0.0)
    catalog = guard.visible_catalog
    for sql, code in ((ORDERS, None), (VISITS, "join_needs_approval")):
        query = guard.check(sql).query
        assert query is not None
        if code is None:
            schema.require(query, catalog, guard.check)
        else:
            with pytest.raises(QueryFault) as caught:
                schema.require(query, catalog, guard.check)
            assert caught.value.code == code
    joins = {join.left: join for join in schema.known(catalog, guard.check).joins}
    assert joins["public.orders.customer_id"].overlap is not None
    assert joins["public.visits.client_customer_id"].overlap is not None
    query = guard.check(ORDERS).query
    assert query is not None
    schema.require(query, catalog, guard.check)
    looks = len(asked.asked)
    schema.require(query, catalog, guard.check)
    assert len(asked.asked) == looks


def test_a_persons_rejection_stands_above_a_key_and_above_the_other_direction(playground: Playground) -> None:
    playground.run(WORLD + "ALTER TABLE orders ADD FOREIGN KEY (customer_id) REFERENCES customers;")
    catalog = playground.warehouse.snapshot()
    guard = SqlGuard(Policy(version=1, schemas=("public",)), catalog)
    query = guard.check(ORDERS).query
    assert query is not None
    pair = ("public.orders.customer_id", "public.customers.customer_id")

    def kind(known: list[Join]) -> str | None:
        fault = JoinCheck(playground.warehouse, guard.check, catalog, known).fault(query)
        return fault.kind if fault is not None else None

    (declared,) = [join for join in find_joins(catalog) if join.left == pair[0]]
    weak = declared.model_copy(update={"source": "inferred", "status": "needs_approval", "confidence": 0.5})
    assert kind([declared]) is None
    assert kind([weak]) is None, "the key stands above what names suggest"
    assert kind([join for join in find_joins(catalog, decisions={pair: "rejected"}) if join.left == pair[0]]) == (
        "rejected"
    )


class Scripted:
    """A chat model that keeps its prompts."""

    model_id = "scripted"

    def __init__(self, sql: str) -> None:
        self.sql = sql
        self.prompts: list[str] = []

    def complete(self, system: str, user: str, schema: type, decoding: Decoding = PLAIN) -> tuple[Any, Usage]:
        self.prompts.append(user)
        return SqlThought(sql_query=self.sql, explanation="", confidence=0.9), Usage(model_calls=1)


def test_the_model_sees_values_and_joins_and_its_unapproved_join_is_a_fault(playground: Playground) -> None:
    playground.run(WORLD)
    schema, guard, _ = knowledge(playground)
    catalog = guard.visible_catalog
    model: Any = Scripted(VISITS)
    worker = SqlWorker(
        warehouse=playground.warehouse,
        guard=guard,
        catalog=catalog,
        semantic_model=SemanticModel(version=1, entities={}, time_dimensions={}, dimensions={}, metrics={}),
        chat_model=model,
        check_joins=lambda query: schema.require(query, catalog, guard.check),
        known=lambda: schema.known(catalog, guard.check),
    )
    step = SqlStep(step_id="s", task="amount of orders in Germany")
    outcome, _ = worker.run(step, run_date=date(2026, 7, 1))
    assert "'Germany'" in model.prompts[0]
    assert "orders.customer_id = customers.customer_id" in model.prompts[0]
    assert "client_customer_id = " not in model.prompts[0], "what nobody approved is not proposed"
    assert outcome.fault is not None
    assert (outcome.fault.code, outcome.fault.fault_class) == ("join_needs_approval", "policy")
    model.sql = ORDERS
    outcome, _ = worker.run(step, run_date=date(2026, 7, 1))
    assert outcome.sql is not None
