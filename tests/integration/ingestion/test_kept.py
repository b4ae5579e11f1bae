"""A document that was good and whose file gives no text now keeps what was published of it, and says both."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen import canvas

from ingestion.config import IngestionRules
from ingestion.listing import list_documents
from ingestion.pipeline import IngestOutcome, ingest
from ingestion.retry import find_retry_target
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.store import Store
from tests.integration.ingestion.test_gate import found
from tests.integration.ingestion.test_pipeline import assert_consistent

pytestmark = pytest.mark.integration


def workbook() -> bytes:
    stream, book = io.BytesIO(), openpyxl.Workbook()
    book.active.append(["animal", "number"])
    book.active.append(["heron", 7])
    book.save(stream)
    return stream.getvalue()


def pdf(text: str, *, locked: bool = False) -> bytes:
    stream = io.BytesIO()
    sheet = canvas.Canvas(stream, encrypt=StandardEncryption("s3cret") if locked else None)
    sheet.drawString(72, 700, text)
    sheet.save()
    return stream.getvalue()


GOOD = b"# Heron\n\nThe heron is here.\n"
LOSSES = [
    ("h.md", GOOD, b"", "empty"),
    ("h.md", GOOD, b"\n \n", "empty"),
    ("h.md", GOOD, b"%PDF-1.4 and nothing", "corrupt"),
    ("h.xlsx", workbook(), workbook()[:900], "corrupt"),
    ("h.pdf", pdf("The heron is here, at the pond."), pdf("The heron is here, at the pond.", locked=True), "encrypted"),
    ("h.pdf", pdf("The heron is here, at the pond."), pdf(""), "no_text"),
]


@pytest.mark.parametrize(("name", "good", "bad", "state"), LOSSES, ids=[f"{each[0]}-{each[3]}" for each in LOSSES])
def test_a_file_without_text_replaces_none(
    store: Store,
    words: WordHashEmbedder,
    rules: IngestionRules,
    folder: Path,
    name: str,
    good: bytes,
    bad: bytes,
    state: str,
) -> None:
    def run(**options: object) -> IngestOutcome:
        return ingest(store, words, [folder], rules=rules, **options)  # type: ignore[arg-type]

    path = folder / name
    path.write_bytes(good)
    run()
    (before,) = [each for each in list_documents(store) if each["path"] == name]
    assert (before["state"], before["kept_from"]) == ("ok", None)
    assert found(store, words, "heron") == {name}

    # Told by every run, also one that removes and one that tries it again by name.
    path.write_bytes(bad)
    retried: Callable[[], IngestOutcome] = lambda: run(retry=find_retry_target(store, before["document_id"]))  # noqa: E731
    for outcome in (run(), run(prune=True), retried()):
        (failed,) = outcome.documents_failed
        assert (failed.path, failed.state, failed.stage, failed.kept) == (name, state, "convert", True)
        assert (outcome.failed, outcome.documents["quarantined"], outcome.documents["removed"]) == (True, 1, 0)
        (listed,) = list_documents(store, state)
        assert listed["reason"]
        assert (listed["chunks"], listed["kept_from"]) == (before["chunks"], before["indexed_at"])
        assert (listed["title"], listed["metadata"]) == (before["title"], before["metadata"])
        assert found(store, words, "heron") == {name}
        assert_consistent(store)

    # Until the file is mended or removed.
    path.write_bytes(good)
    assert run().documents["indexed"] == 1
    (listed,) = [each for each in list_documents(store) if each["path"] == name]
    assert (listed["state"], listed["reason"], listed["kept_from"]) == ("ok", "", None)
    path.write_bytes(bad)
    run()
    path.unlink()
    assert run(prune=True).documents["removed"] == 1
    assert found(store, words, "heron") == set()
    assert_consistent(store)


def test_a_whole_folder_of_emptied_files_loses_nothing(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path
) -> None:
    ingest(store, words, [folder], rules=rules)
    for path in folder.glob("*.md"):
        path.write_bytes(b"")
    outcome = ingest(store, words, [folder], rules=rules, prune=True)
    assert {(each.state, each.kept) for each in outcome.documents_failed} == {("empty", True)}
    assert len(outcome.documents_failed) == 3
    assert found(store, words, "Restart the quorum") == {"leader.md"}


def test_a_file_that_never_held_text_keeps_none(
    store: Store, words: WordHashEmbedder, rules: IngestionRules, folder: Path
) -> None:
    (folder / "new.md").write_bytes(b"")
    (failed,) = ingest(store, words, [folder], rules=rules).documents_failed
    assert (failed.state, failed.kept) == ("empty", False)
    (listed,) = list_documents(store, "empty")
    assert (listed["chunks"], listed["kept_from"]) == (0, None)
