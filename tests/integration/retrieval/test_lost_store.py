"""A store that goes away in the middle of a search."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from ingestion.config import IngestionRules
from ingestion.corpora import CorpusText, load_corpus
from rag_core.cli import main
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.pgvector import IndexReader, is_lost
from rag_core.errors import ServiceUnavailable
from rag_core.retrieval.search import HybridSearch
from tests.stores import MakeStore

pytestmark = pytest.mark.integration

EMBEDDER = WordHashEmbedder()


@pytest.fixture(name="search")
def fixture_search(make_store: MakeStore, monkeypatch: pytest.MonkeyPatch) -> HybridSearch:
    """A search whose connection the server cuts once both legs have been read."""
    store = make_store()
    load_corpus(store, EMBEDDER, "one", [CorpusText("a", "Kraken", "kraken of the deep")], rules=IngestionRules())
    ask = IndexReader.candidates

    def cut_and_ask(self: IndexReader, chunks: Any) -> Any:
        with psycopg.connect(store.dsn, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        return ask(self, chunks)

    monkeypatch.setattr(IndexReader, "candidates", cut_and_ask)
    return HybridSearch(store, EMBEDDER)


def test_a_store_lost_during_a_search_is_told_in_one_line(search: HybridSearch) -> None:
    with pytest.raises(ServiceUnavailable, match="the store was lost during a search") as raised:
        search.search("kraken")
    assert "\n" not in str(raised.value)
    assert raised.value.exit_code == 3


def test_the_next_search_gets_a_new_connection(search: HybridSearch, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ServiceUnavailable):
        search.search("kraken")
    monkeypatch.undo()
    assert [passage.path for passage in search.search("kraken").passages] == ["a"]


def test_the_command_ends_with_exit_code_3_and_no_traceback(
    search: HybridSearch, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Services:
        def __enter__(self) -> Services:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        @property
        def search(self) -> HybridSearch:
            return search

    monkeypatch.setattr("rag_core.cli.search.open_services", Services)
    monkeypatch.setattr("sys.argv", ["nightshift", "search", "kraken"])
    with pytest.raises(SystemExit) as stopped:
        main.run()
    assert stopped.value.code == 3
    told = capsys.readouterr().err
    assert "the store was lost during a search" in told
    assert "Traceback" not in told
    assert len(told.strip().splitlines()) == 1


def test_a_full_disk_or_a_deadlock_is_not_a_lost_store() -> None:
    assert not is_lost(psycopg.errors.DiskFull())
    assert not is_lost(psycopg.errors.DeadlockDetected())
    assert is_lost(psycopg.errors.AdminShutdown())
    assert is_lost(psycopg.OperationalError("the connection is closed"))
