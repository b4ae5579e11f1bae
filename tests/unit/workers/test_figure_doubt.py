from __future__ import annotations

import pytest

from rag_core.datamodel.evidence import SearchOutcome
from rag_core.datamodel.plan import SearchStep
from rag_core.workers.figure_doubt import asks_figure, doubt_figure
from rag_core.workers.vector_worker import pick_quotes
from tests.evidence import passage


@pytest.mark.parametrize(
    ("question", "quotes", "doubt"),
    [
        # Told: a number, its year, and for a computed figure its word.
        ("What was the income tax in 2019?", ["Income tax was $3.2 million in 2019."], ""),
        ("What was the award price in 2019?", ["The award price in 2019 was 386.1p (2018: 372.0p)."], ""),
        ("What was the change in rent from 2018 to 2019?", ["Rent fell by 4% from 2018 to 2019."], ""),
        ("What was the impairment in 2019?", ["There was no impairment in 2019."], ""),
        ("What is the average rent?", ["The average rent is 12 dollars."], ""),
        ("What was the average rate in FY 2019?", ["FY 2019 saw rates from 64 to 74, averaging at 70.07."], ""),
        ("What was the rent in 2019?", ["Rent amounted to US$261,518 (2018: US$283,752)."], ""),
        # An explanation and the head of a table hold the words and no figure.
        ("What was the income tax in 2019?", ["Income tax includes what is owed abroad."], "holds no figure"),
        (
            "What was the rent as of December 31, 2019?",
            ["The following table sets forth the rent of 3 halls as of December 31, 2019:"],
            "holds no figure",
        ),
        ("What was the rent in 2019?", ["Rent is explained in note 4 (1) for fiscal 2019."], "holds no figure"),
        ("What was the rent in 2019?", ["Rent was 12 in 2017."], "no figure of 2019"),
        ("What is the average rent for 2018 and 2019?", ["Rent was 12 in 2018 and 14 in 2019."], "no average"),
        ("What is the change in rent from 2018 to 2019?", ["Rent is divided by 12 months, 2018 or 2019."], "no change"),
        ("What is the sum of rent and tax in 2018?", ["In 2018 rent was 12 and tax 3."], "no sum"),
        ("What was the percentage change in rent in 2018?", ["Rent rose in 2018 from 12 to 14."], "no percentage"),
        # One quote must tell it, not one the number and another the year.
        ("What was the rent in 2019?", ["Rent was 12 in 2017.", "2019 was a year of rain."], "no figure of 2019"),
        # What is told in words is not after a figure.
        ("What was the reason for the fall in 2019?", ["Rain."], ""),
        ("What was missing after the failover of 2025-12-17?", ["A key."], ""),
        ("What program began in 2019?", ["A saving program."], ""),
    ],
)
def test_a_figure_is_told_by_one_quote(question: str, quotes: list[str], doubt: str) -> None:
    found = doubt_figure(question, [(quote, "") for quote in quotes])
    assert doubt in found
    assert bool(found) == bool(doubt)


def test_the_year_may_stand_above_the_quote() -> None:
    assert doubt_figure("What was the rent in 2019?", [("Rent was 12.", "Rents of 2019")]) == ""
    assert asks_figure("What was the rent in FY2019?")
    # The year of a day or of an id names no period.
    assert not asks_figure("How many pages were lost in INC-2025-029?")
    assert not asks_figure("How many minutes was it slow on 2025-12-03?")
    assert not asks_figure("Who paid the rent in 2019?")


def test_an_answer_without_the_figure_is_not_called_sure() -> None:
    task = "What was the interest expense in 2018?"
    step = SearchStep(step_id="d1", task=task, query=task)

    def doubt(text: str) -> str:
        found = SearchOutcome(query=task, null_signal=False, passages=(passage(text, title="Report"),))
        return pick_quotes(step, found)[2]

    assert doubt("The interest expense in 2018 was 503 thousand dollars.") == ""
    assert "no figure" in doubt("Net interest expense of 2018 is what is left after interest income.")
