"""BM25 as Lucene counts it, against figures worked out by hand."""

from __future__ import annotations

import math

import pytest

from rag_core.retrieval.bm25 import CorpusStatistics, inverse_document_frequency, length_norm, query_terms


def test_idf_is_never_negative_and_falls_with_frequency() -> None:
    assert inverse_document_frequency(10, 2) == pytest.approx(math.log(1 + 8.5 / 2.5))
    assert inverse_document_frequency(10, 10) > 0
    assert inverse_document_frequency(10, 1) > inverse_document_frequency(10, 5)


def test_a_chunk_of_mean_length_is_normed_by_k1_alone() -> None:
    base, slope = length_norm(CorpusStatistics(chunks=4, terms=400), k1=1.5, b=0.75)
    assert base + slope * 100 == pytest.approx(1.5)


def test_an_empty_index_does_not_divide_by_zero() -> None:
    base, slope = length_norm(CorpusStatistics(0, 0))
    assert math.isfinite(base + slope)


def test_query_terms_come_rarest_first_and_unknown_ones_drop_out() -> None:
    statistics = CorpusStatistics(100, 10_000)
    found = query_terms({"disk": 1, "full": 2, "zzz": 1}, {"disk": (7, 50), "full": (3, 2), "gone": (1, 0)}, statistics)
    assert [(each.term, each.term_no) for each in found] == [("full", 3), ("disk", 7)]
    assert found[0].weight == pytest.approx(2 * inverse_document_frequency(100, 2))


def test_a_term_whose_chunks_are_gone_is_left_out() -> None:
    assert query_terms({"gone": 1}, {"gone": (1, 0)}, CorpusStatistics(3, 10)) == []
