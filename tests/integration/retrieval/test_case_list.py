"""The kinds of search that broke other systems, one by one: the tests that make each of them here."""

from __future__ import annotations

import pytest

from tests.named_tests import require_tests

KINDS = {
    "a model of other dimensions is built beside the one that serves": (
        "integration.retrieval.test_search:test_another_model_gets_vectors_of_its_own",
    ),
    "NUL and lone surrogates in a query": ("integration.retrieval.test_search:test_no_query_is_an_error",),
    "texts, words and frequencies above a tsvector's limits": (
        "integration.retrieval.test_search:test_long_words_long_texts_and_high_frequencies_stay_searchable",
        "unit.retrieval.test_tokens:test_a_word_of_any_length_keeps_a_findable_form",
    ),
    "operators of query languages in plain text": (
        "integration.retrieval.test_search:test_no_query_is_an_error",
        "unit.retrieval.test_tokens:test_nothing_in_a_query_is_an_operator",
    ),
    "stop words alone, nothing, spaces, an emoji": (
        "integration.retrieval.test_search:test_a_query_of_stop_words_falls_to_the_vectors",
        "integration.retrieval.test_search:test_a_query_without_words_gives_the_null_signal",
        "integration.retrieval.test_search:test_an_empty_query_is_refused",
        "unit.retrieval.test_tokens:test_texts_without_words_give_no_terms",
    ),
    "a minus that is no negation": ("integration.retrieval.test_search:test_a_minus_is_no_negation",),
    "a document that one leg alone finds": (
        "integration.retrieval.test_search:test_what_one_leg_alone_finds_is_fused_too",
        "integration.retrieval.test_search:test_both_legs_share_one_key",
    ),
    "a filter that keeps half a percent": (
        "integration.retrieval.test_graph:test_a_filter_that_keeps_half_a_percent_finds_all_of_it",
        "integration.retrieval.test_search:test_a_filter_that_keeps_little_finds_all_of_it",
    ),
    "a question of another domain": (
        "integration.retrieval.test_search:test_a_foreign_question_gives_the_null_signal_with_a_reason",
        "integration.retrieval.test_real_documents:test_foreign_questions_get_the_null_signal",
    ),
    "a command with a pipe, found as it was written": (
        "integration.retrieval.test_search:test_a_command_is_found_as_it_was_written",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_its_tests(kind: str) -> None:
    require_tests(KINDS[kind])
