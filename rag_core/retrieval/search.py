"""Hybrid search: words, vectors and titles, fused by rank, with a null signal where nothing in the index fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from rag_core.connectors.pgvector import Candidate, IndexReader, IndexState, StoredPassage, open_reader
from rag_core.datamodel.evidence import Passage, Scores, SearchOutcome
from rag_core.errors import ConfigurationError
from rag_core.retrieval import fusion, recency, relevance
from rag_core.retrieval.ambiguity import Stated, find_disagreement
from rag_core.retrieval.bm25 import LexicalIndex
from rag_core.retrieval.caching import RecentCache
from rag_core.retrieval.classify import Classification, Vocabulary, classify
from rag_core.retrieval.legs import Legs, blend_leg, run_legs, title_leg
from rag_core.retrieval.passages import key_sentences
from rag_core.retrieval.postings import PackedPostings
from rag_core.retrieval.query_vectors import QueryVectors
from rag_core.retrieval.selection import Selections
from rag_core.retrieval.tokens import tokenize
from rag_core.retrieval.tuning import SearchTuning, standing

if TYPE_CHECKING:
    from rag_core.connectors.base import Embedder
    from rag_core.connectors.store import Store

MODES = ("hybrid", "dense", "bm25")
LEG_DEPTH = 100
MAX_QUERY_CHARACTERS = 10_000
# Chunks of each leg whose words are compared with the question's for the null signal.
JUDGED_CHUNKS = 5
# Finding the sentences that answer costs more than finding the passage: nobody quotes the fiftieth.
QUOTED_RESULTS = 20
CACHED_RESULTS = 200


@dataclass(frozen=True, slots=True)
class _Request:
    text: str
    terms: Counter[str]
    top: int
    filters: tuple[tuple[str, str], ...]
    mode: str
    half_life: float | None


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """The index as one search sees it; `known` are the question's terms with their numbers and frequencies."""

    reader: IndexReader
    state: IndexState
    known: Mapping[str, tuple[int, int]]


@dataclass(slots=True)
class _Found:
    """Candidates in their final order, best first, each as (score, fused, candidate, recency factor)."""

    legs: Legs
    weights: dict[str, float]
    ranked: list[tuple[float, fusion.Fused, Candidate, float | None]]
    documents: int | None
    null_reason: str
    evidence: relevance.Evidence


class HybridSearch:
    """Search over the document index; a `PassageSearch`. Safe to use from several threads.

    Args:
        store: where the index is.
        embedder: the embedding model set. While the index of another one still serves, `open_embedder` loads that one
            by its setting; without it such a search is refused.
        today: the day that ages are counted from; today's date in UTC where None.
        tuning: figures of the ranking.
        lexical: where BM25 is scored; the packed postings of the store where None.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        today: date | None = None,
        tuning: SearchTuning | None = None,
        lexical: LexicalIndex | None = None,
        open_embedder: Callable[[str], Embedder] | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._open_embedder = open_embedder
        self._today = today
        self._tuning = tuning or SearchTuning()
        self._vectors = QueryVectors(store)
        self._results: RecentCache[SearchOutcome] = RecentCache(CACHED_RESULTS)
        self._selections = Selections()
        self._lexical: LexicalIndex = lexical or PackedPostings()
        self._vocabulary: RecentCache[Vocabulary] = RecentCache(2)
        self._old_embedders: RecentCache[Embedder] = RecentCache(1)

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

        Raises ConfigurationError for an empty query, an unknown mode, a half-life that is not positive, or an index
        that another embedding model made.
        """
        query = _storable(query)
        request = _request(query, top, filters, mode, recency_half_life_days)
        if mode != "bm25":
            self._vectors.of(self._embedder, request.text)  # outside the transaction: it may have to load the model
        with open_reader(self._store) as reader:
            coming_state, coming_terms = reader.state(), reader.terms(request.terms)
            state = coming_state.read()
            if not state.chunks:
                return SearchOutcome(query=query, null_signal=True, reason="no document is indexed yet")
            version = state.serving.version_no if state.serving else 0
            key = (state.generation, version, query, top, request.filters, mode, recency_half_life_days, self._day())
            cached = self._results.get(key)
            if cached is None:
                cached = self._answer(_Snapshot(reader, state, coming_terms.read()), request, query)
                self._results.put(key, cached)
            return cached

    def _answer(self, index: _Snapshot, request: _Request, query: str) -> SearchOutcome:
        reader, state = index.reader, index.state
        classified = Classification()
        if request.mode == "hybrid" and self._tuning.classification:
            classified = classify(request.text, self._read_vocabulary(reader, state))
        found = self._find(index, request, classified, request.filters)
        given = {name for name, _ in request.filters}
        certain = tuple(pair for pair in classified.filters if pair[0] not in given)
        narrowed = False
        if certain and not found.null_reason:
            narrow = self._find(index, request, classified, (*request.filters, *certain))
            if narrow.ranked and not narrow.null_reason:
                inside = {fused.key for _, fused, _, _ in narrow.ranked}
                narrow.ranked += [each for each in found.ranked if each[1].key not in inside]
                found, narrowed = narrow, True
        chosen = found.ranked[: request.top]
        stored = reader.passages([fused.key for _, fused, _, _ in chosen])
        passages = tuple(
            _passage(rank, score, fused, stored[fused.key], factor, found.weights)
            for rank, (score, fused, _, factor) in enumerate(chosen, start=1)
            if fused.key in stored
        )
        disagreement = None if found.null_reason else find_disagreement([_stated(each) for each in passages])
        return SearchOutcome(
            query=query,
            null_signal=bool(found.null_reason),
            reason=found.null_reason or (disagreement.reason if disagreement else ""),
            ambiguous=disagreement is not None,
            passages=passages,
            detail={
                "bm25": len(found.legs.bm25),
                "dense": len(found.legs.dense),
                "scan": found.legs.scan,
                "windows": found.legs.windows,
                "filtered_documents": found.documents,
                "best_cosine": round(found.evidence.cosine, 4),
                "mean_cosine": round(found.evidence.breadth, 4),
                "words_covered": round(found.evidence.coverage, 4),
                "close_results": [] if disagreement is None else _close(disagreement.results),
                "document_types": classified.document_types,
                "services": classified.services,
                "narrowed_to": dict(certain) if narrowed else {},
                "generation": state.generation,
                "embedding_model": state.serving.model_id if state.serving else None,
            },
        )

    def _find(
        self,
        index: _Snapshot,
        request: _Request,
        classified: Classification,
        filters: tuple[tuple[str, str], ...],
    ) -> _Found:
        reader, state = index.reader, index.state
        selection = self._selections.select(reader, state, filters)
        vector = None
        if request.mode != "bm25" and state.serving is not None:
            vector = self._vectors.of(self._serving_embedder(state), request.text)
        legs = run_legs(
            reader,
            state,
            None if request.mode == "dense" else self._lexical,
            request.terms,
            index.known,
            vector,
            selection=selection,
            windows=self._selections.all_windows(reader, state),
            depth=max(LEG_DEPTH, request.top),
        )
        weights = relevance.term_weights(request.terms, legs.frequencies, state.chunks)
        coming = reader.candidates(list(dict.fromkeys(key for key, _ in (*legs.bm25, *legs.dense))))
        held = reader.covered_terms(list(legs.numbers), _judged_chunks(legs))
        ranked = self._rank(request, legs, coming.read(), weights, classified)
        evidence = _evidence(legs, held.read(), weights, state.chunks)
        judged = relevance.judge(
            evidence,
            _limits(state),
            found=bool(ranked),
            dense=vector is not None,
            words=any(character.isalnum() for character in request.text),
        )
        return _Found(
            legs=legs,
            weights=weights,
            ranked=ranked,
            documents=None if selection is None else len(selection.documents),
            null_reason=judged,
            evidence=evidence,
        )

    def _rank(
        self,
        request: _Request,
        legs: Legs,
        candidates: Mapping[int, Candidate],
        weights: Mapping[str, float],
        classified: Classification,
    ) -> list[tuple[float, fusion.Fused, Candidate, float | None]]:
        tuning = self._tuning
        hybrid = request.mode == "hybrid"
        rankings: dict[str, Sequence[tuple[int, float]]] = {"bm25": legs.bm25, "dense": legs.dense}
        if hybrid:
            most = sum(weights[term] * request.terms[term] for term in sorted(weights))
            rankings["blend"] = blend_leg(legs.bm25, legs.dense, most)
            rankings["title"] = title_leg(candidates, weights)
        fused = fusion.fuse(
            rankings,
            k=tuning.rrf_k,
            weights={
                "bm25": tuning.bm25_weight,
                "dense": tuning.dense_weight,
                "blend": tuning.blend_weight,
                "title": tuning.title_weight,
            },
        )
        about_now = hybrid and request.half_life is None and recency.asks_about_now(request.text)
        ranked = []
        for each in fused:
            candidate = candidates.get(each.key)
            if candidate is None:
                continue
            score, factor = each.score, None
            if hybrid:
                score *= standing(candidate, classified, tuning)
            if request.half_life is not None:
                factor = recency.decay(candidate.document_date, self._day(), request.half_life)
            elif about_now:
                age = recency.decay(candidate.document_date, self._day(), recency.NOW_HALF_LIFE_DAYS)
                factor = 1 - tuning.now_share * (1 - age)
            ranked.append((score if factor is None else score * factor, each, candidate, factor))
        # Ties in the order of the documents' paths, which does not depend on when they were indexed.
        ranked.sort(key=lambda item: (-round(item[0], 12), item[2].source, item[2].path, item[2].ordinal))
        return ranked

    def _read_vocabulary(self, reader: IndexReader, state: IndexState) -> Vocabulary:
        vocabulary = self._vocabulary.get(state.generation)
        if vocabulary is None:
            vocabulary = Vocabulary(*reader.vocabulary())
            self._vocabulary.put(state.generation, vocabulary)
        return vocabulary

    def _serving_embedder(self, state: IndexState) -> Embedder:
        serving = state.serving
        if serving is None or serving.model_id == self._embedder.model_id:
            return self._embedder
        if self._open_embedder is None:
            raise ConfigurationError(
                f"the index was made with {serving.model_id}, the embedding model set is {self._embedder.model_id}: "
                "run `nightshift ingest` to build its index"
            )
        embedder = self._old_embedders.get(serving.model_setting)
        if embedder is None:
            embedder = self._open_embedder(serving.model_setting)
            self._old_embedders.put(serving.model_setting, embedder)
        return embedder

    def _day(self) -> date:
        return self._today or datetime.now(UTC).date()


def _request(query: str, top: int, filters: Mapping[str, str] | None, mode: str, half_life: float | None) -> _Request:
    text = query.strip()[:MAX_QUERY_CHARACTERS]
    if not text:
        raise ConfigurationError("the search text is empty: say what to look for")
    if mode not in MODES:
        raise ConfigurationError(f"unknown search mode {mode!r}: use {', '.join(MODES)}")
    if top < 1:
        raise ConfigurationError("the number of results must be at least 1")
    if half_life is not None and not half_life > 0:
        raise ConfigurationError("the recency half-life must be a positive number of days")
    # A NUL in a filter stays a sign that no attribute holds; a space in its place might make it fit.
    named = ((name, str(value).replace("\x00", "\ufffd")) for name, value in (filters or {}).items())
    pairs = tuple(sorted((_storable(name), _storable(value).strip().casefold()) for name, value in named))
    return _Request(text, Counter(tokenize(text)), top, pairs, mode, half_life)


def _storable(text: str) -> str:
    """A text as the database can hold it: a lone surrogate cannot be encoded for it, NUL it does not take."""
    return text.replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")


def _judged_chunks(legs: Legs) -> list[int]:
    return [key for key, _ in (*legs.bm25[:JUDGED_CHUNKS], *legs.dense[:JUDGED_CHUNKS])]


def _evidence(
    legs: Legs, held: Mapping[int, set[int]], weights: Mapping[str, float], chunks: int
) -> relevance.Evidence:
    """`held`: the terms of the question, by number, that each judged chunk holds."""
    covered = max(
        (relevance.coverage(weights, {legs.numbers[number] for number in numbers}) for numbers in held.values()),
        default=0.0,
    )
    names = relevance.rare_names(legs.frequencies, chunks)
    named = any(legs.numbers[number] in names for numbers in held.values() for number in numbers)
    nearest = [cosine for _, cosine in legs.dense[: relevance.BROAD]]
    breadth = sum(nearest) / len(nearest) if nearest else 0.0
    return relevance.Evidence(nearest[0] if nearest else 0.0, covered, named, breadth)


def _limits(state: IndexState) -> relevance.NullLimits:
    serving = state.serving
    if serving is None or serving.null_threshold is None or serving.null_coverage_weight is None:
        return relevance.NullLimits()
    return relevance.NullLimits(serving.null_threshold, serving.null_coverage_weight, serving.null_breadth_share or 0.0)


def _close(results: Sequence[Stated]) -> list[dict[str, Any]]:
    return [
        {"source": each.source, "path": each.document, "score": round(each.score, 6), "says": each.sentences}
        for each in results
    ]


def _stated(passage: Passage) -> Stated:
    return Stated(
        document=passage.path,
        sentences=passage.quotes,
        score=passage.scores.rrf,
        source=str(passage.metadata["source"]),
    )


def _passage(
    rank: int,
    score: float,
    fused: fusion.Fused,
    stored: StoredPassage,
    factor: float | None,
    weights: Mapping[str, float],
) -> Passage:
    metadata: dict[str, Any] = {"source": stored.source, **stored.metadata}
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
        metadata=metadata,
        scores=Scores(rrf=score, bm25=fused.raw.get("bm25"), cosine=fused.raw.get("dense"), recency=factor),
        quotes=key_sentences(stored.body, weights) if rank <= QUOTED_RESULTS else (),
    )
