"""The null signal on raw scores."""

from __future__ import annotations

import pytest

from rag_core.retrieval.relevance import Evidence, NullLimits, calibrate, coverage, judge, rare_names, term_weights

LIMITS = NullLimits(threshold=0.42, coverage_weight=0.25)


def test_a_near_passage_answers() -> None:
    assert judge(Evidence(0.6, 0.0), LIMITS, found=True, dense=True) == ""


def test_a_far_passage_does_not() -> None:
    assert "too far" in judge(Evidence(0.27, 0.2), LIMITS, found=True, dense=True)


def test_a_name_that_the_model_does_not_know_still_counts() -> None:
    assert judge(Evidence(0.1, 1.0), LIMITS, found=True, dense=True) == ""
    assert judge(Evidence(0.1, 0.4, named=True), LIMITS, found=True, dense=True) == ""


def test_rare_codes_are_names_and_common_ones_are_not() -> None:
    assert rare_names({"e-4711-x": 1, "v1.10": 400, "2024": 1, "pool": 1, "k8s": 1, "gone-1": 0}, 1_000) == {"e-4711-x"}


def test_no_result_is_the_null_signal_whatever_the_scores() -> None:
    assert judge(Evidence(1.0, 1.0), LIMITS, found=False, dense=True)


def test_a_question_without_words_is_answered_by_nothing() -> None:
    assert judge(Evidence(1.0, 1.0), LIMITS, found=True, dense=True, words=False) == "the question holds no words"


def test_without_vectors_the_words_decide() -> None:
    assert judge(Evidence(0.0, 0.6), LIMITS, found=True, dense=False) == ""
    assert judge(Evidence(0.0, 0.4), LIMITS, found=True, dense=False)


def test_coverage_weighs_by_rarity_and_counts_unknown_words() -> None:
    weights = term_weights({"disk": 1, "kraken": 1}, {"disk": 50}, 100)
    assert weights["kraken"] > weights["disk"]
    assert coverage(weights, {"disk"}) < 0.2
    assert coverage(weights, {"disk", "kraken"}) == pytest.approx(1.0)
    assert coverage({}, {"disk"}) == 0.0


def test_calibration_takes_the_breadth_in_where_the_nearest_passage_misleads() -> None:
    domain = [Evidence(0.4, 0.5, breadth=0.38), Evidence(0.6, 0.5, breadth=0.5)]
    foreign = [Evidence(0.5, 0.5, breadth=0.25), Evidence(0.3, 0.5, breadth=0.2)]
    limits, answered, refused = calibrate(domain, foreign)
    assert (answered, refused) == (1.0, 1.0)
    assert limits.breadth_share > 0
    assert calibrate([domain[1]], [foreign[1]])[0].breadth_share == 0


def test_calibration_puts_the_threshold_between_both_kinds() -> None:
    domain = [Evidence(0.5, 0.8), Evidence(0.45, 0.5)]
    foreign = [Evidence(0.25, 0.1), Evidence(0.3, 0.0)]
    limits, answered, refused = calibrate(domain, foreign)
    assert (answered, refused) == (1.0, 1.0)
    assert all(each.score(limits) >= limits.threshold for each in domain)
    assert all(each.score(limits) < limits.threshold for each in foreign)


def test_calibration_needs_both_kinds() -> None:
    with pytest.raises(ValueError, match="foreign"):
        calibrate([Evidence(0.5, 0.5)], [])
