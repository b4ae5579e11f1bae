"""Close results that disagree."""

from __future__ import annotations

from rag_core.retrieval.ambiguity import Stated, find_disagreement, quantities


def test_different_figures_in_the_same_unit_disagree() -> None:
    found = find_disagreement(
        [
            Stated("standard.md", ("Metrics are kept for 90 days.",), 0.20),
            Stated("pipeline.md", ("Metrics are kept for 30 days.",), 0.19),
        ]
    )
    assert "90 day" in found
    assert "30 day" in found
    assert "standard.md" in found


def test_the_same_figure_agrees() -> None:
    stated = [Stated("a.md", ("Kept for 90 days.",), 0.2), Stated("b.md", ("It stays 90 days.",), 0.2)]
    assert find_disagreement(stated) == ""


def test_a_result_that_is_far_behind_does_not_count() -> None:
    stated = [Stated("a.md", ("Kept for 90 days.",), 0.2), Stated("b.md", ("Kept for 30 days.",), 0.1)]
    assert find_disagreement(stated) == ""


def test_two_parts_of_one_document_do_not_disagree() -> None:
    stated = [Stated("a.md", ("Kept for 90 days.",), 0.2), Stated("a.md", ("Kept for 30 days.",), 0.2)]
    assert find_disagreement(stated) == ""


def test_nothing_found_is_not_ambiguous() -> None:
    assert find_disagreement([]) == ""


def test_quantities_are_read_by_unit_whatever_the_inflection() -> None:
    assert quantities(["Within 5 minutes, or 1 minute for SEV1; 12 percent, 8.5 % and 1,000 orders"]) == {
        "minut": {"5", "1"},
        "%": {"12", "8.5"},
        "order": {"1000"},
    }


def test_versions_and_codes_are_no_quantities() -> None:
    assert quantities(["See INC-2025-047 and v4.2 of the firmware"]) == {}
