"""Our BM25 beside bm25s: `python -m bench.retrieval.bm25s_comparison STORE_DSN DATA`.

STORE_DSN is the database that `nightshift eval retrieval --set scifact` has filled, DATA the folder that holds
`scifact`. bm25s (https://github.com/xhluca/bm25s) is no dependency: put it beside the project for this run, as in
`uv pip install --no-deps --target FOLDER bm25s` and `PYTHONPATH=FOLDER`.

Both get the same chunks with the same terms and the same questions; bm25s scores with its Lucene variant and the same
k1 and b. A document stands at the place of its best chunk, of the hundred best. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ingestion.evaluation import Collection, load_collection
from rag_core.connectors.pgvector import open_reader
from rag_core.connectors.sql_files import files_root
from rag_core.connectors.store import Store
from rag_core.retrieval import bm25
from rag_core.retrieval.measures import Judged, measure, percentile
from rag_core.retrieval.postings import PackedPostings
from rag_core.retrieval.tokens import term_counts, tokenize

DEPTH = 100
ALLOWED = 0.002

Ranking = list[tuple[int, float]]


def main() -> None:
    """Prints the figures of both and how far they are apart."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dsn")
    parser.add_argument("data", type=Path)
    options = parser.parse_args()
    if find_spec("bm25s") is None:
        raise SystemExit("bm25s is not installed: this comparison needs it on PYTHONPATH, nothing else does")
    print(json.dumps(compare(Store(options.dsn), options.data), indent=2))


def compare(store: Store, data: Path) -> dict[str, Any]:
    """Both rankings of every test question, measured."""
    collection = load_collection("scifact", data=data, repository=files_root())
    with store.connection() as connection:
        rows = connection.execute(
            "SELECT c.chunk_no, d.path, c.body, c.context FROM nightshift.chunk AS c "
            "JOIN nightshift.document AS d USING (document_no) ORDER BY c.chunk_no"
        ).fetchall()
    documents = {chunk_no: path for chunk_no, path, _, _ in rows}
    ours, our_times = ask_ours(store, collection)
    theirs, their_times = ask_bm25s(
        collection,
        [chunk_no for chunk_no, *_ in rows],
        [list(term_counts(body, context).elements()) for _, _, body, context in rows],
    )
    figures = {
        name: measure(
            [
                Judged(list(dict.fromkeys(documents[chunk] for chunk, _ in ranking)), query.grades)
                for ranking, query in zip(rankings, collection.queries, strict=True)
            ],
            times,
        )
        for name, rankings, times in (("ours", ours, our_times), ("bm25s", theirs, their_times))
    }
    apart = max(
        abs(dict(mine).get(key, score) - score)
        for mine, other in zip(ours, theirs, strict=True)
        for key, score in other[: DEPTH // 2]
    )
    difference = figures["ours"].ndcg_10 - figures["bm25s"].ndcg_10
    return {
        "chunks": len(rows),
        "queries": len(collection.queries),
        "ndcg_10": {name: round(each.ndcg_10, 4) for name, each in figures.items()},
        "recall_10": {name: round(each.recall_10, 4) for name, each in figures.items()},
        "difference": round(difference, 4),
        "within": abs(difference) <= ALLOWED,
        "largest_difference_of_a_score": round(apart, 6),
        "p95_ms_relative_to_bm25s": round(percentile(our_times, 0.95) / percentile(their_times, 0.95), 2),
    }


def ask_ours(store: Store, collection: Collection) -> tuple[list[Ranking], list[float]]:
    """The lexical leg alone, as the search runs it."""
    lexical, rankings, times = PackedPostings(), [], []
    for query in collection.queries:
        started = time.perf_counter()
        with open_reader(store) as reader:
            state = reader.state().read()
            counts = Counter(tokenize(query.text))
            statistics = bm25.CorpusStatistics(state.chunks, state.terms)
            terms = bm25.query_terms(counts, reader.terms(counts).read(), statistics)
            found = lexical.score(reader, state.generation, terms, statistics, depth=DEPTH, selection=None)
        times.append((time.perf_counter() - started) * 1000)
        rankings.append(found)
    return rankings, times


def ask_bm25s(collection: Collection, numbers: list[int], chunks: list[list[str]]) -> tuple[list[Ranking], list[float]]:
    """bm25s over the same terms, all in memory."""
    import bm25s  # type: ignore[import-not-found]

    retriever = bm25s.BM25(method="lucene", k1=bm25.K1, b=bm25.B)
    retriever.index(chunks, show_progress=False)
    rankings, times = [], []
    for query in collection.queries:
        started = time.perf_counter()
        terms = [term for term in tokenize(query.text) if term in retriever.vocab_dict]
        found: Ranking = []
        if terms:
            places, scores = retriever.retrieve([terms], k=min(DEPTH, len(chunks)), show_progress=False)
            found = [
                (numbers[int(place)], float(score)) for place, score in zip(places[0], scores[0], strict=True) if score
            ]
        times.append((time.perf_counter() - started) * 1000)
        rankings.append(found)
    return rankings, times


if __name__ == "__main__":
    main()
