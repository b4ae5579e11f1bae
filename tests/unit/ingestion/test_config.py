"""The rules file: complete, frozen, and clear about what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from ingestion.config import IngestionRules, load_rules
from rag_core.errors import ConfigurationError

SAMPLE_TYPES = {
    "standard", "architecture", "runbook", "incident", "postmortem", "onboarding", "market_report",
    "regulatory_filing", "competitor_note", "contract_terms", "ticket_digest", "price_list",
}  # fmt: skip


def test_the_shipped_rules_load_and_know_the_sample_types(repo_root: Path) -> None:
    rules = load_rules(repo_root / "config" / "ingestion.yaml")
    assert {rule.document_type for rule in rules.enrichment.types} >= SAMPLE_TYPES
    assert (rules.chunks.max_tokens, rules.chunks.overlap) == (600, 100)
    assert set(rules.enrichment.aliases.values()) <= {rule.document_type for rule in rules.enrichment.types}


def test_rules_are_frozen() -> None:
    with pytest.raises(ValidationError):
        IngestionRules().chunks.max_tokens = 5  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("chunks:\n  max_tokns: 5\n", "chunks.max_tokns"),
        ("chunks: [1\n", "line"),
        ("- a\n", "mapping"),
        ("enrichment:\n  types:\n  - document_type: x\n    titles: ['(']\n", "not a regular expression"),
        ("conversion:\n  max_rows: none\n", "conversion.max_rows"),
    ],
)
def test_a_mistake_is_one_clear_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "ingestion.yaml"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        load_rules(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_an_empty_file_means_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "ingestion.yaml"
    path.write_text("# nothing yet\n")
    assert load_rules(path) == IngestionRules()


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_rules(tmp_path / "none.yaml")
