"""Cron texts and time zones."""

from __future__ import annotations

import pytest

from rag_core.batch.schedule import check_cron, check_timezone


@pytest.mark.parametrize(
    "text",
    ["0 2 * * *", "*/15 0-6 1,15 * mon-fri", "30 2 * jan,jul 7", "0 0 29 2 *", "5-20/5 * * * *", "0 0 31 2 mon"],
)
def test_good_schedules(text: str) -> None:
    assert check_cron(f" {text.replace(' ', '  ')} ") == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "five fields"),
        ("* * * *", "five fields.*not 4"),
        ("* * * * * *", "not 6"),
        ("@daily", r"^a schedule has five fields: for @daily write 0 0 \* \* \*$"),
        (" @Weekly ", r"for @Weekly write 0 0 \* \* 0$"),
        ("hourly", r"for hourly write 0 \* \* \* \*$"),
        ("@once", "five fields.*not 1"),
        ("@daily 5", "five fields.*not 2"),
        ("60 * * * *", "'60' is no minute"),
        ("* 24 * * *", "'24' is no hour"),
        ("* * 0 * *", "'0' is no day of the month"),
        ("* * * 13 *", "'13' is no month"),
        ("* * * * 8", "'8' is no day of the week"),
        ("* * * foo *", "'foo' is no month"),
        ("10-5 * * * *", "'10-5' is no minute"),
        ("*/0 * * * *", "is no minute"),
        ("1, * * * *", "is no minute"),
        ("0 0 31 2 *", "no month 2 has a day 31"),
        ("0 0 31 04 *", "has a day 31"),
        ("٣ * * * *", "is no minute"),
    ],
)
def test_bad_schedules_name_the_field(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_cron(text)


@pytest.mark.parametrize(
    "preset", ["hourly", "daily", "midnight", "weekly", "monthly", "quarterly", "yearly", "annually"]
)
def test_what_is_proposed_for_a_name_is_a_schedule(preset: str) -> None:
    with pytest.raises(ValueError, match="write") as refused:
        check_cron(f"@{preset}")
    proposed = str(refused.value).rpartition("write ")[2]
    assert check_cron(proposed) == proposed


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "../etc/passwd", "/etc/passwd"])
def test_unknown_time_zones(name: str) -> None:
    with pytest.raises(ValueError, match="no time zone"):
        check_timezone(name)
