"""Opens the services for the body of a task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from rag_core.wiring import Services, open_services


@contextmanager
def open_context() -> Iterator[Services]:
    """Services with the settings of the Airflow process, closed at the end of the block."""
    with open_services() as services:
        yield services


def run_date_of(
    services: Services, context: dict[str, Any], wanted: str | None = None, *, timezone: str = "UTC"
) -> date:
    """The date that relative times refer to.

    In this order: the run's param, the setting NIGHTSHIFT_TODAY or the sample's date, the end of the run's data
    interval in `timezone` (so that a run for a past night answers as of that night, where the night is), the clock.
    """
    if wanted or services.settings.today or services.settings.embedded_warehouse:
        return services.run_date(wanted)
    end: datetime | None = context.get("data_interval_end") or context.get("logical_date")
    return end.astimezone(ZoneInfo(timezone)).date() if end is not None else services.run_date()


def is_last_try(context: Mapping[str, Any]) -> bool:
    """Whether a task that fails now is not tried again."""
    instance = context["ti"]
    return bool(instance.try_number > instance.max_tries)
