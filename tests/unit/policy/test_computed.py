"""Which generated columns give a hidden one away."""

from __future__ import annotations

import pytest

from rag_core.datamodel.catalog import CatalogColumn, CatalogTable, TableKind
from rag_core.policy.computed import computed_columns
from rag_core.policy.names import name_rules


def table(kind: TableKind = "table", **expressions: str | None) -> CatalogTable:
    """A table with the plain columns total, note and VALUE and the generated ones given."""
    plain = (CatalogColumn(name=name, type="int") for name in ("total", "note", "VALUE"))
    generated = (
        CatalogColumn(name=name, type="int", generated=True, default=text) for name, text in expressions.items()
    )
    return CatalogTable(schema_name="s", name="t", kind=kind, columns=(*plain, *generated))


@pytest.mark.parametrize(
    ("dialect", "expression", "tells"),
    [
        ("postgres", "(total * 1)", True),
        ("postgres", '("total" * 1)', True),
        ("postgres", '("Total" * 1)', False),
        ("duckdb", 'CAST((TOTAL * 2) AS INTEGER)', True),
        ("postgres", "COALESCE(note, CASE WHEN true THEN (total)::text ELSE ''::text END)", True),
        ("postgres", "('total'::text || note)", False),
        ("postgres", "total(note)", False),
        ("postgres", "(note)::total", False),
        ("postgres", "note IS DISTINCT OF (total", True),
        ("postgres", "note 'total' IS DISTINCT OF (", False),
        ("postgres", None, True),
        ("bigquery", "AI.EMBED(total, connection_id => 'x')", True),
    ],
)  # fmt: skip
def test_what_an_expression_reads(dialect: str, expression: str | None, tells: bool) -> None:
    found = computed_columns(table(made=expression), {"total"}, name_rules(dialect))
    assert found == ({"made"} if tells else set())


def test_through_others_and_only_while_something_is_hidden() -> None:
    made = table(a="(b + 1)", b="(c + 1)", c="(total + 1)", d="(note + 1)", e="(a + d)")
    rules = name_rules("postgres")
    assert computed_columns(made, {"total"}, rules) == {"a", "b", "c", "e"}
    assert computed_columns(made, {"total"}, rules, shown={"b"}) == {"c"}
    assert computed_columns(made, (), rules) == set()


def test_the_whole_record_of_an_external_table_tells_its_parts() -> None:
    rules = name_rules("snowflake")
    assert computed_columns(table("foreign_table"), {"total"}, rules) == {"VALUE"}
    assert computed_columns(table("foreign_table"), {"total"}, rules, shown={"VALUE"}) == set()
    assert computed_columns(table("table"), {"total"}, rules) == set()
