"""Files that change between their listing and their reading, and quarantined documents that are tried again or not."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
from pathlib import Path

import pytest

from ingestion.config import ConversionLimits, IngestionRules
from ingestion.documents import ConvertedDocument, SourceFile
from ingestion.isolate import IsolatedConverter
from ingestion.listing import list_documents
from ingestion.pipeline import finish_ingest, ingest, ingest_batch, judge_ingest
from ingestion.planning import plan_ingest
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.store import Store
from rag_core.retrieval.search import HybridSearch

pytestmark = pytest.mark.integration

FIRST = "# Alpha\n\nThe first walrus.\n"
SECOND = "# Alpha\n\nA second turtle, longer than before.\n"


def stored(store: Store, path: str) -> tuple[str, int, str]:
    """Hash, size and text under which a document is published."""
    with store.connection() as connection:
        row = connection.execute(
            "SELECT content_hash, size_bytes, string_agg(body, ' ') FROM nightshift.document "
            "JOIN nightshift.chunk USING (document_no) WHERE path = %s GROUP BY document_no, content_hash, size_bytes",
            (path,),
        ).fetchone()
    assert row is not None
    return str(row[0]), int(row[1]), str(row[2])


def test_what_is_stored_stands_under_the_hash_of_what_was_read(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path
) -> None:
    file = folder / "alpha.md"
    file.write_text(FIRST, encoding="utf-8")
    plan = plan_ingest(store, words, [folder], rules=rules)
    file.write_text(SECOND, encoding="utf-8")
    ingest_batch(store, words, plan.run_id, 0, rules=rules)
    judge_ingest(store, plan.run_id, rules=rules)
    assert finish_ingest(store, words, plan.run_id, rules=rules).documents["indexed"] == 4
    digest, size, text = stored(store, "alpha.md")
    assert (digest, size) == (hashlib.sha256(SECOND.encode()).hexdigest(), len(SECOND))
    assert "turtle" in text
    (listed,) = [each for each in list_documents(store) if each["path"] == "alpha.md"]
    assert "changed between its listing and its reading" in str(listed["warnings"])

    # Nothing more to do while it stays so; and the first version is another one when it comes back.
    assert ingest(store, words, [folder], rules=rules).documents["unchanged"] == 4
    file.write_text(FIRST, encoding="utf-8")
    assert ingest(store, words, [folder], rules=rules).documents["indexed"] == 1
    assert stored(store, "alpha.md")[0] == hashlib.sha256(FIRST.encode()).hexdigest()
    texts = [passage.text for passage in HybridSearch(store, words).search("walrus turtle", mode="bm25").passages]
    assert any("walrus" in text for text in texts)
    assert not any("turtle" in text for text in texts)


@pytest.mark.parametrize(
    ("content", "state"), [(b"# Good\n", "ok"), (b"", "empty"), (b"%PDF-1.4 and nothing", "corrupt")]
)
def test_every_outcome_tells_which_bytes_it_is_of(tmp_path: Path, content: bytes, state: str) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(content)
    with IsolatedConverter(ConversionLimits()) as converter:
        document = converter.convert(SourceFile("docs", tmp_path, path, "a.md", 1, "listed"))
    assert (document.state, document.stage) == (state, "convert")
    assert (document.content_hash, document.size) == (hashlib.sha256(content).hexdigest(), len(content))


@pytest.mark.parametrize(("number", "stage"), [(signal.SIGSEGV, "convert"), (signal.SIGKILL, "machine")])
def test_a_lost_worker_tells_what_it_had_read_and_whether_the_document_is_to_blame(
    tmp_path: Path, number: signal.Signals, stage: str
) -> None:
    content = b"word " * 400_000 + b"\n- a\n" * 400_000
    path = tmp_path / "slow.md"
    path.write_bytes(content)
    with IsolatedConverter(ConversionLimits(max_characters=2_000_000_000)) as converter:
        converter.convert(SourceFile("docs", tmp_path, tmp_path / "none.md", "none.md", 1, "listed"))
        assert converter.worker_pid is not None
        killer = threading.Timer(0.5, os.kill, (converter.worker_pid, number))
        killer.start()
        document = converter.convert(SourceFile("docs", tmp_path, path, "slow.md", 1, "listed"))
        killer.join()
    assert (document.state, document.stage) == ("quarantined", stage)
    assert (document.content_hash, document.size) == (hashlib.sha256(content).hexdigest(), len(content))


def test_a_document_that_broke_the_converter_is_left_alone_until_it_changes_or_is_asked_for(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(store, words, [folder], rules=rules)
    (folder / "disk.md").write_text("# Endless\n\nA table without an end.\n", encoding="utf-8")
    tried: list[str] = []
    stage = "convert"
    real = IsolatedConverter.convert

    def stuck(self: IsolatedConverter, file: SourceFile) -> ConvertedDocument:
        tried.append(file.relative_path)
        document = real(self, file)
        reason = "the conversion took longer than 120 seconds and was stopped"
        return ConvertedDocument(
            "quarantined", "Endless", reason=reason, stage=stage, content_hash=document.content_hash, size=document.size  # type: ignore[arg-type]
        )  # fmt: skip

    monkeypatch.setattr(IsolatedConverter, "convert", stuck)
    ingest(store, words, [folder], rules=rules)
    assert tried == ["disk.md"]
    again = ingest(store, words, [folder], rules=rules)
    assert tried == ["disk.md"]
    assert again.failed
    assert (again.documents["unchanged"], again.documents["quarantined"]) == (2, 1)
    (failed,) = again.documents_failed
    assert failed.state == "quarantined"
    assert "120 seconds" in failed.error
    assert "not tried again" in failed.error
    assert "nightshift documents retry" in failed.error
    (listed,) = list_documents(store, "quarantined")
    assert "not tried again" not in listed["reason"]
    assert "delete old logs" in stored(store, "disk.md")[2].lower()  # what was published before goes on serving

    # What the machine did is tried by every run, and so is other content.
    stage = "machine"
    (folder / "disk.md").write_text("# Endless\n\nAnother table.\n", encoding="utf-8")
    ingest(store, words, [folder], rules=rules)
    ingest(store, words, [folder], rules=rules)
    assert tried == ["disk.md"] * 3
