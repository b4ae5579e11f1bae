"""The comparison of two snapshots, without a database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey, UniqueKey
from rag_core.datamodel.drift import Change, ChangeKind, DriftRules
from rag_core.schema.change import SEVERITIES, ChangeMaker, change_id
from rag_core.schema.diff import diff_catalogs, matches, proven_renames
from rag_core.schema.pairs import RenameDecisions
from rag_core.schema.renames import Renames, chain_renames, undo_renames


def table(name: str, *columns: str, **more: Any) -> CatalogTable:
    """A table of columns given as `name type`."""
    schema_name, _, bare = name.rpartition(".")
    return CatalogTable(
        schema_name=schema_name or "public",
        name=bare,
        columns=tuple(
            CatalogColumn(name=text.split()[0], type=text.split()[1], position=place)
            for place, text in enumerate(columns, 1)
        ),
        **more,
    )


def catalog(*tables: CatalogTable, dialect: str = "postgres", **more: Any) -> Catalog:
    return Catalog(dialect=dialect, database="d", taken_at=datetime(2026, 7, 1, tzinfo=UTC), tables=tables, **more)


def found(before: Catalog, after: Catalog, **more: Any) -> list[tuple[str, str]]:
    return [(change.kind, change.object) for change in diff_catalogs(before, after, **more)]


def test_equal_snapshots() -> None:
    one = catalog(table("t", "a integer", object_id=1, row_estimate=5))
    other = catalog(table("t", "a integer", object_id=9, row_estimate=7))
    assert diff_catalogs(one, other) == ()


def test_incomplete_snapshots_are_never_compared() -> None:
    whole, part = catalog(table("t", "a integer")), catalog(complete=False, reason="timeout")
    with pytest.raises(ValueError, match="incomplete"):
        diff_catalogs(whole, part)
    with pytest.raises(ValueError, match="incomplete"):
        diff_catalogs(part, whole)


def test_every_kind_has_a_severity() -> None:
    assert set(SEVERITIES.values()) == {"breaking", "risky", "compatible", "cosmetic"}
    assert set(DriftRules(severities=dict.fromkeys(SEVERITIES, "cosmetic")).severities) == set(SEVERITIES)


def test_gravest_first_and_the_same_every_time() -> None:
    before = catalog(table("t", "a integer", "b text", object_id=1), table("u", "x date"))
    after = catalog(table("t", "a text", "b text", "c date", object_id=1))
    changes = diff_catalogs(before, after)
    assert [change.severity for change in changes] == ["breaking", "breaking", "compatible"]
    assert changes == diff_catalogs(before, catalog(*reversed(after.tables)))


def test_change_id_is_a_fingerprint_of_the_difference() -> None:
    before, after = catalog(table("t", "a integer")), catalog(table("t", "a text"))
    (change,) = diff_catalogs(before, after)
    assert change.change_id == change_id("public.t.a", "type_changed", "integer", "text")
    assert change.change_id != change_id("public.t.a", "type_changed", "text", "integer")


def test_proof_needs_a_database_whose_numbers_last() -> None:
    before, after = table("t", "amt numeric", object_id=1), table("t", "zzz numeric", object_id=1)
    assert found(catalog(before), catalog(after)) == [("column_renamed", "public.t.amt")]
    kinds = [kind for kind, _ in found(catalog(before, dialect="snowflake"), catalog(after, dialect="snowflake"))]
    assert kinds == ["column_removed", "column_added"]


def test_probable_rename_has_less_than_full_confidence() -> None:
    before = catalog(table("t", "id integer", "amt numeric", "z text"), dialect="snowflake")
    after = catalog(table("t", "id integer", "amount numeric", "z text"), dialect="snowflake")
    (change,) = diff_catalogs(before, after)
    assert (change.kind, change.before, change.after) == ("column_renamed", "amt", "amount")
    assert 0.8 <= change.confidence < 1
    assert proven_renames([change]).empty


def test_a_column_that_is_still_there_is_no_source_of_a_rename() -> None:
    before = catalog(table("t", "amt numeric"), dialect="duckdb")
    after = catalog(table("t", "amt numeric", "amount numeric"), dialect="duckdb")
    assert found(before, after) == [("column_added", "public.t.amount")]


def test_people_decide_renames() -> None:
    before = catalog(table("t", "id integer", "amt numeric"), dialect="duckdb")
    after = catalog(table("t", "id integer", "amount numeric", "sum_total numeric"), dialect="duckdb")
    refused = RenameDecisions(refused=(("public.t.amt", "public.t.amount"),))
    assert ("column_removed", "public.t.amt") in found(before, after, decisions=refused)
    confirmed = RenameDecisions(confirmed=(("public.t.amt", "public.t.sum_total"),))
    renamed = next(
        change for change in diff_catalogs(before, after, decisions=confirmed) if change.kind == "column_renamed"
    )
    assert (renamed.after, renamed.confidence) == ("sum_total", 1.0)


def test_probable_table_rename() -> None:
    columns = ("id integer", "month date", "net_margin numeric", "region text")
    before, after = catalog(table("mthly_margins", *columns)), catalog(table("monthly_margins", *columns))
    (change,) = diff_catalogs(before, after)
    assert (change.kind, change.after) == ("table_renamed", "public.monthly_margins")
    assert change.confidence < 1


def test_yearly_table_is_no_rename() -> None:
    columns = ("id integer", "amount numeric")
    kinds = found(catalog(table("sales_2024", *columns)), catalog(table("sales_2025", *columns)))
    assert kinds == [("table_removed", "public.sales_2024"), ("table_added", "public.sales_2025")]


def test_names_with_dots_are_told_apart() -> None:
    one = CatalogTable(schema_name="a.b", name="c", columns=(CatalogColumn(name="x", type="text"),))
    other = CatalogTable(schema_name="a", name="b.c", columns=(CatalogColumn(name="x", type="text"),))
    assert diff_catalogs(catalog(one, other), catalog(one, other)) == ()


def test_closed_schema_is_lost_access() -> None:
    before = catalog(table("sales.t", "a integer"), table("public.u", "a integer"))
    after = catalog(table("public.u", "a integer"), closed_schemas=("sales",))
    assert found(before, after) == [("access_lost", "sales.t")]
    assert found(after, before) == [("access_gained", "sales.t")]


def test_renamed_columns_are_followed_in_keys_and_references() -> None:
    def both(column: str, key: str) -> Catalog:
        parent = table(
            "p", f"{key} integer", object_id=1, keys=(UniqueKey(name="p_pkey", columns=(key,), primary=True),)
        )
        reference = ForeignKey(name="f", columns=(column,), target="public.p", target_columns=(key,))
        return catalog(parent, table("t", f"{column} integer", object_id=2, foreign_keys=(reference,)))

    kinds = found(both("p_id", "id"), both("parent_id", "pid"))
    assert kinds == [("column_renamed", "public.p.id"), ("column_renamed", "public.t.p_id")]


@pytest.mark.parametrize(
    ("before", "after", "severity"),
    [(("a",), ("a", "b"), "breaking"), (("a", "b"), ("a",), "compatible"), (("a",), ("b",), "breaking")],
)
def test_primary_key(before: tuple[str, ...], after: tuple[str, ...], severity: str) -> None:
    def of(columns: tuple[str, ...]) -> Catalog:
        key = UniqueKey(name="k", columns=columns, primary=True)
        return catalog(table("t", "a integer", "b integer", keys=(key,)))

    (change,) = diff_catalogs(of(before), of(after))
    assert (change.kind, change.severity) == ("primary_key_changed", severity)


def test_redundant_unique_key_may_go() -> None:
    wide, narrow = UniqueKey(name="w", columns=("a", "b")), UniqueKey(name="n", columns=("a",))
    before = catalog(table("t", "a integer", "b integer", keys=(wide, narrow)))
    after = catalog(table("t", "a integer", "b integer", keys=(narrow,)))
    assert diff_catalogs(before, after) == ()


def test_enum_under_another_name_with_the_same_values() -> None:
    def of(name: str) -> Catalog:
        column = CatalogColumn(name="m", type=name, enum_labels=("a", "b"))
        return catalog(CatalogTable(schema_name="public", name="t", columns=(column,)))

    (change,) = diff_catalogs(of("public.mood"), of("public.feeling"))
    assert (change.kind, change.severity) == ("type_changed", "compatible")


def test_patterns() -> None:
    assert matches("Public.Load_TMP", ("*.*_tmp",))
    assert not matches("public.load", ("*.*_tmp",))
    assert not matches("public.load", ())
    assert matches("public.t._dlt_id", ("*.*._dlt_*",))


def renamed(kind: ChangeKind, where: str, before: str, after: str) -> Change:
    column = before if kind == "column_renamed" else None
    return ChangeMaker(DriftRules()).make(kind, where, column, before=before, after=after)


def test_renames_of_several_days_are_one_step() -> None:
    days = [
        [renamed("column_renamed", "public.t", "a", "b")],
        [renamed("table_renamed", "public.t", "public.t", "public.u")],
        [renamed("column_renamed", "public.u", "b", "c"), renamed("column_renamed", "public.u", "x", "y")],
        [renamed("column_renamed", "public.u", "y", "x")],
    ]
    now = catalog(table("u", "c integer", "x text"))
    renames = chain_renames(days, now)
    assert renames.tables == {"public.t": "public.u"}
    assert {name: new for name, new in renames.columns.items() if new == "c"} == {
        ("public.t", "a"): "c",
        ("public.t", "b"): "c",
        ("public.u", "b"): "c",
    }
    assert ("public.u", "x") not in renames.columns
    earlier = undo_renames(now, Renames({"public.t": "public.u"}, {("public.t", "a"): "c"}))
    assert [item.qualified_name for item in earlier.tables] == ["public.t"]
    assert [column.name for column in earlier.tables[0].columns] == ["a", "x"]


def test_renames_at_once_are_not_chained() -> None:
    day = [renamed("column_renamed", "public.t", "a", "b"), renamed("column_renamed", "public.t", "b", "c")]
    renames = chain_renames([day], catalog(table("t", "b integer", "c integer")))
    # `a` has not become `c`; nor is it followed to `b`, which was another column when older statements were written.
    assert renames.columns == {}


def test_renames_that_the_schema_does_not_bear_out_are_left_out() -> None:
    days = [[renamed("column_renamed", "public.t", "a", "b")]]
    assert chain_renames(days, catalog(table("t", "a integer", "b integer"))).empty
    assert chain_renames(days, catalog(table("t", "z integer"))).empty
