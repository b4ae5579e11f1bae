"""Questions that are asked back, and those that a document answers all the same."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from rag_core.datamodel.answer import Answer
from tests import question_world
from tests.evidence import passage
from tests.question_world import WordSearch, open_world

JULY = date(2026, 7, 1)
PRICES = passage(
    "| Item | Price EUR | Year |\n| --- | --- | --- |\n| Iberia | 424 | 2026 |\n| Nordics | 90 | 2026 |\n",
    title="Price list: what it costs in 2026",
    marker="",
)


def ask(folder: Path, question: str, *found: question_world.Passage) -> Answer:
    return open_world(folder, search=WordSearch(found)).answer(question, run_date=JULY)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Wich regoin had the lowest revenu", ["did you mean which", "did you mean region", "did you mean revenue"]),
        ("wich region had the lowest revenue", ["did you mean which"]),
        ("Hw many ordrs do we have by regoin", ["did you mean order", "did you mean region"]),
    ],
)
def test_misspelt_words_are_asked_back_with_the_near_ones(tmp_path: Path, question: str, told: list[str]) -> None:
    answer = ask(tmp_path, question, *question_world.DOCUMENTS)
    assert answer.status == "needs_clarification"
    assert all(words in answer.text for words in told)
    assert answer.documents == ()


def test_a_word_like_none_is_not_asked_back_as_another(tmp_path: Path) -> None:
    assert "did you mean" not in ask(tmp_path, "Wich wigdets had the lowest revenu").text


@pytest.fixture
def costs(monkeypatch: pytest.MonkeyPatch) -> None:
    model = question_world.MODEL.replace("  sales: [revenue, income]", "  cost: [revenue, income]")
    monkeypatch.setattr(question_world, "MODEL", model)


def test_what_a_thing_costs_is_told_by_the_document_that_states_its_price(tmp_path: Path, costs: None) -> None:
    answer = ask(tmp_path, "What does Iberia cost in 2026?", PRICES)
    assert answer.status == "answered"
    assert answer.text == "Item: Iberia; Price EUR: 424; Year: 2026. [D1]"


def test_what_a_thing_costs_is_asked_back_where_no_document_states_it(tmp_path: Path, costs: None) -> None:
    answer = ask(tmp_path, "What does Iberia cost in 2026?", passage("Iberia is warm in 2026.", marker=""))
    assert answer.status == "needs_clarification"
    assert "may mean Revenue or Income" in answer.text


def test_a_cost_as_a_figure_is_still_asked_back(tmp_path: Path, costs: None) -> None:
    answer = ask(tmp_path, "What was the cost of Iberia in 2026?", PRICES)
    assert answer.status == "needs_clarification"


KEPT = "How long are service metrics kept at full resolution?"


@pytest.fixture
def three_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    more = "INSERT INTO regions VALUES ('DAC', 'DACH'); INSERT INTO orders VALUES (7, 'DAC', '2026-04-20', 90);"
    monkeypatch.setattr(question_world, "ROWS", f"{question_world.ROWS}{more}")


def test_values_named_together_are_never_replaced_by_all_values(tmp_path: Path, three_regions: None) -> None:
    answer = ask(tmp_path, f"What was the revenue of Nordics and Iberia in Q2 2026? {KEPT}", *question_world.DOCUMENTS)
    assert answer.status == "partial"
    assert "Not understood: Nordics and Iberia: each of them, or together." in answer.text
    assert answer.sql == ()


def test_a_word_with_two_names_is_told_in_both_beside_another_question(tmp_path: Path) -> None:
    answer = ask(tmp_path, f"What were the sales in Q2 2026? {KEPT}", *question_world.DOCUMENTS)
    assert [evidence.task.split(",")[0] for evidence in answer.sql] == ["Revenue", "Income"]


@pytest.mark.parametrize("question", ["Is revenue growing?", "Did revenue soar?", "Has revenue gone up?"])
def test_a_level_over_all_that_is_recorded_does_not_say_that_a_figure_moved(tmp_path: Path, question: str) -> None:
    answer = ask(tmp_path, question)
    assert answer.status in ("needs_clarification", "needs_model", "no_evidence")
    assert answer.sql == ()


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Was revenue growing in Q2 2026?", "down 1,530 EUR from 2,600 EUR in Q1 2026"),
        ("Did revenue soar in Q2 2026?", "down 1,530 EUR from 2,600 EUR in Q1 2026"),
        ("Is revenue falling by month in 2026?", "| June 2026 | 320 | 350 | -30 | -8.6 |"),
    ],
)
def test_how_a_figure_moved_in_a_period_is_told(tmp_path: Path, question: str, told: str) -> None:
    answer = ask(tmp_path, question)
    assert answer.status == "answered"
    assert told in answer.text
