"""Files into the index and out of it: what changes, what stays, what is told."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ingestion import runs
from ingestion.checks import Judgement
from ingestion.cli import list_documents
from ingestion.config import IngestionRules
from ingestion.documents import ConvertedDocument, SourceFile
from ingestion.isolate import IsolatedConverter
from ingestion.pipeline import IngestOutcome, finish_ingest, ingest, ingest_batch, judge_ingest
from ingestion.planning import plan_ingest
from ingestion.retry import find_retry_target
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.store import Store
from rag_core.errors import ConfigurationError
from rag_core.retrieval.search import HybridSearch

pytestmark = pytest.mark.integration

# What is in the index, without the numbers that depend on the order of work.
_CONTENT = """
SELECT d.source, d.path, d.content_hash, d.state, d.title, d.metadata::text, c.ordinal, c.body, c.context, c.terms,
    (SELECT string_agg(w.ordinal || ' ' || w.embedding::text, ';' ORDER BY w.ordinal)
     FROM nightshift.chunk_window AS w WHERE w.chunk_no = c.chunk_no) AS windows,
    (SELECT string_agg(t.term || ' ' || p.frequency || ' ' || p.terms, ';' ORDER BY t.term)
     FROM nightshift.posting AS p JOIN nightshift.term AS t USING (term_no) WHERE p.chunk_no = c.chunk_no) AS postings
FROM nightshift.document AS d LEFT JOIN nightshift.chunk AS c USING (document_no)
ORDER BY d.source, d.path, c.ordinal
"""
_STATISTICS = """
SELECT (SELECT chunks FROM nightshift.index_state), (SELECT terms FROM nightshift.index_state),
    (SELECT count(*) FROM nightshift.chunk), (SELECT coalesce(sum(terms), 0) FROM nightshift.chunk),
    (SELECT count(*) FROM nightshift.term AS t WHERE t.chunks <> (
        SELECT count(*) FROM nightshift.posting AS p WHERE p.term_no = t.term_no)),
    (SELECT count(*) FROM nightshift.posting AS p
     WHERE NOT EXISTS (SELECT 1 FROM nightshift.chunk AS c WHERE c.chunk_no = p.chunk_no))
"""


def content(store: Store) -> list[tuple[object, ...]]:
    with store.connection() as connection:
        return connection.execute(_CONTENT).fetchall()


def assert_consistent(store: Store) -> None:
    """Shared counts agree with what they count, and nothing points nowhere."""
    with store.connection() as connection:
        row = connection.execute(_STATISTICS).fetchone()
    assert row is not None
    chunks, terms, real_chunks, real_terms, wrong_terms, orphans = row
    assert (chunks, terms) == (real_chunks, real_terms)
    assert (wrong_terms, orphans) == (0, 0)


def paths(search: HybridSearch, text: str) -> list[str]:
    return [passage.path for passage in search.search(text, top=5, mode="bm25").passages]


@pytest.fixture(name="run")
def fixture_run(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path
) -> Callable[..., IngestOutcome]:
    def run(**options: object) -> IngestOutcome:
        return ingest(store, words, [folder], rules=rules, **options)  # type: ignore[arg-type]

    return run


def test_documents_are_indexed_and_a_second_run_costs_nothing(
    run: Callable[..., IngestOutcome], store: Store, words: WordHashEmbedder
) -> None:
    first = run()
    assert first.documents == {
        "discovered": 3, "unchanged": 0, "moved": 0, "indexed": 3, "partial": 0, "removed": 0, "quarantined": 0,
    }  # fmt: skip
    assert first.chunks >= 3
    assert first.embeddings_computed == words.embedded > 0
    before, embedded = content(store), words.embedded
    second = run()
    assert second.documents["unchanged"] == 3
    assert second.embeddings_computed == 0
    assert words.embedded == embedded
    assert content(store) == before
    assert_consistent(store)


def test_a_new_time_of_change_changes_nothing(run: Callable[..., IngestOutcome], folder: Path) -> None:
    run()
    (folder / "disk.md").touch()
    assert run().documents["unchanged"] == 3


def test_metadata_is_kept_and_can_be_filtered_by(run: Callable[..., IngestOutcome], store: Store) -> None:
    run()
    (document,) = [each for each in list_documents(store) if each["path"] == "disk.md"]
    assert document["title"] == "Disk full"
    assert document["service"] == "api"
    assert str(document["document_date"]) == "2026-01-02"
    assert document["metadata"]["date"] == "2026-01-02"


def test_a_moved_file_costs_no_embedding_and_stays_searchable(
    run: Callable[..., IngestOutcome], store: Store, words: WordHashEmbedder, folder: Path
) -> None:
    run()
    embedded = words.embedded
    (folder / "new").mkdir()
    (folder / "disk.md").rename(folder / "new" / "full-disk.md")
    outcome = run(prune=True)
    assert outcome.documents["moved"] == 1
    assert outcome.documents["removed"] == 0
    assert words.embedded == embedded
    assert "new/full-disk.md" in paths(HybridSearch(store, words), "delete old logs")
    assert {each["path"] for each in list_documents(store)} == {"leader.md", "market.md", "new/full-disk.md"}
    assert_consistent(store)


def test_two_equal_files_stay_two_documents(
    run: Callable[..., IngestOutcome], store: Store, words: WordHashEmbedder, folder: Path
) -> None:
    shutil.copy(folder / "leader.md", folder / "copy.md")
    run()
    assert {"leader.md", "copy.md"} <= set(paths(HybridSearch(store, words), "quorum"))
    (folder / "leader.md").unlink()
    run(prune=True)
    assert paths(HybridSearch(store, words), "quorum") == ["copy.md"]
    assert_consistent(store)


def test_one_changed_section_re_embeds_only_its_own_chunks(
    run: Callable[..., IngestOutcome], store: Store, words: WordHashEmbedder, folder: Path
) -> None:
    sections = [f"## Part {number}\n\n" + f"word{number} " * 300 for number in range(40)]
    (folder / "long.md").write_text("# Long\n\n" + "\n\n".join(sections), encoding="utf-8")
    run()
    kept = {row[7]: row[10] for row in content(store) if row[1] == "long.md"}
    embedded = words.embedded
    sections[17] = sections[17].replace("word17 word17", "changed word17", 1)
    (folder / "long.md").write_text("# Long\n\n" + "\n\n".join(sections), encoding="utf-8")
    outcome = run()
    assert outcome.documents["indexed"] == 1
    assert 1 <= words.embedded - embedded <= 2  # the windows of one chunk
    after = {row[7]: row[10] for row in content(store) if row[1] == "long.md"}
    assert len(set(after) - set(kept)) == 1
    assert all(after[body] == kept[body] for body in set(after) & set(kept))
    assert_consistent(store)


def test_documents_are_pruned_only_when_asked(
    run: Callable[..., IngestOutcome], store: Store, words: WordHashEmbedder, folder: Path
) -> None:
    run()
    (folder / "disk.md").unlink()
    assert run().documents["removed"] == 0
    assert "disk.md" in paths(HybridSearch(store, words), "logs")
    assert run(prune=True).documents["removed"] == 1
    assert "disk.md" not in paths(HybridSearch(store, words), "logs")
    assert_consistent(store)


def test_an_empty_listing_prunes_nothing(run: Callable[..., IngestOutcome], store: Store, folder: Path) -> None:
    run()
    for path in folder.glob("*.md"):
        path.unlink()
    with pytest.raises(ConfigurationError, match="no document found"):
        run(prune=True)
    assert len(list_documents(store)) == 3


def test_too_many_deletions_are_refused(run: Callable[..., IngestOutcome], store: Store, folder: Path) -> None:
    for number in range(20):
        (folder / f"n{number}.md").write_text(f"# N{number}\n\nText {number}.\n", encoding="utf-8")
    run()
    for number in range(15):
        (folder / f"n{number}.md").unlink()
    outcome = run(prune=True)
    assert outcome.documents["removed"] == 0
    assert "15 of 23" in outcome.prune_refused
    assert outcome.failed
    assert len(list_documents(store)) == 23
    assert run(prune=True, max_delete_share=1.0).documents["removed"] == 15


def test_bad_files_end_in_their_state_and_the_rest_goes_on(
    run: Callable[..., IngestOutcome], store: Store, folder: Path
) -> None:
    (folder / "empty.md").write_bytes(b"")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 and then nothing")
    outcome = run()
    assert outcome.documents["indexed"] == 3
    assert outcome.documents["quarantined"] == 2
    assert {(each.path, each.state) for each in outcome.documents_failed} == {
        ("empty.md", "empty"),
        ("broken.pdf", "corrupt"),
    }
    assert all(each.error and each.stage for each in outcome.documents_failed)
    again = run()
    assert again.documents["unchanged"] == 3
    assert again.documents["quarantined"] == 2
    assert again.failed
    assert sum(again.documents[name] for name in ("unchanged", "moved", "indexed", "partial", "quarantined")) == 5


def test_a_document_that_crashes_a_stage_keeps_what_was_indexed_before(
    run: Callable[..., IngestOutcome],
    store: Store,
    words: WordHashEmbedder,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run()
    (folder / "disk.md").write_text("# Disk full\n\nNew text.\n", encoding="utf-8")
    (folder / "market.md").write_text("# Market\n\nIt shrinks.\n", encoding="utf-8")
    real = IsolatedConverter.convert

    def crash(self: IsolatedConverter, file: SourceFile, **options: object) -> ConvertedDocument:
        if file.relative_path == "disk.md":
            raise MemoryError("no room")
        return real(self, file)

    with monkeypatch.context() as patched:
        patched.setattr(IsolatedConverter, "convert", crash)
        outcome = run()
    assert outcome.documents["indexed"] == 1
    (failed,) = outcome.documents_failed
    assert (failed.path, failed.state, failed.stage) == ("disk.md", "quarantined", "machine")
    assert "disk.md" in paths(HybridSearch(store, words), "delete old logs")
    assert run().documents["indexed"] == 1
    assert "disk.md" not in paths(HybridSearch(store, words), "delete old logs")
    assert_consistent(store)


def test_text_that_postgresql_cannot_hold_is_cleaned(
    run: Callable[..., IngestOutcome], store: Store, words: WordHashEmbedder, folder: Path
) -> None:
    (folder / "nul.md").write_bytes(b'---\ntitle: "a\\0b"\n---\n\n# Zero\n\nkraken\x00text and \xed\xa0\x80 more\n')
    outcome = run()
    assert outcome.documents["indexed"] == 4
    assert paths(HybridSearch(store, words), "zero")[0] == "nul.md"


def test_a_path_longer_than_a_database_key_is_indexed(
    run: Callable[..., IngestOutcome], store: Store, folder: Path
) -> None:
    deep = folder
    for _ in range(14):
        deep = deep / ("d" * 200)
    deep.mkdir(parents=True)
    (deep / "deep.md").write_text("# Deep\n\nkraken\n", encoding="utf-8")
    assert run().documents["indexed"] == 4
    assert any(len(each["path"]) > 2_800 for each in list_documents(store))


class BrokenEmbedder(WordHashEmbedder):
    """Gives no usable vector for texts that hold a certain word."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        vectors = super().embed(texts)
        for position, text in enumerate(texts):
            if "kraken" in text:
                vectors[position][0] = float("nan")
        return vectors


def test_a_chunk_without_a_usable_vector_does_not_take_the_batch_with_it(
    store: Store, rules: IngestionRules, folder: Path
) -> None:
    body = "## One\n\n" + "fine " * 400 + "\n\n## Two\n\n" + "kraken " * 400
    (folder / "nan.md").write_text("# Both\n\n" + body, encoding="utf-8")
    outcome = ingest(store, BrokenEmbedder(), [folder], rules=rules)
    assert outcome.documents["indexed"] == 3
    assert outcome.documents["partial"] == 1
    (failed,) = outcome.documents_failed
    assert (failed.path, failed.stage) == ("nan.md", "embed")
    assert "vector" in failed.error
    assert not any("kraken" in str(row[7]) for row in content(store))
    assert_consistent(store)


def test_a_part_becomes_whole_when_the_embedding_model_is_well_again(
    store: Store, rules: IngestionRules, folder: Path
) -> None:
    (folder / "nan.md").write_text("## One\n\n" + "fine " * 400 + "\n\n## Two\n\n" + "kraken " * 400, encoding="utf-8")
    for _ in range(2):  # as long as it is not, every run says so
        outcome = ingest(store, BrokenEmbedder(), [folder], rules=rules)
        assert (outcome.failed, outcome.documents["partial"]) == (True, 1)
        assert [(each.path, each.stage) for each in outcome.documents_failed] == [("nan.md", "embed")]
    mended = ingest(store, WordHashEmbedder(), [folder], rules=rules)
    assert (mended.failed, mended.documents["indexed"], mended.documents["unchanged"]) == (False, 1, 3)
    assert any("kraken" in str(row[7]) for row in content(store))
    assert_consistent(store)


def test_a_whole_document_is_not_replaced_by_a_part_for_want_of_vectors(
    run: Callable[..., IngestOutcome], store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path
) -> None:
    run()
    (folder / "disk.md").write_text(
        "# Disk\n\n## One\n\n" + "turtle " * 400 + "\n\n## Two\n\n" + "kraken " * 400, encoding="utf-8"
    )
    for _ in range(2):
        outcome = ingest(store, BrokenEmbedder(), [folder], rules=rules)
        assert (outcome.failed, outcome.documents["quarantined"], outcome.documents["unchanged"]) == (True, 1, 2)
        (failed,) = outcome.documents_failed
        assert (failed.path, failed.state) == ("disk.md", "quarantined")
        assert "for want of vectors" in failed.error
        assert paths(HybridSearch(store, words), "delete old logs")[0] == "disk.md"
        assert not any("turtle" in str(row[7]) for row in content(store))
    mended = run()
    assert (mended.failed, mended.documents["indexed"]) == (False, 1)
    assert all(any(word in str(row[7]) for row in content(store)) for word in ("turtle", "kraken"))
    assert_consistent(store)


def test_names_that_are_not_utf8_stop_nobody_and_are_found_again(
    run: Callable[..., IngestOutcome], store: Store, words: WordHashEmbedder, folder: Path
) -> None:
    names = [os.fsdecode(name) for name in (b"caf\xe9.md", b"caf\xe8.md")]
    try:
        for name in names:
            (folder / name).write_text(f"# Coffee\n\nCup {name!a}.\n", encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    (folder / os.fsdecode(b"\xff.md")).symlink_to(folder / "nowhere")
    outcome = run()
    assert outcome.documents["indexed"] == 5
    assert [(each.path, each.state) for each in outcome.documents_failed] == [("\\xff.md", "broken_link")]
    listed = {each["path"]: each["document_id"] for each in list_documents(store)}
    target = find_retry_target(store, listed["caf\\xe9.md"])
    again = ingest(store, words, [], rules=IngestionRules(), retry=target)
    assert (again.documents["discovered"], again.documents["indexed"]) == (1, 1)
    assert len(list_documents(store)) == 5
    (folder / names[0]).unlink()
    (folder / names[1]).rename(folder / os.fsdecode(b"moved\xe8.md"))
    outcome = run(prune=True)
    assert (outcome.documents["unchanged"], outcome.documents["moved"], outcome.documents["removed"]) == (3, 1, 1)


def test_two_folders_of_one_name_are_not_taken_for_one(
    run: Callable[..., IngestOutcome],
    store: Store,
    words: WordHashEmbedder,
    rules: IngestionRules,
    folder: Path,
    tmp_path: Path,
) -> None:
    run()
    other = tmp_path / "other" / folder.name
    other.mkdir(parents=True)
    (other / "disk.md").write_text("# Other\n\nA turtle.\n", encoding="utf-8")
    before = content(store)
    with pytest.raises(ConfigurationError, match="--source docs to let") as refused:
        ingest(store, words, [other], rules=rules)
    assert str(folder / "disk.md") in str(refused.value)
    assert content(store) == before
    assert ingest(store, words, [other], rules=rules, source="second").documents["indexed"] == 1
    assert {each["source"] for each in list_documents(store) if each["path"] == "disk.md"} == {"docs", "second"}

    # Another way to the same folder, and a folder that was moved, are the same source; a name given says so.
    link = tmp_path / "link" / "docs"
    link.parent.mkdir()
    link.symlink_to(folder)
    assert ingest(store, words, [link], rules=rules).documents["unchanged"] == 3
    moved = tmp_path / "moved" / "docs"
    moved.parent.mkdir()
    folder.rename(moved)
    assert ingest(store, words, [moved], rules=rules).documents["unchanged"] == 3
    assert ingest(store, words, [other], rules=rules, source="docs").documents["indexed"] == 1


def test_other_rules_convert_a_document_again(
    run: Callable[..., IngestOutcome], store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path
) -> None:
    run()
    changed = rules.model_copy(update={"chunks": rules.chunks.model_copy(update={"max_tokens": 300})})
    outcome = ingest(store, words, [folder], rules=changed)
    assert outcome.documents["indexed"] == 3
    assert ingest(store, words, [folder], rules=changed).documents["unchanged"] == 3


@pytest.mark.parametrize("missing", [True, False])
def test_a_path_that_is_missing_or_empty_is_one_line(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, tmp_path: Path, missing: bool
) -> None:
    path = tmp_path / "nothing"
    if not missing:
        path.mkdir()
    with pytest.raises(ConfigurationError) as caught:
        ingest(store, words, [path], rules=rules)
    assert "\n" not in str(caught.value)
    assert "nothing" in str(caught.value)


def test_batches_can_be_worked_off_one_by_one_and_repeated(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path
) -> None:
    plan = plan_ingest(store, words, [folder], rules=rules, batch_size=2)
    assert plan.batches == (0, 1)
    assert plan.pending == 3
    assert ingest_batch(store, words, plan.run_id, 1, rules=rules) == 1
    assert ingest_batch(store, words, plan.run_id, 1, rules=rules) == 0
    counts = runs.count_run(store, plan.run_id)
    assert (counts.indexed, counts.staged, counts.unfinished) == (0, 1, 2)
    assert ingest_batch(store, words, plan.run_id, 0, rules=rules) == 2
    assert judge_ingest(store, plan.run_id, rules=rules) == Judgement(passed=3, refused=0)
    outcome = finish_ingest(store, words, plan.run_id, rules=rules)
    assert outcome.documents["indexed"] == 3
    again = finish_ingest(store, words, plan.run_id, rules=rules)  # a step that died when all was done is repeated
    assert (again.documents, again.chunks) == (outcome.documents, outcome.chunks)


def test_a_run_that_was_not_finished_prunes_nothing(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path
) -> None:
    ingest(store, words, [folder], rules=rules)
    (folder / "disk.md").unlink()
    (folder / "other.md").write_text("# Other\n\nText.\n", encoding="utf-8")
    plan = plan_ingest(store, words, [folder], rules=rules)
    outcome = finish_ingest(store, words, plan.run_id, rules=rules, prune=True)
    assert outcome.documents["removed"] == 0
    assert outcome.documents["quarantined"] == 1
    assert "not finished" in outcome.prune_refused
