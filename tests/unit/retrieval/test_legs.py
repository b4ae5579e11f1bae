"""The title leg."""

from __future__ import annotations

from rag_core.connectors.pgvector import Candidate
from rag_core.retrieval.legs import title_leg


def candidate(number: int, title: str) -> Candidate:
    return Candidate(number, number, 0, "s", f"{number}.md", title, None, None, None, None)


def test_a_title_that_the_question_names_comes_first_and_its_chunks_are_equal() -> None:
    candidates = {
        1: candidate(1, "CephClusterNearFull"),
        2: candidate(2, "CephClusterNearFull"),
        3: candidate(3, "CephOSDNearFull"),
    }
    weights = {"cephclusternearfull": 6.0, "ceph": 3.0, "cluster": 2.0, "near": 4.0, "full": 3.0}
    ranked = title_leg(candidates, weights)
    assert [key for key, _ in ranked] == [1, 2, 3] or [key for key, _ in ranked] == [1, 2]
    assert ranked[0][1] == ranked[1][1] == 1.0


def test_a_title_that_shares_little_is_left_out() -> None:
    assert title_leg({1: candidate(1, "How logging works on GOV.UK")}, {"log": 3.0, "kibana": 5.0, "miss": 4.0}) == []


def test_a_document_without_a_title_is_left_out() -> None:
    assert title_leg({1: candidate(1, "")}, {"disk": 2.0}) == []
