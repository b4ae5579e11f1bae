"""A small company in DuckDB with three documents, and stand-ins for the ports that need a service."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import duckdb
from pydantic import BaseModel

from rag_core.connectors.base import PLAIN, Decoding
from rag_core.connectors.duckdb import DuckDBWarehouse
from rag_core.datamodel.answer import Usage
from rag_core.datamodel.evidence import Passage, SearchOutcome
from rag_core.graph.build import Orchestrator, create_orchestrator
from rag_core.policy.rules import Policy, TableRules
from rag_core.policy.sql_guard import SqlGuard
from rag_core.retrieval.tokens import tokenize
from rag_core.schema.cache import CatalogCache
from rag_core.semantics.model import load_semantic_model
from rag_core.semantics.values import read_values
from tests.evidence import passage

Output = TypeVar("Output", bound=BaseModel)

MODEL = """\
version: 1
dialect: duckdb
entities:
  regions: {table: main.regions, primary_key: [code], grain: one row a region}
  orders: {table: main.orders, primary_key: [id], grain: one row an order}
joins:
  - {from: orders, to: regions, columns: {region_code: code}}
time_dimensions:
  ordered_on: {label: Order date, entity: orders, column: day}
dimensions:
  region: {label: Region, entity: regions, expression: name, synonyms: [region]}
metrics:
  revenue: {label: Revenue, synonyms: [revenue], entity: orders, expression: sum(total), time: ordered_on, unit: EUR}
  orders: {label: Orders, synonyms: [order], entity: orders, expression: count(*), time: ordered_on, decimals: 0}
  income: {label: Income, synonyms: [income], entity: orders, expression: sum(total), time: ordered_on, unit: EUR}
ambiguous:
  sales: [revenue, income]
"""
ROWS = """
CREATE TABLE regions (code VARCHAR PRIMARY KEY, name VARCHAR);
INSERT INTO regions VALUES ('NOR', 'Nordics'), ('IBE', 'Iberia');
CREATE TABLE orders (id INTEGER PRIMARY KEY, region_code VARCHAR, day DATE, total DECIMAL(10, 2));
INSERT INTO orders VALUES
  (1, 'NOR', '2026-01-15', 1200), (2, 'NOR', '2026-02-15', 1100), (3, 'IBE', '2026-03-15', 300),
  (4, 'NOR', '2026-04-15', 400), (5, 'NOR', '2026-05-15', 350), (6, 'IBE', '2026-06-15', 320);
COMMENT ON TABLE orders IS 'Parcels of customers by postcode; they wait where dock workers stop work';
CREATE TABLE secrets (id INTEGER, name VARCHAR);
INSERT INTO secrets VALUES (1, 'hidden');
"""
DOCUMENTS = (
    passage(
        "Dock workers stopped work on 2026-04-07. The revenue of the Nordics fell because of the port strike.",
        title="Strike report",
        marker="",
        rank=1,
        metadata={"date": "2026-06-02", "status": "current"},
    ),
    passage(
        "Service metrics are kept at full resolution for 90 days.",
        title="Retention standard",
        marker="",
        rank=2,
        document_type="standard",
        metadata={"date": "2026-02-02", "status": "current"},
    ),
    passage(
        "Service metrics are kept at full resolution for 30 days.",
        title="Old pipeline note",
        marker="",
        rank=3,
        metadata={"date": "2024-02-02", "status": "superseded"},
    ),
)


class WordSearch:
    """A `PassageSearch` over a few passages: those that share most words with the query first."""

    def __init__(self, passages: Sequence[Passage] = DOCUMENTS) -> None:
        self.passages = passages
        self.asked: list[str] = []

    def search(
        self,
        query: str,
        *,
        top: int = 8,
        filters: Mapping[str, str] | None = None,
        mode: str = "hybrid",
        recency_half_life_days: float | None = None,
    ) -> SearchOutcome:
        self.asked.append(query)
        wanted = set(tokenize(query))
        shared = [(len(wanted & set(tokenize(f"{item.title} {item.text}"))), item) for item in self.passages]
        found = [item for count, item in sorted(shared, key=lambda pair: -pair[0]) if count >= 2][:top]
        ranked = tuple(item.model_copy(update={"rank": rank}) for rank, item in enumerate(found, start=1))
        return SearchOutcome(
            query=query, null_signal=not ranked, reason="" if ranked else "nothing fits", passages=ranked
        )


Reply = BaseModel | Exception | Callable[[str, str], BaseModel]


class ScriptedModel:
    """A `ChatModel` that gives prepared replies by the name of the output asked for, and keeps the prompts."""

    def __init__(self, **replies: Sequence[Reply]) -> None:
        self._replies = {name: list(given) for name, given in replies.items()}
        self.prompts: list[tuple[str, str, str]] = []
        self.decodings: list[Decoding] = []

    @property
    def model_id(self) -> str:
        return "scripted"

    def complete(
        self, system: str, user: str, output: type[Output], decoding: Decoding = PLAIN
    ) -> tuple[Output, Usage]:
        self.prompts.append((output.__name__, system, user))
        self.decodings.append(decoding)
        reply: Any = self._replies[output.__name__].pop(0)
        if isinstance(reply, Exception):
            raise reply
        given = reply(system, user) if callable(reply) else reply
        assert isinstance(given, output)
        return given, Usage(model_calls=1, prompt_tokens=100, completion_tokens=10)


def open_world(folder: Path, **more: Any) -> Orchestrator:
    """An orchestrator over the small company; `more` replaces its parts."""
    path = folder / "company.duckdb"
    if not path.exists():
        with duckdb.connect(str(path)) as connection:
            connection.execute(ROWS)
    model_path = folder / "semantic_model.yaml"
    model_path.write_text(MODEL, encoding="utf-8")
    warehouse = DuckDBWarehouse(str(path))
    cache = CatalogCache(warehouse)
    policy = Policy(version=1, schemas=("main",), tables=TableRules(exclude=("main.secrets",)))
    guard = SqlGuard(policy, cache.current())
    model = load_semantic_model(model_path)
    parts: dict[str, Any] = {
        "warehouse": warehouse,
        "guard": guard,
        "catalog_cache": cache,
        "semantic_model": model,
        "values": read_values(model, warehouse, guard),
        "search": WordSearch(),
    }
    return create_orchestrator(**(parts | more))
