"""The legs of a search: each gives a ranking of chunks by one kind of evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rag_core.connectors.pgvector import EXACT_SCAN_WINDOWS, Candidate, IndexReader, IndexState
from rag_core.retrieval import bm25
from rag_core.retrieval.tokens import tokenize

# Share of its words that a title must have in common with the question to count as named by it.
TITLE_MATCH = 0.5
# Share of the words in the blend of both scores; the rest is the vectors'.
BLEND_SHARE = 0.6
# idf taken for words of a title that the question lacks: that of a word in about two of a hundred chunks.
_OTHER_WORD = 4.0

Ranked = list[tuple[int, float]]


@dataclass(slots=True)
class Legs:
    """Rankings of chunks as (chunk_no, raw score), best first, and how they came about.

    `frequencies`: chunks that hold each known term of the question, `numbers` those terms by their number in the
    index. `scan`: exact, graph or none.
    """

    bm25: Ranked = field(default_factory=list)
    dense: Ranked = field(default_factory=list)
    frequencies: dict[str, int] = field(default_factory=dict)
    numbers: dict[int, str] = field(default_factory=dict)
    scan: str = "none"
    windows: int = 0


def run_legs(
    reader: IndexReader,
    state: IndexState,
    terms: Mapping[str, float],
    vector: Sequence[float] | None,
    *,
    lexical: bool,
    documents: Sequence[int] | None,
    windows: int,
    depth: int,
) -> Legs:
    """Asks the index.

    Args:
        terms: terms of the question with their counts.
        vector: of the question, None to leave the dense leg out.
        lexical: whether the lexical leg is wanted; the terms' frequencies are read in any case.
        documents: numbers of the only documents that count, None for all.
        windows: number of vectors of these documents, which decides between an exact scan and the graph.
        depth: chunks wanted of each leg.
    """
    known = reader.terms(terms) if terms else {}
    legs = Legs(
        frequencies={term: chunks for term, (_, chunks) in known.items()},
        numbers={term_no: term for term, (term_no, _) in known.items()},
    )
    if lexical:
        statistics = bm25.CorpusStatistics(state.chunks, state.terms)
        weights = {each.term_no: each.weight for each in bm25.query_terms(terms, known, statistics)}
        found = reader.score_terms(weights, bm25.length_norm(statistics), depth=depth, documents=documents)
        # Sums of floats come in the order of the plan: equal sums must stay equal.
        legs.bm25 = _ordered([(key, round(score, 9)) for key, score in found])
    if vector is not None and state.serving is not None:
        exact = windows <= EXACT_SCAN_WINDOWS
        legs.scan, legs.windows = "exact" if exact else "graph", windows
        legs.dense = _ordered(reader.nearest(vector, state.serving, depth=depth, exact=exact, documents=documents))
    return legs


def title_leg(candidates: Mapping[int, Candidate], weights: Mapping[str, float]) -> Ranked:
    """Chunks whose document's title is named by the question, best first; those of equal titles are equal.

    The figure is the F-measure of the words that question and title have in common, weighted by idf.
    """
    scores: dict[str, float] = {}
    asked = sum(weights[term] for term in sorted(weights))
    found: Ranked = []
    for key, candidate in candidates.items():
        title = candidate.title
        if title not in scores:
            words = sorted(set(tokenize(title)))
            common = sum(weights.get(word, 0.0) for word in words)
            whole = asked + sum(weights.get(word, _OTHER_WORD) for word in words)
            scores[title] = round(2 * common / whole, 9) if whole else 0.0
        if scores[title] >= TITLE_MATCH:
            found.append((key, scores[title]))
    return _ordered(found)


def blend_leg(bm25_leg: Sequence[tuple[int, float]], dense_leg: Sequence[tuple[int, float]], most: float) -> Ranked:
    """Chunks by a weighted sum of both raw scores: ranks alone do not tell a clear winner from a narrow one.

    The BM25 score is taken as a share of `most`, the highest that any chunk could reach for the question; a chunk that
    the dense leg did not find gets the lowest cosine of those it found. Source: Bruch, Gai and Ingber, "An Analysis of
    Fusion Functions for Hybrid Retrieval" (2023), convex combination with theoretical bounds.
    """
    if not bm25_leg or not dense_leg or most <= 0:
        return []
    words, cosines = dict(bm25_leg), dict(dense_leg)
    least = min(cosines.values())
    return _ordered(
        [
            (key, round(BLEND_SHARE * words.get(key, 0.0) / most + (1 - BLEND_SHARE) * cosines.get(key, least), 9))
            for key in words.keys() | cosines.keys()
        ]
    )


def _ordered(ranked: Ranked) -> Ranked:
    return sorted(ranked, key=lambda each: (-each[1], each[0]))
