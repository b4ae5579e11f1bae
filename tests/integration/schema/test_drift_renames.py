"""Renames that nothing proves: proposed where they are likely, and never taken for granted."""

from __future__ import annotations

import pytest

from tests.integration.schema.conftest import Playground
from tests.integration.schema.test_drift_cases import ORDERS

pytestmark = pytest.mark.integration


def test_probable_rename_needs_confirmation(playground: Playground) -> None:
    playground.run(ORDERS)
    playground.check()
    playground.run(
        "DROP TABLE orders; CREATE TABLE orders (order_id int PRIMARY KEY, customer_id int NOT NULL, "
        "amt numeric(10,2), note varchar(20), placed_on date, paid boolean)"
    )
    change = playground.change()
    assert (change.kind, change.before, change.after) == ("column_renamed", "cust_id", "customer_id")
    assert 0.8 <= change.confidence < 1
    assert [candidate.object for candidate in change.candidates] == ["public.orders.customer_id"]


@pytest.mark.parametrize(
    ("old", "new"),
    [("q1_sales", "q2_sales"), ("sales_2024", "sales_2025"), ("ship_date", "shop_date"), ("address1", "address2")],
)
def test_near_names_are_no_renames(playground: Playground, old: str, new: str) -> None:
    playground.run(f"CREATE TABLE t (id int, {old} numeric, z text)")
    playground.check()
    playground.run(f"DROP TABLE t; CREATE TABLE t (id int, {new} numeric, z text)")
    report = playground.check()
    assert [(change.kind, change.column) for change in report.changes] == [
        ("column_removed", old),
        ("column_added", new),
    ]
    assert not any(change.candidates for change in report.changes)


def test_unproven_rename_with_another_type_is_listed_only(playground: Playground) -> None:
    playground.run("CREATE TABLE t (id int, amt numeric, z text)")
    playground.check()
    playground.run("DROP TABLE t; CREATE TABLE t (id int, amount text, z text)")
    report = playground.check()
    assert [change.kind for change in report.changes] == ["column_removed", "column_added"]
    assert [candidate.object for candidate in report.changes[0].candidates] == ["public.t.amount"]


def test_two_candidates_are_for_a_person(playground: Playground) -> None:
    playground.run("CREATE TABLE t (id int, amt numeric, z text)")
    playground.check()
    playground.run("DROP TABLE t; CREATE TABLE t (id int, amount numeric, amnt numeric, z text)")
    report = playground.check()
    assert sorted(change.kind for change in report.changes) == ["column_added", "column_added", "column_removed"]
    assert {candidate.object for candidate in report.changes[0].candidates} == {"public.t.amount", "public.t.amnt"}


def test_unproven_table_rename(playground: Playground) -> None:
    playground.run("CREATE TABLE mthly_mrgn (id int, month date, revenue numeric, net_margin numeric)")
    playground.check()
    playground.run(
        "DROP TABLE mthly_mrgn; CREATE TABLE monthly_margin (id int, month date, revenue numeric, net_margin numeric)"
    )
    change = playground.change()
    assert (change.kind, change.after) == ("table_renamed", "public.monthly_margin")
    assert 0.8 <= change.confidence < 1
