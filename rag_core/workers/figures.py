"""Results said in sentences and Markdown tables. Pure; every number shown is a cell of the result, rounded."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from rag_core.datamodel.base import Record
from rag_core.datamodel.evidence import ColumnMeaning, SqlEvidence
from rag_core.datamodel.plan import Grain, MetricQuery, TimeRange
from rag_core.semantics.calendar import describe_range, shift_range
from rag_core.workers.numbers import as_day, as_number, format_number

MAX_TABLE_ROWS = 12
MAX_NAMES = 12
_ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_COMPARED = ("_previous", "_year_ago")
_DERIVED = (*_COMPARED, "_change", "_change_percent", "_share", "_running_total")


class FigureBlock(Record):
    """What a result says: sentences, a Markdown table (empty for a single row), and the value to show large."""

    sentences: tuple[str, ...] = ()
    table: str = ""
    headline_value: Any = None
    headline_unit: str = ""


def describe_result(
    evidence: SqlEvidence, query: MetricQuery | None = None, spoken: Mapping[str, str] | None = None
) -> FigureBlock:
    """Sentences and a table for a result.

    Args:
        evidence: a result with at least one row.
        query: the metric query it answers, which gives the words for its filters and period; None for other SQL.
        spoken: words for stored values.
    """
    if not evidence.result.rows:
        return FigureBlock()
    meanings = column_meanings(evidence)
    metrics = [index for index, meaning in enumerate(meanings) if meaning.role == "metric"]
    base = [index for index in metrics if query is None or not meanings[index].name.endswith(_DERIVED)] or metrics
    if len(evidence.result.rows) == 1 and base:
        return _single_row(evidence, meanings, base, query, scope(query, spoken or {}))
    if base:
        return _many_rows(evidence, meanings, base, query, scope(query, spoken or {}))
    return FigureBlock(sentences=_listing(evidence, meanings), table=render_table(evidence, meanings))


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
        return "no value"
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


def _verb(label: str) -> str:
    """`were` behind a label in the plural: its last word before any bracket or comma ends in a plain s."""
    if label.startswith("Number of "):
        return "was"
    head = re.split(r"[(,]", label)[0].split()
    last = head[-1].lower() if head else ""
    if last.endswith("ed") and len(head) > 1:
        last = head[-2].lower()  # "unresolved tickets opened"
    return "were" if last.endswith("s") and not last.endswith(("ss", "us", "is")) else "was"


def _with_unit(value: Any, meaning: ColumnMeaning) -> str:
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


def scope(query: MetricQuery | None, spoken: Mapping[str, str]) -> str:
    """The filters of a query as words behind a metric's label: ` of Nordics and DACH`.

    `spoken` gives the words for stored values that people write otherwise (`mid_market`).
    """
    if query is None:
        return ""
    parts = []
    for item in query.filters:
        values = ["no value" if value is None else spoken.get(str(value), str(value)) for value in item.values]
        joined = (
            values[0]
            if len(values) == 1
            else f"{', '.join(values[:-1])} {'or' if item.negated else 'and'} {values[-1]}"
        )
        parts.append(f"without {joined}" if item.negated else joined)
    kept = [part for part in parts if not part.startswith("without ")]
    left = [part for part in parts if part.startswith("without ")]
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


def compared_period(query: MetricQuery) -> str:
    """Words for the period that a comparison without split by time compares with."""
    found = query.time_range
    if found is None or found.start is None or found.end is None:
        return "the year before" if query.comparison == "year_ago" else "the period before"
    start, end = shift_range(found.start, found.end, year=query.comparison == "year_ago")
    return describe_range(TimeRange(start=start, end=end))


def _single_row(
    evidence: SqlEvidence, meanings: Sequence[ColumnMeaning], base: Sequence[int], query: MetricQuery | None, place: str
) -> FigureBlock:
    row = evidence.result.rows[0]
    names = [show_cell(row[i], meanings[i]) for i in range(len(row)) if meanings[i].role in ("dimension", "time")]
    sentences = []
    for index in base:
        meaning = meanings[index]
        if names and (query is None or query.dimensions or query.grain):
            place = f" of {', '.join(names)}"
        when = period_words(query.time_range if query else None)
        if names and query is not None and query.order is not None and index == base[0] and query.order_by == "value":
            shown = show_cell(row[index], meaning, unit=True)
            sentences.append(f"{', '.join(names)} had the {_which(query)} {_inside(meaning.label)}{when}: {shown}.")
            continue
        text = f"{meaning.label}{place}{when} {_verb(meaning.label)} {_with_unit(row[index], meaning)}"
        sentences.append(text + _comparison(row, meanings, meaning.name, query) + ".")
    first = base[0]
    return FigureBlock(sentences=tuple(sentences), headline_value=row[first], headline_unit=meanings[first].unit)


def _named(row: Sequence[Any], meanings: Sequence[ColumnMeaning], name: str) -> tuple[Any, ColumnMeaning] | None:
    return next(((row[i], meaning) for i, meaning in enumerate(meanings) if meaning.name == name), None)


def _comparison(row: Sequence[Any], meanings: Sequence[ColumnMeaning], name: str, query: MetricQuery | None) -> str:
    """`, down 6.2 percentage points from 17.6 % in Q2 2025` from the columns of a comparison."""
    if query is None or query.comparison == "none":
        share = _named(row, meanings, f"{name}_share")
        return f", {show_cell(share[0], share[1], unit=True)} of the total" if share and share[0] is not None else ""
    before = next((found for suffix in _COMPARED if (found := _named(row, meanings, name + suffix))), None)
    change, relative = _named(row, meanings, f"{name}_change"), _named(row, meanings, f"{name}_change_percent")
    if before is None or change is None:
        return ""
    period = compared_period(query)
    if before[0] is None or change[0] is None:
        return f"; for {period} there is no value"
    difference = as_number(change[0])
    earlier = f"{show_cell(before[0], before[1], unit=True)} in {period}"
    if difference is None or difference == 0:
        return f", unchanged from {earlier}"
    word = "up" if difference > 0 else "down"
    text = f", {word} {format_number(abs(difference), change[1].unit, change[1].decimals)} from {earlier}"
    if relative is not None and relative[0] is not None and change[1].unit != "percentage points":
        ratio = as_number(relative[0])
        if ratio is not None:
            text += f" ({'+' if ratio > 0 else '-'}{format_number(abs(ratio), '%', relative[1].decimals)})"
    return text


def _many_rows(
    evidence: SqlEvidence, meanings: Sequence[ColumnMeaning], base: Sequence[int], query: MetricQuery | None, place: str
) -> FigureBlock:
    rows = evidence.result.rows
    keys = [i for i in range(len(meanings)) if meanings[i].role in ("dimension", "time")]
    index = base[0]
    meaning = meanings[index]
    valued = [(number, row) for row in rows if (number := as_number(row[index])) is not None]
    sentences: list[str] = []
    where = place + period_words(query.time_range if query else None)
    if valued and keys:
        if query is not None and query.conditions and query.order is None:
            sentences.append(_who_has(rows, keys, meanings, query, where))
        top = max(valued, key=lambda pair: pair[0])
        low = min(valued, key=lambda pair: pair[0])
        if query is not None and query.order is not None:
            which = _which(query)
            if query.order_by == "value":
                label = _inside(meaning.label)
                tied = [row for row in rows if row[index] == rows[0][index]]
                shown = show_cell(rows[0][index], meaning, unit=True) + (" each" if len(tied) > 1 else "")
                sentences.append(f"{_names(tied, keys, meanings)} had the {which} {label}{where}: {shown}.")
            else:
                sentences.append(f"{meaning.label}{where} by {_labels(keys, meanings)}, the {which} change first.")
        elif sentences and top[0] == low[0]:
            pass  # said with the names
        elif top[0] == low[0]:
            sentences.append(
                f"{meaning.label}{where} {_verb(meaning.label)} {_with_unit(top[1][index], meaning)} throughout."
            )
        else:
            highest = [row for number, row in valued if number == top[0]]
            lowest = [row for number, row in valued if number == low[0]]
            # What a split leaves out may have had none: the lowest of a count is only the lowest of what is listed.
            listed = query is not None and query.dimensions and meaning.decimals == 0 and low[0] > 0
            among = f", of the {len(rows)} listed," if listed else ""
            sentences.append(
                f"{meaning.label}{where} {_verb(meaning.label)} highest in {_names(highest, keys, meanings)} with "
                f"{_with_unit(top[1][index], meaning)} and lowest{among} in {_names(lowest, keys, meanings)} with "
                f"{_with_unit(low[1][index], meaning)}."
            )
    ranked = query is not None and query.order is not None
    return FigureBlock(
        sentences=tuple(sentences),
        table=render_table(evidence, meanings),
        headline_value=rows[0][index] if ranked else None,
        headline_unit=meaning.unit if ranked else "",
    )


def _which(query: MetricQuery) -> str:
    """`highest`, or `second highest` where one place of the ranking is asked."""
    which = "highest" if query.order == "descending" else "lowest"
    if query.place is None:
        return which
    word = _ORDINALS[query.place - 2] if 2 <= query.place < len(_ORDINALS) + 2 else f"{query.place}th"
    return f"{word} {which}"


_CONDITIONS = {">": "over", ">=": "of at least", "<": "under", "<=": "of at most", "=": "of exactly"}


def _who_has(
    rows: Sequence[Sequence[Any]],
    keys: Sequence[int],
    meanings: Sequence[ColumnMeaning],
    query: MetricQuery,
    where: str,
) -> str:
    """`DACH and Iberia had no churned customers in May 2026`: the names of the rows that meet the conditions."""
    told = []
    label = ""
    for item in query.conditions:
        meaning = next((found for found in meanings if found.name == item.metric), None)
        label = _inside(meaning.label) if meaning is not None else item.metric
        word = _CONDITIONS[item.operator]
        if item.value == 0 and query.combine == "difference" and " less " in label:
            label = label.replace(" less ", {">": " above ", "<": " below "}.get(item.operator, " against "), 1)
        elif item.value != 0 or item.operator not in (">", "="):
            unit = meaning.unit if meaning is not None and meaning.unit.lower() not in label.lower() else ""
            told.append(f"{word} {format_number(item.value, unit, None)}")
        elif item.operator == "=":
            label = f"no {label}"
    return f"{_names(rows, keys, meanings)} had {' '.join([label, ' and '.join(told)]).strip()}{where}."


def _names(rows: Sequence[Sequence[Any]], keys: Sequence[int], meanings: Sequence[ColumnMeaning]) -> str:
    """The names of rows that share a value, all of them up to a number that can still be read."""
    names = [_key(row, keys, meanings) for row in rows[:MAX_NAMES]]
    if len(rows) > MAX_NAMES:
        return f"{', '.join(names)} and {len(rows) - MAX_NAMES:,} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _inside(label: str) -> str:
    """A label in the middle of a sentence; names such as `SLA share` keep their capitals."""
    return label[:1].lower() + label[1:] if label[1:2].islower() else label


def _key(row: Sequence[Any], keys: Sequence[int], meanings: Sequence[ColumnMeaning]) -> str:
    return ", ".join(show_cell(row[i], meanings[i]) for i in keys)


def _labels(keys: Sequence[int], meanings: Sequence[ColumnMeaning]) -> str:
    return " and ".join(meanings[i].label.lower() for i in keys)


def _listing(evidence: SqlEvidence, meanings: Sequence[ColumnMeaning]) -> tuple[str, ...]:
    rows = evidence.result.rows
    if len(rows) == 1:
        pairs = [
            f"{meaning.label} was {show_cell(cell, meaning)}" for meaning, cell in zip(meanings, rows[0], strict=True)
        ]
        return (", ".join(pairs) + ".",)
    return (f"{len(rows):,} rows were found.",)


def render_table(evidence: SqlEvidence, meanings: Sequence[ColumnMeaning]) -> str:
    """The first rows as a Markdown table with units in its header; says how many rows there are in all."""
    rows = evidence.result.rows
    shown = rows[:MAX_TABLE_ROWS]
    header = [f"{meaning.label}{f' ({meaning.unit})' if meaning.unit else ''}" for meaning in meanings]
    rule = ["---:" if meaning.role == "metric" else "---" for meaning in meanings]
    lines = [header, rule, *([show_cell(cell, meanings[i]) for i, cell in enumerate(row)] for row in shown)]
    text = "\n".join("| " + " | ".join(_escape(cell) for cell in line) + " |" for line in lines)
    if len(rows) > len(shown):
        text += f"\n\n{len(rows):,} rows in all, the first {len(shown)} shown."
    return text


def _escape(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


__all__ = [
    "MAX_TABLE_ROWS",
    "FigureBlock",
    "Grain",
    "column_meanings",
    "compared_period",
    "describe_result",
    "render_table",
]
