"""Real operations documents and real files: every one accounted for, and runbooks found by the alert in their title."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from ingestion.cli import list_documents
from ingestion.config import IngestionRules, load_rules
from ingestion.pipeline import ingest
from rag_core.connectors.base import Embedder
from rag_core.connectors.store import Store
from rag_core.retrieval.search import HybridSearch
from tests.stores import MakeStore

pytestmark = [pytest.mark.integration, pytest.mark.slow]


@pytest.fixture(name="rules", scope="module")
def fixture_rules(repo_root: Path) -> IngestionRules:
    return load_rules(repo_root / "config" / "ingestion.yaml")


@pytest.fixture(name="operations", scope="module")
def fixture_operations(make_store: MakeStore, embedder: Embedder, rules: IngestionRules, shared_data: Path) -> Store:
    """The 333 documents, indexed with the packaged model."""
    store = make_store()
    ingest(store, embedder, [shared_data / "devops" / "files"], rules=rules, source="devops")
    return store


def manifest(shared_data: Path) -> list[dict[str, str]]:
    lines = (shared_data / "devops" / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_every_operations_document_is_indexed_under_its_name(operations: Store, shared_data: Path) -> None:
    documents = {each["path"]: each for each in list_documents(operations)}
    expected = {each["path"].removeprefix("files/") for each in manifest(shared_data)}
    assert documents.keys() == expected
    assert len(documents) == 333
    assert {each["state"] for each in documents.values()} == {"ok"}
    assert all(each["chunks"] for each in documents.values())


def test_runbooks_are_found_by_the_alert_in_their_title(
    operations: Store, embedder: Embedder, shared_data: Path
) -> None:
    """Of 40 titles drawn by a fixed seed at least 38 find their runbook first, and all within the first five."""
    by_title: dict[str, set[str]] = {}
    for each in manifest(shared_data):
        if each["doc_type"] == "runbook":
            by_title.setdefault(each["title"], set()).add(each["path"].removeprefix("files/"))
    titles = random.Random(40).sample(sorted(by_title), 40)
    search = HybridSearch(operations, embedder)
    first: list[str] = []
    among_five: list[str] = []
    for title in titles:
        outcome = search.search(title, top=5)
        assert not outcome.null_signal, title
        paths = [passage.path for passage in outcome.passages]
        if paths[0] in by_title[title]:
            first.append(title)
        if by_title[title] & set(paths):
            among_five.append(title)
    assert len(first) >= 38, sorted(set(titles) - set(first))
    assert len(among_five) == 40, sorted(set(titles) - set(among_five))


def test_foreign_questions_get_the_null_signal(operations: Store, embedder: Embedder, repo_root: Path) -> None:
    search = HybridSearch(operations, embedder)
    foreign = (repo_root / "bench" / "retrieval" / "foreign_questions.txt").read_text(encoding="utf-8").splitlines()
    refused = sum(search.search(text).null_signal for text in foreign)
    assert refused / len(foreign) >= 0.95


def test_real_files_of_many_formats_end_in_a_stated_state(
    make_store: MakeStore, embedder: Embedder, rules: IngestionRules, shared_data: Path
) -> None:
    store = make_store()
    outcome = ingest(store, embedder, [shared_data / "files"], rules=rules, source="files")
    documents = {each["path"]: each for each in list_documents(store)}
    assert documents.keys() == {path.name for path in (shared_data / "files").iterdir()}
    assert documents["2206.01062_pg3.pdf"]["state"] == "encrypted"
    others = {path: each["state"] for path, each in documents.items() if path != "2206.01062_pg3.pdf"}
    assert set(others.values()) <= {"ok", "partial"}, others
    assert [each.path for each in outcome.documents_failed if each.state != "partial"] == ["2206.01062_pg3.pdf"]
    search = HybridSearch(store, embedder)
    assert search.search("duck").passages[0].path == "wiki_duck.html"
