"""A question is embedded once, whoever asks it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import psycopg
import pytest

from ingestion.config import IngestionRules
from ingestion.corpora import CorpusText, load_corpus
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.store import Store
from rag_core.graph.housekeeping import forget_run
from rag_core.retrieval.query_vectors import KEPT_DAYS, QueryVectors
from rag_core.retrieval.search import HybridSearch

pytestmark = pytest.mark.integration


@dataclass
class CountingEmbedder:
    """Words hashed to vectors, with a count of the texts that were embedded."""

    model_id: str = "memory:word-hash-64"
    inner: WordHashEmbedder = field(default_factory=lambda: WordHashEmbedder(dimensions=64))
    embedded: list[str] = field(default_factory=list)

    @property
    def dimensions(self) -> int:
        return self.inner.dimensions

    @property
    def max_tokens(self) -> int:
        return self.inner.max_tokens

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return self.inner.token_spans(text)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.embedded += texts
        return self.inner.embed(texts)


@pytest.fixture(name="store")
def fixture_store(make_store: Callable[[], Store]) -> Store:
    store = make_store()
    texts = [CorpusText(f"d{number}", f"Note {number}", f"kraken number {number} of the deep") for number in range(5)]
    load_corpus(store, CountingEmbedder(), "notes", texts, rules=IngestionRules())
    return store


def test_another_process_does_not_embed_it_again_and_finds_the_same(store: Store) -> None:
    first, second = CountingEmbedder(), CountingEmbedder()
    found = HybridSearch(store, first).search("kraken number 3")
    again = HybridSearch(store, second).search("kraken number 3")
    assert (first.embedded, second.embedded) == (["kraken number 3"], [])
    assert again == found


def test_a_vector_is_the_same_made_or_kept(store: Store) -> None:
    made = QueryVectors(store).of(CountingEmbedder(), "kraken of the deep")
    kept = QueryVectors(store).of(CountingEmbedder(), "kraken of the deep")
    assert kept == made == [float(np.float32(value)) for value in made]


def test_each_model_has_its_own(store: Store) -> None:
    other = CountingEmbedder(model_id="memory:other")
    QueryVectors(store).of(CountingEmbedder(), "kraken")
    QueryVectors(store).of(other, "kraken")
    assert other.embedded == ["kraken"]


def test_one_of_another_length_is_replaced(store: Store) -> None:
    QueryVectors(store).of(CountingEmbedder(inner=WordHashEmbedder(dimensions=32)), "kraken")
    longer = CountingEmbedder()
    assert len(QueryVectors(store).of(longer, "kraken")) == 64
    assert len(QueryVectors(store).of(longer, "kraken")) == 64
    assert longer.embedded == ["kraken"]


def test_what_nobody_asks_for_months_is_forgotten_and_what_is_asked_stays(store: Store) -> None:
    vectors = QueryVectors(store)
    for text in ("asked again", "never again"):
        vectors.of(CountingEmbedder(), text)
    with store.connection() as connection:
        connection.execute("UPDATE nightshift.query_vector SET used_on = current_date - %s", (KEPT_DAYS + 1,))
    QueryVectors(store).of(CountingEmbedder(), "asked again")
    forget_run(store, "run")
    asked = CountingEmbedder()
    for text in ("asked again", "never again"):
        QueryVectors(store).of(asked, text)
    assert asked.embedded == ["never again"]


def test_a_store_that_may_only_be_read_is_searched_all_the_same(store: Store) -> None:
    reading = Store(psycopg.conninfo.make_conninfo(store.dsn, options="-c default_transaction_read_only=on"))
    try:
        embedder = CountingEmbedder()
        search = HybridSearch(reading, embedder)
        assert search.search("kraken number 4").passages
        assert search.search("kraken number 4", top=2).passages
        assert embedder.embedded == ["kraken number 4"]
    finally:
        reading.close()
