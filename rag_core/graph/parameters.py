"""Puts typed values of earlier results into the steps that depend on them. Pure.

A value goes into a metric query as a value of its filter or as its time range, and into SQL as a literal of the syntax
tree, never as text: whatever stands in a row, it cannot become SQL. The guard judges the statement afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import sqlglot
from sqlglot import exp

from rag_core.datamodel.evidence import SqlEvidence
from rag_core.datamodel.plan import Binding, DimensionFilter, MetricQuery, SqlStep, TimeRange
from rag_core.datamodel.query import GuardVerdict
from rag_core.semantics.calendar import period
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.describe import describe_query
from rag_core.workers.outcome import Fault, StepOutcome, latest
from rag_core.workers.sql_worker import Guard

# A filter on more values than this is no part of a question any more.
MAX_VALUES = 1_000


class MissingValue(Exception):
    """The step before brought nothing to go on with; the text says what was missing."""


def placeholder(step_id: str) -> str:
    """The literal in SQL whose place a step's value takes."""
    return f"@{step_id}"


def read_values(binding: Binding, evidence: SqlEvidence | None) -> tuple[Any, ...]:
    """The values of a binding in an earlier result, without NULL, each once. Raises MissingValue where there are none.

    A result that was cut is no list to go on with: the rest of it would be missing silently.
    """
    if evidence is None or not evidence.result.rows:
        raise MissingValue(f"step {binding.step_id}, which it goes on from, found nothing")
    many = binding.kind in ("names", "ids")
    if many and (evidence.result.truncated_by or evidence.result.row_count > MAX_VALUES):
        raise MissingValue(f"step {binding.step_id} found more than can be gone on with")
    index = _column(binding, evidence)
    rows = evidence.result.rows if many else evidence.result.rows[:1]
    found = tuple(dict.fromkeys(row[index] for row in rows if row[index] is not None))
    if not found:
        raise MissingValue(f"the result of step {binding.step_id} names nothing to go on with")
    return found


def _column(binding: Binding, evidence: SqlEvidence) -> int:
    if binding.column is not None:
        try:
            return evidence.result.column_index(binding.column)
        except KeyError:
            raise MissingValue(f"the result of step {binding.step_id} has no column {binding.column}") from None
    wanted = "time" if binding.kind in ("date", "period") else "dimension"
    roles = {meaning.name: meaning.role for meaning in evidence.meanings}
    names = [column.name for column in evidence.result.columns]
    return next((index for index, name in enumerate(names) if roles.get(name) == wanted), 0)


def fill_step(step: SqlStep, outcomes: Sequence[StepOutcome], model: SemanticModel) -> SqlStep | Fault:
    """The step with what it takes from earlier ones, and a task that names it; a fault where they brought nothing."""
    if not step.bindings:
        return step
    results = {item.step_id: item.sql for item in latest(tuple(outcomes))}
    query = step.metric_query
    try:
        for binding in step.bindings:
            values = read_values(binding, results.get(binding.step_id))
            if query is not None:
                query = _filled(query, binding, values)
    except MissingValue as missing:
        return Fault(fault_class="empty", code="no_value", message=str(missing))
    if query is None:
        return step
    return step.model_copy(update={"metric_query": query, "task": describe_query(query, model)})


def _filled(query: MetricQuery, binding: Binding, values: tuple[Any, ...]) -> MetricQuery:
    if binding.kind in ("date", "period"):
        day = values[0].date() if isinstance(values[0], datetime) else values[0]
        if not isinstance(day, date):
            raise MissingValue(f"step {binding.step_id} brought no date")
        start, end = period(day, binding.grain or "day")
        # A figure that is counted up to a day has a range without a beginning, and keeps it so.
        open_start = query.time_range is not None and query.time_range.start is None
        return query.model_copy(update={"time_range": TimeRange(start=None if open_start else start, end=end)})
    filters = tuple(
        DimensionFilter(dimension=item.dimension, values=values) if item.dimension == binding.dimension else item
        for item in query.filters
    )
    return query.model_copy(update={"filters": filters})


def bind_sql(sql: str, values: Mapping[str, tuple[Any, ...]], *, dialect: str) -> str:
    """The statement with the literals '@STEP' replaced by the values of that step.

    In `IN ('@s1')` and `= '@s1'` several values become a list; anywhere else the first one stands. A statement that
    cannot be parsed comes back as it is, for the guard to refuse.
    """
    try:
        tree = sqlglot.parse_one(sql, dialect=dialect)
    except sqlglot.errors.SqlglotError:
        return sql
    for literal in list(tree.find_all(exp.Literal)):
        given = values.get(str(literal.this).removeprefix("@")) if literal.is_string else None
        if not given or not str(literal.this).startswith("@"):
            continue
        parent = literal.parent
        made = [_literal(value) for value in given]
        if isinstance(parent, exp.In):
            others = [item for item in parent.expressions if item is not literal]
            parent.set("expressions", [*others, *made])
        elif isinstance(parent, exp.EQ) and len(made) > 1:
            column = parent.left if parent.right is literal else parent.right
            parent.replace(exp.In(this=column.copy(), expressions=made))
        else:
            literal.replace(made[0])
    return tree.sql(dialect=dialect)


def _literal(value: Any) -> exp.Expression:
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int | float | Decimal):
        return exp.Literal.number(str(value))
    if isinstance(value, datetime):
        return exp.cast(exp.Literal.string(value.isoformat(sep=" ")), "timestamp")
    if isinstance(value, date):
        return exp.cast(exp.Literal.string(value.isoformat()), "date")
    return exp.Literal.string(str(value))


class BindingGuard:
    """The guard of a step that takes values: puts them in, then judges what would run.

    `unbound` is the last statement as it was written, which is what a kept plan must hold.
    """

    def __init__(self, guard: Guard, values: Mapping[str, tuple[Any, ...]], *, dialect: str) -> None:
        self._guard = guard
        self._values = values
        self._dialect = dialect
        self.unbound: str | None = None

    def check(self, sql: str) -> GuardVerdict:
        """The decision on the statement with the values in it."""
        self.unbound = sql
        return self._guard.check(bind_sql(sql, self._values, dialect=self._dialect))


def sql_values(step: SqlStep, outcomes: Sequence[StepOutcome]) -> dict[str, tuple[Any, ...]]:
    """The values for the SQL of a step, by the earlier step's id; raises MissingValue."""
    results = {item.step_id: item.sql for item in latest(tuple(outcomes))}
    return {binding.step_id: read_values(binding, results.get(binding.step_id)) for binding in step.bindings}
