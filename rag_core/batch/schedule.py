"""Checks schedules and addresses: cron texts of five fields, time zones, where mail goes. Pure."""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
# Name, lowest and highest value, and the names that stand for values from the lowest on.
_FIELDS: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 7, _DAYS),
)
# Airflow's names for schedules, and what they stand for: whoever writes one is told what to write here.
_PRESETS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@quarterly": "0 0 1 */3 *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_PART = re.compile(r"^(?:(?P<all>\*)|(?P<low>\w+)(?:-(?P<high>\w+))?)(?:/(?P<step>\d+))?$")


def check_cron(text: str) -> str:
    """The cron text with single spaces; raises ValueError with one line that names the field that is wrong."""
    parts = text.split()
    if len(parts) == 1 and (preset := f"@{parts[0].lower().lstrip('@')}") in _PRESETS:
        raise ValueError(f"a schedule has five fields: for {parts[0]} write {_PRESETS[preset]}")
    if len(parts) != len(_FIELDS):
        raise ValueError(f"a schedule has five fields (minute, hour, day, month, day of the week), not {len(parts)}")
    for part, (name, lowest, highest, names) in zip(parts, _FIELDS, strict=True):
        for item in part.lower().split(","):
            if not _fits(item, lowest, highest, names):
                raise ValueError(
                    f"{item or part!r} is no {name} of a schedule: use {lowest} to {highest}, *, a-b or */n"
                )
    if parts[4] == "*":
        _check_day(parts[2], parts[3])
    return " ".join(parts)


def _fits(item: str, lowest: int, highest: int, names: tuple[str, ...]) -> bool:
    match = _PART.match(item)
    if match is None or (match["step"] is not None and not 1 <= int(match["step"]) <= highest):
        return False
    if match["all"]:
        return True
    low = _number(match["low"], lowest, names)
    high = low if match["high"] is None else _number(match["high"], lowest, names)
    return low is not None and high is not None and lowest <= low <= high <= highest


def _number(text: str, lowest: int, names: tuple[str, ...]) -> int | None:
    if text in names:
        return lowest + names.index(text)
    return int(text) if text.isascii() and text.isdigit() else None


def _check_day(day: str, month: str) -> None:
    # The only dates that a pair of plain numbers can name and no year has.
    longest = {"2": 29, "4": 30, "6": 30, "9": 30, "11": 30}
    if day.isdigit() and int(day) > longest.get(month.lstrip("0"), 31):
        raise ValueError(f"no month {month} has a day {day}: the schedule would never run")


def check_timezone(name: str) -> str:
    """The name of a time zone; raises ValueError where there is none of that name."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{name!r} is no time zone: use a name such as Europe/Stockholm or UTC") from None
    return name


def check_address(text: str) -> str:
    """A mail address; raises ValueError where the text cannot be one. A line break would be another header."""
    if not re.fullmatch(r"[^@\s<>,;\"\x00-\x1f]+@[^@\s<>,;\"\x00-\x1f]+", text) or len(text) > 254:
        raise ValueError(f"{text!r} is no mail address")
    return text
