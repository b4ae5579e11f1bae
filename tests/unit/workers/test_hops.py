from __future__ import annotations

import pytest

from rag_core.workers.hops import doubt_hop

DOUBT = "what is quoted tells of whom or what is asked, and not what is asked of it"


@pytest.mark.parametrize(
    ("question", "quote", "doubt"),
    [
        (
            "What is the population of the town that has a castle of the old kind?",
            "The castle of the old kind stands in the town of Rill.",
            DOUBT,
        ),
        (
            "What is the population of the town that has a castle of the old kind?",
            "Rill, a town with a castle, has a population of 1,200.",
            "",
        ),
        ("What is the birth name of the cook who left the show first?", "The cook who left the show was Ada.", DOUBT),
        ("What did the director of The Long Night begin his career as?", "The Long Night is by Ann Ost.", DOUBT),
        ("What did the director of The Long Night begin his career as?", "Ann Ost began her career as a clerk.", ""),
        ("What is the grouping window of the router?", "Alerts are grouped for 10 minutes.", ""),
        ("What is the name of the team that owns the router?", "Platform owns the router.", ""),
        ("When was the head of Sales hired?", "The head of Sales came in May.", ""),
    ],
)
def test_a_quote_of_the_first_hop_is_doubted(question: str, quote: str, doubt: str) -> None:
    assert doubt_hop(question, [quote]) == doubt


def test_without_quotes_there_is_nothing_to_doubt() -> None:
    assert doubt_hop("What is the population of the town that has a castle?", []) == ""
