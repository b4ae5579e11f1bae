"""What is not asked twice within a run: statements, searches and whole questions.

Only within one run, because data may change between two: a batch reads each figure once and says the same of it
everywhere. A statement is kept under its text and limits, and the text holds everything that it depends on but the
data. A search is kept by the index's generation (see `HybridSearch`); here its hits are only counted. Outside a run
nothing is kept.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from rag_core.connectors.base import PassageSearch, QueryCost, Warehouse
from rag_core.connectors.chat_model_context import call_context
from rag_core.datamodel.answer import Answer, TraceEntry, Usage
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.evidence import SearchOutcome
from rag_core.datamodel.plan import Plan
from rag_core.datamodel.query import GuardedSql, QueryResult
from rag_core.graph.state import Request
from rag_core.plans.fingerprint import question_key

MAX_ENTRIES = 1_000
# Results above this many cells are read again rather than kept in memory.
MAX_CELLS = 20_000


@dataclass(slots=True)
class Hits:
    """Hits of the caches while a node worked."""

    sql: int = 0
    search: int = 0

    def detail(self) -> dict[str, int]:
        """The hits for a trace; empty where there were none."""
        return {f"{name}_from_cache": count for name, count in (("sql", self.sql), ("search", self.search)) if count}


_hits: ContextVar[Hits | None] = ContextVar("nightshift_cache_hits", default=None)
_replaying: ContextVar[bool] = ContextVar("nightshift_replaying", default=False)


@contextmanager
def counting_hits() -> Iterator[Hits]:
    """Counts the hits of this thread within the block."""
    hits = Hits()
    token = _hits.set(hits)
    try:
        yield hits
    finally:
        _hits.reset(token)


@contextmanager
def replaying() -> Iterator[None]:
    """Within the block statements are run without asking the database to plan them first.

    They are those of a plan that has answered, over tables whose fingerprints hold.
    """
    token = _replaying.set(True)
    try:
        yield
    finally:
        _replaying.reset(token)


@dataclass(slots=True)
class RunCache:
    """Values of the run at hand, by key; another run empties it. Safe to use from several threads."""

    max_entries: int = MAX_ENTRIES
    _run_id: str = ""
    _values: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: Hashable) -> Any | None:
        """The value of this run, None where there is none."""
        run_id = call_context().run_id
        with self._lock:
            if not run_id or run_id != self._run_id:
                return None
            found = self._values.get(key)
            if found is not None:
                self._values.move_to_end(key)
            return found

    def put(self, key: Hashable, value: Any) -> None:
        """Keeps a value for this run; outside a run nothing."""
        run_id = call_context().run_id
        if not run_id:
            return
        with self._lock:
            if run_id != self._run_id:
                self._values.clear()
                self._run_id = run_id
            self._values[key] = value
            while len(self._values) > self.max_entries:
                self._values.popitem(last=False)


Fingerprints = Callable[[Plan, tuple[str, ...]], dict[str, str] | None]


class AnswerCache:
    """Answers of the run at hand. One is given again to the same question where everything it rests on is the same."""

    def __init__(self, cache: RunCache) -> None:
        self._cache = cache

    def get(self, request: Request, fingerprints: Fingerprints) -> Answer | None:
        """The answer as that of this question, which cost nothing; None where there is none that holds."""
        found = self._cache.get(_key(request))
        if found is None:
            return None
        answer, plan, tables, prints = found
        if fingerprints(plan, tables) != prints:
            return None
        entry = TraceEntry(
            node="cache", started_at=datetime.now(UTC), ms=0.0, detail={"answer_of": answer.question_id or ""}
        )
        same: Answer = answer
        return same.model_copy(
            update={
                "question": request.question,
                "question_id": request.question_id,
                "usage": Usage(),
                "timings_ms": {"cache": 0.0},
                "trace": (entry,),
                "explanation": f"The same question was answered before in this run. {answer.explanation}",
            }
        )

    def put(self, request: Request, plan: Plan, answer: Answer, fingerprints: Fingerprints) -> None:
        """Keeps an answer that says something."""
        if not request.run_id or answer.status not in ("answered", "partial"):
            return
        tables = tuple(sorted({table for item in answer.sql for table in item.tables}))
        self._cache.put(_key(request), (answer, plan, tables, fingerprints(plan, tables)))


def _key(request: Request) -> Hashable:
    return ("answer", question_key(request.question), request.run_date, request.strategy)


class CachedWarehouse:
    """A warehouse that runs the same statement once a run."""

    def __init__(self, warehouse: Warehouse, cache: RunCache, principal: str | None = None) -> None:
        self._warehouse = warehouse
        self._cache = cache
        self._principal = principal

    def for_principal(self, principal: str | None) -> CachedWarehouse:
        """The same warehouse as another one sees it; what one has read is never shown to the other."""
        return CachedWarehouse(self._warehouse.for_principal(principal), self._cache, principal)

    def _key(self, query: GuardedSql) -> Hashable:
        return ("sql", self._principal, query)

    @property
    def dialect(self) -> str:
        """The warehouse's dialect."""
        return self._warehouse.dialect

    def snapshot(self) -> Catalog:
        """The warehouse's schema, read anew."""
        return self._warehouse.snapshot()

    def explain(self, query: GuardedSql) -> QueryCost:
        """What the database expects; not asked of a statement whose result is at hand, nor in a replay."""
        if _replaying.get() or self._cache.get(self._key(query)) is not None:
            return QueryCost()
        return self._warehouse.explain(query)

    def execute(self, query: GuardedSql) -> QueryResult:
        """The result; of a statement that this run has run, that one."""
        key = self._key(query)
        kept: QueryResult | None = self._cache.get(key)
        if kept is not None:
            hits = _hits.get()
            if hits is not None:
                hits.sql += 1
            return kept
        result = self._warehouse.execute(query)
        if result.row_count * max(1, len(result.columns)) <= MAX_CELLS:
            self._cache.put(key, result)
        return result

    def close(self) -> None:
        """Closes the warehouse."""
        self._warehouse.close()


class CountedSearch:
    """A search whose hits of its own cache are counted: it then gives the very object that it gave before."""

    def __init__(self, search: PassageSearch) -> None:
        self._search = search
        self._seen: OrderedDict[Hashable, SearchOutcome] = OrderedDict()
        self._lock = threading.Lock()

    def search(
        self,
        query: str,
        *,
        top: int = 8,
        filters: Mapping[str, str] | None = None,
        mode: str = "hybrid",
        recency_half_life_days: float | None = None,
    ) -> SearchOutcome:
        """As `PassageSearch.search`."""
        found = self._search.search(
            query, top=top, filters=filters, mode=mode, recency_half_life_days=recency_half_life_days
        )
        key = (query, top, tuple(sorted((filters or {}).items())), mode, recency_half_life_days)
        hits = _hits.get()
        with self._lock:
            if hits is not None and self._seen.get(key) is found:
                hits.search += 1
            self._seen[key] = found
            while len(self._seen) > MAX_ENTRIES:
                self._seen.popitem(last=False)
        return found


class NoDocuments:
    """A search over no documents."""

    def search(self, query: str, **_: Any) -> SearchOutcome:
        """Nothing, and why."""
        return SearchOutcome(query=query, null_signal=True, reason="no documents are connected")
