"""The HNSW graph and the exact scan: the choice between them, and that filters survive both."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from ingestion import versions
from ingestion.config import IngestionRules
from ingestion.corpora import CorpusText, load_corpus
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.pgvector import open_reader
from rag_core.connectors.store import Store
from rag_core.retrieval import legs
from rag_core.retrieval.search import HybridSearch
from tests.stores import MakeStore

pytestmark = pytest.mark.integration

EMBEDDER = WordHashEmbedder(dimensions=64)


@pytest.fixture(name="limits", scope="module")
def fixture_limits() -> Iterator[None]:
    """Small limits in place of 20,000 vectors and of what scanning them costs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(versions, "EXACT_SCAN_WINDOWS", 500)
        patch.setattr(legs, "EXACT_SCAN_WINDOWS", 500)
        patch.setattr(legs, "FILTERED_SCAN_COST", 100)
        yield


@pytest.fixture(name="store", scope="module")
def fixture_store(make_store: MakeStore, limits: None) -> Store:
    """A store with a graph."""
    store = make_store()
    texts = [
        CorpusText(f"d{number:04d}", f"Note {number}", f"word{number % 89} word{number % 83} word{number % 79} common")
        for number in range(2_000)
    ]
    load_corpus(store, EMBEDDER, "many", texts, rules=IngestionRules())
    with store.connection() as connection:
        connection.execute(
            "INSERT INTO nightshift.document_attribute (document_no, name, value) "
            "SELECT document_no, 'most', 'yes' FROM nightshift.document WHERE document_no % 4 <> 0 "
            "UNION ALL SELECT document_no, 'rare', 'yes' FROM nightshift.document WHERE document_no % 200 = 7"
        )
    return store


def test_the_graph_is_built_once_and_used(store: Store) -> None:
    version = versions.serving_version(store)
    assert version is not None
    assert versions.maintain_index(store, version) is False  # load_corpus has built it
    outcome = HybridSearch(store, EMBEDDER).search("word11 word12", mode="dense", top=10)
    assert outcome.detail["scan"] == "graph"
    assert len(outcome.passages) == 10
    with store.connection() as connection:
        connection.execute("SET LOCAL enable_seqscan = off")
        plan = "\n".join(
            row[0]
            for row in connection.execute(
                "EXPLAIN SELECT chunk_no FROM nightshift.chunk_window WHERE version_no = "
                f"{version.version_no} ORDER BY embedding::halfvec(64) <#> '{[0.125] * 64}'::halfvec(64) LIMIT 10"
            )
        )
    assert versions.graph_name(version.version_no) in plan


def test_the_graph_finds_nearly_what_the_exact_scan_finds(store: Store) -> None:
    with open_reader(store) as reader:
        state = reader.state().read()
        assert state.serving is not None
        shares = []
        for number in range(20):
            (vector,) = EMBEDDER.embed([f"word{number} word{number * 3 % 83} common"])
            exact = reader.nearest(vector, state.serving, depth=10, exact=True).read()
            graph = reader.nearest(vector, state.serving, depth=10, exact=False).read()
            # Equal cosines may change places: what counts is how near the hits are.
            least = exact[-1][1]
            shares.append(sum(cosine >= least - 1e-6 for _, cosine in graph) / len(exact))
    assert sum(shares) / len(shares) >= 0.9


def test_a_filtered_search_through_the_graph_is_complete(store: Store) -> None:
    outcome = HybridSearch(store, EMBEDDER).search("word5 common", mode="dense", top=10, filters={"most": "yes"})
    assert outcome.detail["scan"] == "graph"
    assert len(outcome.passages) == 10
    with store.connection() as connection:
        kept = connection.execute(
            "SELECT count(*) FROM nightshift.document_attribute AS a JOIN nightshift.document AS d USING (document_no) "
            "WHERE a.name = 'most' AND d.path = any(%s)",
            ([passage.path for passage in outcome.passages],),
        ).fetchone()
    assert kept == (10,)


@pytest.mark.parametrize("exact", [True, False])
def test_a_filter_that_keeps_half_a_percent_finds_all_of_it(store: Store, exact: bool) -> None:
    """Without an iterative scan the graph gives its nearest two hundred, of which such a filter keeps one or none."""
    with open_reader(store) as reader:
        state = reader.state().read()
        filters = (("rare", "yes"),)
        documents = "{" + ",".join(map(str, reader.filtered_documents(filters))) + "}"
        assert state.serving is not None
        for number in range(5):
            (vector,) = EMBEDDER.embed([f"word{number} common"])
            found = reader.nearest(
                vector, state.serving, depth=10, exact=exact, filters=filters, documents=documents
            ).read()
            assert len(found) == 10


def test_the_filter_is_looked_up_beside_the_graph(store: Store) -> None:
    """Two conditions: both must hold, also where only the graph is asked."""
    outcome = HybridSearch(store, EMBEDDER).search(
        "common", mode="dense", top=10, filters={"most": "yes", "source": "many"}
    )
    assert outcome.detail["scan"] == "graph"
    assert len(outcome.passages) == 10
    none = HybridSearch(store, EMBEDDER).search("common", mode="dense", filters={"most": "yes", "source": "other"})
    assert none.null_signal


def test_a_small_filtered_set_is_scanned_exactly(store: Store) -> None:
    outcome = HybridSearch(store, EMBEDDER).search("common", mode="dense", top=10, filters={"path": "d0042"})
    assert outcome.detail["scan"] == "exact"
    assert [passage.path for passage in outcome.passages] == ["d0042"]


def test_a_graph_that_was_left_half_built_is_built_again(store: Store) -> None:
    version = versions.serving_version(store)
    assert version is not None
    name = versions.graph_name(version.version_no)
    with store.connection() as connection:
        connection.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", (f"nightshift.{name}",)
        )
    until_then = HybridSearch(store, EMBEDDER).search("word3 word4", mode="dense", top=10)
    assert until_then.detail["scan"] == "exact"
    assert len(until_then.passages) == 10
    with psycopg.connect(store.dsn) as builder:
        # As long as somebody builds it, nobody takes it for one that was left.
        builder.execute("SELECT pg_advisory_lock(hashtextextended('nightshift.graph', 0))")
        assert versions.build_graph(store, version) is False
    assert versions.maintain_index(store, version) is True
    assert versions.maintain_index(store, version) is False
