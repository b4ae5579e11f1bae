"""Figures of the ranking, and what a document's own standing does to its score. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.connectors.pgvector import Candidate
from rag_core.retrieval.classify import Classification

SUPERSEDED = frozenset({"superseded", "deprecated", "obsolete", "retired", "archived", "outdated", "withdrawn"})


@dataclass(frozen=True, slots=True)
class SearchTuning:
    """Figures of the ranking, found on training queries (docs/evaluation.md).

    `rrf_k` is the constant of the fusion, the weights are of its legs. A document of a named type or service gains
    `boost`, a superseded one `superseded`, each a factor on the fused score. `now_share` is how much of the score age
    may take where a question asks for the present without naming a half-life.
    """

    rrf_k: int = 5
    bm25_weight: float = 1.0
    dense_weight: float = 0.8
    blend_weight: float = 2.0
    title_weight: float = 1.0
    boost: float = 1.1
    superseded: float = 0.85
    now_share: float = 0.3
    classification: bool = True


def standing(candidate: Candidate, classified: Classification, tuning: SearchTuning) -> float:
    """The factor on a document's score: what was named rises, what was replaced falls."""
    factor = 1.0
    if (candidate.document_type or "").casefold() in classified.document_types:
        factor *= tuning.boost
    if (candidate.service or "").casefold() in classified.services:
        factor *= tuning.boost
    if (candidate.status or "").casefold() in SUPERSEDED:
        factor *= tuning.superseded
    return factor
