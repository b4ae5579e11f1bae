"""Single times: a day, a month, a quarter, a half, a year, or some periods before or after the run date. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, timedelta

from rag_core.datamodel.plan import Grain
from rag_core.semantics.calendar import MONTHS_OF, add_months, floor, period, step
from rag_core.semantics.time_words import COUNT, MONTH, MONTHS, ORDINAL, ORDINALS, UNIT, YEAR, count_of, unit_of


@dataclass(frozen=True)
class Point:
    """A time before it is placed in the calendar.

    Either `unit` with `offset` from the run date's period (and `count` of them, or a `part` of that year), or a part of
    a `year` (month, quarter, half), or a `day`.
    """

    unit: Grain = "year"
    offset: int | None = None
    count: int = 1
    rolling: bool = False
    year: int | None = None
    part: tuple[int, int] | None = None  # first month and number of months, within the year
    day: date | None = None
    name: str = ""

    @property
    def needs_year(self) -> bool:
        """Whether it is a part of a year that nobody named."""
        return self.part is not None and self.year is None and self.offset is None

    @property
    def grain(self) -> Grain | None:
        """The unit that it is exactly one of."""
        if self.part is not None:
            return {1: "month", 3: "quarter", 12: "year"}.get(self.part[1])  # type: ignore[return-value]
        return self.unit if self.count == 1 else None

    def before(self, day: date) -> Point:
        """The part of the latest year in which it does not begin after the day."""
        month = self.part[0] if self.part else 1
        return replace(self, year=day.year if date(day.year, month, 1) <= day else day.year - 1)

    def after(self, other: Point) -> Point:
        """The part of the first year in which it does not begin before the other point."""
        year = other.year or 1
        month, first = (self.part or (1, 1))[0], (other.part or (1, 1))[0]
        return replace(self, year=year if month >= first else year + 1)


_OF_YEAR = (
    r"(?:\s*(?:of|in|,|/|-)?\s*(?:the\s+)?(?:year\s+|calendar\s+year\s+)?"
    rf"(?P<y>{YEAR}|last\s+year|this\s+year|previous\s+year))"
)
_OWNER = rf"(?P<y>last\s+year|this\s+year|{YEAR})'s\s+"
_PAST = r"(?:last|past|previous|prior|preceding|latest|most\s+recent)"
_FULL = r"(?:full\s+|complete\s+|calendar\s+|completed\s+)?"
_WHOLE = r"(?:calendar\s+year\s+|the\s+whole\s+of\s+|full\s+year\s+|full-year\s+|year\s+)?"
_ENDED = r"(?:that\s+(?:has\s+)?)?(?:just\s+)?(?:ended|past|finished|closed|completed)\b"
_PERIOD = r"(?P<u>day|week|month|quarter|year)\b"
_QUARTER = rf"(?:the\s+)?(?:q(?P<q>[1-4])\b|(?P<qo>{ORDINAL}|last)\s+quarter)"
_HALF = r"(?:the\s+)?(?:h(?P<h>[12])\b|(?P<ho>first|second|1st|2nd)\s+half)"
_PATTERNS: tuple[tuple[str, str], ...] = (
    ("iso_day", r"(?P<y>(?:19|20)\d\d)-(?P<m>\d\d)-(?P<d>\d\d)\b"),
    ("iso_month", r"(?P<y>(?:19|20)\d\d)-(?P<m>0[1-9]|1[0-2])\b(?!-)"),
    ("day_first", rf"(?:the\s+)?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<mn>{MONTH})\s*,?\s*(?P<y>{YEAR})"),
    ("month_first", rf"(?P<mn>{MONTH})\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s*,?\s+(?P<y>{YEAR})"),
    ("year_quarter", r"(?P<y>(?:19|20)\d\d)[\s/-]*q(?P<q>[1-4])\b"),
    ("year_half", r"(?P<y>(?:19|20)\d\d)[\s/-]*h(?P<h>[12])\b"),
    ("owner_quarter", _OWNER + rf"(?:q(?P<q>[1-4])\b|(?P<qo>{ORDINAL})\s+quarter)"),
    ("quarter_of", _QUARTER + _OF_YEAR),
    ("half_of", _HALF + _OF_YEAR),
    ("months_of", rf"(?:the\s+)?(?P<edge>first|last)\s+(?P<n>{COUNT})\s+(?P<u>months|quarters)" + _OF_YEAR),
    ("months_owner", _OWNER + rf"(?P<edge>first|last)\s+(?P<n>{COUNT})\s+(?P<u>months|quarters)"),
    ("month_of", rf"(?:the\s+month\s+of\s+)?(?P<mn>{MONTH})" + _OF_YEAR),
    ("last_month_name", rf"last\s+(?P<mn>{MONTH})(?!\s+year)"),
    ("quarter", rf"(?:the\s+)?(?:q(?P<q>[1-4])\b|(?P<qo>{ORDINAL})\s+quarter\b)"),
    ("half", _HALF + r"(?:\s+of\s+the\s+year)?\b"),
    ("month", rf"(?:the\s+month\s+of\s+)?(?P<mn>{MONTH})"),
    ("year", rf"(?:the\s+)?{_WHOLE}(?P<y>{YEAR})(?!\s*(?:eur|euro|%|units?|customers?))"),
    ("just_ended", rf"(?:the\s+)?(?P<u>week|month|quarter|year)\s+{_ENDED}"),
    ("counted", rf"(?:the\s+)?(?:{_PAST}|trailing|recent)\s+{_FULL}(?P<n>{COUNT})\s+{_FULL}(?P<u>{UNIT})"),
    ("counted_next", rf"(?:the\s+)?(?:next|coming|upcoming|following)\s+(?P<n>{COUNT})\s+(?P<u>{UNIT})"),
    ("previous", rf"(?:the\s+)?{_PAST}\s+{_FULL}{_PERIOD}"),
    ("current", rf"(?:this|(?:the\s+)?current|(?:the\s+)?running)\s+(?:calendar\s+)?{_PERIOD}"),
    ("next", rf"(?:the\s+)?(?:next|coming|upcoming|following)\s+(?:calendar\s+)?{_PERIOD}"),
    ("previous_half", r"(?:the\s+)?(?:last|past|previous)\s+half(?:[\s-]year)?\b"),
    ("yesterday", r"yesterday\b"),
)  # fmt: skip
_COMPILED = tuple((name, re.compile(pattern)) for name, pattern in _PATTERNS)
# The same patterns for use inside larger ones, where groups must not collide.
POINT = "(?:" + "|".join(re.sub(r"\(\?P<[a-z]+>", "(?:", pattern) for _, pattern in _PATTERNS) + ")"
# "may" is a month only where a year or a word of time stands beside it.
_MAY = re.compile(
    r"(?:\b(?:in|of|since|until|till|from|to|between|and|during|through|for|last|before|after|vs|versus|with)\s+|,\s*)$"
)


def point_at(text: str, at: int) -> tuple[int, Point] | None:
    """The longest point that begins there, with its end; the text must be lower case."""
    best: tuple[int, Point] | None = None
    for name, pattern in _COMPILED:
        found = pattern.match(text, at)
        if found is None or (best is not None and found.end() <= best[0]):
            continue
        if name == "month" and found["mn"] == "may" and not _MAY.search(text[:at]):
            continue
        point = _build(name, found)
        if point is not None:
            best = (found.end(), point)
    return best


def parse_point(text: str) -> Point | None:
    """The point that the whole text is, or None."""
    stripped = text.strip()
    for name, pattern in _COMPILED:
        found = pattern.fullmatch(stripped)
        if found is not None and (point := _build(name, found)) is not None:
            return point
    return None


def _build(name: str, found: re.Match[str]) -> Point | None:
    groups = found.groupdict()
    text = found.group()
    if name in ("iso_day", "day_first", "month_first"):
        month = int(groups["m"]) if groups.get("m") else MONTHS[groups["mn"].rstrip(".")]
        try:
            return Point(unit="day", day=date(int(groups["y"]), month, int(groups["d"])), name=text)
        except ValueError:
            return None
    if name in ("counted", "counted_next", "previous", "current", "next", "just_ended", "previous_half", "yesterday"):
        return _relative(name, groups)
    part = _part(name, groups)
    base = Point(part=part, name=re.sub(r"^the\s+", "", text))
    if name == "last_month_name":
        return replace(base, unit="month", offset=0, rolling=True)
    year = groups.get("y")
    if year is None:
        return base
    if year.isdigit():
        return replace(base, year=int(year))
    return replace(base, unit="year", offset=0 if year.startswith("this") else -1)


def _part(name: str, groups: dict[str, str | None]) -> tuple[int, int] | None:
    """First month and number of months within a year."""
    if groups.get("q") or groups.get("qo"):
        word = groups.get("qo")
        number = int(groups["q"] or 0) if word is None else (4 if word == "last" else ORDINALS[word])
        return number * 3 - 2, 3
    if groups.get("h") or groups.get("ho"):
        word = groups.get("ho")
        number = int(groups["h"] or 0) if word is None else ORDINALS[word]
        return number * 6 - 5, 6
    if name in ("months_of", "months_owner"):
        months = min(count_of(groups["n"] or "1") * (3 if groups["u"] == "quarters" else 1), 12)
        return (1 if groups["edge"] == "first" else 13 - months), months
    if groups.get("mn"):
        return MONTHS[(groups["mn"] or "").rstrip(".")], 1
    if groups.get("m"):
        return int(groups["m"] or 1), 1
    return (1, 12) if name == "year" else None


def _relative(name: str, groups: dict[str, str | None]) -> Point:
    unit = unit_of(groups.get("u") or "day")
    if name in ("counted", "counted_next"):
        count = count_of(groups["n"] or "1")
        return Point(unit=unit, offset=-count if name == "counted" else 0, count=count, rolling=True)
    if name == "previous_half":
        return Point(unit="month", offset=-6, count=6, rolling=True)
    return Point(unit=unit, offset={"current": 0, "next": 1}.get(name, -1))


def resolve(point: Point, run_date: date) -> tuple[date, date]:
    """The days [start, end) that a point means on a run date."""
    if point.day is not None:
        return point.day, point.day + timedelta(days=1)
    if point.part is not None:
        month, months = point.part
        if point.year is not None:
            year = point.year
        elif point.offset is not None and point.unit == "year":
            year = run_date.year + point.offset
        elif point.offset is not None:  # "last June": the latest one that is over
            year = run_date.year if add_months(date(run_date.year, month, 1), 1) <= run_date else run_date.year - 1
        else:
            year = run_date.year if date(run_date.year, month, 1) < run_date else run_date.year - 1
        start = date(year, month, 1)
        return start, add_months(start, months)
    offset = point.offset or 0
    if not point.rolling:
        return period(step(floor(run_date, point.unit), point.unit, offset), point.unit)
    if point.unit in MONTHS_OF:
        base = floor(run_date, point.unit) if offset < 0 else run_date
        start = step(base, point.unit, offset)
        return start, step(start, point.unit, point.count)
    start = step(run_date, point.unit, offset)
    return start, step(start, point.unit, point.count)
