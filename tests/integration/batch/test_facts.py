"""The numbers of a published batch are those of the planted facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from ruamel.yaml import YAML

from rag_core.batch.definition import load_batch
from rag_core.batch.runner import BatchRunner
from rag_core.connectors.base import Warehouse
from rag_core.connectors.store import Store
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.evidence import SearchOutcome
from rag_core.graph.build import Orchestrator
from rag_core.policy.rules import load_policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.cache import CatalogCache
from rag_core.semantics.model import load_semantic_model
from rag_core.semantics.values import read_values
from tests.integration.batch.scripted import RUN_DATE

pytestmark = pytest.mark.integration

# Question of a shipped batch -> planted fact with the same question.
SAME = {
    ("nightly_business_review", "revenue_last_quarter"): "What was our revenue last quarter?",
    ("nightly_business_review", "revenue_by_quarter"): "What was revenue in each quarter of last year?",
    ("nightly_business_review", "revenue_by_region"): "What was revenue by region last quarter?",
    ("weekly_operations_review", "deployments_by_service"): "How many deployments did each service have last quarter?",
}


class _NoDocuments:
    """A search over an empty index: these facts stand in the warehouse."""

    def search(self, query: str, **_: Any) -> SearchOutcome:
        return SearchOutcome(query=query, null_signal=True, reason="the index is empty")


@pytest.fixture(scope="module")
def warehouse(reader_dsn: str) -> Iterator[Warehouse]:
    opened = open_warehouse(reader_dsn, timezone="UTC")
    yield opened
    opened.close()


@pytest.fixture
def orchestrator(warehouse: Warehouse, repo_root: Path) -> Orchestrator:
    catalog = CatalogCache(warehouse)
    guard = SqlGuard(load_policy(repo_root / "config" / "schema_policy.yaml"), catalog.current())
    model = load_semantic_model(repo_root / "config" / "semantic_model.yaml")
    return Orchestrator(
        warehouse=warehouse,
        guard=guard,
        catalog_cache=catalog,
        semantic_model=model,
        values=read_values(model, warehouse, guard),
        search=_NoDocuments(),
    )


def _facts(repo_root: Path) -> dict[str, list[dict[str, Any]]]:
    content = YAML(typ="safe").load((repo_root / "sample" / "facts.yaml").read_text(encoding="utf-8"))
    return {fact["question"]: fact["answer"] for fact in content["warehouse"]}


def test_published_numbers_equal_the_facts(
    orchestrator: Orchestrator,
    store: Store,
    repo_root: Path,
    tmp_path: Path,
    bi_connection: psycopg.Connection,
) -> None:
    facts = _facts(repo_root)
    runner = BatchRunner(
        store=store,
        orchestrator=cast(Callable[[str | None], Orchestrator], lambda _: orchestrator),
        reports_folder=tmp_path,
    )
    compared = 0
    for name in sorted({batch for batch, _ in SAME}):
        wanted = {question: text for (batch, question), text in SAME.items() if batch == name}
        batch = load_batch(repo_root / "config" / "batches" / f"{name}.yaml")
        chosen = tuple(question for question in batch.questions if question.question_id in wanted)
        outcome = runner.run(batch.model_copy(update={"questions": chosen}), RUN_DATE)
        assert [item.state for item in outcome.questions] == ["published"] * len(wanted)
        report = Path(str(outcome.report_path)).read_text(encoding="utf-8")
        for question_id, text in sorted(wanted.items()):
            expected = _numbers(facts[text])
            rows = bi_connection.execute(
                "SELECT value_number FROM answer_cells"
                " WHERE batch = %s AND question_id = %s AND value_number IS NOT NULL",
                (name, question_id),
            ).fetchall()
            assert sorted(row[0] for row in rows) == expected, question_id
            for number in expected:
                assert f"{number:,}" in report, (question_id, number)
            compared += len(expected)
    assert compared >= 15


def _numbers(answer: list[dict[str, Any]]) -> list[Decimal]:
    found = []
    for row in answer:
        for value in row.values():
            try:
                found.append(Decimal(str(value)))
            except ArithmeticError:
                continue
    return sorted(found)
