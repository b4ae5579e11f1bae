"""Hybrid search: BM25 and vectors, fused by rank, with a null signal where nothing in the index fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

from rag_core.connectors.pgvector import (
    EXACT_SCAN_WINDOWS,
    IndexReader,
    IndexState,
    StoredPassage,
    open_reader,
)
from rag_core.datamodel.evidence import Passage, Scores, SearchOutcome
from rag_core.errors import ConfigurationError
from rag_core.retrieval import bm25, fusion, recency
from rag_core.retrieval.passages import key_sentences
from rag_core.retrieval.tokens import term_counts, tokenize

if TYPE_CHECKING:
    from rag_core.connectors.base import Embedder
    from rag_core.connectors.store import Store

MODES = ("hybrid", "dense", "bm25")
LEG_DEPTH = 100


@dataclass(slots=True)
class _Legs:
    bm25: list[tuple[int, float]] = field(default_factory=list)
    dense: list[tuple[int, float]] = field(default_factory=list)
    frequencies: dict[str, int] = field(default_factory=dict)
    exact: bool = True


class HybridSearch:
    """Search over the document index; a `PassageSearch`. Safe to use from several threads."""

    def __init__(self, store: Store, embedder: Embedder, *, today: date | None = None) -> None:
        self._store = store
        self._embedder = embedder
        self._today = today

    def search(
        self,
        query: str,
        *,
        top: int = 8,
        filters: Mapping[str, str] | None = None,
        mode: str = "hybrid",
        recency_half_life_days: float | None = None,
    ) -> SearchOutcome:
        """The best passages for a text in plain words (see `PassageSearch.search`).

        Raises ConfigurationError for an empty query, an unknown mode, or an index made by another embedding model.
        """
        text = query.replace("\x00", " ").strip()
        if not text:
            raise ConfigurationError("the search text is empty: say what to look for")
        if mode not in MODES:
            raise ConfigurationError(f"unknown search mode {mode!r}: use {', '.join(MODES)}")
        if top < 1:
            raise ConfigurationError("the number of results must be at least 1")
        counts = Counter(tokenize(text))
        with open_reader(self._store) as reader:
            state = reader.state()
            if not state.chunks:
                return SearchOutcome(query=query, null_signal=True, reason="no document is indexed yet")
            documents = _documents(reader, filters)
            legs = self._run_legs(reader, state, text, counts, mode, documents, max(LEG_DEPTH, top))
            fused = fusion.fuse({"bm25": legs.bm25, "dense": legs.dense})
            stored = reader.passages([each.key for each in fused[: max(LEG_DEPTH, top)]])
        weights = {
            term: bm25.inverse_document_frequency(state.chunks, legs.frequencies.get(term, 0)) for term in counts
        }
        passages = self._rank(fused, stored, weights, top, recency_half_life_days)
        return self._outcome(query, counts, state, legs, passages, stored, documents)

    def _run_legs(
        self,
        reader: IndexReader,
        state: IndexState,
        text: str,
        counts: Counter[str],
        mode: str,
        documents: Sequence[int] | None,
        depth: int,
    ) -> _Legs:
        legs = _Legs()
        known = reader.terms(counts) if counts else {}
        legs.frequencies = {term: frequency for term, (_, frequency) in known.items()}
        if mode != "dense":
            statistics = bm25.CorpusStatistics(state.chunks, state.terms)
            terms = bm25.query_terms(counts, known, statistics)
            legs.bm25 = reader.score_terms(
                {term.term_no: term.weight for term in terms},
                bm25.length_norm(statistics),
                depth=depth,
                documents=documents,
            )
        if mode != "bm25" and state.serving is not None:
            if state.serving.model_id != self._embedder.model_id:
                raise ConfigurationError(
                    f"the index was made with {state.serving.model_id}, the embedding model set is "
                    f"{self._embedder.model_id}: run `nightshift ingest` to build its index"
                )
            vector = self._embedder.embed([text])[0]
            windows = reader.count_windows(state.serving.version_no, documents)
            legs.exact = windows <= EXACT_SCAN_WINDOWS
            legs.dense = reader.nearest(vector, state.serving, depth=depth, exact=legs.exact, documents=documents)
        return legs

    def _rank(
        self,
        fused: Sequence[fusion.Fused],
        stored: Mapping[int, StoredPassage],
        weights: Mapping[str, float],
        top: int,
        half_life: float | None,
    ) -> tuple[Passage, ...]:
        scored = []
        for each in fused:
            passage = stored.get(each.key)
            if passage is None:
                continue
            factor = None
            if half_life is not None:
                factor = recency.decay(passage.document_date, self._today or date.today(), half_life)  # noqa: DTZ011
            score = each.score if factor is None else each.score * factor
            scored.append((score, each, passage, factor))
        scored.sort(key=lambda item: (-round(item[0], 12), item[2].source, item[2].path, item[2].ordinal))
        return tuple(
            _passage(rank, each, passage, factor, score, weights)
            for rank, (score, each, passage, factor) in enumerate(scored[:top], start=1)
        )

    def _outcome(
        self,
        query: str,
        counts: Counter[str],
        state: IndexState,
        legs: _Legs,
        passages: tuple[Passage, ...],
        stored: Mapping[int, StoredPassage],
        documents: Sequence[int] | None,
    ) -> SearchOutcome:
        cosine = max((score for _, score in legs.dense), default=0.0)
        coverage = max(
            (
                bm25.coverage(
                    counts, term_counts(stored[key].body, stored[key].context), legs.frequencies, state.chunks
                )
                for key, _ in legs.bm25[:5]
                if key in stored
            ),
            default=0.0,
        )
        null = not passages or (cosine < 0.30 and coverage < 0.5)
        reason = ""
        if null:
            reason = f"nothing fits: best cosine {cosine:.2f}, best share of the words {coverage:.2f}"
        detail: dict[str, Any] = {
            "bm25": len(legs.bm25),
            "dense": len(legs.dense),
            "dense_scan": "exact" if legs.exact else "graph",
            "filtered_documents": None if documents is None else len(documents),
            "best_cosine": round(cosine, 4),
            "best_coverage": round(coverage, 4),
            "generation": state.generation,
        }
        return SearchOutcome(
            query=query, null_signal=null, reason=reason, passages=passages, detail=detail
        )


def _documents(reader: IndexReader, filters: Mapping[str, str] | None) -> list[int] | None:
    if not filters:
        return None
    return reader.filtered_documents({name: value.strip().casefold() for name, value in filters.items()})


def _passage(
    rank: int,
    fused: fusion.Fused,
    stored: StoredPassage,
    factor: float | None,
    score: float,
    weights: Mapping[str, float],
) -> Passage:
    return Passage(
        rank=rank,
        chunk_id=stored.chunk_no,
        document_id=stored.document_id,
        path=stored.path,
        title=stored.title,
        document_type=stored.document_type or "",
        heading_path=tuple(stored.heading_path),
        page=stored.page,
        text=stored.body,
        metadata=stored.metadata,
        scores=Scores(rrf=score, bm25=fused.raw.get("bm25"), cosine=fused.raw.get("dense"), recency=factor),
        quotes=key_sentences(stored.body, weights),
    )
