"""Words for cells, labels, filters and periods, as sentences and tables use them. Pure."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from rag_core.datamodel.evidence import ColumnMeaning, SqlEvidence
from rag_core.datamodel.plan import MetricQuery, TimeRange
from rag_core.semantics.calendar import describe_range
from rag_core.workers.numbers import as_day, as_number, format_number


def column_meanings(evidence: SqlEvidence) -> list[ColumnMeaning]:
    """A meaning for each result column; for SQL that nobody described, from the column's name and cells."""
    known = {meaning.name: meaning for meaning in evidence.meanings}
    meanings = []
    for index, column in enumerate(evidence.result.columns):
        if column.name in known:
            meanings.append(known[column.name])
            continue
        cells = [row[index] for row in evidence.result.rows if row[index] is not None]
        label = column.name.replace("_", " ").strip().capitalize() or f"Column {index + 1}"
        if cells and all(as_number(cell) is not None for cell in cells) and not column.name.lower().endswith("_id"):
            meanings.append(ColumnMeaning(name=column.name, label=label, role="metric"))
        elif cells and all(as_day(cell) is not None for cell in cells):
            meanings.append(ColumnMeaning(name=column.name, label=label, role="time"))
        else:
            meanings.append(ColumnMeaning(name=column.name, label=label, role="dimension"))
    return meanings


def show_cell(value: Any, meaning: ColumnMeaning, *, unit: bool = False) -> str:
    """A cell as people read it; days of a period column as the period."""
    if value is None:
        return f"no {inside(meaning.label)}" if meaning.role == "dimension" else "no value"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if (day := as_day(value)) is not None and meaning.role == "time":
        return show_period(day, meaning.name)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="minutes")
    if isinstance(value, date):
        return value.isoformat()
    if as_number(value) is None or meaning.role != "metric":
        return str(value)
    return format_number(value, meaning.unit if unit else "", meaning.decimals)


def verb(label: str) -> str:
    """`were` behind a label in the plural: its last word before any bracket or comma ends in a plain s."""
    if label.startswith("Number of "):
        return "was"
    head = re.split(r"[(,]", label)[0].split()
    last = head[-1].lower() if head else ""
    if last.endswith("ed") and len(head) > 1:
        last = head[-2].lower()  # "unresolved tickets opened"
    return "were" if last.endswith("s") and not last.endswith(("ss", "us", "is")) else "was"


def with_unit(value: Any, meaning: ColumnMeaning) -> str:
    """A cell with its unit, which is left out where the label says it: `Orders were 2,597`."""
    said = meaning.unit.isalpha() and meaning.unit.lower() in meaning.label.lower()
    return show_cell(value, meaning, unit=not said)


def show_period(day: date, grain: str) -> str:
    """The period that begins on a day, by the name of its column."""
    if grain == "year":
        return str(day.year)
    if grain == "quarter":
        return f"Q{(day.month + 2) // 3} {day.year}"
    if grain == "month":
        return f"{calendar.month_name[day.month]} {day.year}"
    return day.isoformat()


def article(noun: str) -> str:
    """`a` or `an`, by the noun's first letter."""
    return "an" if noun[:1].lower() in "aeiou" else "a"


def scope(query: MetricQuery | None, spoken: Mapping[str, str]) -> str:
    """The filters of a query as words behind a metric's label: ` of Nordics and DACH`.

    `spoken` gives the words for stored values that people write otherwise (`mid_market`).
    """
    if query is None:
        return ""
    parts = []
    for item in query.filters:
        if item.values == (None,):
            name = item.dimension.replace("_", " ")
            parts.append(f"with any {name}" if item.negated else f"without {article(name)} {name}")
            continue
        values = ["no value" if value is None else spoken.get(str(value), str(value)) for value in item.values]
        joined = (
            values[0]
            if len(values) == 1
            else f"{', '.join(values[:-1])} {'or' if item.negated else 'and'} {values[-1]}"
        )
        parts.append(f"without {joined}" if item.negated else joined)
    left = [part for part in parts if part.startswith(("without ", "with any "))]
    kept = [part for part in parts if part not in left]
    return (f" of {', '.join(kept)}" if kept else "") + "".join(f" {part}" for part in left)


def period_words(found: TimeRange | None) -> str:
    """` in Q3 2025`, ` since 2025-01-01`, empty for all days."""
    if found is None or (found.start is None and found.end is None):
        return ""
    text = describe_range(found)
    if text.startswith(("since ", "up to ")):
        return f" {text}"
    return f" from {text}" if " to " in text else f" {'on' if _one_day(found) else 'in'} {text}"


def _one_day(found: TimeRange) -> bool:
    return found.start is not None and found.end is not None and found.end - found.start == timedelta(days=1)


def inside(label: str) -> str:
    """A label in the middle of a sentence; names such as `SLA share` keep their capitals."""
    return label[:1].lower() + label[1:] if label[1:2].islower() else label
