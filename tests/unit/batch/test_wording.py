"""Words of questions that no rule understands are told before anything runs."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from rag_core.batch.reading import QuestionReader
from rag_core.batch.wording import WordingForecast, find_unknown_words
from rag_core.datamodel.question import Batch, Question
from rag_core.semantics.model import load_semantic_model
from rag_core.semantics.values import ValueIndex


@pytest.fixture(scope="module")
def forecast(repo_root: Path) -> WordingForecast:
    """By the sample's semantic model alone; the questions here name no value of the warehouse."""
    model = load_semantic_model(repo_root / "config" / "semantic_model.yaml")
    return WordingForecast(QuestionReader(model, ValueIndex(), date(2026, 7, 1), None))


def _ask(text: str, **parameters: str) -> Question:
    return Question(question_id="a", text=text, parameters=parameters)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "What was the grosso profitability by region last quarter?",
            "not understood without a chat model: 'grosso' (did you mean gross?)",
        ),
        ("What was the revenu by region last month?", "'revenu' is not known: did you mean revenue?"),
        ("How many unicorns did we sell by region last quarter?", "not understood without a chat model: 'unicorns'"),
    ],
)
def test_a_figure_with_a_word_that_nobody_knows_is_told_with_what_it_may_have_been(
    forecast: WordingForecast, text: str, told: str
) -> None:
    assert forecast.of(_ask(text)) == told


@pytest.mark.parametrize(
    "text",
    [
        "What was revenue by region last quarter?",
        "What was revenue by region in {last_month}?",
        "What does the refund policy say about late orders?",
        "Who is on call tonight?",
        "How long are service metrics kept at full resolution?",
        "Why did revenue fall last quarter?",
    ],
)
def test_what_is_understood_and_what_is_for_the_documents_is_not_warned_of(
    forecast: WordingForecast, text: str
) -> None:
    assert forecast.of(_ask(text)) is None


def test_parameters_are_filled_in_before_a_question_is_read(forecast: WordingForecast) -> None:
    text = "What was {figure} by region last quarter?"
    assert forecast.of(_ask(text, figure="revenue")) is None
    assert "unicorns" in (forecast.of(_ask(text, figure="the number of unicorns")) or "")


def test_each_question_is_named(forecast: WordingForecast) -> None:
    texts = {"good": "What was revenue last quarter?", "bad": "What was the grosso profitability last quarter?"}
    questions = tuple(Question(question_id=name, text=text) for name, text in texts.items())
    batch = Batch(batch="b", title="T", owner="o", questions=questions)
    assert list(find_unknown_words(batch, forecast)) == [
        "question bad: not understood without a chat model: 'grosso' (did you mean gross?)"
    ]


def test_a_question_is_read_once_however_many_look_at_it(forecast: WordingForecast) -> None:
    reader = forecast._reader
    question = _ask("What was revenue by region last quarter?")
    assert reader.read(question) is reader.read(question)
    assert reader.read(question) is not reader.read(_ask("What was revenue by region last month?"))
