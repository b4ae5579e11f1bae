"""A new embedding model beside the old one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ingestion.chunk import windows
from ingestion.config import IngestionRules
from ingestion.documents import Chunk
from ingestion.pipeline import ingest, ingest_batch
from ingestion.planning import plan_ingest
from ingestion.publishing import remove_document
from ingestion.versions import build_version, ensure_version, serving_version
from rag_core.connectors.base import Embedder
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.store import Store
from rag_core.errors import ConfigurationError
from rag_core.retrieval.search import HybridSearch

pytestmark = pytest.mark.integration

OLD = WordHashEmbedder(dimensions=64)
NEW = WordHashEmbedder(dimensions=768, name="bigger")


def cutter(embedder: Embedder):  # type: ignore[no-untyped-def]
    return lambda chunk: windows(chunk, embedder.token_spans, embedder.max_tokens)


def version_counts(store: Store) -> dict[str, int]:
    with store.connection() as connection:
        rows = connection.execute(
            "SELECT v.model_id, count(w.chunk_no) FROM nightshift.index_version AS v "
            "LEFT JOIN nightshift.chunk_window AS w USING (version_no) GROUP BY v.model_id"
        ).fetchall()
    return dict(rows)


def test_the_old_index_serves_until_the_new_one_is_complete(store: Store, rules: IngestionRules, folder: Path) -> None:
    ingest(store, OLD, [folder], rules=rules)
    building = ensure_version(store, NEW)
    assert building.status == "building"
    old_search = HybridSearch(store, OLD)
    assert old_search.search("delete old logs", mode="dense").passages

    seen: list[str] = []

    def search_meanwhile(chunk: Chunk) -> list[str]:
        serving = serving_version(store)
        assert serving is not None
        seen.append(serving.model_id)
        assert old_search.search(chunk.text[:40], mode="dense").passages
        return windows(chunk, NEW.token_spans, NEW.max_tokens)

    build_version(store, NEW, building, search_meanwhile)
    assert seen
    assert set(seen) == {OLD.model_id}
    serving = serving_version(store)
    assert serving is not None
    assert serving.model_id == NEW.model_id
    assert serving.dimensions == 768
    counts = version_counts(store)
    assert counts[NEW.model_id] >= 3
    assert counts[OLD.model_id] == 0
    assert HybridSearch(store, NEW).search("delete old logs", mode="dense").passages[0].path == "disk.md"


def test_a_build_that_was_stopped_is_taken_up_again(store: Store, rules: IngestionRules, folder: Path) -> None:
    ingest(store, OLD, [folder], rules=rules)
    version = ensure_version(store, NEW)
    calls = 0

    def stop_after_two(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_version(store, NEW, version, cutter(NEW), on_progress=stop_after_two)
    assert calls == 1
    assert ensure_version(store, NEW).version_no == version.version_no
    assert build_version(store, NEW, version, cutter(NEW)) == 0  # everything was in the cache or in the index


def test_an_ingest_with_a_new_model_builds_its_index_first(store: Store, rules: IngestionRules, folder: Path) -> None:
    ingest(store, OLD, [folder], rules=rules)
    outcome = ingest(store, NEW, [folder], rules=rules)
    assert outcome.documents["unchanged"] == 3
    assert outcome.embeddings_computed > 0
    serving = serving_version(store)
    assert serving is not None
    assert serving.model_id == NEW.model_id


def test_a_search_with_another_model_is_refused_or_uses_the_one_that_serves(
    store: Store, rules: IngestionRules, folder: Path
) -> None:
    ingest(store, OLD, [folder], rules=rules)
    with pytest.raises(ConfigurationError, match="nightshift ingest"):
        HybridSearch(store, NEW).search("logs")
    opened: list[str] = []

    def open_old(setting: str) -> Embedder:
        opened.append(setting)
        return OLD

    search = HybridSearch(store, NEW, open_embedder=open_old)
    assert search.search("delete old logs").passages[0].path == "disk.md"
    assert search.search("etcd quorum").passages[0].path == "leader.md"
    assert opened == [OLD.setting]


def test_a_batch_for_a_model_that_no_longer_serves_is_refused(
    store: Store, rules: IngestionRules, folder: Path
) -> None:
    plan = plan_ingest(store, OLD, [folder], rules=rules)
    ingest_batch(store, OLD, plan.run_id, 0, rules=rules)
    (folder / "late.md").write_text("# Late\n\nText.\n", encoding="utf-8")
    late = plan_ingest(store, OLD, [folder], rules=rules)
    ingest(store, NEW, [folder], rules=rules)
    with pytest.raises(ConfigurationError, match="served by"):
        ingest_batch(store, OLD, late.run_id, 0, rules=rules)


def test_the_same_name_with_another_length_is_refused(store: Store) -> None:
    ensure_version(store, WordHashEmbedder(dimensions=64))

    class Liar(WordHashEmbedder):
        @property
        def model_id(self) -> str:
            return OLD.model_id

    with pytest.raises(ConfigurationError, match="dimensions"):
        ensure_version(store, Liar(dimensions=32))


def test_a_chunk_removed_during_a_build_does_not_stop_it(store: Store, rules: IngestionRules, folder: Path) -> None:
    ingest(store, OLD, [folder], rules=rules)
    version = ensure_version(store, NEW)
    removed = False

    def remove_one(chunk: Chunk) -> list[str]:
        nonlocal removed
        if not removed:
            removed = True
            with store.connection() as connection:
                row = connection.execute(
                    "SELECT document_no FROM nightshift.document WHERE path = 'market.md'"
                ).fetchone()
            assert row is not None
            remove_document(store, row[0])
        return windows(chunk, NEW.token_spans, NEW.max_tokens)

    build_version(store, NEW, version, remove_one)
    serving = serving_version(store)
    assert serving is not None
    assert serving.model_id == NEW.model_id


def test_a_serving_index_that_lacks_windows_is_completed_by_the_next_run(
    store: Store, rules: IngestionRules, folder: Path
) -> None:
    ingest(store, OLD, [folder], rules=rules)
    whole = version_counts(store)
    with store.connection() as connection:
        connection.execute(
            "DELETE FROM nightshift.chunk_window USING nightshift.document "
            "WHERE chunk_window.document_no = document.document_no AND document.path = 'leader.md'"
        )
    assert version_counts(store) != whole
    search = HybridSearch(store, OLD)
    assert "leader.md" not in {passage.path for passage in search.search("quorum etcd", mode="dense").passages}
    assert ingest(store, OLD, [folder], rules=rules).documents["unchanged"] == 3
    assert version_counts(store) == whole
    assert HybridSearch(store, OLD).search("quorum etcd", mode="dense").passages[0].path == "leader.md"


def test_a_serving_index_that_cannot_be_completed_stops_no_run(
    store: Store, rules: IngestionRules, folder: Path
) -> None:
    ingest(store, OLD, [folder], rules=rules)
    with store.connection() as connection:
        connection.execute("DELETE FROM nightshift.chunk_window")
        connection.execute("DELETE FROM nightshift.embedding_cache")
    (folder / "new.md").write_text("# New\n\nA turtle.\n", encoding="utf-8")
    outcome = ingest(store, LostEmbedder(dimensions=64), [folder], rules=rules)
    assert (outcome.documents["indexed"], outcome.documents["unchanged"]) == (1, 3)


class LostEmbedder(WordHashEmbedder):
    """Gives no usable vector for what speaks of logs."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        vectors = super().embed(texts)
        return [[0.0] * len(vector) if "logs" in text else vector for text, vector in zip(texts, vectors, strict=True)]
