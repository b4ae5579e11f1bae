"""Close results that disagree."""

from __future__ import annotations

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
        "minut": {"5", "1"},
        "%": {"12", "8.5"},
        "order": {"1000"},
    }


def test_versions_and_codes_are_no_quantities() -> None:
    assert quantities(["See INC-2025-047 and v4.2 of the firmware"]) == {}
