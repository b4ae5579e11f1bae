"""Groups of documents in one transaction: the whole group, or each document by itself where one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion import runs
from ingestion.checks import judge_documents
from ingestion.config import IngestionRules
from ingestion.documents import Block, ConvertedDocument, SourceFile
from ingestion.publishing import publish_documents
from ingestion.versions import ensure_version
from ingestion.worker import DocumentWorker
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.store import Store
from rag_core.retrieval.search import HybridSearch

pytestmark = pytest.mark.integration


class Texts:
    """A converter that hands out prepared texts, cleaned by nobody."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def convert(self, file: SourceFile) -> ConvertedDocument:
        return ConvertedDocument("ok", file.relative_path, (Block("paragraph", self.texts[file.relative_path]),))


def source(name: str) -> SourceFile:
    return SourceFile("docs", Path("docs"), Path("docs") / name, name, 10, name * 4)


def rows(store: Store, query: str) -> list[tuple[object, ...]]:
    with store.connection() as connection:
        return connection.execute(query).fetchall()  # type: ignore[call-overload, no-any-return]


def work(store: Store, rules: IngestionRules, texts: dict[str, str]) -> list[str]:
    """Stages, judges and publishes; returns the documents worked off."""
    embedder = WordHashEmbedder()
    version = ensure_version(store, embedder)
    files = [source(name) for name in texts]
    record = runs.RunRecord(
        run_id=runs.new_run_id(), complete=True, discovered=len(files), unchanged=0, moved=0, known=0, seconds=0.0
    )
    with store.connection() as connection:
        runs.save_run(connection, record, [files])
    worker = DocumentWorker(store, embedder, rules, version, record.run_id)
    done = [file.relative_path for file, _ in worker.work_off(files, Texts(texts))]
    judge_documents(store, record.run_id, max_tokens=rules.chunks.max_tokens)
    publish_documents(store, record.run_id, version_no=version.version_no)
    return done


def test_one_document_that_the_database_refuses_does_not_take_its_group_with_it(
    store: Store, rules: IngestionRules
) -> None:
    texts = {f"{number}.md": f"kraken text {number}" for number in range(5)}
    texts["2.md"] = "a character that no text column holds: \x00"
    assert work(store, rules, texts) == list(texts)
    states = dict(rows(store, "SELECT path, state FROM nightshift.document"))
    assert states.pop("2.md") == "quarantined"
    assert set(states.values()) == {"ok"}
    assert len(states) == 4
    stages = rows(store, "SELECT stage, reason FROM nightshift.document WHERE path = '2.md'")
    assert stages[0][0] == "index"
    assert stages[0][1]
    found = HybridSearch(store, WordHashEmbedder()).search("kraken", mode="bm25", top=10).passages
    assert {passage.path for passage in found} == set(states)
    assert rows(
        store,
        "SELECT s.chunks - (SELECT count(*) FROM nightshift.chunk), "
        "(SELECT count(*) FROM nightshift.term AS t WHERE t.chunks <> "
        "(SELECT count(*) FROM nightshift.posting AS p WHERE p.term_no = t.term_no)) FROM nightshift.index_state AS s",
    ) == [(0, 0)]


def test_a_group_is_one_transaction(store: Store, rules: IngestionRules) -> None:
    assert work(store, rules, {f"{number}.md": f"text {number}" for number in range(20)})
    assert rows(store, "SELECT count(*), count(DISTINCT xmin::text) FROM nightshift.document") == [(20, 1)]


def test_chunks_of_a_group_stay_with_their_documents(store: Store, rules: IngestionRules) -> None:
    work(store, rules, {"a.md": "same text", "b.md": "same text", "c.md": "other text"})
    numbers = rows(store, "SELECT chunk_no FROM nightshift.chunk ORDER BY chunk_no")
    work(store, rules, {"c.md": "other text", "a.md": "same text", "b.md": "new text"})
    bodies = dict(
        rows(
            store, "SELECT d.path, c.body FROM nightshift.chunk AS c JOIN nightshift.document AS d USING (document_no)"
        )
    )
    assert bodies == {"a.md": "same text", "b.md": "new text", "c.md": "other text"}
    kept = rows(store, "SELECT chunk_no FROM nightshift.chunk ORDER BY chunk_no")
    assert len(set(numbers) & set(kept)) == 2
