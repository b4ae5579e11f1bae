"""Finds times in plain English and turns them into half-open ranges of days, relative to a run date. Pure.

A relative time ("last quarter") means whole calendar periods before the one that the run date lies in; "last 90 days"
are the 90 days before the run date. A month, quarter or half without a year is the latest one that has begun, unless a
year stands beside it; that reading is reported as an assumption.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Literal

from rag_core.datamodel.base import Record
from rag_core.datamodel.plan import Grain, TimeRange
from rag_core.semantics.calendar import describe_range, floor
from rag_core.semantics.points import POINT, Point, parse_point, point_at, resolve
from rag_core.semantics.time_words import COUNT, ORDINALS, UNIT, YEAR, count_of, unit_of

MentionKind = Literal["range", "as_of", "comparison"]


class TimeMention(Record):
    """A time in a text, at [start, end).

    `range`: `time_range` is meant. `as_of`: the state just before `time_range.end`. `comparison`: only "previous" or
    "year_ago" is said ("year over year", "than a year earlier"). `relative` is what a "previous quarter" or "last
    year" says when it stands beside another time; `grain` is the unit named. `ends` are the first and the last period
    of "from Q1 to Q2", which a change is measured between. `unit` (with `count` in "the three months before") is what
    "each of the last four quarters" is cut by; `opens` is set where "from" stands before it, `begins` for "next
    quarter"; `opening` is the period whose start "at the start of Q1" names; `around` is the time before the moment of
    "before and after"; `unclear` says why the time has two readings.
    """

    start: int
    end: int
    text: str
    kind: MentionKind = "range"
    time_range: TimeRange = TimeRange()
    comparison: Literal["previous", "year_ago"] | None = None
    relative: bool = False
    grain: Grain | None = None
    ends: tuple[TimeRange, TimeRange] | None = None
    unit: Grain | None = None
    count: int = 0
    opens: bool = False
    begins: bool = False
    opening: TimeRange | None = None
    around: TimeRange | None = None
    assumption: str = ""
    unclear: str = ""


_RANGE = re.compile(
    rf"(?:between|from)\s+(?P<first>{POINT})\s+(?:and|to|until|till|through|thru|up\s+to|up\s+until)\s+(?:the\s+end\s+of\s+)?(?P<second>{POINT})"
    rf"|(?P<first_b>{POINT})\s*(?:\bto\b|\bthrough\b|\bthru\b|\buntil\b|\u2013|\u2014|(?<=\s)-(?=\s))\s*(?P<second_b>{POINT})"
)
_OPEN = re.compile(
    rf"(?P<word>since|after|as\s+from|starting\s+(?:in|with|from)|beginning\s+(?:in|with)|from)\s+"
    rf"(?:the\s+)?(?:(?:start|beginning)\s+of\s+)?(?P<point>{POINT})(?P<onward>\s+(?:on\s?wards?|on\b|up\s+to\s+now|until\s+now|to\s+date|till\s+now))?"
)
_CLOSED = re.compile(
    rf"(?P<word>until|till|up\s+to|up\s+until|before|prior\s+to)\s+(?P<edge>(?:the\s+)?(?:end|start|beginning)\s+of\s+)?(?P<point>{POINT})"
)
_AS_OF = re.compile(
    rf"(?:as\s+of|as\s+at|on|per)\s+(?P<day>(?:the\s+)?(?:end\s+of\s+)?{POINT})"
    rf"|(?:(?:at|by|on|as\s+of)\s+)?(?:the\s+)?(?:end|close)\s+of\s+(?P<closing>{POINT})"
    rf"|(?:(?:at|by)\s+)?(?:the\s+)?(?:start|beginning)\s+of\s+(?P<opening>{POINT})"
    rf"|(?:at\s+)?(?:the\s+)?(?:year|month|quarter)[\s-]+end(?:\s+of)?\s+(?P<year_end>{POINT})"
)
_NOW = re.compile(
    r"(?:as\s+of\s+)?(?:today|now|right\s+now|currently|at\s+present|presently|at\s+the\s+moment|at\s+this\s+moment|at\s+this\s+point|"
    r"this\s+moment|current(?!\s+(?:day|week|month|quarter|year|calendar))|these\s+days|as\s+of\s+now|to\s?day)\b"
)
_TO_DATE = re.compile(
    r"(?:year[\s-]to[\s-]date|ytd|quarter[\s-]to[\s-]date|qtd|month[\s-]to[\s-]date|mtd)\b"
    r"|(?:in\s+)?(?P<year>(?:19|20)\d\d)\s+(?:so\s+far|to\s+date|until\s+now)\b"
    r"|so\s+far\s+this\s+(?P<a>year|quarter|month|week)|this\s+(?P<b>year|quarter|month|week)\s+(?:so\s+far|to\s+date|until\s+now)"
)
_ALL_TIME = re.compile(
    r"(?:of\s+)?all[\s-]time\b|\bever\b|since\s+the\s+(?:start|beginning)(?!\s+of)|over\s+the\s+(?:whole|entire)\s+(?:period|history)"
)
_COMPARISON = re.compile(
    r"(?P<unit>year|quarter|month|week|day)[\s-](?:over|on)[\s-](?P=unit)\b|(?P<short>yoy|qoq|mom|wow|y/y|q/q|m/m)\b"
)
_BASE_YEAR = re.compile(
    r"(?:the\s+|in\s+the\s+)?same\s+(?:period|time|quarter|month|months|week|days?|half)?\s*(?:of|in|a|one|the)?\s*(?:the\s+)?"
    r"(?:last\s+year|previous\s+year|prior\s+year|year\s+before|preceding\s+year|year\s+ago|year\s+earlier|year\s+prior|year\s+before\s+that)\b"
    r"|(?:a|one|the)\s+year\s+(?:ago|earlier|before|prior)(?:\s+that)?\b|\byear[\s-]earlier\b|12\s+months\s+(?:ago|earlier)\b"
)
_BASE_BEFORE = re.compile(
    r"(?:the\s+|a\s+|one\s+)?(?P<unit>quarter|month|week|period|day)\s+(?:before|earlier|prior)(?:\s+(?:that|it))?\b"
    r"|(?:the\s+)?(?:previous|prior|preceding)\s+(?:period|one)\b|(?:the\s+)?same\s+period\s+before\b"
)
_UNITS_BEFORE = re.compile(
    rf"(?:the\s+)?(?P<count>{COUNT})\s+(?P<unit>{UNIT})\s+(?:before|earlier|prior|preceding)(?:\s+(?:that|it))?\b"
)
_SAME_OF = re.compile(
    rf"(?:the\s+|in\s+the\s+)?same\s+(?:period|time|quarter|months?|weeks?|half|days?)\s+(?:of|in)\s+(?P<year>{YEAR})"
)
_AROUND = re.compile(rf"before\s+and\s+(?P<word>after|since)\s+(?P<point>{POINT})")
# Where it begins depends on who is asked (the sky, the trade, the quarter): it is asked back, never guessed.
_SEASON = re.compile(rf"(?:the\s+)?(?P<name>spring|summer|autumn|winter)(?:\s+(?:of\s+)?(?P<year>{YEAR}))?\b")
_AGO = re.compile(rf"(?P<count>{COUNT})\s+(?P<unit>{UNIT})\s+ago\b")


def find_times(text: str, run_date: date) -> tuple[TimeMention, ...]:
    """All times of a text in order, without overlap; at each place the longest reading wins."""
    lowered = text.lower().replace("\u2019", "'")
    found: list[TimeMention] = []
    position = 0
    while position < len(lowered):
        at_word = position == 0 or not (lowered[position - 1].isalnum())
        mention = _mention_at(lowered, position, run_date) if at_word and lowered[position].isalnum() else None
        if mention is None:
            position += 1
            continue
        found.append(mention.model_copy(update={"text": text[mention.start : mention.end]}))
        position = mention.end
    return _borrow_years(tuple(_quarter_left_out(found, lowered, run_date)), lowered, run_date)


def _mention_at(text: str, at: int, run_date: date) -> TimeMention | None:
    candidates = [candidate for reader in _readers() if (candidate := reader(text, at, run_date)) is not None]
    return max(candidates, key=lambda mention: mention.end, default=None)


def _readers() -> tuple[Callable[[str, int, date], TimeMention | None], ...]:
    return _read_comparison, _read_fixed, _read_around, _read_between, _read_open, _read_as_of, _read_point


def _read_comparison(text: str, at: int, run_date: date) -> TimeMention | None:
    if found := _COMPARISON.match(text, at):
        short = found["short"]
        unit = found["unit"] or {"y": "year", "q": "quarter", "m": "month", "w": "week"}[short[0]]
        kind: Literal["previous", "year_ago"] = "year_ago" if unit == "year" else "previous"
        return _mention(found, kind="comparison", comparison=kind, grain=unit_of(unit))
    if found := _BASE_YEAR.match(text, at):
        return _mention(found, kind="comparison", comparison="year_ago")
    if found := _SAME_OF.match(text, at):
        year = int(found["year"])
        time_range = TimeRange(start=date(year, 1, 1), end=date(year + 1, 1, 1), label=found.group())
        return _mention(found, time_range=time_range, grain="year")
    if found := _UNITS_BEFORE.match(text, at):
        mention = _mention(found, kind="comparison", comparison="previous")
        return mention.model_copy(update={"unit": unit_of(found["unit"]), "count": count_of(found["count"])})
    if found := _BASE_BEFORE.match(text, at):
        unit = found["unit"]
        grain = unit_of(unit) if unit and unit != "period" else None
        return _mention(found, kind="comparison", comparison="previous", grain=grain)
    return None


def _read_fixed(text: str, at: int, run_date: date) -> TimeMention | None:
    if found := _TO_DATE.match(text, at):
        if found["year"]:
            first = date(int(found["year"]), 1, 1)
            last = min(run_date, date(first.year + 1, 1, 1))
            return _ranged(found, first, last, found.group()) if first < last else None
        unit = found["a"] or found["b"] or {"y": "year", "q": "quarter", "m": "month"}[found.group()[0]]
        grain = unit_of(unit)
        start = resolve(Point(unit=grain, offset=0), run_date)[0]
        return _ranged(found, start, max(run_date, start + timedelta(days=1)), f"{unit} to date")
    if found := _NOW.match(text, at):
        return _mention(found, kind="as_of", time_range=TimeRange(end=run_date, label="now"))
    if found := _ALL_TIME.match(text, at):
        return _mention(found, time_range=TimeRange(label="all time"))
    if found := _AGO.match(text, at):
        grain = unit_of(found["unit"])
        start, end = resolve(Point(unit=grain, offset=-count_of(found["count"])), run_date)
        return _ranged(found, start, end, found.group(), grain=grain)
    return None


def _read_around(text: str, at: int, run_date: date) -> TimeMention | None:
    """ "Before and after 1 April", and seasons, which have no first day that everybody agrees on."""
    if found := _SEASON.match(text, at):
        return _mention(found).model_copy(
            update={"unclear": f"{found.group()!r} has no fixed first day: name the months or the quarter"}
        )
    found = _AROUND.match(text, at)
    point = parse_point(found["point"]) if found is not None else None
    if found is None or point is None:
        return None
    first, following = resolve(point, run_date)
    start = first if found["word"] == "since" or point.unit == "day" else following
    mention = _mention(found, time_range=TimeRange(start=start, end=max(run_date, following), label=f"since {start}"))
    return mention.model_copy(update={"around": TimeRange(end=first), "assumption": _assumed(point, run_date)})


def _read_between(text: str, at: int, run_date: date) -> TimeMention | None:
    found = _RANGE.match(text, at)
    if found is None:
        return None
    first = parse_point(found["first"] or found["first_b"])
    second = parse_point(found["second"] or found["second_b"])
    if first is None or second is None:
        return None
    assumption = ""
    if second.needs_year and first.year is not None:
        second = second.after(first)
    elif second.needs_year:
        assumption = _assumed(second, run_date)
    end_start, end = resolve(second, run_date)
    if first.needs_year:
        first = first.before(end_start)
    start = resolve(first, run_date)[0]
    if start >= end:
        return None
    label = re.sub(r"\s+", " ", found.group())
    mention = _ranged(found, start, end, label, assumption=assumption)
    first_end = resolve(first, run_date)[1]
    ends = (TimeRange(start=start, end=first_end), TimeRange(start=end_start, end=end))
    same_unit = first.grain is not None and first.grain == second.grain
    return mention.model_copy(update={"ends": ends}) if same_unit else mention


def _read_open(text: str, at: int, run_date: date) -> TimeMention | None:
    if found := _OPEN.match(text, at):
        word = found["word"]
        point = parse_point(found["point"])
        if point is None or (word == "from" and not found["onward"]):
            return None
        start, end = resolve(point, run_date)
        if word == "after":
            start = end
        assumption = _assumed(point, run_date)
        time_range = TimeRange(start=start, label=found.group())
        return _mention(found, time_range=time_range, assumption=assumption)
    if found := _CLOSED.match(text, at):
        point = parse_point(found["point"])
        if point is None:
            return None
        start, end = resolve(point, run_date)
        edge = found["edge"] or ""
        last = found["word"].startswith(("until", "till", "up")) and "start" not in edge and "beginning" not in edge
        time_range = TimeRange(end=end if last or "end" in edge else start, label=found.group())
        return _mention(found, time_range=time_range, assumption=_assumed(point, run_date))
    return None


def _read_as_of(text: str, at: int, run_date: date) -> TimeMention | None:
    found = _AS_OF.match(text, at)
    if found is None:
        return None
    opening = found["opening"]
    raw = found["day"] or found["closing"] or opening or found["year_end"]
    point = parse_point(re.sub(r"^(?:the\s+)?(?:end\s+of\s+)?", "", raw))
    if point is None:
        return None
    if found["day"] and point.unit != "day" and found.group().startswith(("on ", "per ")):
        return None
    start, end = resolve(point, run_date)
    time_range = TimeRange(end=start if opening else end, label=found.group())
    assumed = _assumed(point, run_date)
    mention = _mention(found, kind="as_of", time_range=time_range, assumption=assumed, grain=point.unit)
    opened = TimeRange(start=start, end=end, label=opening) if opening else None
    return mention.model_copy(update={"opening": opened})


def _read_point(text: str, at: int, run_date: date) -> TimeMention | None:
    match = point_at(text, at)
    if match is None:
        return None
    end_at, point = match
    start, end = resolve(point, run_date)
    label = re.sub(r"^the\s+", "", text[at:end_at])
    return TimeMention(
        start=at,
        end=end_at,
        text=label,
        time_range=TimeRange(start=start, end=end, label=label),
        relative=point.offset == -1 and point.count == 1 and point.part is None,
        grain=point.grain,
        unit=point.unit if point.part is None and point.day is None else point.grain,
        count=point.count if point.part is None else 0,
        assumption=_assumed(point, run_date),
        unclear=_unclear_next(point, label, run_date),
        begins=point.offset == 1 and point.count == 1,
    )


def _unclear_next(point: Point, label: str, run_date: date) -> str:
    """On the first day of a period "the next" one may be the one that begins or the one after it."""
    if point.offset != 1 or point.count != 1 or floor(run_date, point.unit) != run_date or point.unit == "day":
        return ""
    start, end = resolve(Point(unit=point.unit, offset=0), run_date)
    current = describe_range(TimeRange(start=start, end=end))
    return f"on {run_date} {label!r} may be {current} or the one after it: name it"


def _assumed(point: Point, run_date: date) -> str:
    if not point.needs_year:
        return ""
    start, end = resolve(point, run_date)
    return f"{point.name} is taken as {describe_range(TimeRange(start=start, end=end))}"


def _borrow_years(found: tuple[TimeMention, ...], text: str, run_date: date) -> tuple[TimeMention, ...]:
    """Lets a month or quarter without a year take it from its neighbour: "April and June 2026", "Q3 2025 versus Q2"."""
    result = list(found)
    points = [parse_point(mention.text.lower()) for mention in found]
    for index in range(len(result) - 2, -1, -1):
        own, other = points[index], points[index + 1]
        if own is None or other is None or not own.needs_year or other.year is None:
            continue
        if len(text[result[index].end : result[index + 1].start].split()) <= 4:
            points[index] = own.before(resolve(other, run_date)[0])
            result[index] = _placed(result[index], points[index], run_date, "")
    for index in range(1, len(result)):
        own, other = points[index], points[index - 1]
        if own is None or other is None or not own.needs_year or other.year is None or own.grain != other.grain:
            continue
        if len(text[result[index - 1].end : result[index].start].split()) <= 4:
            points[index] = replace(own, year=other.year)
            result[index] = _placed(result[index], points[index], run_date, f"{own.name} is taken as of {other.year}")
    return tuple(result)


def _placed(mention: TimeMention, point: Point | None, run_date: date, assumption: str) -> TimeMention:
    assert point is not None
    start, end = resolve(point, run_date)
    time_range = TimeRange(start=start, end=end, label=f"{mention.text} {start.year}")
    return mention.model_copy(update={"time_range": time_range, "assumption": assumption})


_ELLIPSIS = re.compile(
    r"(?P<link>against|versus|vs\.?|than(?:\s+in)?|compared\s+(?:with|to)|relative\s+to|over|on)\s+the\s+"
    r"(?P<ordinal>first|second|third|fourth)\b(?!\s+(?:quarter|half|month|week))"
)


def _quarter_left_out(found: list[TimeMention], text: str, run_date: date) -> list[TimeMention]:
    """Adds the quarter of "the fourth quarter of 2025 against the third"."""
    result: list[TimeMention] = []
    for mention in found:
        result.append(mention)
        point = parse_point(mention.text.lower())
        elliptic = _ELLIPSIS.search(text, mention.end)
        if point is None or point.grain != "quarter" or elliptic is None:
            continue
        if any(other.start > mention.start for other in found) or len(text[mention.end : elliptic.start()].split()) > 4:
            continue
        first_month = ORDINALS[elliptic["ordinal"]] * 3 - 2
        start, end = resolve(replace(point, part=(first_month, 3)), run_date)
        at = elliptic.start("ordinal")
        time_range = TimeRange(start=start, end=end, label=f"{elliptic['ordinal']} quarter {start.year}")
        result.append(
            TimeMention(
                start=at, end=elliptic.end(), text=text[at : elliptic.end()], time_range=time_range, grain="quarter",
                unit="quarter",
            )
        )  # fmt: skip
    return result


def _mention(
    found: re.Match[str],
    *,
    kind: MentionKind = "range",
    time_range: TimeRange | None = None,
    comparison: Literal["previous", "year_ago"] | None = None,
    grain: Grain | None = None,
    assumption: str = "",
) -> TimeMention:
    return TimeMention(
        start=found.start(),
        end=found.end(),
        text=found.group(),
        kind=kind,
        time_range=time_range or TimeRange(),
        comparison=comparison,
        grain=grain,
        assumption=assumption,
    )


def _ranged(
    found: re.Match[str], start: date, end: date, label: str, *, grain: Grain | None = None, assumption: str = ""
) -> TimeMention:
    return _mention(found, time_range=TimeRange(start=start, end=end, label=label), grain=grain, assumption=assumption)
