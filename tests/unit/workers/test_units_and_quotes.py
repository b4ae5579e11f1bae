from __future__ import annotations

import pytest

from rag_core.workers.asks import fit, is_byline
from rag_core.workers.quotes import best_quotes, coverage
from rag_core.workers.units import split_units
from tests.evidence import passage

TEXT = """## Periods

The extra freight was booked on gateways. That is why the margin fell. Sensors stayed on the water.

- **Never** restart the primary.

| Route | Cost |
| --- | --- |
| Air, Copenhagen | 6.5 times |

```yaml
escalation:
  - after: 30 minutes
    contact: shift lead
```
"""


def test_units_are_sentences_items_rows_and_records() -> None:
    shown = [(unit.kind, unit.shown) for unit in split_units(TEXT)]
    assert shown == [
        ("sentence", "The extra freight was booked on gateways."),
        ("sentence", "The extra freight was booked on gateways. That is why the margin fell."),
        ("sentence", "Sensors stayed on the water."),
        ("item", "Never restart the primary."),
        ("row", "Route: Air, Copenhagen; Cost: 6.5 times"),
        ("code", "escalation:"),
        ("record", "after: 30 minutes; contact: shift lead"),
    ]


def test_every_quote_stands_in_its_passage_word_for_word() -> None:
    flat = " ".join(TEXT.split())
    for unit in split_units(TEXT):
        for line in unit.verbatim.splitlines():
            assert " ".join(line.split()) in flat


def test_flattened_records_stay_together() -> None:
    (first, second) = split_units("- rows[0].Field: Permit number\n- rows[0].Value: DK-7\n- rows[1].Field: Broker")
    assert first.shown == "Field: Permit number; Value: DK-7"
    assert second.shown == "Field: Broker"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What did air freight through Copenhagen cost?", "6.5 times"),
        ("Why did the margin fall?", "That is why the margin fell"),
        ("After how many minutes is the shift lead the contact?", "30 minutes"),
        ("May the primary be restarted?", "Never restart"),
    ],
)
def test_the_unit_that_answers_comes_first(question: str, answer: str) -> None:
    assert answer in best_quotes(question, [passage(TEXT)])[0].unit.shown


def test_context_words_weigh_less_than_what_is_asked() -> None:
    text = "Churn in DACH tripled in early 2026. The response is a loyalty discount."
    best = best_quotes("what is the response", [passage(text)], context="Churned customers DACH 2026")
    assert best[0].unit.shown == "The response is a loyalty discount."


def test_quotes_are_the_same_each_time_and_never_twice_the_same() -> None:
    passages = [passage(TEXT), passage(TEXT, title="A copy", rank=2)]
    first = best_quotes("Why did the margin fall?", passages)
    assert first == best_quotes("Why did the margin fall?", passages)
    assert len({quote.unit.shown for quote in first}) == len(first)


def test_no_passage_gives_no_quote() -> None:
    assert best_quotes("Why?", []) == []
    assert coverage("Why did it fall?", []) == 0.0


def test_coverage_counts_words_that_stand_nowhere_as_missing() -> None:
    found = passage(TEXT, title="Freight", quotes=("That is why the margin fell.",))
    assert coverage("Why did the margin fall?", [found]) > coverage("Why did the margin of Zanzibar fall?", [found])


def test_what_is_asked_for_counts() -> None:
    assert fit("When did it start?", "It started on 2025-07-07.") > fit("When did it start?", "It started.")
    assert fit("How long did it last?", "It lasted eleven weeks.") > fit("How long did it last?", "It lasted.")
    assert fit("Who owns it?", "It belongs to Customer Care.") > fit("Who owns it?", "it is red.")
    assert fit("How many pages may it have?", "It may have 400 pages.") > fit("How many pages may it have?", "Tier 3.")


def test_bylines_are_no_sentences() -> None:
    assert is_byline("Owner: Data | Date: 2024-05-14 | Status: superseded by metering-store-failover")
    assert not is_byline("The owner is Data since 2024-05-14.")


@pytest.mark.parametrize(
    ("question", "text", "wanted"),
    [
        (
            "What does the Rill meter cost?",
            "Brook showed it in Oslo. The list price of 171 EUR lies under ours. Buyers pay it in pounds.",
            "The list price of 171 EUR lies under ours.",
        ),
        (
            "Who owns Brook Metering?",
            "Brook Metering was founded in Oslo. It belongs to Fjord Capital since 2021. Brook Metering has two labs.",
            "It belongs to Fjord Capital since 2021.",
        ),
    ],
)
def test_words_of_price_and_of_ownership_stand_for_one_another(question: str, text: str, wanted: str) -> None:
    assert any(wanted in quote.unit.shown for quote in best_quotes(question, [passage(text)], limit=2))


def test_a_row_covers_the_words_of_its_columns_and_of_its_heading() -> None:
    text = "## The quarry\n\n| Mason | Orders resumed |\n| --- | --- |\n| Ada Berg | 2025-09-15 |\n"
    found = passage(text, title="Masons", quotes=("| Ada Berg | 2025-09-15 |",))
    assert coverage("When did Ada Berg of the quarry resume her orders?", [found]) == 1.0
    assert coverage("When did Ada Berg of the quarry resume her holidays?", [found]) < 1.0
