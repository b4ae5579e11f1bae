"""The sets of tables and texts, loaded and indexed beside the user's own, and their questions asked of the real graph.

A set's tables lie in a database of their own on the embedded server, under a policy that opens all of them; its texts
in an index of their own. A set is loaded whole, so that every sample is asked among the same distractors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from ingestion.config import IngestionRules, load_rules
from ingestion.corpora import CorpusText, load_corpus
from rag_core.connectors.base import ChatModel, Embedder, PassageSearch, Warehouse
from rag_core.connectors.store import Store
from rag_core.datamodel.answer import Answer
from rag_core.datamodel.evidence import SearchOutcome
from rag_core.errors import ConfigurationError
from rag_core.evaluation.hybrid_questions import (
    SETS,
    HybridQuestion,
    HybridText,
    read_questions,
    read_texts,
    sample_questions,
    tables_file,
)
from rag_core.evaluation.hybrid_runs import run_hybrid, summarise_hybrid
from rag_core.graph.build import Orchestrator
from rag_core.policy.rules import Policy, RowFilter
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.cache import CatalogCache
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.values import ValueIndex
from rag_core.wiring import Services, open_services

# Nothing in the sets is newer; no question speaks of a time relative to it.
RUN_DATE = date(2020, 12, 31)
# Tables of TAT-QA that a question sees its own report's rows of only.
SCOPED_TABLES = ("fin_dev.report_table", "fin_dev.cell")
_REPORT = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class ScopedSearch:
    """Search in one document only."""

    search_in: PassageSearch
    path: str

    def search(
        self,
        query: str,
        *,
        top: int = 8,
        filters: Mapping[str, str] | None = None,
        mode: str = "hybrid",
        recency_half_life_days: float | None = None,
    ) -> SearchOutcome:
        """The best passages of this document (see `PassageSearch.search`)."""
        narrowed = {**(filters or {}), "path": self.path}
        return self.search_in.search(
            query, top=top, filters=narrowed, mode=mode, recency_half_life_days=recency_half_life_days
        )


@dataclass(frozen=True, slots=True)
class HybridSetting:
    """What the questions of a set are asked of; without a chat model only what can be proved is said."""

    warehouse: Warehouse
    catalog: CatalogCache
    search: PassageSearch
    embedder: Embedder
    chat_model: ChatModel | None = None
    router_model: ChatModel | None = None

    def asker(self) -> Callable[[HybridQuestion], Answer]:
        """Answers questions, each within its scope; the orchestrator of a scope is kept while it is asked."""
        kept: dict[str, Orchestrator] = {}

        def ask(question: HybridQuestion) -> Answer:
            if question.scope not in kept:
                kept.clear()
                kept[question.scope] = self.orchestrator(question.scope)
            return kept[question.scope].answer(question.text, run_date=RUN_DATE, question_id=question.question_id)

        return ask

    def orchestrator(self, scope: str) -> Orchestrator:
        """The graph over the whole set, or over one report of it; no plan is kept, each question is planned anew."""
        catalog = self.catalog.current()
        policy = Policy(
            version=1,
            schemas=tuple(sorted({table.schema_name for table in catalog.tables})),
            row_filters=scope_filters(scope),
        )
        return Orchestrator(
            warehouse=self.warehouse,
            guard=SqlGuard(policy, catalog),
            catalog_cache=self.catalog,
            semantic_model=SemanticModel(entities={}, time_dimensions={}, dimensions={}, metrics={}),
            values=ValueIndex(),
            search=ScopedSearch(self.search, scope) if scope else self.search,
            chat_model=self.chat_model,
            router_model=self.router_model,
            embedder=self.embedder,
        )


def scope_filters(scope: str) -> tuple[RowFilter, ...]:
    """The policy's filters that leave the rows of one report, none for the whole set."""
    if not scope:
        return ()
    if not _REPORT.fullmatch(scope):
        raise ConfigurationError(f"not the id of a report: {scope!r}")
    return tuple(RowFilter(table=table, where=f"context_id = '{scope}'") for table in SCOPED_TABLES)


def index_texts(
    store: Store,
    embedder: Embedder,
    name: str,
    texts: Sequence[HybridText],
    *,
    rules: IngestionRules,
    on_progress: Callable[[int, int], None] | None = None,
) -> int:
    """Brings the set's own index up to date by the stages that files go through; returns how many were indexed."""
    corpus = [CorpusText(text.key, text.title, text.text) for text in texts]
    return load_corpus(store, embedder, name, corpus, rules=rules, on_progress=on_progress)


def run_set(
    name: str,
    data: Path,
    *,
    sample: int,
    seed: int,
    out: Path | None,
    progress: Callable[[str, int, int], None],
) -> list[dict[str, object]]:
    """Rows of figures by where the answer stands.

    Args:
        name: `ottqa` or `tatqa`.
        data: folder of the data sets.
        sample: so many questions, 0 for all.
        seed: another number draws another sample.
        out: file of scores, by default in the home; what it holds is not asked again.
        progress: is told what is being done, how much of it is done, and of how much.

    Raises ConfigurationError for a set that is none and for missing data.
    """
    from ingestion.eval_cli import ensure_database  # noqa: PLC0415 - a command's module, imported by the commands
    from rag_core.connectors.embedded import EmbeddedPostgres  # noqa: PLC0415 - heavy
    from rag_core.connectors.warehouses import open_warehouse  # noqa: PLC0415 - drivers
    from rag_core.evaluation.sql_databases import load_database  # noqa: PLC0415 - heavy
    from rag_core.retrieval.search import HybridSearch  # noqa: PLC0415 - heavy

    if name not in SETS:
        raise ConfigurationError(f"no such set: {name}; there are {', '.join(SETS)}")
    questions = sample_questions(read_questions(name, data), sample, seed=seed)
    texts, tables = read_texts(name, data), tables_file(name, data)
    with open_services() as services:
        store = Store(ensure_database(services, f"nightshift_eval_{name}"))
        server = EmbeddedPostgres(services.settings.home)
        server.start()
        warehouse = open_warehouse(load_database(server, name, tables))
        try:
            index_texts(
                store,
                services.embedder,
                name,
                texts,
                rules=load_rules(services.config_path(services.settings.ingestion.config)),
                on_progress=lambda done, total: progress("texts indexed", done, total),
            )
            setting = HybridSetting(
                warehouse=warehouse,
                catalog=CatalogCache(warehouse),
                search=HybridSearch(store, services.embedder, today=RUN_DATE),
                embedder=services.embedder,
                chat_model=services.chat_model,
                router_model=services.router_model,
            )
            scores = run_hybrid(
                questions,
                setting.asker(),
                out or scores_file(services, name),
                progress=lambda done, total: progress("questions", done, total),
            )
        finally:
            warehouse.close()
            store.close()
    return summarise_hybrid(scores)


def scores_file(services: Services, name: str) -> Path:
    """Where the scores of a set are kept: one file for each chat model, and one for none."""
    model = services.chat_model.model_id if services.chat_model is not None else ""
    suffix = re.sub(r"[^A-Za-z0-9.]+", "-", f"-{model}") if model else ""
    return services.settings.home / "evaluation" / f"orchestration-{name}{suffix}.jsonl"
