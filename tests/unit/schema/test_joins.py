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
        keys=(UniqueKey(name="k", columns=key, primary=True),) if key else (),
        **more,
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
    unsure = find_joins(
        catalog(CUSTOMERS, table("visits", "customer_id integer")), lambda *_: Overlap(sampled=3, matched=3)
    )
    assert unsure[0].status == "needs_approval"


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
