"""Search over a real index: odd queries, filters, exactness, caches and figures."""

from __future__ import annotations

import math
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from ingestion.config import IngestionRules
from ingestion.corpora import CorpusText, load_corpus
from ingestion.evaluation import save_limits
from ingestion.pipeline import ingest
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.store import Store
from rag_core.errors import ConfigurationError
from rag_core.retrieval.relevance import NullLimits
from rag_core.retrieval.search import HybridSearch
from rag_core.retrieval.tokens import term_counts, tokenize
from rag_core.retrieval.tuning import SearchTuning
from tests.stores import MakeStore

pytestmark = pytest.mark.integration

EMBEDDER = WordHashEmbedder(dimensions=256)
DOCUMENTS = {
    "runbooks/disk.md": "---\ntitle: NodeDiskFull\ndocument_type: runbook\nservice: metering-store\ndate: 2026-05-01\n"
    "---\n\n# NodeDiskFull\n\nThe disk of a node is full. Delete old segments first. Retention is 90 days.\n",
    "runbooks/disk-2024.md": "---\ntitle: NodeDiskFull (2024)\ndocument_type: runbook\nservice: metering-store\n"
    "date: 2024-05-01\nstatus: superseded\n---\n\n# NodeDiskFull\n\nThe disk of a node is full. Restart the node "
    "first. Retention is 30 days.\n",
    "standards/retention.md": "---\ntitle: Retention standard\ndocument_type: standard\ndate: 2026-01-10\n---\n\n"
    "# Retention standard\n\nMetrics are kept for 90 days, invoices for 10 years.\n",
    "incidents/4711.md": "---\ntitle: Incident 4711\ndocument_type: incident\nservice: billing-api\ndate: 2026-03-01\n"
    "---\n\n# Incident 4711\n\nConnection pool exhausted after release; error code E-4711-X.\n",
    "incidents/market.md": "---\ntitle: Market outlook\ndocument_type: report\n---\n\n# Market outlook\n\nThe market "
    "for meters grows by 5.4 percent.\n",
}


@pytest.fixture(name="store", scope="module")
def fixture_store(make_store: MakeStore, tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("documents")
    for path, text in DOCUMENTS.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    store = make_store()
    ingest(store, EMBEDDER, [folder], rules=IngestionRules(), source="docs")
    return store


@pytest.fixture(name="search", scope="module")
def fixture_search(store: Store) -> HybridSearch:
    return HybridSearch(store, EMBEDDER, today=date(2026, 7, 1))


@pytest.mark.parametrize("mode", ["hybrid", "dense", "bm25"])
@pytest.mark.parametrize(
    "query",
    [
        "What's your password policies?", "a & | b", "'", "(((", "C++ AND", ":*", "the of and", "🎉", "-error",
        '"unclosed', "x" * 20_000, "a\x00b", "\ud800", "%s %(x)s {y}", "'; DROP TABLE nightshift.chunk; --", "$1",
    ],
)  # fmt: skip
def test_no_query_is_an_error(search: HybridSearch, query: str, mode: str) -> None:
    outcome = search.search(query, mode=mode)
    assert outcome.query == query.replace("\x00", " ").replace("\ud800", "?")  # as the database and JSON can hold it
    assert [passage.rank for passage in outcome.passages] == list(range(1, len(outcome.passages) + 1))


@pytest.mark.parametrize("value", ["a\x00b", "\udcff", "metering-store\x00", "x" * 1_000_000, "🎉", "'", "%s"])
@pytest.mark.parametrize("name", ["service", "no\x00such", "\udcff"])
def test_no_filter_is_an_error(search: HybridSearch, name: str, value: str) -> None:
    outcome = search.search("disk", filters={name: value})
    assert (outcome.null_signal, outcome.passages) == (True, ())


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\x00"])
def test_an_empty_query_is_refused(search: HybridSearch, query: str) -> None:
    with pytest.raises(ConfigurationError, match="empty"):
        search.search(query)


def test_a_query_of_stop_words_falls_to_the_vectors(search: HybridSearch) -> None:
    outcome = search.search("the of and")
    assert outcome.detail["bm25"] == 0
    assert outcome.detail["dense"] > 0
    assert search.search("the of and", mode="bm25").null_signal


@pytest.mark.parametrize("query", ["\U0001f680", "\U0001f680\U0001f525", "???", "--", "\u2014"])
def test_a_query_without_words_gives_the_null_signal(search: HybridSearch, query: str) -> None:
    outcome = search.search(query)
    assert outcome.null_signal
    assert outcome.reason == "the question holds no words"
    assert outcome.detail["bm25"] == 0


def test_a_minus_is_no_negation(search: HybridSearch) -> None:
    assert search.search("-disk", mode="bm25").passages[0].path.startswith("runbooks/disk")


@pytest.mark.parametrize(
    "query", ["NodeDiskFull", "nodediskfull", "node disk full", "E-4711-X", "billing 4711 connection pool"]
)
def test_names_and_codes_are_found_whole_and_in_parts(search: HybridSearch, query: str) -> None:
    outcome = search.search(query)
    expected = "incidents/4711.md" if "4711" in query else "runbooks/disk.md"
    assert outcome.passages[0].path == expected
    assert not outcome.null_signal


def test_a_foreign_question_gives_the_null_signal_with_a_reason(search: HybridSearch) -> None:
    outcome = search.search("sourdough bread oven recipe")
    assert outcome.null_signal
    assert outcome.reason


def test_both_legs_share_one_key(search: HybridSearch) -> None:
    top = search.search("connection pool exhausted after release").passages[0]
    assert top.scores.bm25 is not None
    assert top.scores.cosine is not None
    only_dense = search.search("the of and").passages[0]
    assert only_dense.scores.bm25 is None
    assert only_dense.scores.rrf > 0


def test_what_one_leg_alone_finds_is_fused_too(make_store: MakeStore) -> None:
    """A text whose words the vectors know, one that only a word leads to, and a question for both."""
    store = make_store()
    texts = [CorpusText(f"n{number:03d}", f"Note {number}", "alpha beta gamma delta") for number in range(120)]
    texts.append(CorpusText("code", "Log", f"{'filler ' * 90}zx-9917-q"))
    load_corpus(store, EMBEDDER, "legs", texts, rules=IngestionRules())
    passages = HybridSearch(store, EMBEDDER).search("alpha beta gamma zx-9917-q", top=100).passages
    by_path = {passage.path: passage.scores for passage in passages}
    assert by_path["code"].bm25 is not None
    assert by_path["code"].cosine is None
    assert any(scores.cosine is not None for scores in by_path.values())


def test_a_command_is_found_as_it_was_written(make_store: MakeStore, tmp_path: Path) -> None:
    """A pipe inside a table's cell and in a fenced block: the words around it are found, and the text is verbatim."""
    command = "kubectl get pods | grep -v Running"
    (tmp_path / "fence.md").write_text(f"# Fenced\n\n```bash\n{command}\n```\n", encoding="utf-8")
    escaped = command.replace("|", "\\|")
    (tmp_path / "table.md").write_text(
        f"# Table\n\n| task | run |\n|---|---|\n| list | `{escaped}` |\n", encoding="utf-8"
    )
    store = make_store()
    ingest(store, EMBEDDER, [tmp_path], rules=IngestionRules(), source="docs")
    passages = {each.path: each for each in HybridSearch(store, EMBEDDER).search(command, mode="bm25").passages}
    assert command in passages["fence.md"].text
    assert "&#124;" not in passages["table.md"].text
    assert passages["table.md"].scores.bm25


def test_long_words_long_texts_and_high_frequencies_stay_searchable(make_store: MakeStore) -> None:
    """What a tsvector drops or caps: words over two kilobytes, texts over a megabyte, more than 255 occurrences."""
    store = make_store()
    long_word = "q" * 3_000
    texts = [
        CorpusText("often", "Often", "kraken " * 500),
        CorpusText("less", "Less", "kraken " * 300 + "filler " * 200),
        CorpusText("word", "Word", f"before {long_word} after"),
        CorpusText("large", "Large", "\n\n".join(f"paragraph {number} of filler text" for number in range(40_000))),
    ]
    load_corpus(store, EMBEDDER, "sizes", texts, rules=IngestionRules())
    search = HybridSearch(store, EMBEDDER)
    assert [passage.path for passage in search.search("kraken", mode="bm25").passages][:2] == ["often", "less"]
    assert search.search(long_word, mode="bm25").passages[0].path == "word"
    assert search.search("paragraph 39999", mode="bm25").passages[0].path == "large"
    with store.connection() as connection:
        most = connection.execute("SELECT max(frequency) FROM nightshift.posting").fetchone()
    assert most is not None
    assert most[0] > 255


def test_filters_apply_before_ranking_without_regard_to_case(search: HybridSearch) -> None:
    outcome = search.search("node disk full", filters={"document_type": "Standard"})
    assert [passage.path for passage in outcome.passages] == ["standards/retention.md"]
    assert search.search("disk", filters={"service": "metering-store", "status": "superseded"}).passages[0].path == (
        "runbooks/disk-2024.md"
    )


def test_a_filter_that_nothing_has_gives_the_null_signal(search: HybridSearch) -> None:
    outcome = search.search("disk", filters={"no_such_key": "x"})
    assert outcome.null_signal
    assert outcome.passages == ()


def test_superseded_documents_give_way_but_stay_findable(search: HybridSearch) -> None:
    paths = [passage.path for passage in search.search("NodeDiskFull disk of a node is full").passages]
    assert paths.index("runbooks/disk.md") < paths.index("runbooks/disk-2024.md")


def test_close_results_that_disagree_are_flagged(search: HybridSearch) -> None:
    outcome = search.search("NodeDiskFull retention days")
    assert outcome.ambiguous
    assert "30 day" in outcome.reason
    assert "90 day" in outcome.reason
    close = outcome.detail["close_results"]
    assert {each["path"] for each in close[:2]} == {"runbooks/disk.md", "runbooks/disk-2024.md"}
    assert [each["score"] for each in close] == sorted((each["score"] for each in close), reverse=True)
    clear = search.search("E-4711-X")
    assert not clear.ambiguous
    assert clear.detail["close_results"] == []


def test_age_counts_where_it_is_asked_for(search: HybridSearch) -> None:
    passages = search.search("disk node full", recency_half_life_days=30).passages
    by_path = {passage.path: passage.scores.recency for passage in passages}
    assert by_path["runbooks/disk.md"] == pytest.approx(0.5 ** (61 / 30))
    assert by_path["incidents/market.md"] == 0.5
    assert all(passage.scores.recency is None for passage in search.search("disk node full").passages)
    assert search.search("which is the current retention?").passages[0].scores.recency is not None


def test_quotes_stand_in_the_passage_word_for_word(search: HybridSearch) -> None:
    top = search.search("How long are metrics kept?").passages[0]
    assert top.path == "standards/retention.md"
    assert top.quotes == ("Metrics are kept for 90 days, invoices for 10 years.",)
    assert all(quote in top.text for quote in top.quotes)


def test_a_type_that_is_asked_for_narrows_but_never_empties(search: HybridSearch) -> None:
    outcome = search.search("which standard covers retention of metrics?", top=5)
    assert outcome.detail["narrowed_to"] == {"document_type": "standard"}
    assert outcome.passages[0].document_type == "standard"
    assert len({passage.path for passage in outcome.passages}) > 1
    assert search.search("which incident tells of kraken sourdough?").passages


def test_results_are_cached_until_the_index_changes(
    make_store: MakeStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, words = make_store(), WordHashEmbedder()
    (tmp_path / "a.md").write_text("# A\n\nkraken one\n", encoding="utf-8")
    ingest(store, words, [tmp_path], rules=IngestionRules(), source="docs")
    search = HybridSearch(store, words)
    first = search.search("kraken")
    embedded = words.embedded
    assert search.search("kraken") is first
    assert words.embedded == embedded
    (tmp_path / "b.md").write_text("# B\n\nkraken two\n", encoding="utf-8")
    ingest(store, words, [tmp_path], rules=IngestionRules(), source="docs")
    assert {passage.path for passage in search.search("kraken").passages} == {"a.md", "b.md"}
    (tmp_path / "a.md").write_text("# A\n\nnothing of the kind\n", encoding="utf-8")
    ingest(store, words, [tmp_path], rules=IngestionRules(), source="docs")
    changed = search.search("kraken", mode="bm25")
    assert [passage.path for passage in changed.passages] == ["b.md"]
    (tmp_path / "a.md").unlink()
    ingest(store, words, [tmp_path], rules=IngestionRules(), source="docs", prune=True)
    assert {passage.path for passage in search.search("kraken").passages} == {"b.md"}
    assert words.embedded > embedded
    vectors = words.embedded
    search.search("kraken", top=3)
    assert words.embedded == vectors  # the question's own vector outlives the index's changes


def test_another_model_gets_vectors_of_its_own(make_store: MakeStore, tmp_path: Path) -> None:
    """The index of the old model serves until the new one is complete; caches do not mix the two."""
    store, old, new = make_store(), WordHashEmbedder(dimensions=64), WordHashEmbedder(dimensions=32, name="newer")
    (tmp_path / "a.md").write_text("# A\n\nkraken one\n", encoding="utf-8")
    ingest(store, old, [tmp_path], rules=IngestionRules(), source="docs")
    opened: list[str] = []

    def open_old(setting: str) -> WordHashEmbedder:
        opened.append(setting)
        return old

    search = HybridSearch(store, new, open_embedder=open_old)
    before = search.search("kraken")
    assert before.detail["embedding_model"] == old.model_id
    assert opened == [old.setting]
    with pytest.raises(ConfigurationError, match="nightshift ingest"):
        HybridSearch(store, new).search("kraken")
    ingest(store, new, [tmp_path], rules=IngestionRules(), source="docs")
    after = search.search("kraken")
    assert after.detail["embedding_model"] == new.model_id
    assert [passage.path for passage in after.passages] == ["a.md"]


def test_an_empty_index_says_so(make_store: MakeStore) -> None:
    outcome = HybridSearch(make_store(), EMBEDDER).search("disk")
    assert outcome.null_signal
    assert "no document" in outcome.reason


def test_bm25_in_the_database_equals_the_formula(store: Store, search: HybridSearch) -> None:
    with store.connection() as connection:
        rows = connection.execute("SELECT chunk_no, body, context FROM nightshift.chunk").fetchall()
    chunks = {number: term_counts(body, context) for number, body, context in rows}
    lengths = {number: sum(counts.values()) for number, counts in chunks.items()}
    mean = sum(lengths.values()) / len(lengths)
    query = "disk node full retention days error market"
    expected: dict[int, float] = {}
    for number, counts in chunks.items():
        score = 0.0
        for term, times in Counter(tokenize(query)).items():
            frequency = sum(1 for other in chunks.values() if other.get(term))
            if counts.get(term):
                idf = math.log(1 + (len(chunks) - frequency + 0.5) / (frequency + 0.5))
                norm = 1.5 * (1 - 0.75 + 0.75 * lengths[number] / mean)
                score += times * idf * counts[term] / (counts[term] + norm)
        if score:
            expected[number] = score
    passages = search.search(query, mode="bm25", top=50).passages
    assert {passage.chunk_id: passage.scores.bm25 for passage in passages} == {
        number: pytest.approx(score, abs=1e-6) for number, score in expected.items()
    }
    assert [passage.scores.bm25 for passage in passages] == sorted(
        (passage.scores.bm25 for passage in passages), reverse=True
    )


def test_a_filter_that_keeps_little_finds_all_of_it(make_store: MakeStore) -> None:
    """0.4 % of the documents, through the graph's side of the choice and through the exact one."""
    store = make_store()
    texts = [CorpusText(f"d{number:04d}", f"Note {number}", f"alpha beta word{number % 97}") for number in range(1_000)]
    load_corpus(store, EMBEDDER, "many", texts, rules=IngestionRules())
    with store.connection() as connection:
        connection.execute(
            "INSERT INTO nightshift.document_attribute (document_no, name, value) "
            "SELECT document_no, 'rare', 'yes' FROM nightshift.document "
            "WHERE path IN ('d0007', 'd0400', 'd0500', 'd0999')"
        )
    search = HybridSearch(store, EMBEDDER, tuning=SearchTuning(classification=False))
    for mode in ("dense", "hybrid", "bm25"):
        found = search.search("alpha beta", filters={"rare": "yes"}, mode=mode, top=10)
        assert {passage.path for passage in found.passages} == {"d0007", "d0400", "d0500", "d0999"}
        assert found.detail["filtered_documents"] == 4


def test_stored_limits_of_the_null_signal_are_used(make_store: MakeStore) -> None:
    """With a threshold that nothing reaches, every question is refused; with the breadth alone it is that figure."""
    store = make_store()
    load_corpus(store, EMBEDDER, "one", [CorpusText("a", "Note", "alpha beta gamma delta")], rules=IngestionRules())
    question = "alpha epsilon zeta"
    before = HybridSearch(store, EMBEDDER).search(question)
    limits = NullLimits(threshold=2.0, coverage_weight=0.1, breadth_share=1.0)
    assert save_limits(store, EMBEDDER.model_id, limits, {"set": "test"})
    after = HybridSearch(store, EMBEDDER).search(question)
    assert after.null_signal
    assert "2.00 are needed" in after.reason
    assert save_limits(store, EMBEDDER.model_id, NullLimits(0.0, 0.1, 1.0), {"set": "test"})
    assert not HybridSearch(store, EMBEDDER).search(question).null_signal
    assert before.detail["mean_cosine"] == after.detail["mean_cosine"] > 0
