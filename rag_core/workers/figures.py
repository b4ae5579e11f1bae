"""Results said in sentences and Markdown tables. Pure; every number shown is a cell of the result, rounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rag_core.datamodel.base import Record
from rag_core.datamodel.evidence import ColumnMeaning, SqlEvidence
from rag_core.datamodel.plan import MetricQuery, TimeRange
from rag_core.semantics.calendar import describe_range, shift_range
from rag_core.workers.figure_gaps import tell_none, tell_unnamed
from rag_core.workers.figure_words import (
    column_meanings,
    inside,
    period_words,
    scope,
    show_cell,
    verb,
    with_unit,
)
from rag_core.workers.numbers import as_number, format_number

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
    evidence: SqlEvidence,
    query: MetricQuery | None = None,
    spoken: Mapping[str, str] | None = None,
    covered: str = "",
) -> FigureBlock:
    """Sentences and a table for a result.

    Args:
        evidence: a result; one without rows says that there is none where its query is known.
        query: the metric query it answers, which gives the words for its filters and period; None for other SQL.
        spoken: words for stored values.
        covered: the period that the figure is of, where the query does not say it whole.
    """
    meanings = column_meanings(evidence)
    place = scope(query, spoken or {})
    when = period_words(query.time_range if query else None) + (f" ({covered})" if covered else "")
    if not evidence.result.rows:
        told = tell_none(meanings, query, place + when, evidence.task)
        return FigureBlock(sentences=(told,) if told else ())
    metrics = [index for index, meaning in enumerate(meanings) if meaning.role == "metric"]
    base = [index for index in metrics if query is None or not meanings[index].name.endswith(_DERIVED)] or metrics
    if len(evidence.result.rows) == 1 and base:
        return _with_gaps(_single_row(evidence, meanings, base, query, place, when), evidence, meanings, base, query)
    if base:
        return _with_gaps(_many_rows(evidence, meanings, base, query, place + when), evidence, meanings, base, query)
    return FigureBlock(sentences=_listing(evidence, meanings), table=render_table(evidence, meanings))


def _with_gaps(
    block: FigureBlock,
    evidence: SqlEvidence,
    meanings: Sequence[ColumnMeaning],
    base: Sequence[int],
    query: MetricQuery | None,
) -> FigureBlock:
    """The block with what it leaves out or holds without a name."""
    told = tell_unnamed(evidence, meanings, base[0], query)
    return block.model_copy(update={"sentences": (*block.sentences, *told)})


def compared_period(query: MetricQuery) -> str:
    """Words for the period that a comparison without split by time compares with."""
    found = query.time_range
    if found is None or found.start is None or found.end is None:
        return "the year before" if query.comparison == "year_ago" else "the period before"
    start, end = shift_range(found.start, found.end, year=query.comparison == "year_ago")
    return describe_range(TimeRange(start=start, end=end))


def _single_row(
    evidence: SqlEvidence,
    meanings: Sequence[ColumnMeaning],
    base: Sequence[int],
    query: MetricQuery | None,
    place: str,
    when: str,
) -> FigureBlock:
    row = evidence.result.rows[0]
    names = [show_cell(row[i], meanings[i]) for i in range(len(row)) if meanings[i].role in ("dimension", "time")]
    sentences = []
    for index in base:
        meaning = meanings[index]
        if names and (query is None or query.dimensions or query.grain):
            place = f" of {', '.join(names)}"
        if names and query is not None and query.order is not None and index == base[0] and query.order_by == "value":
            shown = show_cell(row[index], meaning, unit=True)
            sentences.append(f"{', '.join(names)} had the {_which(query)} {inside(meaning.label)}{when}: {shown}.")
            continue
        if row[index] is None:
            sentences.append(f"{meaning.label}{place}{when}: nothing is recorded.")
            continue
        text = f"{meaning.label}{place}{when} {verb(meaning.label)} {with_unit(row[index], meaning)}"
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
    evidence: SqlEvidence, meanings: Sequence[ColumnMeaning], base: Sequence[int], query: MetricQuery | None, where: str
) -> FigureBlock:
    rows = evidence.result.rows
    keys = [i for i in range(len(meanings)) if meanings[i].role in ("dimension", "time")]
    index = base[0]
    meaning = meanings[index]
    valued = [(number, row) for row in rows if (number := as_number(row[index])) is not None]
    sentences: list[str] = []
    # Rows without a name stand for no member: they are neither the highest nor the lowest.
    named = [pair for pair in valued if all(pair[1][i] is not None for i in keys)]
    valued = named or valued
    if valued and keys:
        if query is not None and query.conditions and query.order is None:
            sentences.append(_who_has(rows, keys, meanings, query, where))
        top = max(valued, key=lambda pair: pair[0])
        low = min(valued, key=lambda pair: pair[0])
        if query is not None and query.order is not None:
            which = _which(query)
            if query.order_by == "value":
                label = inside(meaning.label)
                tied = [row for row in rows if row[index] == rows[0][index]]
                shown = show_cell(rows[0][index], meaning, unit=True) + (" each" if len(tied) > 1 else "")
                sentences.append(f"{_names(tied, keys, meanings)} had the {which} {label}{where}: {shown}.")
            else:
                sentences.append(f"{meaning.label}{where} by {_labels(keys, meanings)}, the {which} change first.")
        elif sentences and top[0] == low[0]:
            pass  # said with the names
        elif top[0] == low[0]:
            sentences.append(
                f"{meaning.label}{where} {verb(meaning.label)} {with_unit(top[1][index], meaning)} throughout."
            )
        else:
            highest = [row for number, row in valued if number == top[0]]
            lowest = [row for number, row in valued if number == low[0]]
            # What a split leaves out may have had none: the lowest of a count is only the lowest of what is listed.
            listed = query is not None and query.dimensions and meaning.decimals == 0 and low[0] > 0
            among = f", of the {len(rows)} listed," if listed else ""
            sentences.append(
                f"{meaning.label}{where} {verb(meaning.label)} highest in {_names(highest, keys, meanings)} with "
                f"{with_unit(top[1][index], meaning)} and lowest{among} in {_names(lowest, keys, meanings)} with "
                f"{with_unit(low[1][index], meaning)}."
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
        label = inside(meaning.label) if meaning is not None else item.metric
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
