"""The planted warehouse facts are complete and their SQL stays within the sample's schemas. No database."""

import re
from typing import Any

import pytest

from sample.warehouse.generate import TABLES
from sample.warehouse.write_facts import headline_of, read_facts

FACTS = read_facts()
WAREHOUSE: list[dict[str, Any]] = FACTS["warehouse"]
RELATIONS = {name.replace("SalesTarget", '"SalesTarget"') for name in TABLES} | {
    "public.active_customers",
    "public.monthly_revenue",
}
STORIES = {f"S{number}" for number in range(1, 11)}


def test_the_file_names_its_day_and_seed() -> None:
    assert str(FACTS["as_of"]) == "2026-07-01"
    assert FACTS["seed"] == 7
    assert len(WAREHOUSE) >= 60


def test_ids_run_from_w001() -> None:
    assert [fact["id"] for fact in WAREHOUSE] == [f"W{number:03d}" for number in range(1, len(WAREHOUSE) + 1)]


def test_every_story_has_facts() -> None:
    assert {fact["story"] for fact in WAREHOUSE} == STORIES | {None}


def test_no_two_facts_ask_the_same() -> None:
    asked = [text for fact in WAREHOUSE for text in [fact["question"], *fact["wording"]]]
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("fact", WAREHOUSE, ids=lambda fact: str(fact["id"]))
def test_a_fact_is_whole(fact: dict[str, Any]) -> None:
    assert list(fact) == ["id", "kind", "question", "wording", "sql", "answer", "headline", "story", "rows"]
    assert fact["kind"] == "sql"
    assert len(fact["wording"]) == 2
    assert fact["answer"]
    assert fact["headline"] == headline_of(fact["answer"])
    assert fact["rows"]


@pytest.mark.parametrize("fact", WAREHOUSE, ids=lambda fact: str(fact["id"]))
def test_gold_sql_names_relations_with_their_schema(fact: dict[str, Any]) -> None:
    sql = re.sub(r"extract\([^)]*\)", "", fact["sql"])
    names = re.findall(r"\b(?:FROM|JOIN) ([\w.\"]+)", sql)
    local = re.findall(r"(\w+) AS \(", sql)
    assert names
    assert set(names) <= RELATIONS | set(local)
    assert "pii_raw" not in sql


def test_a_ranking_or_series_is_ordered() -> None:
    for fact in WAREHOUSE:
        assert len(fact["answer"]) == 1 or "ORDER BY" in fact["sql"], fact["id"]


def test_amounts_are_text_so_that_no_reader_rounds_them() -> None:
    values = [value for fact in WAREHOUSE for row in fact["answer"] for value in row.values()]
    assert not [value for value in values if isinstance(value, float)]
