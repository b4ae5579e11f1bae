"""Locked PDFs: what can be known of them is recorded, and a password opens them later."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from pydantic import SecretStr
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen import canvas

from ingestion.cli import list_documents
from ingestion.config import IngestionRules, load_rules
from ingestion.pipeline import ingest
from rag_core.connectors.memory_embedder import WordHashEmbedder
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.retrieval.search import HybridSearch

pytestmark = pytest.mark.integration


@pytest.fixture(name="rules")
def fixture_rules(repo_root: Path) -> IngestionRules:
    return load_rules(repo_root / "config" / "ingestion.yaml")


@pytest.fixture(name="locked")
def fixture_locked(tmp_path: Path) -> Path:
    """A folder with one locked PDF."""
    stream = io.BytesIO()
    sheet = canvas.Canvas(stream, encrypt=StandardEncryption("s3cret", ownerPassword="owner"))
    sheet.drawString(72, 700, "Restart the kraken with care.")
    sheet.save()
    path = tmp_path / "docs" / "runbooks" / "2206.01_kraken-restart.pdf"
    path.parent.mkdir(parents=True)
    path.write_bytes(stream.getvalue())
    return tmp_path / "docs"


def test_a_locked_file_is_recorded_with_what_its_path_says(store: Store, rules: IngestionRules, locked: Path) -> None:
    outcome = ingest(store, WordHashEmbedder(), [locked], rules=rules, passwords=[SecretStr("wrong")])
    (failed,) = outcome.documents_failed
    assert (failed.state, failed.stage) == ("encrypted", "convert")
    (document,) = list_documents(store)
    assert document["state"] == "encrypted"
    assert document["title"] == "2206.01 kraken restart"
    assert document["path"] == "runbooks/2206.01_kraken-restart.pdf"
    assert document["document_type"] == "runbook"
    assert document["metadata"]["source"] == "docs"
    assert (document["origins"]["title"], document["origins"]["document_type"]) == ("rule", "rule")
    assert document["chunks"] == 0


def test_a_password_that_is_set_later_opens_it_on_a_retry(store: Store, rules: IngestionRules, locked: Path) -> None:
    words = WordHashEmbedder()
    passwords = [SecretStr("wrong"), SecretStr("s3cret")]
    ingest(store, words, [locked], rules=rules)
    # It is known to be locked: a run does not try every locked file again, a retry does.
    assert ingest(store, words, [locked], rules=rules, passwords=passwords).documents["quarantined"] == 1
    (document,) = list_documents(store)
    with store.connection() as connection:
        connection.execute(statement("documents/forget_version"), {"document_id": document["document_id"]})
    assert ingest(store, words, [locked], rules=rules, passwords=passwords).documents["indexed"] == 1
    (document,) = list_documents(store)
    assert (document["state"], document["reason"]) == ("ok", "")
    assert HybridSearch(store, words).search("kraken", mode="bm25").passages[0].path.endswith("kraken-restart.pdf")
    assert "s3cret" not in str(document)
