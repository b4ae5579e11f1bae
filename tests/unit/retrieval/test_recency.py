"""Age as a factor."""

from __future__ import annotations

from datetime import date

import pytest

from rag_core.errors import ConfigurationError
from rag_core.retrieval.recency import asks_about_now, decay

TODAY = date(2026, 7, 1)


def test_a_document_of_one_half_life_counts_half() -> None:
    assert decay(date(2026, 6, 1), TODAY, 30) == pytest.approx(0.5)
    assert decay(date(2026, 5, 2), TODAY, 30) == pytest.approx(0.25)


def test_a_document_of_the_future_counts_as_of_today() -> None:
    assert decay(date(2027, 1, 1), TODAY, 30) == 1.0


def test_a_document_without_a_date_is_neither_fresh_nor_stale() -> None:
    assert decay(None, TODAY, 30) == 0.5


@pytest.mark.parametrize("half_life", [0, -1, float("nan")])
def test_a_half_life_must_be_positive(half_life: float) -> None:
    with pytest.raises(ConfigurationError, match="positive"):
        decay(TODAY, TODAY, half_life)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What is the current retention period?", True),
        ("latest price list", True),
        ("Which rule is in force?", True),
        ("electric current in the sensor", True),
        ("What did we know in 2024?", False),
        ("snow in Denmark", False),
    ],
)
def test_questions_about_now_are_recognised_by_their_words(query: str, expected: bool) -> None:
    assert asks_about_now(query) is expected
