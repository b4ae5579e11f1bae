"""Folding, quoting and near misses."""

from __future__ import annotations

import pytest

from rag_core.policy.names import asked_back, name_rules, near_misses, similarity


@pytest.mark.parametrize(
    ("dialect", "written", "quoted", "key"),
    [
        ("postgres", "OrderItem", False, "orderitem"),
        ("postgres", "OrderItem", True, "OrderItem"),
        ("postgres", "GRÖSSE", False, "grÖsse"),
        ("snowflake", "OrderItem", False, "ORDERITEM"),
        ("snowflake", "orderitem", True, "orderitem"),
        ("bigquery", "OrderItem", True, "orderitem"),
        ("duckdb", "OrderItem", True, "orderitem"),
    ],
)
def test_names_are_compared_as_the_database_does(dialect: str, written: str, quoted: bool, key: str) -> None:
    assert name_rules(dialect).key(written, quoted=quoted) == key


@pytest.mark.parametrize(
    ("dialect", "name", "written"),
    [
        ("postgres", "orders", "orders"),
        ("postgres", "OrderItem", '"OrderItem"'),
        ("postgres", "order", '"order"'),
        ("postgres", "user", '"user"'),
        ("postgres", "two words", '"two words"'),
        ("postgres", 'say "hi"', '"say ""hi"""'),
        ("postgres", "größe", '"größe"'),
        ("snowflake", "ORDERS", "ORDERS"),
        ("snowflake", "orders", '"orders"'),
        ("bigquery", "sbCustomer", "sbCustomer"),
        ("bigquery", "two words", "`two words`"),
    ],
)
def test_names_are_quoted_where_they_have_to_be(dialect: str, name: str, written: str) -> None:
    assert name_rules(dialect).written(name) == written


@pytest.mark.parametrize(
    ("left", "right", "at_least", "at_most"),
    [
        ("orders", "orders", 1.0, 1.0),
        ("OrderItem", "order_item", 1.0, 1.0),
        ("customer", "customers", 0.9, 0.99),
        ("custmer_id", "customer_id", 0.8, 0.99),
        ("order_total", "total_order", 0.6, 0.99),
        ("orders", "headcount", 0.0, 0.5),
        ("", "orders", 0.0, 0.0),
    ],
)
def test_similarity(left: str, right: str, at_least: float, at_most: float) -> None:
    score = similarity(left, right)
    assert at_least <= score <= at_most
    assert similarity(right, left) == pytest.approx(score, abs=0.15)


def test_near_misses_come_best_first_and_the_same_every_time() -> None:
    known = [(name, f"public.{name}") for name in ("orders", "order_lines", "customers", "regions", "ordersheet")]
    found = near_misses("ordres", known)
    assert found[0].name == "public.orders"
    assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)
    assert found == near_misses("ordres", list(reversed(known)))
    assert asked_back(found) == "; did you mean public.orders?"
    assert asked_back(near_misses("zzz", known)) == ""
