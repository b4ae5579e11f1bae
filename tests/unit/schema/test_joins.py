"""Joins that the schema declares or suggests, with a probe that answers from a table."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey, UniqueKey
from rag_core.schema.joins import Join, Overlap, find_joins


def table(name: str, *columns: str, key: tuple[str, ...] = (), **more: Any) -> CatalogTable:
    return CatalogTable(
        schema_name="public",
        name=name,
        columns=tuple(CatalogColumn(name=text.split()[0], type=text.split()[1]) for text in columns),
        **{"keys": (UniqueKey(name="k", columns=key, primary=True),) if key else (), **more},
    )


def catalog(*tables: CatalogTable) -> Catalog:
    return Catalog(dialect="postgres", database="d", taken_at=datetime(2026, 7, 1, tzinfo=UTC), tables=tables)


def all_found(*_: str) -> Overlap:
    return Overlap(sampled=500, matched=500)


CUSTOMERS = table("customers", "id integer", "region_code text", key=("id",))
REGIONS = table("regions", "region_code text", key=("region_code",))


def by_left(joins: tuple[Join, ...]) -> dict[str, Join]:
    return {join.left: join for join in joins}


def test_foreign_key_decides() -> None:
    key = ForeignKey(name="f", columns=("a", "b"), target="public.p", target_columns=("x", "y"))
    child = table("c", "a integer", "b date", foreign_keys=(key,))
    (join,) = find_joins(catalog(child, table("p", "x integer", "y date", key=("x", "y"))))
    assert (join.left, join.right) == ("public.c(a, b)", "public.p(x, y)")
    assert (join.source, join.confidence, join.status) == ("foreign_key", 1.0, "usable")


def test_name_type_key_and_values() -> None:
    visits = table("visits", "customer_id integer", "billing_customer_id bigint", "cust_id text", "note text")
    joins = by_left(find_joins(catalog(CUSTOMERS, visits), all_found))
    assert joins["public.visits.customer_id"].status == "usable"
    assert joins["public.visits.billing_customer_id"].status == "usable"
    assert joins["public.visits.cust_id"].status == "rejected"
    assert "public.visits.note" not in joins


def test_without_a_probe_somebody_must_approve() -> None:
    (join,) = find_joins(catalog(CUSTOMERS, table("visits", "customer_id integer")))
    assert (join.source, join.status) == ("inferred", "needs_approval")
    assert 0.5 < join.confidence < 0.9


def test_values_that_are_not_there_reject() -> None:
    few = find_joins(
        catalog(CUSTOMERS, table("visits", "customer_id integer")), lambda *_: Overlap(sampled=100, matched=3)
    )
    assert few[0].status == "rejected"
    # A name that says it all needs few values; one that says less needs more of them.
    few_values = {
        name: find_joins(
            catalog(CUSTOMERS, table("visits", f"{name} integer")), lambda *_: Overlap(sampled=3, matched=3)
        )[0].status
        for name in ("customer_id", "billing_customer_id", "customer")
    }
    assert few_values == {
        "customer_id": "usable",
        "billing_customer_id": "needs_approval",
        "customer": "needs_approval",
    }


def test_few_codes_tell_more_than_few_numbers() -> None:
    joins = by_left(find_joins(catalog(REGIONS, CUSTOMERS), lambda *_: Overlap(sampled=5, matched=5)))
    assert joins["public.customers.region_code"].status == "usable"


def test_a_key_does_not_refer_to_itself() -> None:
    details = table("customer_details", "customer_id integer", key=("customer_id",))
    joins = find_joins(catalog(CUSTOMERS, details), all_found)
    assert [(join.left, join.right) for join in joins if join.left_table == "public.customers"] == []


def test_target_needs_a_unique_key() -> None:
    loose = table("customers", "id integer")
    assert find_joins(catalog(loose, table("visits", "customer_id integer")), all_found) == ()


def test_two_targets_that_fit_are_for_a_person() -> None:
    archive = CUSTOMERS.model_copy(update={"schema_name": "archive"})
    joins = find_joins(catalog(CUSTOMERS, archive, table("visits", "customer_id integer")), all_found)
    assert {join.status for join in joins if join.left == "public.visits.customer_id"} == {"needs_approval"}


def test_people_and_policy_overrule() -> None:
    whole = catalog(CUSTOMERS, table("visits", "customer_id integer"))
    pair = ("public.visits.customer_id", "public.customers.id")
    assert find_joins(whole, decisions={pair: "approved"})[0].status == "usable"
    assert find_joins(whole, all_found, decisions={pair: "rejected"})[0].status == "rejected"
    assert find_joins(whole, all_found, need_approval=[(pair[1], pair[0])])[0].status == "needs_approval"
    both = find_joins(whole, all_found, need_approval=[pair], decisions={pair: "approved"})
    assert both[0].status == "usable"


def test_an_empty_table_needs_a_name_that_only_one_key_has() -> None:
    orders = table("orders", "order_id integer", key=("order_id",))
    none = Overlap(sampled=0, matched=0)
    joins = by_left(
        find_joins(catalog(orders, CUSTOMERS, table("a", "order_id integer", "customer_id integer")), lambda *_: none)
    )
    assert joins["public.a.order_id"].status == "usable"
    assert joins["public.a.order_id"].confidence >= 0.8
    assert joins["public.a.customer_id"].status == "needs_approval"


def test_a_key_of_several_columns_is_found_whole() -> None:
    orders = table("orders", "order_id integer", "order_date date", key=("order_id", "order_date"))
    lines = table("lines", "order_id integer", "order_date date", "note text")
    months = table("periods", "year integer", "month integer", key=("year", "month"))
    facts = table("facts", "year integer", "month integer")
    joins = find_joins(catalog(orders, lines, months, facts), all_found)
    assert [(join.left, join.right, join.status) for join in joins] == [
        ("public.lines(order_id, order_date)", "public.orders(order_id, order_date)", "usable")
    ]
    (waiting,) = find_joins(catalog(orders, lines))
    assert (waiting.status, waiting.confidence < 0.8) == ("needs_approval", True)


def test_a_copied_name_is_no_second_way_to_join() -> None:
    buyers = table(
        "buyers", "buyer_id integer", "buyer_name text", keys=(
            UniqueKey(name="p", columns=("buyer_id",), primary=True), UniqueKey(name="u", columns=("buyer_name",))
        ),
    )  # fmt: skip
    joins = by_left(find_joins(catalog(buyers, table("sales", "buyer_id integer", "buyer_name text")), all_found))
    assert joins["public.sales.buyer_id"].status == "usable"
    assert joins["public.sales.buyer_name"].status == "needs_approval"


def test_keys_that_no_constraint_declares_are_found_by_name_and_values() -> None:
    tables = (
        table("author", "aid bigint", "name text"),
        table("organization", "name text", "oid bigint"),
        table("writes", "aid bigint", "pid bigint"),
        table("publication", "pid bigint", "title text", "oid bigint"),
    )
    asked: list[tuple[str, str]] = []

    def unique(name: str, column: str) -> bool:
        asked.append((name, column))
        return True

    joins = find_joins(catalog(*tables), all_found, unique=unique)
    assert {(join.left, join.right) for join in joins if join.status == "usable"} == {
        ("public.writes.aid", "public.author.aid"),
        ("public.writes.pid", "public.publication.pid"),
        ("public.publication.oid", "public.organization.oid"),
    }
    assert ("public.writes", "aid") not in asked, "a table that only links others owns no key"
    assert find_joins(catalog(*tables), all_found, unique=lambda *_: False) == ()
    assert find_joins(catalog(*tables), all_found) == ()


def test_prefixes_that_all_names_share_are_looked_past() -> None:
    customer = table("sbcustomer", "sbcustid text", "sbcustname text", key=("sbcustid",))
    deals = table("sbdeal", "sbtxid text", "sbtxcustid text", key=("sbtxid",))
    joins = by_left(find_joins(catalog(customer, deals), all_found))
    assert joins["public.sbdeal.sbtxcustid"].right == "public.sbcustomer.sbcustid"
    assert joins["public.sbdeal.sbtxcustid"].status == "usable"
