"""Numbers, dates and names in prose: found, compared with values of a result, and written for people.

Everything here is pure. A number in prose carries the precision it is shown with: `11.4 %` agrees with any value that
rounds to 11.4.
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from rag_core.workers.words import KEPT_TEXTS

MONTHS = {name.lower(): index for index, name in enumerate(calendar.month_name) if name}
MONTHS |= {name.lower(): index for index, name in enumerate(calendar.month_abbr) if name}
_COUNTED = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty"""
NUMBER_WORDS = {word: value for value, word in enumerate(re.findall(r"\w+", _COUNTED))}
ORDINAL_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_SCALES = {"thousand": 3, "k": 3, "million": 6, "mn": 6, "billion": 9, "bn": 9}
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATES = re.compile(
    rf"""(?<![\w.])(?:
      (?P<iso>\d{{4}}-\d{{2}}-\d{{2}})(?!\d)
    | (?P<week>\d{{4}}-W\d{{2}})(?!\d)
    | (?P<ym>\d{{4}}-\d{{2}})(?![-\d])
    | (?P<dmy_d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<dmy_m>{_MONTH})\.?,?\s+(?P<dmy_y>\d{{4}})(?!\d)
    | (?P<mdy_m>{_MONTH})\.?\s+(?P<mdy_d>\d{{1,2}})(?:st|nd|rd|th)?,\s*(?P<mdy_y>\d{{4}})(?!\d)
    | (?P<my_m>{_MONTH})\.?,?\s+(?P<my_y>\d{{4}})(?!\d)
    | Q(?P<qy_q>[1-4])[\s/]+(?P<qy_y>\d{{4}})(?!\d)
    | (?P<yq_y>\d{{4}})[\s-]?Q(?P<yq_q>[1-4])\b
    | (?P<oq_q>first|second|third|fourth)\s+quarter\s+(?:of\s+)?(?P<oq_y>\d{{4}})(?!\d)
    | (?P<year>(?:19|20)\d{{2}})(?![\d,.]\d|\w|\s?%)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_NUMBERS = re.compile(
    r"""(?<![\w.])(?P<sign>[-+\u2212\u2013](?=\d|[€$£]))?(?P<currency>[€$£])?\s?
    (?P<body>\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?:\.\d+)?|\d+,\d{1,2}(?![\d,])|\d+(?:\.\d+)?)(?![.]?\d)
    (?:(?P<space>[\s\u00a0\u202f-]?)(?P<unit>%|‰|percentage\ points?|percent\b|per\ cent\b|points?\b|pp\b
      |thousand\b|million\b|billion\b|mn\b|bn\b|k\b|x\b|times\b))?(?![\w])""",
    re.VERBOSE,
)
_WORD_NUMBERS = re.compile(r"\b(" + "|".join(NUMBER_WORDS) + r")\b", re.IGNORECASE)
_MARKERS = re.compile(r"\[[SD]\d+\]")


@dataclass(frozen=True, slots=True)
class NumberMention:
    """A number in prose. `value` is scaled (1.2 million is 1200000); `quantum` is the size of its last shown digit."""

    text: str
    start: int
    end: int
    value: Decimal
    quantum: Decimal
    percent: bool = False
    word: bool = False


@dataclass(frozen=True, slots=True)
class DateMention:
    """A day, week, month, quarter or year in prose: the days [first, last]."""

    text: str
    start: int
    end: int
    first: date
    last: date


def month_span(year: int, month: int) -> tuple[date, date]:
    """First and last day of a month."""
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


def quarter_span(year: int, quarter: int) -> tuple[date, date]:
    """First and last day of a calendar quarter."""
    return date(year, 3 * quarter - 2, 1), month_span(year, 3 * quarter)[1]


def _span(groups: dict[str, str | None]) -> tuple[date, date] | None:
    get = {name: text for name, text in groups.items() if text is not None}
    try:
        if "iso" in get:
            day = date.fromisoformat(get["iso"])
            return day, day
        if "week" in get:
            monday = date.fromisocalendar(int(get["week"][:4]), int(get["week"][-2:]), 1)
            return monday, monday + timedelta(days=6)
        if "ym" in get:
            return month_span(int(get["ym"][:4]), int(get["ym"][-2:]))
        for kind in ("dmy", "mdy"):
            if f"{kind}_d" in get:
                day = date(int(get[f"{kind}_y"]), MONTHS[get[f"{kind}_m"].lower()], int(get[f"{kind}_d"]))
                return day, day
        if "my_m" in get:
            return month_span(int(get["my_y"]), MONTHS[get["my_m"].lower()])
        for kind in ("qy", "yq"):
            if f"{kind}_q" in get:
                return quarter_span(int(get[f"{kind}_y"]), int(get[f"{kind}_q"]))
        if "oq_q" in get:
            return quarter_span(int(get["oq_y"]), ORDINAL_QUARTERS[get["oq_q"].lower()])
        year = int(get["year"])
        return date(year, 1, 1), date(year, 12, 31)
    except ValueError:
        return None  # such as 2025-02-30: not a date, and checked as a number instead


def find_dates(text: str) -> list[DateMention]:
    """The dates and periods in a text, in order."""
    return list(_find_dates(text))


@lru_cache(maxsize=KEPT_TEXTS)
def _find_dates(text: str) -> tuple[DateMention, ...]:
    found = []
    for match in _DATES.finditer(text):
        span = _span(match.groupdict())
        if span is not None:
            found.append(DateMention(match.group(), match.start(), match.end(), *span))
    return tuple(found)


def _blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    characters = list(text)
    for start, end in spans:
        characters[start:end] = " " * (end - start)
    return "".join(characters)


def find_numbers(text: str, *, words: bool = True) -> list[NumberMention]:
    """The numbers in a text, in order; dates, citation markers and digits inside names (p95, 4.2.3) are none.

    `words` adds number words from two to twenty ("eleven weeks").
    """
    return list(_find_numbers(text, words))


# The numbers of a passage are looked for once for each claim that cites it.
@lru_cache(maxsize=KEPT_TEXTS)
def _find_numbers(text: str, words: bool) -> tuple[NumberMention, ...]:
    plain = _MARKERS.sub(lambda match: " " * len(match.group()), text)
    plain = _blank(plain, ((mention.start, mention.end) for mention in find_dates(plain)))
    found = []
    for match in _NUMBERS.finditer(plain):
        body = re.sub(r"[\u00a0\u202f]", "", match["body"])
        decimal_comma = re.fullmatch(r"\d+,\d{1,2}", body)
        body = body.replace(",", "." if decimal_comma else "")
        scale = Decimal(10) ** _SCALES.get((match["unit"] or "").lower(), 0)
        digits = len(body.partition(".")[2])
        value = Decimal(body) * scale * (-1 if match["sign"] in ("-", "\u2212") else 1)
        percent = (match["unit"] or "").lower() in ("%", "percent", "per cent")
        start = match.start() + len(match.group()) - len(match.group().lstrip())
        found.append(
            NumberMention(match.group().strip(), start, match.end(), value, scale * Decimal(1).scaleb(-digits), percent)
        )
    if words:
        found += [
            NumberMention(
                match.group(),
                match.start(),
                match.end(),
                Decimal(NUMBER_WORDS[match[1].lower()]),
                Decimal(1),
                word=True,
            )
            for match in _WORD_NUMBERS.finditer(plain)
            if NUMBER_WORDS[match[1].lower()] >= 2
        ]
    return tuple(sorted(found, key=lambda mention: mention.start))


def as_number(value: Any) -> Decimal | None:
    """A cell as a finite number, None where it is none. Booleans are none."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, Decimal):
        return value if value.is_finite() else None
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, float):
        return Decimal(repr(value)) if math.isfinite(value) else None
    return None


def as_day(value: Any) -> date | None:
    """A cell as a day, None where it is none; text counts where it is an ISO date."""
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, str) and re.match(r"\d{4}-\d{2}-\d{2}", value):
        try:
            return date.fromisoformat(value[:10])
        except ValueError:
            return None
    return None


def agrees(mention: NumberMention, value: Decimal) -> bool:
    """Whether the value, rounded to the digits the mention shows, is the mention. Signs are not compared.

    Both ways of rounding a half are right: databases round away from zero, Python to even.
    """
    try:
        scaled = abs(value) / mention.quantum
        wanted = abs(mention.value) / mention.quantum
        return any(scaled.quantize(Decimal(1), rounding) == wanted for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN))
    except InvalidOperation:
        return False


def default_decimals(value: Decimal, unit: str) -> int:
    """Digits after the point to show where nothing is configured."""
    if value == value.to_integral_value():
        return 0
    if unit == "%":
        return 1
    return 0 if abs(value) >= 10_000 else 2


def format_number(value: Any, unit: str = "", decimals: int | None = None) -> str:
    """A number as people read it: thousands separators, rounded to `decimals`, unit behind a space.

    Other values come back as text; None as `no value`.
    """
    number = as_number(value)
    if number is None:
        return "no value" if value is None else str(value)
    digits = default_decimals(number, unit) if decimals is None else decimals
    rounded = number.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    if rounded == 0:
        rounded = abs(rounded)
    text = f"{rounded:,.{digits}f}"
    return f"{text} {unit}" if unit else text


def describe_period(first: date, last: date) -> str:
    """A range of days in words: `Q2 2026`, `June 2026`, `2025`, a day, or `from … to …`."""
    if first == last:
        return first.isoformat()
    if (first, last) == (date(first.year, 1, 1), date(first.year, 12, 31)):
        return str(first.year)
    for quarter in (1, 2, 3, 4):
        if (first, last) == quarter_span(first.year, quarter):
            return f"Q{quarter} {first.year}"
    if (first, last) == month_span(first.year, first.month):
        return f"{calendar.month_name[first.month]} {first.year}"
    if first.day == 1 and last == month_span(last.year, last.month)[1]:
        names = calendar.month_name
        return f"{names[first.month]} {first.year} to {names[last.month]} {last.year}"
    return f"{first.isoformat()} to {last.isoformat()}"
