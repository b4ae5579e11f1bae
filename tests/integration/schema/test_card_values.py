"""Values of columns lead to their tables, on the sample warehouse through the guard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.connectors.base import Warehouse
from rag_core.connectors.warehouses import open_warehouse
from rag_core.policy.rules import ColumnMask, ColumnRules, load_policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.card import build_card
from rag_core.schema.card_choice import score_tables
from rag_core.schema.card_values import CardValueIndex, read_card_values

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def sample(reader_dsn: str) -> Iterator[Warehouse]:
    warehouse = open_warehouse(reader_dsn)
    yield warehouse
    warehouse.close()


def test_a_country_leads_to_the_column_that_holds_it(sample: Warehouse, repo_root: Path) -> None:
    guard = SqlGuard(load_policy(repo_root / "config" / "schema_policy.yaml"), sample.snapshot())
    catalog = guard.visible_catalog
    values = read_card_values(catalog, sample, guard.check)
    assert "Germany" in values["public.countries.country_name"]
    question = "How much was sold in Germany?"
    assert score_tables(question, catalog.tables, values)[0].table.name == "countries"
    assert score_tables(question, catalog.tables)[0].score < score_tables(question, catalog.tables, values)[0].score
    card = build_card(question, catalog, tokens=400, values=values)
    assert "country_name text -- values 'Germany'" in card
    assert not any("pii_raw" in column for column in values), "what the policy hides is in no index"


def test_masked_values_are_not_indexed(sample: Warehouse, repo_root: Path) -> None:
    policy = load_policy(repo_root / "config" / "schema_policy.yaml")
    masks = (ColumnMask(column="public.countries.country_name", replace_with="hidden"),)
    masked = policy.model_copy(update={"columns": ColumnRules(mask=masks)})
    guard = SqlGuard(masked, sample.snapshot())
    assert read_card_values(guard.visible_catalog, sample, guard.check)["public.countries.country_name"] == ("hidden",)


def test_columns_with_many_values_are_left_out_and_the_rest_is_read_once(sample: Warehouse, repo_root: Path) -> None:
    guard = SqlGuard(load_policy(repo_root / "config" / "schema_policy.yaml"), sample.snapshot())
    few = read_card_values(guard.visible_catalog, sample, guard.check, max_values=3)
    assert all(len(values) <= 3 for values in few.values())
    assert "public.countries.country_name" not in few
    assert read_card_values(guard.visible_catalog, sample, guard.check, max_statements=0) == {}
    asked: list[str] = []

    def check(sql: str) -> object:
        asked.append(sql)
        return guard.check(sql)

    index = CardValueIndex(sample, check)  # type: ignore[arg-type]
    assert index.of(guard.visible_catalog) == index.of(guard.visible_catalog)
    assert len(asked) == len(set(asked))
