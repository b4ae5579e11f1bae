"""Document types and services that a question names."""

from __future__ import annotations

import pytest

from rag_core.retrieval.classify import Vocabulary, classify

VOCABULARY = Vocabulary(
    {"runbook": 20, "standard": 5, "price_list": 6, "incident": 15},
    {"billing-api": 4, "billing": 2, "metering-store": 6},
)


def test_a_type_that_is_asked_for_is_certain() -> None:
    found = classify("Which runbook covers a full disk?", VOCABULARY)
    assert found.document_types == ("runbook",)
    assert found.filters == (("document_type", "runbook"),)


def test_a_type_that_is_merely_mentioned_only_boosts() -> None:
    found = classify("How long may an incident stay open?", VOCABULARY)
    assert found.document_types == ("incident",)
    assert found.filters == ()


def test_two_types_are_never_certain() -> None:
    assert classify("which runbook and which standard say so", VOCABULARY).filters == ()


@pytest.mark.parametrize("query", ["What is in the price lists?", "according to the price-list of 2026"])
def test_a_type_of_two_words_is_found_in_any_spelling(query: str) -> None:
    assert classify(query, VOCABULARY).filters == (("document_type", "price_list"),)


def test_the_longest_service_name_is_meant() -> None:
    assert classify("errors of billing-api", VOCABULARY).services == ("billing-api",)
    assert classify("errors of the Billing API", VOCABULARY).services == ("billing-api",)
    assert classify("metering store is slow", VOCABULARY).services == ("metering-store",)


def test_a_question_that_names_nothing_is_not_classified() -> None:
    found = classify("How do I restart it?", VOCABULARY)
    assert (found.document_types, found.services, found.filters) == ((), (), ())
