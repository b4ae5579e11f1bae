"""The words that times are said with. Data only, and the two look-ups that read it."""

from __future__ import annotations

from rag_core.datamodel.plan import Grain

MONTHS = {
    "january": 1, "jan": 1, "february": 2, "feb": 2, "march": 3, "mar": 3, "april": 4, "apr": 4, "may": 5, "june": 6,
    "jun": 6, "july": 7, "jul": 7, "august": 8, "aug": 8, "september": 9, "sept": 9, "sep": 9, "october": 10,
    "oct": 10, "november": 11, "nov": 11, "december": 12, "dec": 12,
}  # fmt: skip
MONTH = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "fifteen": 15, "eighteen": 18, "twenty": 20, "twenty-four": 24, "thirty": 30,
    "thirty-six": 36, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100,
}  # fmt: skip
COUNT = r"(?:\d{1,4}|" + "|".join(sorted(NUMBERS, key=len, reverse=True)) + r")\b"
ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "final": 4}
ORDINAL = "(?:" + "|".join(ORDINALS) + ")"
UNIT = r"(?:days?|weeks?|months?|quarters?|years?)\b"
# Other words of times, which a misspelt one may stand for.
TIME_WORDS = (
    "last", "previous", "past", "since", "until", "before", "after", "half", "first", "second", "third", "fourth",
    "today", "yesterday", "current", "beginning", "start", "year", "quarter", "month", "week",
)  # fmt: skip
YEAR = r"(?:19|20)\d\d\b"


def count_of(text: str) -> int:
    """A number in digits or words."""
    return int(text) if text.isdigit() else NUMBERS[text]


def unit_of(text: str) -> Grain:
    """The grain that a unit of time names, singular or plural."""
    names: dict[str, Grain] = {"day": "day", "week": "week", "month": "month", "quarter": "quarter", "year": "year"}
    return names[text.rstrip("s")]
