"""Reciprocal Rank Fusion."""

from __future__ import annotations

import pytest

from rag_core.retrieval.fusion import fuse


def test_what_one_leg_alone_finds_is_fused_too() -> None:
    fused = fuse({"bm25": [(1, 9.0)], "dense": [(2, 0.8), (1, 0.7)]}, k=60)
    assert [each.key for each in fused] == [1, 2]
    assert fused[0].score == pytest.approx(1 / 61 + 1 / 62)
    assert fused[1].raw == {"dense": 0.8}


def test_equal_raw_scores_share_the_better_rank() -> None:
    fused = {each.key: each.score for each in fuse({"bm25": [(5, 1.0), (3, 1.0), (4, 0.5)]}, k=0)}
    assert fused[5] == fused[3] == pytest.approx(1.0)
    assert fused[4] == pytest.approx(1 / 3)


def test_order_does_not_depend_on_the_order_of_the_legs() -> None:
    first = fuse({"a": [(1, 2.0), (2, 1.0)], "b": [(2, 2.0), (1, 1.0)]})
    second = fuse({"b": [(2, 2.0), (1, 1.0)], "a": [(1, 2.0), (2, 1.0)]})
    assert (
        [(each.key, each.score) for each in first]
        == [(each.key, each.score) for each in second]
        == [
            (1, pytest.approx(1 / 61 + 1 / 62)),
            (2, pytest.approx(1 / 61 + 1 / 62)),
        ]
    )


def test_weights_and_k_change_the_order() -> None:
    legs = {"bm25": [(1, 3.0), (2, 2.0)], "dense": [(2, 0.9), (1, 0.1)]}
    assert fuse(legs, weights={"dense": 2.0})[0].key == 2
    assert fuse(legs, weights={"bm25": 2.0})[0].key == 1


def test_nothing_found_gives_nothing() -> None:
    assert fuse({"bm25": [], "dense": []}) == []
