"""BM25 as Lucene counts it, as pure functions, and the port behind which the scoring runs.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009); the variant without the constant factor
(k1 + 1) and with log(1 + ...) is that of Lucene since version 8, `method="lucene"` in bm25s.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rag_core.connectors.pgvector import IndexReader
    from rag_core.retrieval.selection import Selection

K1 = 1.5
B = 0.75


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """Counts over the whole index: chunks, and terms of all of them together."""

    chunks: int
    terms: int

    @property
    def mean_length(self) -> float:
        """Terms of an average chunk; 1 for an empty index, so that nothing divides by zero."""
        return self.terms / self.chunks if self.chunks and self.terms else 1.0


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A term of the query that the index knows. `weight` is its idf times its count in the query: the most that it
    can add to any chunk's score.
    """

    term_no: int
    term: str
    chunks: int
    weight: float


class LexicalIndex(Protocol):
    """Where scores are computed: postings in plain PostgreSQL, or an extension that knows BM25."""

    def score(
        self,
        reader: IndexReader,
        generation: int,
        terms: Sequence[QueryTerm],
        statistics: CorpusStatistics,
        *,
        depth: int,
        selection: Selection | None,
    ) -> list[tuple[int, float]]:
        """The `depth` best (chunk_no, score), best first, equal scores by number.

        Args:
            reader: one snapshot of the index, whose state is `generation`.
            terms: of the query, with their weights.
            statistics: of the whole index, also where a selection is searched.
            selection: the only documents that count, None for all.
        """
        ...


def inverse_document_frequency(chunks: int, frequency: int) -> float:
    """idf of a term that stands in `frequency` of `chunks` chunks; never negative."""
    return math.log1p((chunks - frequency + 0.5) / (frequency + 0.5))


def length_norm(statistics: CorpusStatistics, *, k1: float = K1, b: float = B) -> tuple[float, float]:
    """(base, slope) so that a term of frequency f in a chunk of n terms scores weight * f / (f + base + slope * n)."""
    return k1 * (1 - b), k1 * b / statistics.mean_length


def query_terms(
    counts: Mapping[str, float], known: Mapping[str, tuple[int, int]], statistics: CorpusStatistics
) -> list[QueryTerm]:
    """The query's terms that the index knows, rarest first.

    Args:
        counts: how often each term stands in the query (fractions for terms that were added to it).
        known: term -> (number of the term, chunks that hold it).
    """
    found = [
        QueryTerm(known[term][0], term, known[term][1], count * _idf_of(known[term][1], statistics))
        for term, count in counts.items()
        if term in known and known[term][1] > 0
    ]
    return sorted(found, key=lambda each: (each.chunks, each.term))


def _idf_of(frequency: int, statistics: CorpusStatistics) -> float:
    return inverse_document_frequency(max(statistics.chunks, frequency), frequency)
