"""What a search step found is kept while the index, the step and our own code stay the same."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from ingestion.config import IngestionRules
from ingestion.corpora import CorpusText, load_corpus
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.store import Store
from rag_core.datamodel.evidence import SearchOutcome
from rag_core.datamodel.plan import SearchStep
from rag_core.graph import kept_searches
from rag_core.graph.housekeeping import forget_run
from rag_core.graph.kept_searches import SearchRunner
from rag_core.retrieval.search import HybridSearch

pytestmark = pytest.mark.integration

EMBEDDER = WordHashEmbedder(dimensions=64)
TEXT = "The kraken is fed twice a day. It sleeps in the deep."


@dataclass
class CountedSearch:
    """A search that notes what it was asked."""

    inner: HybridSearch
    asked: list[str] = field(default_factory=list)

    def search(self, query: str, **more: Any) -> SearchOutcome:
        self.asked.append(query)
        return self.inner.search(query, **more)


@pytest.fixture(name="store")
def fixture_store(create_store: Callable[[str], str]) -> Iterator[Store]:
    store = Store(create_store(f"kept_{uuid.uuid4().hex[:8]}"))
    load_corpus(store, EMBEDDER, "notes", [CorpusText("kraken", "Kraken", TEXT)], rules=IngestionRules())
    yield store
    store.close()


@pytest.fixture(name="search")
def fixture_search(store: Store) -> CountedSearch:
    return CountedSearch(HybridSearch(store, EMBEDDER))


def _step(query: str = "How often is the kraken fed?", **more: Any) -> SearchStep:
    return SearchStep(step_id="s1", task=query, query=query, **more)


def test_another_process_finds_what_was_kept_without_a_search(store: Store, search: CountedSearch) -> None:
    first = SearchRunner(search, None, store).run(_step(), attempt=1)
    assert first.search is not None
    assert first.search.passages[0].quotes == ("The kraken is fed twice a day.",)
    asked = len(search.asked)
    again = SearchRunner(search, None, store).run(_step(), attempt=2)
    assert len(search.asked) == asked
    assert (again.attempt, again.search) == (2, first.search)


def test_an_index_that_changed_is_searched_anew(store: Store, search: CountedSearch) -> None:
    runner = SearchRunner(search, None, store)
    runner.run(_step(), attempt=1)
    load_corpus(store, EMBEDDER, "more", [CorpusText("b", "Kraken feed", "Fed thrice a day.")], rules=IngestionRules())
    changed = runner.run(_step(), attempt=1)
    assert changed.search is not None
    assert {passage.path for passage in changed.search.passages} == {"kraken", "b"}


def test_what_an_older_index_held_is_forgotten_with_the_next_run(store: Store, search: CountedSearch) -> None:
    SearchRunner(search, None, store).run(_step(), attempt=1)
    forget_run(store, "run")
    assert _kept(store) == 1
    load_corpus(store, EMBEDDER, "more", [CorpusText("b", "Other", "Nothing of it.")], rules=IngestionRules())
    forget_run(store, "run")
    assert _kept(store) == 0


def test_another_step_and_another_code_are_searched_anew(
    store: Store, search: CountedSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = SearchRunner(search, None, store)
    for step in (_step(), _step(top=3), _step(filters={"source": "notes"})):
        asked = len(search.asked)
        runner.run(step, attempt=1)
        assert len(search.asked) > asked
    asked = len(search.asked)
    monkeypatch.setattr(kept_searches, "_code_digest", lambda: "of the next release")
    runner.run(_step(), attempt=1)
    assert len(search.asked) > asked


@pytest.mark.parametrize("step", [_step("How often is the kraken fed currently?"), _step(recency_half_life_days=30.0)])
def test_what_depends_on_the_day_is_never_kept(store: Store, search: CountedSearch, step: SearchStep) -> None:
    SearchRunner(search, None, store).run(step, attempt=1)
    assert _kept(store) == 0


def test_an_index_that_changes_under_the_search_keeps_nothing(store: Store, search: CountedSearch) -> None:
    class Changing(CountedSearch):
        def search(self, query: str, **more: Any) -> SearchOutcome:
            text = CorpusText("new", "New", "It came in between.")
            load_corpus(store, EMBEDDER, "between", [text], rules=IngestionRules())
            return super().search(query, **more)

    SearchRunner(Changing(search.inner), None, store).run(_step(), attempt=1)
    assert _kept(store) == 0


def test_without_a_store_each_is_searched(search: CountedSearch) -> None:
    runner = SearchRunner(search, None, None)
    runner.run(_step(), attempt=1)
    asked = len(search.asked)
    runner.run(_step(), attempt=1)
    assert len(search.asked) == 2 * asked


def _kept(store: Store) -> int:
    with store.connection() as connection:
        row = connection.execute("SELECT count(*) FROM nightshift.kept_search").fetchone()
    assert row is not None
    return int(row[0])
