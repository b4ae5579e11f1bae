"""Batch files follow renames where a question names a column, and only there."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from rag_core.batch.definition import load_batch
from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.schema.patch_batch import propose_batch_patch
from rag_core.schema.renames import Renames
from rag_core.schema.rewrite import RepairFault

BATCH = """\
# Who reads this: management.
title: Margins
owner: finance
questions:
  - question_id: margin   # asked since 2024
    text: "What was the sum of profit_margin by region last quarter?"
    headline: profit_margin
    expectations:
      - {kind: not_null, column: profit_margin}
      - {kind: bounds, column: region, min: 1}
  - question_id: qualified
    text: Show margins.profit_margin and public.margins.profit_margin of May.
  - question_id: words
    text: What was the profit margin last quarter?
    headline: profit_margin
  - question_id: elsewhere
    text: How many rows does old_orders have?
"""
RENAMES = Renames(
    tables={"public.old_orders": "sales.orders_all"}, columns={("public.margins", "profit_margin"): "net_margin"}
)


def _table(schema: str, name: str, *columns: str) -> CatalogTable:
    return CatalogTable(
        schema_name=schema, name=name, columns=tuple(CatalogColumn(name=column, type="text") for column in columns)
    )


def _catalog(*tables: CatalogTable) -> Catalog:
    return Catalog(dialect="postgres", database="d", taken_at=datetime(2026, 7, 1, tzinfo=UTC), tables=tables)


NOW = _catalog(_table("public", "margins", "net_margin", "region"), _table("sales", "orders_all", "id"))


def test_text_headline_and_expectations_follow_and_the_rest_stays(tmp_path: Path) -> None:
    patch = propose_batch_patch(BATCH, RENAMES, now=NOW, name="margins.yaml")
    assert patch.faults == ()
    assert patch.text == (
        BATCH.replace("sum of profit_margin", "sum of net_margin")
        .replace("    headline: profit_margin\n    expectations", "    headline: net_margin\n    expectations")
        .replace("column: profit_margin", "column: net_margin")
        .replace("margins.profit_margin", "margins.net_margin")
        .replace("old_orders", "orders_all")
    )
    assert "-    text: How many rows does old_orders have?" in patch.diff
    assert ("questions.margin.headline", "profit_margin", "net_margin") in patch.edits
    path = tmp_path / "margins.yaml"
    path.write_text(patch.text, encoding="utf-8")
    assert load_batch(path).questions[0].headline == "net_margin"


def test_question_that_says_a_metric_does_not_mean_the_column() -> None:
    patch = propose_batch_patch(BATCH, RENAMES, now=NOW, known={"profit_margin"})
    assert {key for key, _, _ in patch.edits} == {"questions.qualified.text", "questions.elsewhere.text"}


def test_name_that_another_table_still_has_is_for_a_person() -> None:
    other = _catalog(*NOW.tables, _table("public", "plans", "profit_margin"))
    patch = propose_batch_patch(BATCH, RENAMES, now=other)
    assert [key for key, _ in patch.faults] == ["questions.margin.text"]
    assert "profit_margin by region" in patch.text
    assert "margins.net_margin" in patch.text  # with its table it is certain


def test_two_things_of_one_name_are_for_a_person() -> None:
    renames = Renames({}, {("public.a", "amt_eur"): "amount", ("public.b", "amt_eur"): "total"})
    text = "title: t\nowner: o\nquestions:\n  - {question_id: q, text: Sum of amt_eur}\n"
    patch = propose_batch_patch(text, renames, now=_catalog())
    assert (patch.edits, patch.diff) == ((), "")
    assert "not the name of one thing only" in patch.faults[0][1]


def test_nothing_renamed_changes_nothing() -> None:
    assert propose_batch_patch(BATCH, Renames({}, {}), now=NOW).diff == ""


@pytest.mark.parametrize("text", ["- a\n", "title: [", "title: t\n"])
def test_what_is_no_batch_file_is_said_so(text: str) -> None:
    with pytest.raises(RepairFault):
        propose_batch_patch(text, RENAMES, now=NOW, name="broken.yaml")


def test_shipped_batches_ask_in_plain_words(repo_root: Path) -> None:
    for path in sorted((repo_root / "config" / "batches").glob("*.yaml")):
        renames = Renames({}, {("public.monthly_margins", "net_margin"): "net_result"})
        assert propose_batch_patch(path.read_text(encoding="utf-8"), renames, now=NOW).diff == ""
