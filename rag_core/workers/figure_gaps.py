"""Sentences on what a result does not hold: any row, a name for each, the days after the last one recorded. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.datamodel.evidence import ColumnMeaning, SqlEvidence
from rag_core.datamodel.plan import MetricQuery
from rag_core.workers.figure_words import article, inside, with_unit
from rag_core.workers.numbers import as_number, format_number

_CONDITIONS = {">": "over", ">=": "of at least", "<": "under", "<=": "of at most", "=": "of exactly"}


def tell_none(meanings: Sequence[ColumnMeaning], query: MetricQuery | None, where: str, task: str) -> str:
    """`None: no region had revenue over 5,000 EUR in Q2 2026.` for a result without rows; empty without its question.

    Args:
        meanings: of the result's columns.
        query: the metric query, None for a verified statement, whose `task` then says what was asked.
        where: words for filters and period.
        task: what the statement was to find.
    """
    if query is None:
        return f"None: no row meets this: {task.rstrip('.')}." if task else ""
    keys = [meaning for meaning in meanings if meaning.role in ("dimension", "time")]
    metric = next((meaning for meaning in meanings if meaning.role == "metric"), None)
    if metric is None or not keys:
        return ""
    told = []
    for item in query.conditions:
        own = next((meaning for meaning in meanings if meaning.name == item.metric), metric)
        unit = own.unit if own.unit.lower() not in own.label.lower() else ""
        told.append(f"{inside(own.label)} {_CONDITIONS[item.operator]} {format_number(item.value, unit, None)}")
    what = " and ".join(told) or inside(metric.label)
    return f"None: no {' and '.join(inside(key.label) for key in keys)} had {what}{where}."


def tell_unnamed(
    evidence: SqlEvidence, meanings: Sequence[ColumnMeaning], index: int, query: MetricQuery | None
) -> tuple[str, ...]:
    """What rows without a value of a dimension make up, listed or left out of a ranking; and the last day recorded.

    Args:
        evidence: the result, with what was looked up beside it.
        meanings: of its columns.
        index: the column of the figure.
        query: the metric query, None for other statements.
    """
    told: list[str] = []
    dimensions = [i for i, meaning in enumerate(meanings) if meaning.role == "dimension"]
    lacking = [row for row in evidence.result.rows if any(row[i] is None for i in dimensions)]
    metric = meanings[index]
    if lacking and len(evidence.result.rows) > 1:
        names = " or ".join(inside(meanings[i].label) for i in dimensions if any(row[i] is None for row in lacking))
        one = with_unit(lacking[0][index], metric) if len(lacking) == 1 else f"{len(lacking)} of those listed"
        told.append(f"Rows without {article(names)} {names}: {one}.")
    if dimensions and as_number(evidence.unnamed):
        names = " and ".join(inside(meanings[i].label) for i in dimensions)
        told.append(
            f"Left out of the ranking are rows without {article(names)} {names}: {with_unit(evidence.unnamed, metric)}."
        )
    span = query.time_range if query is not None else None
    if evidence.recorded is not None and span is not None and span.start is not None:
        last = evidence.recorded[1]
        told += [f"The last row recorded is of {last}."] if span.start > last else []
    return tuple(told)
