"""Metadata: what is stated wins, rules fill the rest, and each value says where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from ingestion.config import EnrichmentRules, PropertyRule, TypeRule, load_rules
from ingestion.documents import Block, ConvertedDocument, SourceFile
from ingestion.enrich import enrich, iso_date


@pytest.fixture(scope="module")
def rules(repo_root: Path) -> EnrichmentRules:
    return load_rules(repo_root / "config" / "ingestion.yaml").enrichment


def file(path: str = "notes/a.md") -> SourceFile:
    return SourceFile("handbook", Path("/x"), Path("/x") / path, path, 1, "0" * 64)


def document(
    title: str, *blocks: Block, metadata: Mapping[str, object] | None = None, origin: str = "frontmatter"
) -> ConvertedDocument:
    metadata = metadata or {}
    return ConvertedDocument("ok", title, blocks, dict(metadata), dict.fromkeys(metadata, origin))


def test_frontmatter_wins_over_text_and_rules(rules: EnrichmentRules) -> None:
    found = enrich(
        document(
            "Runbook: restart",
            Block("paragraph", "Owner: Billing | Date: 2020-01-01 | Status: draft"),
            metadata={"document_type": "RCA", "owner": "Data", "date": "2024-05-06", "status": "current"},
        ),
        file("runbooks/a.md"),
        rules,
    )
    assert found.metadata["document_type"] == "postmortem"
    assert [found.metadata[key] for key in ("owner", "date", "status")] == ["Data", "2024-05-06", "current"]
    assert {found.origins[key] for key in ("document_type", "owner", "date", "status")} == {"frontmatter"}


def test_lines_in_the_text_win_over_file_properties(rules: EnrichmentRules) -> None:
    found = enrich(
        document(
            "Failover",
            Block("paragraph", "Owner: Customer Care | Date: 2024-05-14 | Status: superseded by store-failover"),
            metadata={"author": "python-docx", "date": "2013-12-23"},
            origin="format",
        ),
        file(),
        rules,
    )
    assert found.metadata["owner"] == "Customer Care"
    assert found.metadata["date"] == "2024-05-14"
    assert found.metadata["status"] == "superseded"
    assert found.metadata["superseded_by"] == "store-failover"
    assert found.origins["owner"] == found.origins["date"] == "text"


def test_file_properties_count_unless_a_tool_made_them_up(rules: EnrichmentRules) -> None:
    stated = enrich(document("A", metadata={"author": "Legal", "date": "2025-02-03"}, origin="format"), file(), rules)
    assert (stated.metadata["owner"], stated.origins["owner"]) == ("Legal", "format")
    assert stated.metadata["date"] == "2025-02-03"
    by_a_tool = {"author": "openpyxl", "date": "2000-01-01"}
    made_up = enrich(document("A", metadata=by_a_tool, origin="format"), file(), rules)
    assert "owner" not in made_up.metadata
    assert "date" not in made_up.metadata


def test_every_document_gets_title_source_and_language(rules: EnrichmentRules) -> None:
    german = "Der Speicher ist voll und die Anlage wird nicht mit neuen Daten versorgt, die von dem Team sind. " * 2
    found = enrich(document("Speicher voll", Block("paragraph", german)), file(), rules)
    assert (found.metadata["title"], found.origins["title"]) == ("Speicher voll", "rule")
    headed = enrich(document("Restart", Block("heading", "Restart", level=1)), file(), rules)
    assert headed.origins["title"] == "text"
    assert (found.metadata["source"], found.origins["source"]) == ("handbook", "source")
    assert (found.metadata["language"], found.origins["language"]) == ("de", "rule")


@pytest.mark.parametrize(
    ("title", "headings", "text", "expected"),
    [
        ("KubeNodeNotReady", ("Meaning", "Impact", "Diagnosis", "Mitigation"), "kubectl get nodes", "runbook"),
        ("How to rotate the signing key", ("Steps",), "Tell the on-call engineer.", "runbook"),
        ("Incident on 2020-02-12", ("Key events", "Resolution"), "Time to repair: 2 h", "incident"),
        ("PM-2024-033 A certificate", ("Five whys", "Actions"), "", "postmortem"),
        ("12. Use one cluster", ("Status", "Context", "Decision", "Consequences"), "", "architecture_decision"),
        ("STD-02 Data retention standard", ("Scope",), "This standard applies to every service.", "standard"),
        ("Metrics pipeline architecture", ("Overview", "Storage"), "", "architecture"),
        ("Welcome: your first week", ("Before you start",), "You will receive a laptop.", "onboarding"),
        ("Hardware price list 2026", (), "The list price is valid from 2026-01-01.", "price_list"),
        ("Framework agreement", ("Parties and term", "Payment"), "The customer may terminate.", "contract_terms"),
        ("Filing under the metering regulation", ("Legal basis",), "pursuant to Article 4", "regulatory_filing"),
        ("Acme, company profile", ("Strengths and weaknesses",), "We compete with Acme.", "competitor_note"),
        ("Ticket digest, March", ("Volume",), "First response took 4 h.", "ticket_digest"),
        ("Metering market outlook", ("Forecast",), "market growth of 5 %", "market_report"),
    ],
)
def test_types_are_found_from_the_words_alone(
    rules: EnrichmentRules, title: str, headings: tuple[str, ...], text: str, expected: str
) -> None:
    blocks = [Block("heading", heading, level=2) for heading in headings] + [Block("paragraph", text)]
    found = enrich(document(title, *blocks), file("x/y.md"), rules)
    assert (found.metadata.get("document_type"), found.origins.get("document_type")) == (expected, "rule")


def test_no_type_is_guessed_without_evidence(rules: EnrichmentRules) -> None:
    assert "document_type" not in enrich(document("Lunch", Block("paragraph", "Soup.")), file(), rules).metadata


def test_a_word_under_type_that_is_none_of_ours_is_no_type(rules: EnrichmentRules) -> None:
    found = enrich(document("Lunch", metadata={"type": "learn"}), file(), rules)
    assert "document_type" not in found.metadata
    assert found.metadata["type"] == "learn"
    known = enrich(document("Lunch", metadata={"type": "Playbook"}), file(), rules)
    assert known.metadata["document_type"] == "runbook"


def test_the_service_comes_from_title_path_or_text() -> None:
    names = ("billing", "billing-api", "store")
    rules = EnrichmentRules(known_subjects=names, path_subjects=("/**/services/{subject}/*",))
    assert enrich(document("Billing API: late invoices"), file(), rules).metadata["service"] == "billing-api"
    assert enrich(document("Notes"), file("x/services/portal/a.md"), rules).metadata["service"] == "portal"
    text = Block("paragraph", "The store is slow. Restart the store.")
    assert enrich(document("Notes", text), file(), rules).metadata["service"] == "store"
    unclear = Block("paragraph", "The store and billing; billing and the store.")
    assert "service" not in enrich(document("Notes", unclear), file(), rules).metadata
    stated = enrich(document("Billing", metadata={"service": "x"}), file(), rules)
    assert stated.metadata["service"] == "x"


def test_a_property_found_by_a_line_says_so() -> None:
    rules = EnrichmentRules(properties=(PropertyRule(property="reviewer", lines=(r"reviewed by (\w+)",)),))
    found = enrich(document("A", Block("paragraph", "Reviewed by Ann.")), file(), rules)
    assert (found.metadata["reviewer"], found.origins["reviewer"]) == ("Ann", "text")


def test_of_equal_types_the_first_rule_wins_and_against_counts() -> None:
    first = TypeRule(document_type="one", titles=("note",))
    second = TypeRule(document_type="two", titles=("note",))
    assert enrich(document("Note"), file(), EnrichmentRules(types=(first, second))).metadata["document_type"] == "one"
    unwanted = TypeRule(document_type="one", titles=("note",), against=("draft",))
    found = enrich(document("Draft note"), file(), EnrichmentRules(types=(unwanted, second)))
    assert found.metadata["document_type"] == "two"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-01-02", "2024-01-02"),
        ("2024-01-02T10:00:00Z", "2024-01-02"),
        ("12 February 2020", "2020-02-12"),
        ("February 3rd, 2020", "2020-02-03"),
        ("03.04.2021", "2021-04-03"),
        ("03/04/2021", ""),
        ("2024-13-45", ""),
        ("soon", ""),
        (20240102, ""),
    ],
)
def test_dates_are_read_only_where_they_are_unambiguous(value: object, expected: str) -> None:
    assert iso_date(value) == expected


def test_a_date_in_the_name_is_a_last_resort(rules: EnrichmentRules) -> None:
    found = enrich(document("Outage"), file("incidents/2020-02-12-outage.md"), rules)
    assert (found.metadata["date"], found.origins["date"]) == ("2020-02-12", "rule")


def test_a_list_of_owners_is_one_text(rules: EnrichmentRules) -> None:
    assert enrich(document("A", metadata={"owners": ["Ann", "Bo"]}), file(), rules).metadata["owner"] == "Ann, Bo"


def test_the_authors_own_word_for_a_type_is_kept_beside_the_type_of_the_house() -> None:
    house = EnrichmentRules(aliases={"policy": "standard"})
    renamed = enrich(document("Travel", metadata={"document_type": "Policy"}), file(), house)
    assert renamed.metadata["document_type"] == "standard"
    assert renamed.metadata["document_type_stated"] == "policy"
    plain = enrich(document("Travel", metadata={"document_type": "standard"}), file(), house)
    assert "document_type_stated" not in plain.metadata
