"""The same question gives the same numbers on PostgreSQL and on DuckDB, whatever its form."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from rag_core.connectors.base import Warehouse
from rag_core.datamodel.plan import MetricQuery, TimeRange
from rag_core.policy.rules import load_policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.visible import visible_catalog
from rag_core.semantics.compile import compile_query
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.model import load_semantic_model
from rag_core.semantics.suggest import suggest_model
from rag_core.semantics.validate import validate_model
from rag_core.semantics.values import read_values
from rag_core.semantics.verified import match_verified
from tests.unit.semantics.forms import FORMS

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def guards(repo_root: Path, warehouse: Warehouse, duckdb_warehouse: Warehouse) -> dict[str, SqlGuard]:
    policy = load_policy(repo_root / "config" / "schema_policy.yaml")
    return {place.dialect: SqlGuard(policy, place.snapshot()) for place in (warehouse, duckdb_warehouse)}


def rows_of(place: Warehouse, guard: SqlGuard, sql: str) -> list[tuple[Any, ...]]:
    verdict = guard.check(sql)
    assert verdict.query is not None, verdict.message
    return [tuple(_cell(cell) for cell in row) for row in place.execute(verdict.query).rows]


def _cell(cell: Any) -> Any:
    """One form for what the databases spell differently; numbers to nine digits, as one divides in binary."""
    if isinstance(cell, datetime):
        return cell.date()
    if isinstance(cell, date) or cell is None or isinstance(cell, str | bool):
        return cell
    number = Decimal(str(cell))
    return number if number == 0 else round(number, 9 - number.adjusted())


@pytest.mark.parametrize("form", FORMS)
def test_the_same_numbers(
    model: SemanticModel,
    warehouse: Warehouse,
    duckdb_warehouse: Warehouse,
    guards: dict[str, SqlGuard],
    form: str,
) -> None:
    here, there = (
        rows_of(place, guards[place.dialect], compile_query(FORMS[form], model, place.dialect).sql)
        for place in (warehouse, duckdb_warehouse)
    )
    assert here
    assert here == there


@pytest.mark.parametrize(
    "question", ["What was the largest order last quarter?", "How many active customers have not ordered for a year?"]
)
def test_verified_queries_too(
    model: SemanticModel,
    warehouse: Warehouse,
    duckdb_warehouse: Warehouse,
    guards: dict[str, SqlGuard],
    question: str,
) -> None:
    values = read_values(model, warehouse, guards["postgres"])
    verified = match_verified(question, model, values, date(2026, 7, 1))
    assert verified is not None
    here, there = (
        rows_of(place, guards[place.dialect], verified.to_dialect(model.dialect, place.dialect))
        for place in (warehouse, duckdb_warehouse)
    )
    assert here == there


def test_the_model_fits_both(model: SemanticModel, warehouse: Warehouse, duckdb_warehouse: Warehouse) -> None:
    assert validate_model(model, warehouse.snapshot()) == ()
    assert [item for item in validate_model(model, duckdb_warehouse.snapshot()) if item.severity == "error"] == []


def test_what_is_missing_is_named_on_both(
    model: SemanticModel, warehouse: Warehouse, duckdb_warehouse: Warehouse
) -> None:
    broken = model.metrics["revenue"].model_copy(update={"expression": "sum(order_totals)", "alternatives": ()})
    changed = model.model_copy(update={"metrics": {**model.metrics, "revenue": broken}})
    for place in (warehouse, duckdb_warehouse):
        problems = [item for item in validate_model(changed, place.snapshot()) if item.severity == "error"]
        assert [(item.key, "order_totals" in item.message) for item in problems] == [("metrics.revenue", True)]


def test_a_draft_of_either_is_valid_there_and_runs(
    warehouse: Warehouse, duckdb_warehouse: Warehouse, guards: dict[str, SqlGuard], tmp_path: Path
) -> None:
    june = TimeRange(start=date(2026, 6, 1), end=date(2026, 7, 1))
    for place in (warehouse, duckdb_warehouse):
        seen = visible_catalog(guards[place.dialect].policy, place.snapshot())
        path = tmp_path / f"{place.dialect}.yaml"
        path.write_text(suggest_model(seen, dialect=place.dialect), encoding="utf-8")
        draft = load_semantic_model(path)
        assert [item for item in validate_model(draft, place.snapshot()) if item.severity == "error"] == []
        assert len(draft.metrics) > 20
        for name in draft.metrics:
            query = MetricQuery(metrics=(name,), time_range=june)
            rows_of(place, guards[place.dialect], compile_query(query, draft, place.dialect).sql)
