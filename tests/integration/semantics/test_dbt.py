"""The sample's model through dbt's YAML and back: nothing is lost, and dbt's part alone means the same."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from rag_core.connectors.base import Warehouse
from rag_core.datamodel.plan import MetricQuery, TimeRange
from rag_core.policy.rules import load_policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.semantics.compile import compile_query
from rag_core.semantics.dbt_export import export_dbt
from rag_core.semantics.dbt_files import DbtProject, read_project
from rag_core.semantics.dbt_import import import_dbt
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.validate import validate_model

pytestmark = pytest.mark.integration
QUARTER = TimeRange(start=date(2026, 4, 1), end=date(2026, 7, 1))


def test_nothing_is_lost(model: SemanticModel, warehouse: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "larkspur.yml"
    path.write_text(export_dbt(model).text, encoding="utf-8")
    made = import_dbt(read_project(path), catalog=warehouse.snapshot(), dialect="postgres")
    again = SemanticModel.model_validate(made.document)
    assert made.notes == ()
    assert sorted(again.joins, key=str) == sorted(model.joins, key=str)
    assert again.model_copy(update={"joins": model.joins}) == model
    assert validate_model(again, warehouse.snapshot()) == ()


def test_what_dbt_itself_says_gives_the_same_numbers(
    model: SemanticModel, warehouse: Warehouse, repo_root: Path
) -> None:
    document = export_dbt(model).document
    for entry in (*document["semantic_models"], *document["metrics"]):
        entry.pop("config", None)
    project = DbtProject(semantic_models=tuple(document["semantic_models"]), metrics=tuple(document["metrics"]))
    catalog = warehouse.snapshot()
    made = import_dbt(project, catalog=catalog, dialect="postgres")
    bare = SemanticModel.model_validate(made.document)
    assert [item for item in validate_model(bare, catalog) if item.severity == "error"] == []
    guard = SqlGuard(load_policy(repo_root / "config" / "schema_policy.yaml"), catalog)
    compared = 0
    for name, metric in model.metrics.items():
        if name not in bare.metrics:
            continue
        query = MetricQuery(metrics=(name,), time_range=QUARTER)
        ours, theirs = (_value(warehouse, guard, query, found) for found in (model, bare))
        factor = 100 if metric.unit == "%" else 1  # dbt's ratios are fractions of one
        assert theirs * factor == pytest.approx(ours, rel=1e-9), name
        compared += 1
    assert compared >= 40


def _value(warehouse: Warehouse, guard: SqlGuard, query: MetricQuery, model: SemanticModel) -> float:
    verdict = guard.check(compile_query(query, model, "postgres").sql)
    assert verdict.query is not None, verdict.message
    cell: Any = warehouse.execute(verdict.query).rows[0][0]
    return float(Decimal(str(cell)))
