"""Packed postings against the rows that they are made of, through ingests, removals and packing anew."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from ingestion import packing
from ingestion.config import IngestionRules
from ingestion.corpora import CorpusText, load_corpus
from ingestion.packing import pack_postings
from ingestion.publishing import remove_document
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.store import Store
from rag_core.retrieval.search import HybridSearch
from rag_core.retrieval.tokens import tokenize
from tests.stores import MakeStore

pytestmark = pytest.mark.integration

EMBEDDER = WordHashEmbedder(dimensions=32)
QUERIES = ("amber", "amber birch cedar", "cedar cedar dune", "elm unknownword", "amber birch cedar dune elm fern gale")


def texts(start: int, end: int) -> list[CorpusText]:
    """Documents of words of very different frequency and length; some are equal, so that scores tie."""
    words = ("amber", "birch", "cedar", "dune", "elm", "fern", "gale")
    made = []
    for number in range(start, end):
        draw = random.Random(number % 60)
        body = " ".join(draw.choices(words, weights=(40, 20, 10, 5, 3, 2, 1), k=draw.choice([3, 3, 12, 60])))
        made.append(CorpusText(f"d{number:04d}", f"Note {number % 7}", body))
    return made


def by_formula(store: Store, query: str, selected: set[int] | None) -> list[tuple[int, float]]:
    """BM25 of every chunk from the rows, one by one."""
    with store.connection() as connection:
        rows = connection.execute(
            "SELECT t.term, p.chunk_no, p.document_no, p.frequency, p.terms "
            "FROM nightshift.posting AS p JOIN nightshift.term AS t USING (term_no)"
        ).fetchall()
        chunks, terms = connection.execute("SELECT chunks, terms FROM nightshift.index_state").fetchone() or (0, 0)
    holding = Counter(term for term, *_ in rows)
    scores: dict[int, float] = {}
    for term, chunk_no, document_no, frequency, length in rows:
        times = tokenize(query).count(term)
        if times and (selected is None or document_no in selected):
            idf = math.log(1 + (chunks - holding[term] + 0.5) / (holding[term] + 0.5))
            norm = 1.5 * (0.25 + 0.75 * length / (terms / chunks))
            scores[chunk_no] = scores.get(chunk_no, 0.0) + times * idf * frequency / (frequency + norm)
    return sorted(((chunk, round(score, 9)) for chunk, score in scores.items()), key=lambda each: (-each[1], each[0]))


def check(store: Store) -> None:
    search = HybridSearch(store, EMBEDDER)
    with store.connection() as connection:
        even = {
            row[0]
            for row in connection.execute("SELECT document_no FROM nightshift.document WHERE document_no % 2 = 0")
        }
        connection.execute("DELETE FROM nightshift.document_attribute WHERE name = 'even'")
        connection.execute(
            "INSERT INTO nightshift.document_attribute SELECT unnest(%s::integer[]), 'even', 'yes'", (list(even),)
        )
    for query in QUERIES:
        for top in (7, 1_000):
            for filters, selected in ((None, None), ({"even": "yes"}, even)):
                outcome = search.search(query, mode="bm25", top=top, filters=filters)
                # The search may order ties by path; as sets of equal scores the lists agree.
                found = [(passage.chunk_id, passage.scores.bm25) for passage in outcome.passages]
                expected = by_formula(store, query, selected)
                depth = max(top, 100)
                assert [score for _, score in found] == [score for _, score in expected[:depth][:top]], query
                least = expected[: len(found)][-1][1]
                assert {key for key, score in found if score and score > least} == {
                    key for key, score in expected if score > least
                }


def segments(store: Store) -> list[tuple[int, int]]:
    with store.connection() as connection:
        return connection.execute(
            "SELECT segment_no, chunks FROM nightshift.posting_segment ORDER BY first_chunk"
        ).fetchall()


def test_scores_stay_exact_whatever_happens_to_the_index(
    make_store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "LEAST_UNPACKED", 40)
    monkeypatch.setattr(packing, "MOST_CHUNKS", 64)
    store = make_store()
    load_corpus(store, EMBEDDER, "words", texts(0, 150), rules=IngestionRules())
    assert [chunks for _, chunks in segments(store)] == [64, 64]  # and a rest that is scored from its rows
    check(store)

    with store.connection() as connection:
        numbers = [row[0] for row in connection.execute("SELECT document_no FROM nightshift.document ORDER BY 1")]
    for number in (numbers[0], numbers[70], numbers[140]):
        remove_document(store, number)
    check(store)  # two of them stand in segments still: their tombstones keep them out

    for number in numbers[1:30]:
        remove_document(store, number)
    before = {number for number, _ in segments(store)}
    assert pack_postings(store) == 1
    assert [chunks for _, chunks in segments(store)] == [34, 64]
    assert len({number for number, _ in segments(store)} - before) == 1
    with store.connection() as connection:
        buried = connection.execute("SELECT count(*) FROM nightshift.posting_tombstone").fetchone()
    assert buried == (1,)  # the one in the segment that was not packed again
    check(store)

    load_corpus(store, EMBEDDER, "words", texts(200, 230), rules=IngestionRules())
    assert sum(chunks for _, chunks in segments(store)) > 100
    check(store)

    for number in numbers[30:]:
        if number not in (numbers[70], numbers[140]):
            remove_document(store, number)
    pack_postings(store)
    check(store)


def test_an_index_from_before_there_were_segments_is_packed_by_the_next_run(
    make_store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store()
    load_corpus(store, EMBEDDER, "words", texts(0, 30), rules=IngestionRules())
    assert segments(store) == []
    monkeypatch.setattr(packing, "LEAST_UNPACKED", 10)
    assert load_corpus(store, EMBEDDER, "words", texts(0, 30), rules=IngestionRules()) == 0
    assert [chunks for _, chunks in segments(store)] == [30]
    check(store)


def test_packing_an_empty_index_makes_nothing(make_store: MakeStore) -> None:
    store = make_store()
    assert pack_postings(store) == 0
    assert segments(store) == []


def test_a_search_that_is_under_way_keeps_its_segments(make_store: MakeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has read the segments of one state answers rightly after they were packed anew."""
    monkeypatch.setattr(packing, "LEAST_UNPACKED", 10)
    store = make_store()
    load_corpus(store, EMBEDDER, "words", texts(0, 20), rules=IngestionRules())
    search = HybridSearch(store, EMBEDDER)
    before = search.search("amber", mode="bm25", top=50)
    load_corpus(store, EMBEDDER, "words", texts(20, 40), rules=IngestionRules())
    assert len(segments(store)) == 1
    after = search.search("amber", mode="bm25", top=50)
    assert len(after.passages) > len(before.passages)
    assert after.detail["generation"] > before.detail["generation"]
