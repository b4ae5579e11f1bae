"""What a question says beside its subject must be taken up by a quote."""

from __future__ import annotations

import pytest

from rag_core.workers.circumstances import Said, doubt_circumstance


def doubt(question: str, *quotes: str, heading: str = "", above: str = "") -> str:
    return doubt_circumstance(question, [Said(quote, heading, above) for quote in quotes])


@pytest.mark.parametrize(
    ("question", "quote", "doubted"),
    [
        # why it is so
        ("When does the kiln stop because of its chimney?", "The kiln stops when no one is on watch.", True),
        ("When does the kiln stop because of its chimney?", "At 80 % soot in the chimney the kiln stops.", False),
        ("What is refunded due to a late ferry?", "Tickets are refunded within ten days.", True),
        ("What is refunded due to a late ferry?", "For a ferry more than an hour late, half is refunded.", False),
        # in which case it is so
        ("Who opens the gate during a storm?", "The warden opens the gate at seven.", True),
        ("Who opens the gate during a storm?", "In a storm the harbour master opens it.", False),
        ("What does a guest pay if the boat is lost?", "A guest pays 12 EUR for an hour.", True),
        ("What does a guest pay if the boat is lost?", "For a lost boat a guest pays 900 EUR.", False),
        # in which case it is not so
        ("Where does a parcel go when its sender is not listed?", "The sender is read from the list.", True),
        ("Where does a parcel go when its sender is not listed?", "Nothing is sent out on Sundays.", True),
        (
            "Where does a parcel go when its sender is not listed?",
            "Parcels of unlisted senders go to the warden.",
            False,
        ),
        ("Where does a parcel go when its sender is not listed?", "Without a sender on the list it is kept.", False),
        ("Who is called if nobody answers the bell?", "Whoever answers the bell signs the book.", True),
        ("Who is called if nobody answers the bell?", "A bell not answered in ten minutes calls the warden.", False),
        # a question word begins a question, and a time is no circumstance
        ("Since when is the ferry late?", "The ferry is late since May.", False),
        ("When is the gate opened?", "The gate is opened at seven.", False),
        ("Who opened the gate during 2025?", "The warden opened the gate.", False),
    ],
)
def test_a_circumstance_is_taken_up(question: str, quote: str, doubted: bool) -> None:
    assert bool(doubt(question, quote)) is doubted


def test_a_circumstance_may_stand_above_the_quote_and_one_quote_of_several_is_enough() -> None:
    question = "What is done first when the cellar floods?"
    assert doubt(question, "Switch the current off.")
    assert not doubt(question, "Switch the current off.", above="Cellar: what to do in a flood")
    assert not doubt(question, "Switch the current off.", "A flooded cellar is pumped dry.")


@pytest.mark.parametrize(
    ("question", "quote", "doubted"),
    [
        ("Since when does the ferry sail daily again?", "The ferry has sailed twice a week since 2026-03-02.", True),
        ("Since when does the ferry sail daily again?", "It returned to daily trips on 2026-06-01.", False),
        ("In which year will Moor & Son paint the hall again?", "Moor & Son painted the hall in May 2026.", True),
        ("In which year will Moor & Son paint the hall again?", "The next coat is not due before 2033.", False),
        ("When did the quarry reopen?", "The quarry closed on 2025-02-01.", True),
        ("When did the quarry reopen?", "Work was resumed on 2025-02-09.", False),
        ("How is a lost key sent again?", "A lost key is sent by hand.", False),  # no time is asked
        ("Since when does the ferry sail daily?", "Since 2026-03-02 the ferry sails daily.", False),
    ],
)
def test_a_return_is_told_as_one(question: str, quote: str, doubted: bool) -> None:
    assert bool(doubt(question, quote)) is doubted


@pytest.mark.parametrize(
    ("question", "quote", "doubted"),
    [
        ("Is the bakery serving more slowly?", "At noon the oven serves slowly.", True),
        ("Is the bakery serving more slowly?", "Guests wait longer than in spring.", False),
        ("Are the ferries getting better?", "The ferries are white.", True),
        ("Are the ferries getting better?", "Ferries have improved since May.", False),
        ("Is the price of bread rising?", "The price of bread is 2 EUR.", True),
        ("Is the price of bread rising?", "The price of bread stays as it was.", False),
        ("Is the bakery open on Sundays?", "The bakery is open on Sundays.", False),
        ("Which oven is slower?", "The old oven needs nine minutes.", False),  # not a question of yes or no
    ],
)
def test_a_movement_is_told_by_a_word_of_movement(question: str, quote: str, doubted: bool) -> None:
    assert bool(doubt(question, quote)) is doubted


@pytest.mark.parametrize(
    ("question", "quote", "doubted"),
    [
        ("by how many people", "The kitchen would need two more people.", True),
        ("by how many people", "The crew has shrunk by nine people.", False),
        ("by how many people", "The crew went from 40 to 31 people.", False),
        ("By how much did rents rise?", "Rents are 900 EUR.", True),
        ("By how much did rents rise?", "Rents rose 4 %.", False),
        ("By how many seconds may the clock be off?", "The clock may be 60 seconds off.", False),  # a limit
    ],
)
def test_by_how_much_is_told_as_a_difference(question: str, quote: str, doubted: bool) -> None:
    assert bool(doubt(question, quote)) is doubted


@pytest.mark.parametrize(
    ("question", "quote", "heading", "doubted"),
    [
        ("What is done about the rats in the cellar?", "The rats live in the cellar.", "", True),
        ("What is done about the rats in the cellar?", "The cellar will be walled up.", "", False),
        ("What is done about the rats in the cellar?", "The cellar should last a hundred years.", "", True),
        ("What is done about the rats in the cellar?", "The warden should keep two cats.", "", False),
        ("What is done about the rats in the cellar?", "Two cats for the cellar.", "Measures", False),
        ("What was decided on the rats?", "Rats were seen in May.", "", True),
        ("What was decided on the rats?", "The house agreed to buy two cats.", "", False),
        ("What is the colour of the rats?", "The rats are grey.", "", False),
    ],
)
def test_what_is_done_is_told_as_a_deed(question: str, quote: str, heading: str, doubted: bool) -> None:
    assert bool(doubt(question, quote, heading=heading)) is doubted


def test_nothing_quoted_is_doubted_elsewhere() -> None:
    assert doubt("Is the price of bread rising?") == ""
