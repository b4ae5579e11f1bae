"""Words and their common form."""

from __future__ import annotations

import pytest

from rag_core.semantics.words import normalise, phrase, whole_word, words


@pytest.mark.parametrize(
    ("text", "key"),
    [("Customers", "customer"), ("companies", "company"), ("Sálês", "sale"), ("gas", "gas"), ("business", "business"),
     ("status", "status"), ("does", "does"), ("analysis", "analysis"), ("Boxes", "box"), ("customs", "custom")],
)  # fmt: skip
def test_plural_endings(text: str, key: str) -> None:
    assert normalise(text) == key


def test_customs_and_customers_stay_apart() -> None:
    assert normalise("customs") != normalise("customers")


def test_hyphens_part_words_and_possessives_go() -> None:
    assert phrase("Billing-API's mid_market") == ("billing", "api", "mid", "market")
    assert [word.text for word in words("Customers' 1,200.50 € > 3 %")][:2] == ["Customers", "1,200.50"]


def test_the_whole_hyphenated_word_is_shown() -> None:
    text = "from left-handed customers"
    assert whole_word(text, 10, 16) == "left-handed"
