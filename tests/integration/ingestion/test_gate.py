"""Nothing is searched before Great Expectations has judged it; what it refuses stays as it was published last."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ingestion.checks import ChecksNotMade, Judgement
from ingestion.cli import list_documents
from ingestion.config import IngestionRules
from ingestion.documents import ConvertedDocument, SourceFile
from ingestion.isolate import IsolatedConverter
from ingestion.pipeline import finish_ingest, ingest, ingest_batch, judge_ingest
from ingestion.planning import plan_ingest
from ingestion.publishing import publish_documents
from ingestion.retry import find_retry_target
from ingestion.versions import ensure_version
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.errors import ConfigurationError
from rag_core.quality import validate
from rag_core.retrieval.search import MODES, HybridSearch
from tests.integration.ingestion.test_pipeline import assert_consistent, content

pytestmark = pytest.mark.integration

# Everything that a search can read, by its table.
_SEARCHED = """
SELECT
    (SELECT row(s.*)::text FROM nightshift.index_state AS s),
    (SELECT string_agg(t.term || ' ' || t.chunks, ',' ORDER BY t.term) FROM nightshift.term AS t),
    (SELECT string_agg(row(a.*)::text, ',' ORDER BY row(a.*)::text) FROM nightshift.document_attribute AS a),
    (SELECT string_agg(row(d.*)::text, ',' ORDER BY d.document_no) FROM nightshift.document AS d),
    (SELECT count(*) FROM nightshift.posting), (SELECT count(*) FROM nightshift.chunk_window),
    (SELECT count(*) FROM nightshift.posting_tombstone)
"""


class LoudEmbedder(WordHashEmbedder):
    """Gives vectors five times too long for texts that hold a certain word, until it is mended."""

    mended = False

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        vectors = super().embed(texts)
        if self.mended:
            return vectors
        return [
            [5 * value for value in vector] if "kraken" in text else vector
            for text, vector in zip(texts, vectors, strict=True)
        ]


def searched(store: Store) -> tuple[object, ...]:
    with store.connection() as connection:
        row = connection.execute(_SEARCHED).fetchone()
    assert row is not None
    return row


def staged(store: Store) -> int:
    with store.connection() as connection:
        row = connection.execute(
            "SELECT (SELECT count(*) FROM nightshift.staged_document) + (SELECT count(*) FROM nightshift.staged_chunk)"
        ).fetchone()
    assert row is not None
    return int(row[0])


def found(store: Store, words: WordHashEmbedder, text: str) -> set[str]:
    """Paths that hold a text, by any mode."""
    search = HybridSearch(store, words)
    passages = [each for mode in MODES for each in search.search(text, mode=mode, top=20).passages]
    return {passage.path for passage in passages if text in passage.text}


def stage(store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path) -> str:
    """A run as far as its batches; its id."""
    plan = plan_ingest(store, words, [folder], rules=rules)
    for batch in plan.batches:
        ingest_batch(store, words, plan.run_id, batch, rules=rules)
    return plan.run_id


def test_nothing_is_seen_before_it_was_judged_and_published(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path
) -> None:
    ingest(store, words, [folder], rules=rules)
    (folder / "market.md").write_text("# Market\n\nThe kraken shrinks.\n", encoding="utf-8")
    (folder / "new.md").write_text("---\nservice: sea\n---\n# New\n\nAnother kraken.\n", encoding="utf-8")
    before = searched(store)
    search = HybridSearch(store, words)
    known = search.search("market grows")

    run_id = stage(store, words, rules, folder)
    assert searched(store) == before
    assert found(store, words, "kraken") == set()
    assert found(store, words, "grows by 5 percent") == {"market.md"}
    assert judge_ingest(store, run_id, rules=rules) == Judgement(passed=2, refused=0)
    assert searched(store) == before
    assert search.search("market grows") is known  # the caches' key has not changed either

    outcome = finish_ingest(store, words, run_id, rules=rules)
    assert outcome.documents["indexed"] == 2
    assert found(store, words, "kraken") == {"market.md", "new.md"}
    assert found(store, words, "grows by 5 percent") == set()
    assert search.search("market grows") is not known
    assert staged(store) == 0
    assert_consistent(store)


def test_what_is_refused_stays_as_it_was_and_the_rest_is_published(
    store: Store, rules: IngestionRules, folder: Path
) -> None:
    loud = LoudEmbedder()
    ingest(store, loud, [folder], rules=rules)
    (folder / "market.md").write_text("# Market\n\nThe kraken shrinks.\n", encoding="utf-8")
    (folder / "new.md").write_text("# New\n\nAnother kraken.\n", encoding="utf-8")
    (folder / "good.md").write_text("# Good\n\nA turtle.\n", encoding="utf-8")
    outcome = ingest(store, loud, [folder], rules=rules)
    assert outcome.documents == {
        "discovered": 5, "unchanged": 2, "moved": 0, "indexed": 1, "partial": 0, "removed": 0, "quarantined": 2,
    }  # fmt: skip
    assert [(each.path, each.state, each.stage) for each in outcome.documents_failed] == [
        ("market.md", "quarantined", "quality"),
        ("new.md", "quarantined", "quality"),
    ]
    assert all(each.error == "1 vectors of the wrong size or length" for each in outcome.documents_failed)
    listed = {each["path"]: each for each in list_documents(store, "quarantined")}
    assert set(listed) == {"market.md", "new.md"}
    assert all(each["stage"] == "quality" and "wrong size" in each["reason"] for each in listed.values())
    assert (listed["market.md"]["chunks"], listed["new.md"]["chunks"]) == (1, 0)
    assert found(store, loud, "kraken") == set()
    assert found(store, loud, "grows by 5 percent") == {"market.md"}
    assert found(store, loud, "turtle") == {"good.md"}
    assert staged(store) == 0
    assert_consistent(store)

    # A vector that was refused is not taken from the cache again.
    loud.mended = True
    assert ingest(store, loud, [folder], rules=rules).documents["indexed"] == 2
    assert found(store, loud, "kraken") == {"market.md", "new.md"}
    assert_consistent(store)


# What is done to the staged document of this number, and what the checks say of it.
FAULTS = {
    "UPDATE nightshift.staged_chunk SET body = ' ', context = '' WHERE staged_no = {}": "1 chunks without text",
    "UPDATE nightshift.staged_chunk SET tokens = 601 WHERE staged_no = {}": "1 chunks above the token limit",
    "UPDATE nightshift.staged_chunk SET windows = '{{}}' WHERE staged_no = {}": "1 chunks that no window embeds",
    "DELETE FROM nightshift.embedding_cache AS e USING nightshift.staged_chunk AS c "
    "WHERE e.text_hash = any(c.windows) AND c.staged_no = {}": "1 chunks or vectors of the document that are not",
    "DELETE FROM nightshift.staged_chunk WHERE staged_no = {}": "1 chunks or vectors of the document that are not",
    "UPDATE nightshift.embedding_cache AS e SET embedding = '[1,0]' FROM nightshift.staged_chunk AS c "
    "WHERE e.text_hash = any(c.windows) AND c.staged_no = {}": "1 vectors of the wrong size or length",
    "UPDATE nightshift.staged_document SET title = ' ' WHERE staged_no = {}": "1 documents without a title",
    "UPDATE nightshift.staged_document SET chunks = 0 WHERE staged_no = {}": "1 documents without a chunk",
}


@pytest.mark.parametrize(("fault", "told"), FAULTS.items())
def test_each_check_keeps_its_document_back(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path, fault: str, told: str
) -> None:
    run_id = stage(store, words, rules, folder)
    with store.connection() as connection:
        row = connection.execute("SELECT staged_no FROM nightshift.staged_document WHERE path = 'leader.md'").fetchone()
        assert row is not None
        connection.execute(fault.format(row[0]))  # type: ignore[call-overload]
    assert judge_ingest(store, run_id, rules=rules) == Judgement(passed=2, refused=1)
    outcome = finish_ingest(store, words, run_id, rules=rules)
    (failed,) = outcome.documents_failed
    assert (failed.path, failed.state, failed.stage) == ("leader.md", "quarantined", "quality")
    assert told in failed.error
    assert outcome.documents["indexed"] == 2
    assert found(store, words, "quorum") == set()
    assert found(store, words, "Delete old logs") == {"disk.md"}
    assert ingest(store, words, [folder], rules=rules).documents["indexed"] == 1
    assert found(store, words, "quorum") == {"leader.md"}


def test_a_vector_that_goes_after_the_checks_takes_its_document_along(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path
) -> None:
    ingest(store, words, [folder], rules=rules)
    (folder / "leader.md").write_text("# No leader\n\nA turtle.\n", encoding="utf-8")
    (folder / "good.md").write_text("# Good\n\nA heron.\n", encoding="utf-8")
    run_id = stage(store, words, rules, folder)
    assert judge_ingest(store, run_id, rules=rules).passed == 2
    with store.connection() as connection:
        connection.execute(
            "DELETE FROM nightshift.embedding_cache AS e USING nightshift.staged_chunk AS c "
            "WHERE e.text_hash = any(c.windows) AND c.body LIKE '%turtle%'"
        )
    outcome = finish_ingest(store, words, run_id, rules=rules)
    (failed,) = outcome.documents_failed
    assert (failed.path, failed.state, failed.stage) == ("leader.md", "quarantined", "index")
    assert found(store, words, "turtle") == set()
    assert found(store, words, "quorum") == {"leader.md"}
    assert found(store, words, "heron") == {"good.md"}
    assert_consistent(store)
    assert ingest(store, words, [folder], rules=rules).documents["indexed"] == 1
    assert found(store, words, "turtle") == {"leader.md"}


def test_without_a_verdict_nothing_is_published(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(frame: object) -> tuple[set[int], dict[str, str]]:
        return set(), {"below_upper": "the check itself failed: no room"}

    run_id = stage(store, words, rules, folder)
    with monkeypatch.context() as patched:
        patched.setattr(validate, "_run_suite", cannot)
        with pytest.raises(ChecksNotMade, match="no room"):
            judge_ingest(store, run_id, rules=rules)
    outcome = finish_ingest(store, words, run_id, rules=rules, prune=True)
    assert outcome.documents["quarantined"] == 3
    assert {(each.state, each.stage) for each in outcome.documents_failed} == {("unfinished", "quality")}
    assert "not finished" in outcome.prune_refused
    assert list_documents(store) == []
    assert ingest(store, words, [folder], rules=rules).documents["indexed"] == 3


def test_what_a_killed_run_has_staged_is_not_done_again(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage(store, words, rules, folder)
    embedded = words.embedded

    def refuse(self: IsolatedConverter, file: SourceFile) -> ConvertedDocument:
        raise AssertionError(f"{file.relative_path} was converted again")

    with monkeypatch.context() as patched:
        patched.setattr(IsolatedConverter, "convert", refuse)
        plan = plan_ingest(store, words, [folder], rules=rules)
        assert (plan.pending, plan.staged, plan.batches) == (0, 3, ())
        assert ingest(store, words, [folder], rules=rules).documents["indexed"] == 3
    assert words.embedded == embedded
    assert found(store, words, "quorum") == {"leader.md"}
    assert staged(store) == 0


def test_what_was_staged_of_other_bytes_is_never_published(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path
) -> None:
    ingest(store, words, [folder], rules=rules)
    old = {name: (folder / name).read_text(encoding="utf-8") for name in ("disk.md", "leader.md", "market.md")}
    for name in old:
        (folder / name).write_text("# Changed\n\nkraken\n", encoding="utf-8")
    (folder / "new.md").write_text("# New\n\nkraken\n", encoding="utf-8")
    stage(store, words, rules, folder)
    (folder / "disk.md").write_text(old["disk.md"], encoding="utf-8")  # as it is published
    (folder / "leader.md").write_text("# Once more\n\nturtle\n", encoding="utf-8")
    (folder / "market.md").unlink()
    (folder / "new.md").unlink()
    outcome = ingest(store, words, [folder], rules=rules, prune=True)
    assert (outcome.documents["unchanged"], outcome.documents["indexed"], outcome.documents["removed"]) == (1, 1, 1)
    assert found(store, words, "kraken") == set()
    assert found(store, words, "turtle") == {"leader.md"}
    assert {each["path"] for each in list_documents(store)} == {"disk.md", "leader.md"}
    assert staged(store) == 0
    assert_consistent(store)


def test_two_runs_at_once_stage_and_publish_the_same(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path
) -> None:
    first = plan_ingest(store, words, [folder], rules=rules)
    second = plan_ingest(store, words, [folder], rules=rules)
    for plan in (first, second):
        ingest_batch(store, words, plan.run_id, 0, rules=rules)
    assert judge_ingest(store, second.run_id, rules=rules).passed == 3
    assert finish_ingest(store, words, second.run_id, rules=rules).documents["indexed"] == 3
    # What one publishes is done for both.
    assert judge_ingest(store, first.run_id, rules=rules).passed == 0
    assert finish_ingest(store, words, first.run_id, rules=rules).documents["indexed"] == 3
    assert staged(store) == 0
    assert_consistent(store)


def test_a_document_that_a_later_run_staged_anew_is_judged_anew(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path
) -> None:
    first = stage(store, words, rules, folder)
    judge_ingest(store, first, rules=rules)
    (folder / "leader.md").write_text("# No leader\n\nA turtle.\n", encoding="utf-8")
    second = stage(store, words, rules, folder)
    outcome = finish_ingest(store, words, first, rules=rules)
    assert outcome.documents["indexed"] == 2
    assert [(each.path, each.state) for each in outcome.documents_failed] == [("leader.md", "unfinished")]
    assert found(store, words, "turtle") == set()
    judge_ingest(store, second, rules=rules)
    assert finish_ingest(store, words, second, rules=rules).documents["indexed"] == 3
    assert found(store, words, "turtle") == {"leader.md"}


def test_work_for_another_model_is_not_published(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path
) -> None:
    other = WordHashEmbedder(dimensions=96, name="other")
    ingest(store, words, [folder], rules=rules)
    (folder / "leader.md").write_text("# No leader\n\nA turtle.\n", encoding="utf-8")
    run_id = stage(store, words, rules, folder)
    judge_ingest(store, run_id, rules=rules)
    plan = plan_ingest(store, other, [folder], rules=rules)
    assert (plan.pending, plan.staged) == (1, 0)
    with pytest.raises(ConfigurationError, match="plan a new ingest run"):
        finish_ingest(store, words, run_id, rules=rules)
    assert found(store, other, "turtle") == set()
    assert ingest(store, other, [folder], rules=rules).documents["indexed"] == 1
    assert found(store, other, "turtle") == {"leader.md"}
    assert_consistent(store)


def is_waiting(store: Store) -> bool:
    """Whether a session of the store waits for another one's lock."""
    with store.connection() as connection:
        waiting = connection.execute(
            "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        return waiting.fetchone() is not None


def test_a_model_that_takes_over_while_publishing_waits_is_noticed(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path
) -> None:
    run_id = stage(store, words, rules, folder)
    judge_ingest(store, run_id, rules=rules)
    version = ensure_version(store, words)
    told: list[BaseException] = []

    def publish() -> None:
        try:
            publish_documents(store, run_id, version_no=version.version_no)
        except ConfigurationError as error:
            told.append(error)

    waiting = threading.Thread(target=publish)
    with store.connection() as connection:
        connection.execute(statement("index/lock_index_state"))
        waiting.start()
        while waiting.is_alive() and not is_waiting(store):
            time.sleep(0.02)
        connection.execute(statement("index/retire_serving_version"))
    waiting.join()
    assert len(told) == 1
    assert list_documents(store) == []


def test_a_retry_converts_again_what_was_staged(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path
) -> None:
    ingest(store, words, [folder], rules=rules)
    (folder / "leader.md").write_text("# No leader\n\nA turtle.\n", encoding="utf-8")
    stage(store, words, rules, folder)
    (document,) = [each for each in list_documents(store) if each["path"] == "leader.md"]
    plan = plan_ingest(store, words, [], rules=rules, retry=find_retry_target(store, document["document_id"]))
    assert (plan.pending, plan.staged) == (1, 0)


def test_published_groups_are_the_index_of_one_go(
    make_store: Callable[[], Store], rules: IngestionRules, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(9):
        (folder / f"same{number}.md").write_text("# Same\n\nsame text\n\n## Part\n\nsame text\n", encoding="utf-8")
    whole, parts = make_store(), make_store()
    ingest(whole, WordHashEmbedder(), [folder], rules=rules)
    monkeypatch.setattr("ingestion.publishing.PUBLISHED_TOGETHER", 1)
    ingest(parts, WordHashEmbedder(), [folder], rules=rules)
    assert content(parts) == content(whole)


def test_a_search_during_a_re_ingest_finds_a_document_whole(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path
) -> None:
    target = folder / "long.md"

    def write(mark: str) -> None:
        parts = (f"## Part {part}\n\n" + f"turtle {mark} {mark}{part} " * 120 for part in range(8))
        target.write_text("# Long\n\n" + "\n\n".join(parts), encoding="utf-8")

    write("old")
    ingest(store, words, [folder], rules=rules)
    faults: list[str] = []
    seen: set[str] = set()
    stop = threading.Event()

    def read() -> None:
        searches = [HybridSearch(store, WordHashEmbedder()) for _ in range(2)]
        wanted = {f"Part {part}" for part in range(8)}
        while not stop.is_set():
            for mode in MODES:
                for search in searches:
                    passages = search.search("turtle part", mode=mode, top=50).passages
                    passages = tuple(each for each in passages if each.path == "long.md")
                    marks = {mark for each in passages for mark in ("old", "new") if f" {mark} " in each.text}
                    if len(marks) != 1 or {each.heading_path[-1] for each in passages} != wanted:
                        faults.append(f"{mode}: {sorted(marks)} in {len(passages)} passages")
                    seen.update(marks)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for turn in range(6):
            write("new" if turn % 2 == 0 else "old")
            ingest(store, words, [folder], rules=rules)
    finally:
        stop.set()
        reader.join()
    assert faults == []
    assert seen == {"old", "new"}


def test_a_search_during_a_change_of_the_model_always_answers(
    store: Store, rules: IngestionRules, folder: Path
) -> None:
    old, new = WordHashEmbedder(dimensions=1024), WordHashEmbedder(dimensions=2048, name="bigger")
    for number in range(30):
        (folder / f"n{number}.md").write_text(f"# N{number}\n\nturtle number{number}\n", encoding="utf-8")
    ingest(store, old, [folder], rules=rules)
    faults: list[str] = []
    models: list[str] = []
    stop = threading.Event()

    def read() -> None:
        search = HybridSearch(store, new, open_embedder=lambda _: old)
        turn = 0
        while not stop.is_set():
            turn += 1
            try:
                outcome = search.search(f"turtle number{turn % 30}", mode="dense", top=5 + turn)
            except Exception as error:  # noqa: BLE001 - handed to the test
                faults.append(repr(error))
                return
            if outcome.passages[0].path != f"n{turn % 30}.md":
                faults.append(f"number{turn % 30}: {outcome.passages[0].path}")
            models.append(str(outcome.detail["embedding_model"]))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        ingest(store, new, [folder], rules=rules)
        while new.model_id not in models[-1:] and reader.is_alive():
            time.sleep(0.02)
    finally:
        stop.set()
        reader.join()
    assert faults == []
    assert models[0] == old.model_id
    assert models[-1] == new.model_id
    assert models == sorted(models, key=lambda name: name == new.model_id), "and it never goes back"
