from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from rag_core.connectors.chat_model_context import calling
from rag_core.connectors.duckdb import DuckDBWarehouse
from rag_core.datamodel.answer import Answer
from rag_core.datamodel.query import GuardedSql, QueryResult
from rag_core.graph.build import Orchestrator
from rag_core.graph.caches import CachedWarehouse, CountedSearch, RunCache, counting_hits
from tests.question_world import WordSearch, open_world

JULY = date(2026, 7, 1)
QUESTION = "What was revenue last quarter?"


class CountingWarehouse:
    """A warehouse that keeps what it was asked."""

    def __init__(self, inner: DuckDBWarehouse) -> None:
        self._inner = inner
        self.ran: list[str] = []
        self.explained: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def explain(self, query: GuardedSql) -> Any:
        self.explained.append(query.text)
        return self._inner.explain(query)

    def execute(self, query: GuardedSql) -> QueryResult:
        self.ran.append(query.text)
        return self._inner.execute(query)


@pytest.fixture
def counted(tmp_path: Path) -> tuple[Orchestrator, CountingWarehouse]:
    open_world(tmp_path)
    warehouse = CountingWarehouse(DuckDBWarehouse(str(tmp_path / "company.duckdb")))
    return open_world(tmp_path, warehouse=warehouse), warehouse


def ask(orchestrator: Orchestrator, run_id: str, question: str = QUESTION, name: str = "q1") -> Answer:
    return orchestrator.answer(question, run_date=JULY, question_id=name, run_id=run_id)


def test_a_statement_is_run_once_a_run(counted: tuple[Orchestrator, CountingWarehouse]) -> None:
    orchestrator, warehouse = counted
    first = ask(orchestrator, "r1")
    second = ask(orchestrator, "r1", "What was the revenue last quarter, please?", "q2")
    assert first.sql[0].result == second.sql[0].result
    assert len(warehouse.ran) == 1
    details = [entry.detail for entry in second.trace if entry.node == "sql_worker"]
    assert details[0]["sql_from_cache"] == 1
    assert all("sql_from_cache" not in entry.detail for entry in first.trace)


def test_another_run_reads_anew(counted: tuple[Orchestrator, CountingWarehouse]) -> None:
    orchestrator, warehouse = counted
    for run_id in ("r1", "r2", "r1"):
        ask(orchestrator, run_id)
    assert len(warehouse.ran) == 3


def test_outside_a_run_nothing_is_kept(counted: tuple[Orchestrator, CountingWarehouse]) -> None:
    orchestrator, warehouse = counted
    for _ in range(2):
        ask(orchestrator, "")
    assert len(warehouse.ran) == 2


def test_the_same_question_is_answered_once_a_run(counted: tuple[Orchestrator, CountingWarehouse]) -> None:
    orchestrator, _ = counted
    first, second = ask(orchestrator, "r1"), ask(orchestrator, "r1", "what was  revenue last quarter", "q2")
    assert (second.text, second.headline_value, second.question_id) == (first.text, first.headline_value, "q2")
    assert [entry.node for entry in second.trace] == ["cache"]
    assert second.trace[0].detail == {"answer_of": "q1"}
    other_day = orchestrator.answer(QUESTION, run_date=date(2026, 4, 1), question_id="q3", run_id="r1")
    assert other_day.headline_value != first.headline_value


def test_an_answer_is_not_given_again_where_what_it_rests_on_changed(
    counted: tuple[Orchestrator, CountingWarehouse], monkeypatch: pytest.MonkeyPatch
) -> None:
    orchestrator, _ = counted
    prints = {"policy": "1"}
    monkeypatch.setattr(orchestrator, "_fingerprints", lambda plan, tables: dict(prints))
    ask(orchestrator, "r1")
    assert [entry.node for entry in ask(orchestrator, "r1").trace] == ["cache"]
    prints["policy"] = "2"
    assert [entry.node for entry in ask(orchestrator, "r1").trace] != ["cache"]


def test_what_one_principal_read_is_not_shown_to_another(tmp_path: Path) -> None:
    class ByPrincipal:
        dialect = "duckdb"

        def __init__(self, name: str = "nobody") -> None:
            self.name = name

        def for_principal(self, principal: str | None) -> ByPrincipal:
            return ByPrincipal(principal or "nobody")

        def execute(self, query: GuardedSql) -> QueryResult:
            return QueryResult(columns=(), rows=((self.name,),))

    given: Any = ByPrincipal()
    warehouse = CachedWarehouse(given, RunCache())
    query = GuardedSql(text="SELECT current_user", dialect="duckdb")
    with calling(run_id="r1"):
        names = [warehouse.for_principal(name).execute(query).rows[0][0] for name in ("ann", "bob", "ann", None)]
    assert names == ["ann", "bob", "ann", "nobody"]


def test_a_search_that_was_served_from_its_cache_is_counted() -> None:
    class Keeping(WordSearch):
        kept: dict[str, Any] = {}

        def search(self, query: str, **more: Any) -> Any:
            return self.kept.setdefault(query, super().search(query, **more))

    search = CountedSearch(Keeping())
    with counting_hits() as hits:
        search.search("port strike")
        assert hits.search == 0
        search.search("port strike")
        assert hits.detail() == {"search_from_cache": 1}


def test_a_run_keeps_no_more_than_its_bound() -> None:
    cache = RunCache(max_entries=2)
    with calling(run_id="r1"):
        for number in range(3):
            cache.put(number, str(number))
        assert [cache.get(number) for number in range(3)] == [None, "1", "2"]
    with calling(run_id="r2"):
        assert cache.get(2) is None
