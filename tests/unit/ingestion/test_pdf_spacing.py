"""Lines set with wide spaces between their letters."""

from __future__ import annotations

import pytest

from ingestion.pdf_lines import Box, TextLine
from ingestion.pdf_spacing import close_up, may_be_spaced


def line(text: str, left: float, right: float) -> TextLine:
    return TextLine(text, "Helvetica", Box(left, 100, right, 112), 1)


def characters(text: str, gap: float) -> list[TextLine]:
    """Characters six points wide, `gap` apart; spaces are characters too."""
    return [line(character, at * (6 + gap), at * (6 + gap) + 6) for at, character in enumerate(text)]


@pytest.mark.parametrize("gap", [1.0, 2.0, 6.0])
def test_wide_letters_become_words(gap: float) -> None:
    found = characters("INCIDENT REVIEW", gap)
    spaced = line("I NC I D E N T R E V I E W", 0, found[-1].box.right)
    assert close_up(spaced, found).text == "INCIDENT REVIEW"


def test_wide_gaps_part_words_where_no_space_is_written() -> None:
    found = characters("SUMMARY", 4) + [line(c, 100 + at * 10, 106 + at * 10) for at, c in enumerate("TABLE")]
    assert close_up(line("S U M M A R Y T A B L E", 0, 146), found).text == "SUMMARY TABLE"


@pytest.mark.parametrize(("gap", "told"), [(2.7, "4 ANNOTATION CAMPAIGN"), (0.9, "4 ANNOTATIONCAMPAIGN")])
def test_a_narrow_space_between_words_in_capitals_parts_them(gap: float, told: str) -> None:
    found = [line("4", 0, 6), *(line(c, 17 + at * 8, 25 + at * 8) for at, c in enumerate("ANNOTATION"))]
    found += [line(c, 97 + gap + at * 8, 105 + gap + at * 8) for at, c in enumerate("CAMPAIGN")]
    joined = line("4 ANNOTATIONCAMPAIGN", 0, found[-1].box.right)
    assert may_be_spaced(joined.text)
    assert close_up(joined, found).text == told


def test_single_letters_that_are_words_stay_apart() -> None:
    text = "A B C D E are the choices"
    found = characters(text, 0)
    assert may_be_spaced(text)
    assert close_up(line(text, 0, found[-1].box.right), found).text == text


def test_lines_whose_characters_do_not_fit_are_left_alone() -> None:
    spaced = line("I N C I D E N T", 0, 200)
    assert close_up(spaced, characters("SOMETHING ELSE", 4)) is spaced


@pytest.mark.parametrize(
    ("text", "spaced"),
    [
        ("Sl i ght l y spaced l i ne of tex t", True),
        ("L E T T E R", True),
        ("ANNOTATIONCAMPAIGN", True),
        ("MAX_CONNECTIONS_PER_HOST is set", False),
        ("I have a plan for the next quarter", False),
        ("1 2 3 4 5", False),
        ("A B", False),
    ],
)
def test_what_may_be_set_wide(text: str, spaced: bool) -> None:
    assert may_be_spaced(text) is spaced
