"""The planted facts name what is there: unique ids, paths of sources, words that stand in the section."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sample.build_documents import SOURCES
from sample.builders.source import read_source
from sample.facts import FILES, FOLDER, LISTS, iter_facts, iter_places, load_facts, read_facts, read_section
from sample.warehouse.catalog import PRODUCTS


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    return load_facts()


def squeeze(text: str) -> str:
    return " ".join(text.split())


def test_lists_and_counts(facts: dict[str, Any]) -> None:
    assert set(LISTS) <= facts.keys()
    assert str(facts["as_of"]) == "2026-07-01"
    assert len([fact for fact in facts["documents"] if fact["id"].startswith("B")]) >= 40
    assert len([fact for fact in facts["combined"] if fact["id"].startswith("X")]) >= 30
    assert {"C1", "C2", "C3", "C4", "C5"} <= {fact["id"] for fact in facts["contradictions"]}


def test_ids_are_unique(facts: dict[str, Any]) -> None:
    counts = Counter(fact["id"] for fact in iter_facts(facts))
    assert [identifier for identifier, count in counts.items() if count > 1] == []


def test_questions_of_the_business_facts_are_unique() -> None:
    counts: Counter[str] = Counter()
    for fact in iter_facts(read_facts(FOLDER / "facts_business.yaml")):
        assert len(fact["wording"]) == 2, fact["id"]
        assert fact["must_contain"], fact["id"]
        counts.update([fact["question"], *fact["wording"]])
    assert [text for text, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("name", FILES[1:])
def test_quotes_stand_where_the_facts_say(name: str) -> None:
    wrong: list[str] = []
    for fact in iter_facts(read_facts(FOLDER / name)):
        for place in iter_places(fact):
            path = SOURCES / place["path"]
            if not path.is_file():
                wrong.append(f"{fact['id']}: no {place['path']}")
                continue
            section = read_section(read_source(path).body, place.get("section", ""))
            if section is None:
                wrong.append(f"{fact['id']}: {place['path']} has no section {place['section']!r}")
            elif squeeze(place["quote"]) not in squeeze(section):
                wrong.append(f"{fact['id']}: {place['quote']!r} is not in {place['path']}, {place['section']!r}")
    assert wrong == []


def test_combined_facts_name_documents_that_hold_the_words() -> None:
    for fact in read_facts(FOLDER / "facts_business.yaml")["combined"]:
        assert fact["needs"]["warehouse"], fact["id"]
        paths = [SOURCES / path for path in fact["needs"]["documents"]]
        assert paths, fact["id"]
        text = squeeze(" ".join(path.read_text(encoding="utf-8") for path in paths)).casefold()
        assert [word for word in fact["must_contain"] if word.casefold() not in text] == [], fact["id"]


def test_answers_hold_what_they_must_contain() -> None:
    facts = read_facts(FOLDER / "facts_business.yaml")
    for fact in [*facts["documents"], *facts["contradictions"], *facts["outdated"]]:
        answer = fact["answer"].casefold()
        assert [word for word in fact["must_contain"] if word.casefold() not in answer] == [], fact["id"]


def test_every_business_document_is_asked_for() -> None:
    facts = read_facts(FOLDER / "facts_business.yaml")
    named = {place["path"] for fact in iter_facts(facts) for place in iter_places(fact)}
    sources = {path.relative_to(SOURCES).as_posix() for path in (SOURCES / "business").rglob("*.md")}
    assert sources - named == set()


def read_prices(path: Path) -> dict[str, list[str]]:
    """Per product the cells of its row in a price list."""
    rows = re.findall(r"^\| (.+) \|$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {cells[0]: cells[1:] for cells in (row.split(" | ") for row in reversed(rows))}


def test_price_lists_agree_with_the_catalogue() -> None:
    folder = SOURCES / "business" / "price-lists"
    lists = {
        name: read_prices(folder / f"{name}-price-list-{year}.md")
        for name, year in [("subscriptions", 2026), ("services", 2026)]
    }
    hardware = {year: read_prices(folder / f"hardware-price-list-{year}.md") for year in (2024, 2025, 2026)}
    for product in PRODUCTS:
        before, now = f"{product.price_before / 100:.2f}", f"{product.price / 100:.2f}"
        if product.family == "Subscriptions":
            assert lists["subscriptions"][product.name][1:3] == [now, f"{product.price / 1200:.2f}"]
        elif product.family == "Services":
            assert lists["services"][product.name][1] == now
        else:
            assert hardware[2024][product.name][1] == before
            assert hardware[2025][product.name][2:4] == [before, now]
            assert hardware[2026][product.name][2] == now
    mini = next(product for product in PRODUCTS if product.name == "Halo Gateway Mini")
    note = (SOURCES / "business/competitor-notes/brightmesh-mesh-one-launch.md").read_text(encoding="utf-8")
    assert f"EUR {mini.price * 0.7 / 100:.2f}" in note


def test_a_section_ends_at_the_next_heading_of_its_level() -> None:
    body = "# Top\nzero\n## One\na\n### Inner\nb\n## Two\nc\n"
    assert read_section(body, "One") == "a\n### Inner\nb"
    assert read_section(body, "Two") == "c"
    assert read_section(body, "Three") is None
    assert read_section(body, "") == body
