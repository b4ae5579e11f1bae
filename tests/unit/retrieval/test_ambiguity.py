"""Close results that disagree."""

from __future__ import annotations

import pytest

from rag_core.retrieval.ambiguity import Stated, find_disagreement, quantities


def test_different_figures_in_the_same_unit_disagree() -> None:
    stated = [
        Stated("standard.md", ("Metrics are kept for 90 days.",), 0.20),
        Stated("pipeline.md", ("Metrics are kept for 30 days.",), 0.19),
    ]
    found = find_disagreement(stated)
    assert found is not None
    assert "standard.md says 90 day, pipeline.md says 30 day" in found.reason
    assert found.results == tuple(stated)


def test_results_behind_the_best_are_compared_with_one_another() -> None:
    found = find_disagreement(
        [
            Stated("a.md", ("Invoices are kept.",), 0.20),
            Stated("b.md", ("Invoices are kept for 10 years.",), 0.19),
            Stated("c.md", ("Invoices are kept for 7 years.",), 0.18),
        ]
    )
    assert found is not None
    assert "b.md says 10 year, c.md says 7 year" in found.reason
    assert [each.document for each in found.results] == ["a.md", "b.md", "c.md"]


def test_amounts_of_money_disagree_by_currency() -> None:
    stated = [Stated("a.md", ("The limit is $500.",), 0.2), Stated("b.md", ("The limit is $1,500.",), 0.2)]
    found = find_disagreement(stated)
    assert found is not None
    assert "a.md says $500, b.md says $1500" in found.reason
    assert find_disagreement([stated[0], Stated("b.md", ("The limit is \u20ac1,500.",), 0.2)]) is None


def test_the_same_figure_agrees() -> None:
    stated = [Stated("a.md", ("Kept for 90 days.",), 0.2), Stated("b.md", ("It stays 90 days.",), 0.2)]
    assert find_disagreement(stated) is None


def test_a_result_that_is_far_behind_does_not_count() -> None:
    stated = [Stated("a.md", ("Kept for 90 days.",), 0.2), Stated("b.md", ("Kept for 30 days.",), 0.1)]
    assert find_disagreement(stated) is None


def test_two_parts_of_one_document_do_not_disagree() -> None:
    stated = [Stated("a.md", ("Kept for 90 days.",), 0.2), Stated("a.md", ("Kept for 30 days.",), 0.2)]
    assert find_disagreement(stated) is None


def test_nothing_found_is_not_ambiguous() -> None:
    assert find_disagreement([]) is None


def test_quantities_are_read_by_unit_whatever_the_inflection() -> None:
    assert quantities(["Within 5 minutes, or 1 minute for SEV1; 12 percent, 8.5 % and 1,000 orders"]) == {
        "minute": {"5", "1"},
        "%": {"12", "8.5"},
        "order": {"1000"},
    }


def test_versions_and_codes_are_no_quantities() -> None:
    assert quantities(["See INC-2025-047 and v4.2 of the firmware"]) == {}


def test_documents_of_one_path_in_two_sources_are_two() -> None:
    found = find_disagreement(
        [
            Stated("policy.md", ("Logs are kept 30 days.",), 1.0, source="eu"),
            Stated("policy.md", ("Logs are kept 90 days.",), 0.99, source="us"),
        ]
    )
    assert found is not None
    assert "eu: policy.md says 30 day, us: policy.md says 90 day" in found.reason


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The export of day 12 fails.", "The export of day 13 fails."),
        ("Go to step 3 then.", "Go to step 4 then."),
        ("In 2024 we moved.", "In 2025 we moved."),
        ("Since 2024 customers may pay later.", "Since 2025 customers may pay later."),
        ("The disk holds 1.5 GB.", "The disk holds 1.50 GB."),
        ("Kept for 30 days.", "Kept for 30d."),
        ("It starts on 5 May.", "It starts on 6 May."),
        ("See page 12 for more.", "See page 14 for more."),
    ],
)
def test_what_only_names_something_or_is_the_same_does_not_disagree(one: str, other: str) -> None:
    assert find_disagreement([Stated("a.md", (one,), 1.0), Stated("b.md", (other,), 1.0)]) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Timeout is 30s.", "Timeout is 60s."),
        ("Timeout is 30s.", "The timeout is 60 seconds."),
        ("Retry after 5m.", "Retry after 10m."),
        ("Kept for 2000 days.", "Kept for 2001 days."),
        ("It takes 1,5 hours.", "It takes 2.5 hours."),
        ("From 20 % on it pages.", "From 30 percent on it pages."),
        ("We keep 3 copies.", "We keep 2 copies."),
    ],
)
def test_different_figures_disagree_however_they_are_written(one: str, other: str) -> None:
    assert find_disagreement([Stated("a.md", (one,), 1.0), Stated("b.md", (other,), 1.0)]) is not None
