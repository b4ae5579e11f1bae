"""Six questions over real tables and texts, each set with a few documents: the way that the command goes, in small."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ingestion.config import load_rules
from ingestion.hybrid_evaluation import HybridSetting, ScopedSearch, index_texts
from rag_core.connectors.embedded import EmbeddedPostgres
from rag_core.connectors.store import Store
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.answer import Answer
from rag_core.evaluation.hybrid_questions import HybridQuestion, read_questions, read_texts, tables_file
from rag_core.evaluation.hybrid_runs import run_hybrid, summarise_hybrid
from rag_core.evaluation.hybrid_scoring import normal
from rag_core.evaluation.sql_databases import load_database
from rag_core.evaluation.stores import fresh_store
from rag_core.retrieval.search import HybridSearch
from rag_core.schema.cache import CatalogCache

if TYPE_CHECKING:
    from rag_core.connectors.base import Embedder

pytestmark = pytest.mark.integration

OpenSet = Callable[[str, set[str]], HybridSetting]


@pytest.fixture
def open_set(pg_server: EmbeddedPostgres, embedder: Embedder, repo_root: Path, shared_data: Path) -> Iterator[OpenSet]:
    """Loads a set's tables whole and the texts that go with some of them."""
    opened: list[Store | HybridSetting] = []

    def open_one(name: str, tables: set[str]) -> HybridSetting:
        store = Store(fresh_store(pg_server, f"hybrid_{name}"))
        opened.append(store)
        warehouse = open_warehouse(load_database(pg_server, name, tables_file(name, shared_data)))
        texts = [text for text in read_texts(name, shared_data) if tables & set(text.tables)]
        rules = load_rules(repo_root / "config" / "ingestion.yaml")
        assert index_texts(store, embedder, name, texts, rules=rules) == len(texts)
        assert index_texts(store, embedder, name, texts, rules=rules) == 0
        setting = HybridSetting(warehouse, CatalogCache(warehouse), HybridSearch(store, embedder), embedder)
        opened.append(setting)
        return setting

    yield open_one
    for each in opened:
        (each.warehouse if isinstance(each, HybridSetting) else each).close()


def one_of_each_route(questions: list[HybridQuestion]) -> list[HybridQuestion]:
    return [next(item for item in questions if item.route == route) for route in ("table", "text", "both")]


@pytest.mark.parametrize(("name", "right"), [("ottqa", set()), ("tatqa", {"text"})])
def test_six_questions_are_answered_with_what_the_texts_say_or_not_at_all(
    name: str, right: set[str], open_set: OpenSet, shared_data: Path, tmp_path: Path
) -> None:
    chosen = one_of_each_route(read_questions(name, shared_data))
    setting = open_set(name, {item.table for item in chosen})
    ask, answers = setting.asker(), []

    def listen(question: HybridQuestion) -> Answer:
        answers.append(ask(question))
        return answers[-1]

    path = tmp_path / "scores.jsonl"
    scores = run_hybrid(chosen, listen, path)
    assert [score.route for score in scores] == ["table", "text", "both"]
    assert "failed" not in {score.status for score in scores}
    assert right <= {score.route for score in scores if score.verdict == "right"}
    # Without a chat model nothing is said in other words than a text's own.
    said = [normal(claim.text) for answer in answers for claim in answer.claims if claim.supported]
    texts = [normal(text.text) for text in read_texts(name, shared_data)]
    assert said
    assert [claim for claim in said if not any(claim in text for text in texts)] == []
    assert all(score.model_calls == 0 for score in scores)
    # What was asked is kept: another run over the same file asks nothing.
    assert run_hybrid(chosen, lambda _: pytest.fail("asked again"), path) == scores
    assert summarise_hybrid(scores)[-1]["questions"] == 3


def test_a_report_sees_its_own_rows_and_paragraphs_only(open_set: OpenSet) -> None:
    setting = open_set("tatqa", {"dev000", "dev001", "dev002"})
    found = ScopedSearch(setting.search, "dev001").search("sales by contract type")
    assert {passage.path for passage in found.passages} == {"dev001"}
    guard = setting.orchestrator("dev001")._guard
    query = guard.check("SELECT DISTINCT context_id FROM fin_dev.cell").query
    assert query is not None
    assert setting.warehouse.execute(query).rows == (("dev001",),)
    whole = setting.orchestrator("")._guard.check("SELECT DISTINCT context_id FROM fin_dev.cell").query
    assert whole is not None
    assert len(setting.warehouse.execute(whole).rows) > 200
