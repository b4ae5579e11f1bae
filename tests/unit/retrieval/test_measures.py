"""Measures of a ranking, against figures worked out by hand."""

from __future__ import annotations

import math

import pytest

from rag_core.retrieval.measures import Judged, coverage, measure, ndcg, percentile, recall, reciprocal_rank, success


def test_ndcg_is_one_for_the_ideal_order_and_less_for_another() -> None:
    assert ndcg(["a", "b"], {"a": 2, "b": 1}) == pytest.approx(1.0)
    worse = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))
    assert ndcg(["b", "a"], {"a": 2, "b": 1}) == pytest.approx(worse)
    assert ndcg(["x"], {"a": 1}) == 0.0
    assert ndcg(["a"], {}) == 0.0


def test_recall_success_and_reciprocal_rank() -> None:
    assert recall(["x", "a"], ["a", "b"]) == 0.5
    assert success(["x", "x2", "x3", "x4", "x5", "a"], ["a"]) == 0.0
    assert reciprocal_rank(["x", "a"], ["a"]) == 0.5
    assert reciprocal_rank(["x"], ["a"]) == 0.0


def test_percentiles_are_by_nearest_rank() -> None:
    assert percentile([4, 1, 3, 2], 0.5) == 2
    assert percentile([4, 1, 3, 2], 0.95) == 4
    assert percentile([], 0.5) == 0.0


def test_means_count_the_documents_that_answer_apart_from_those_of_the_subject() -> None:
    judged = [Judged(["related", "answer"], {"answer": 2, "related": 1, "far": 1}), Judged([], {"gone": 1})]
    found = measure(judged, [1.0, 3.0])
    assert found.queries == 2
    assert found.recall_10 == pytest.approx(1 / 3)
    assert found.critical_source_recall == 0.5
    assert found.mrr == 0.25
    assert found.topic_coverage == pytest.approx(1 / 3)
    assert (found.p50_ms, found.p95_ms) == (1.0, 3.0)


def test_a_topic_is_covered_by_any_document_of_it() -> None:
    topics = {"a1": "a", "a2": "a", "b1": "b"}
    assert coverage(["x", "a2"], ["a1", "a2", "b1"], topics) == 0.5
    assert coverage(["a1", "b1"], ["a1", "a2", "b1"], topics) == 1.0
    assert coverage(["x"], ["a1"], topics) == 0.0
    assert coverage(["x"], [], topics) == 0.0


def test_no_queries_give_zeros() -> None:
    assert measure([], []).ndcg_10 == 0.0
