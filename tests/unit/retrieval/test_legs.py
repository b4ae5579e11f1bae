"""The title leg, the blend, and the choice of a scan."""

from __future__ import annotations

import pytest

from rag_core.connectors.pgvector import Candidate
from rag_core.retrieval.legs import blend_leg, scans_exactly, title_leg
from rag_core.retrieval.tokens import stem


def candidate(number: int, title: str) -> Candidate:
    return Candidate(number, number, 0, "s", f"{number}.md", title, None, None, None, None)


def test_a_title_that_the_question_names_comes_first_and_its_chunks_are_equal() -> None:
    candidates = {
        1: candidate(1, "CephClusterNearFull"),
        2: candidate(2, "CephClusterNearFull"),
        3: candidate(3, "CephOSDNearFull"),
    }
    weights = {stem("cephclusternearfull"): 6.0, "ceph": 3.0, "cluster": 2.0, "near": 4.0, "full": 3.0}
    ranked = title_leg(candidates, weights)
    assert [key for key, _ in ranked][:2] == [1, 2]
    assert ranked[0][1] == ranked[1][1] == 1.0


def test_a_title_that_shares_little_is_left_out() -> None:
    assert title_leg({1: candidate(1, "How logging works on GOV.UK")}, {"log": 3.0, "kibana": 5.0, "miss": 4.0}) == []


def test_a_document_without_a_title_is_left_out() -> None:
    assert title_leg({1: candidate(1, "")}, {"disk": 2.0}) == []


def test_the_blend_tells_a_clear_winner_from_a_narrow_one() -> None:
    ranked = blend_leg([(1, 9.0), (2, 8.9)], [(2, 0.9), (1, 0.3)], most=10.0)
    assert [key for key, _ in ranked] == [2, 1]
    assert ranked[0][1] == pytest.approx(0.6 * 0.89 + 0.4 * 0.9)


def test_what_one_leg_lacks_gets_the_least_of_it() -> None:
    ranked = dict(blend_leg([(1, 5.0)], [(2, 0.8), (3, 0.2)], most=10.0))
    assert ranked[1] == pytest.approx(0.6 * 0.5 + 0.4 * 0.2)
    assert ranked[2] == pytest.approx(0.4 * 0.8)


def test_without_both_legs_there_is_nothing_to_blend() -> None:
    assert blend_leg([], [(1, 0.9)], most=3.0) == []
    assert blend_leg([(1, 2.0)], [], most=3.0) == []


def test_the_scan_is_chosen_from_counts() -> None:
    assert scans_exactly(20_000, 20_000)
    assert not scans_exactly(20_001, 20_001)
    assert scans_exactly(400, 200_000)
    assert not scans_exactly(60_000, 200_000)
    assert scans_exactly(0, 200_000)
    assert scans_exactly(15_000, 20_000)
