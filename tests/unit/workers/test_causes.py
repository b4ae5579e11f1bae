"""What a cause is looked for: the thing that moved, not when, nor in what form it was measured."""

from __future__ import annotations

from rag_core.workers.causes import subject_words


def test_times_and_forms_of_a_measure_are_no_part_of_the_subject() -> None:
    found = subject_words(
        "why did it fall in the third quarter",
        "What was the net margin rate of the Nordics in each quarter of last year",
    )
    assert found == ("net", "margin", "nordic")


def test_a_question_of_nothing_but_a_form_keeps_it() -> None:
    assert subject_words("why did the rate fall", "") == ("rate",)
