"""The legs of a search: each gives a ranking of chunks by one kind of evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from rag_core.connectors.pgvector import EXACT_SCAN_WINDOWS, Candidate, IndexReader, IndexState, Pending
from rag_core.retrieval import bm25
from rag_core.retrieval.selection import Selection
from rag_core.retrieval.tokens import distinct_terms

# Share of its words that a title must have in common with the question to count as named by it.
TITLE_MATCH = 0.5
# Share of the words in the blend of both scores; the rest is the vectors'.
BLEND_SHARE = 0.6
# Measured at 160,000 windows: the graph takes as long without a filter as comparing this number of scattered vectors.
FILTERED_SCAN_COST = 1_500
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
    lexical: bm25.LexicalIndex | None,
    terms: Mapping[str, float],
    known: Mapping[str, tuple[int, int]],
    vector: Sequence[float] | None,
    *,
    selection: Selection | None,
    windows: int,
    depth: int,
) -> Legs:
    """Asks the index.

    Args:
        lexical: scores words, None to leave that leg out.
        terms: terms of the question with their counts.
        known: those of them that the index knows, each with its number and the chunks that hold it.
        vector: of the question, None to leave the dense leg out.
        selection: the only documents that count, None for all.
        windows: number of vectors of all documents; with those of the selection it decides on the kind of scan.
        depth: chunks wanted of each leg.
    """
    legs = Legs(
        frequencies={term: chunks for term, (_, chunks) in known.items()},
        numbers={term_no: term for term, (term_no, _) in known.items()},
    )
    nearest: Pending[Ranked] | None = None
    if vector is not None and state.serving is not None:
        kept = windows if selection is None else selection.windows
        exact = not state.serving.has_graph or scans_exactly(kept, windows)
        legs.scan, legs.windows = "exact" if exact else "graph", kept
        if kept:
            nearest = reader.nearest(
                vector,
                state.serving,
                depth=depth,
                exact=exact,
                filters=() if selection is None else selection.filters,
                documents="" if selection is None else selection.array,
            )
    if lexical is not None:
        statistics = bm25.CorpusStatistics(state.chunks, state.terms)
        weighted = bm25.query_terms(terms, known, statistics)
        legs.bm25 = lexical.score(reader, state.generation, weighted, statistics, depth=depth, selection=selection)
    if nearest is not None:
        legs.dense = _ordered(nearest.read())
    return legs


def scans_exactly(kept: int, windows: int) -> bool:
    """Whether all `kept` vectors of a filter are compared, and not the graph of all `windows` followed.

    Comparing costs the same for each vector, following the graph the more the fewer of the vectors that it meets pass
    the filter: one time is in proportion to `kept`, the other to `windows / kept`.
    """
    if windows <= EXACT_SCAN_WINDOWS:
        return True
    return kept < windows and kept * kept <= windows * FILTERED_SCAN_COST


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
            words = _words_of(title)
            shared = [weights[word] for word in words if word in weights]
            common = sum(shared)
            whole = asked + common + _OTHER_WORD * (len(words) - len(shared))
            scores[title] = round(2 * common / whole, 9) if whole else 0.0
        if scores[title] >= TITLE_MATCH:
            found.append((key, scores[title]))
    return _ordered(found)


@lru_cache(maxsize=50_000)
def _words_of(title: str) -> tuple[str, ...]:
    return tuple(sorted(distinct_terms(title)))


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
