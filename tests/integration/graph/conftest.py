"""The real parts: the sample warehouse, an index of a few of the sample's documents, the shipped model and policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag_core.connectors.store import Store

if TYPE_CHECKING:
    from rag_core.connectors.base import Embedder
    from rag_core.graph.build import Orchestrator

DOCUMENTS = (
    "business/market-reports/nordics-freight-disruption-2025.md",
    "business/market-reports/metering-market-outlook-2026-northpine.md",
    "business/market-reports/metering-market-review-2026-halden.md",
    "ops/standards/data-retention-standard.md",
    "ops/architecture/metrics-pipeline.md",
    "ops/runbooks/metering-store-failover.md",
    "ops/runbooks/metering-store-failover-2024.md",
)


@pytest.fixture(scope="session")
def question_store(
    create_store: Callable[[str], str], embedder: Embedder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """A store of its own with those documents indexed."""
    from ingestion.config import load_rules
    from ingestion.pipeline import ingest
    from sample.build_documents import SOURCES, build_documents

    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("documents")
    for name in DOCUMENTS:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text((SOURCES / name).read_text(encoding="utf-8"), encoding="utf-8")
    build_documents(target, source)
    store = Store(create_store("questions_test"))
    rules = load_rules(Path(__file__).resolve().parents[3] / "config" / "ingestion.yaml")
    outcome = ingest(store, embedder, [target], rules=rules)
    assert outcome.documents["indexed"] == len(DOCUMENTS)
    yield store
    store.close()


@pytest.fixture(scope="session")
def make_orchestrator(
    reader_dsn: str, question_store: Store, embedder: Embedder, repo_root: Path
) -> Iterator[Callable[..., Orchestrator]]:
    """Builds an orchestrator on the real parts; keyword arguments add to them."""
    from rag_core.connectors.warehouses import open_warehouse
    from rag_core.graph.build import create_orchestrator
    from rag_core.policy.rules import load_policy
    from rag_core.policy.sql_guard import SqlGuard
    from rag_core.retrieval.search import HybridSearch
    from rag_core.schema.cache import CatalogCache
    from rag_core.semantics.model import load_semantic_model
    from rag_core.semantics.values import read_values

    warehouse = open_warehouse(reader_dsn, timezone="UTC")
    cache = CatalogCache(warehouse)
    guard = SqlGuard(load_policy(repo_root / "config" / "schema_policy.yaml"), cache.current())
    model = load_semantic_model(repo_root / "config" / "semantic_model.yaml")
    values = read_values(model, warehouse, guard)

    def make(**more: object) -> Orchestrator:
        return create_orchestrator(
            warehouse=warehouse,
            guard=guard,
            catalog_cache=cache,
            semantic_model=model,
            values=values,
            search=HybridSearch(question_store, embedder),
            **more,
        )

    yield make
    warehouse.close()
