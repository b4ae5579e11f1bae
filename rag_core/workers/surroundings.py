"""Looks up what a governed figure's result does not hold and its sentence must say, through the same guard.

A result of nothing is an answer where the period lies within what is recorded, and none where it does not; a ranking
leaves out the rows without a name; a figure without a period covers all that is recorded. The warehouse is asked only
where a result makes it necessary.
"""

from __future__ import annotations

from datetime import date

from rag_core.datamodel.evidence import SqlEvidence
from rag_core.datamodel.plan import MetricQuery, SqlStep
from rag_core.datamodel.query import QueryResult
from rag_core.errors import QueryFault
from rag_core.semantics.calendar import describe_range
from rag_core.semantics.compile import compile_query
from rag_core.semantics.coverage import told_coverage
from rag_core.semantics.describe import describe_query
from rag_core.semantics.paths import SemanticError
from rag_core.semantics.probes import span_statements, unnamed_query
from rag_core.workers.figure_words import column_meanings
from rag_core.workers.numbers import as_day, as_number
from rag_core.workers.outcome import Fault, StepOutcome
from rag_core.workers.sql_worker import SqlWorker


def look_around(step: SqlStep, outcome: StepOutcome, worker: SqlWorker) -> StepOutcome:
    """The outcome of a metric step with what its sentence needs; any other as it is.

    A result of nothing over a period before everything that is recorded becomes a fault of the class `empty`. Raises
    ServiceUnavailable where the warehouse does not answer.
    """
    query, evidence = step.metric_query, outcome.sql
    if query is None or evidence is None:
        return outcome
    told = told_coverage(query, worker.semantic_model)
    evidence = evidence.model_copy(update={"task": f"{evidence.task}, {told}" if told else evidence.task})
    if holds_nothing(evidence):
        evidence = evidence.model_copy(update={"recorded": _recorded(query, worker)})
        if (reason := not_recorded(query, evidence)) and not evidence.result.row_limited:
            label = describe_query(query, worker.semantic_model)
            fault = Fault(fault_class="empty", code="not_recorded", message=f"{label}: {reason}", sql=evidence.sql)
            return outcome.model_copy(update={"sql": None, "fault": fault})
    elif (other := unnamed_query(query, worker.semantic_model, worker.catalog)) is not None:
        evidence = evidence.model_copy(update={"unnamed": _single(other, worker)})
    return outcome.model_copy(update={"sql": evidence})


def holds_nothing(evidence: SqlEvidence) -> bool:
    """Whether a result has no row, or a single one whose figures are all zero or missing."""
    rows = evidence.result.rows
    if not rows:
        return True
    cells = [cell for cell, meaning in zip(rows[0], column_meanings(evidence), strict=True) if meaning.role == "metric"]
    return len(rows) == 1 and all(cell is None or as_number(cell) == 0 for cell in cells)


def not_recorded(query: MetricQuery, evidence: SqlEvidence) -> str:
    """Why a period is not one of which a result of nothing says anything, empty where it is."""
    span = query.time_range
    if evidence.recorded is None or span is None or span.end is None or span.end > evidence.recorded[0]:
        return ""
    first, last = evidence.recorded
    return f"the warehouse has rows from {first} to {last} and nothing of {describe_range(span)}"


def _recorded(query: MetricQuery, worker: SqlWorker) -> tuple[date, date] | None:
    """The first and last day that all tables behind a query have, None where one has no row or may not be seen."""
    spans: list[tuple[date, date]] = []
    try:
        statements = span_statements(query, worker.semantic_model, worker.warehouse.dialect)
    except SemanticError:
        return None
    for sql in statements:
        result = _run(sql, worker)
        first, last = (as_day(cell) for cell in result.rows[0]) if result is not None and result.rows else (None, None)
        if first is None or last is None:
            return None
        spans.append((first, last))
    return (max(first for first, _ in spans), min(last for _, last in spans)) if spans else None


def _single(query: MetricQuery, worker: SqlWorker) -> object:
    """The value of a query of one figure; None where it cannot be had."""
    try:
        compiled = compile_query(query, worker.semantic_model, worker.warehouse.dialect)
    except SemanticError:
        return None
    result = _run(compiled.sql, worker)
    return result.rows[0][0] if result is not None and result.rows else None


def _run(sql: str, worker: SqlWorker) -> QueryResult | None:
    """The result of a look; None where guard or database refuse it: then less is said, nothing else."""
    verdict = worker.guard.check(sql)
    if verdict.query is None:
        return None
    try:
        return worker.warehouse.execute(verdict.query)
    except QueryFault:
        return None
