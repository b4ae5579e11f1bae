"""The sample's semantic model against its real warehouse: valid, executable, and never wrong but confident."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import psycopg
import pytest

from bench.semantics.run import Bench
from rag_core.connectors.base import Warehouse
from rag_core.datamodel.plan import MetricQuery, TimeRange
from rag_core.policy.rules import load_policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.semantics.compile import compile_query
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.model import load_semantic_model
from rag_core.semantics.sources import supported
from rag_core.semantics.suggest import suggest_model
from rag_core.semantics.validate import validate_model
from rag_core.semantics.values import read_values

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def guard(repo_root: Path, warehouse: Warehouse) -> SqlGuard:
    return SqlGuard(load_policy(repo_root / "config" / "schema_policy.yaml"), warehouse.snapshot())


@pytest.fixture(scope="module")
def bench(reader_dsn: str) -> Iterator[Bench]:
    with psycopg.connect(reader_dsn, autocommit=True) as connection:
        connection.execute("SET TIME ZONE 'UTC'")
        yield Bench(connection)


def test_the_model_fits_the_live_schema(model: SemanticModel, warehouse: Warehouse) -> None:
    assert validate_model(model, warehouse.snapshot()) == ()


def test_values_are_read_through_the_guard(model: SemanticModel, warehouse: Warehouse, guard: SqlGuard) -> None:
    index = read_values(model, warehouse, guard)
    assert index.skipped == {}
    regions = index.of("region")
    assert regions is not None
    assert "DACH" in regions.values
    customers = index.of("customer")
    assert customers is not None
    assert len(customers.values) > 5_000


def test_every_figure_by_every_dimension_passes_the_guard_and_runs(
    model: SemanticModel, warehouse: Warehouse, guard: SqlGuard
) -> None:
    june = TimeRange(start=date(2026, 6, 1), end=date(2026, 7, 1))
    asked = 0
    for metric in model.metrics:
        for dimension in model.dimensions:
            if not supported(model, metric, dimension):
                continue
            query = MetricQuery(
                metrics=(metric,), dimensions=(dimension,), time_range=june, order="descending", limit=3
            )
            compiled = compile_query(query, model, warehouse.dialect)
            verdict = guard.check(compiled.sql)
            assert verdict.query is not None, (metric, dimension, verdict.message)
            result = warehouse.execute(verdict.query)
            assert len(result.columns) == len(compiled.meanings)
            assert set(verdict.tables) == set(compiled.tables)
            asked += 1
    assert asked > 250


def test_a_draft_from_the_live_schema_is_valid(warehouse: Warehouse, tmp_path: Path) -> None:
    catalog = warehouse.snapshot()
    path = tmp_path / "draft.yaml"
    path.write_text(suggest_model(catalog, dialect="postgres"), encoding="utf-8")
    problems = validate_model(load_semantic_model(path), catalog)
    assert [problem for problem in problems if problem.severity == "error"] == []


def test_facts_are_never_answered_wrong(bench: Bench) -> None:
    figures = bench.run(list(bench.facts()), verbose=True)
    assert figures["wrong"] == 0
    assert figures["right"] >= 0.89 * figures["asked"]


def test_paraphrases(bench: Bench) -> None:
    figures = bench.run(list(bench.paraphrases()), verbose=True)
    assert figures["asked"] >= 180
    assert figures["wrong"] == 0
    assert figures["right"] >= 0.95 * figures["asked"]


def test_refusals(bench: Bench) -> None:
    figures = bench.run(list(bench.refusals()), verbose=True)
    assert figures["right"] == figures["asked"]


def test_the_kinds_that_go_wrong_are_never_answered_wrong(bench: Bench) -> None:
    figures = bench.run(list(bench.kinds()), verbose=True)
    assert figures["asked"] >= 144
    assert figures["wrong"] == 0
    assert figures["right"] >= 0.75 * figures["asked"]


def test_the_same_kinds_in_other_words_are_never_answered_wrong(bench: Bench) -> None:
    figures = bench.run(list(bench.unseen()), verbose=True)
    assert figures["wrong"] == 0
    assert figures["right"] >= 0.65 * figures["asked"]


def test_questions_kept_apart_are_never_answered_wrong(bench: Bench) -> None:
    figures = bench.run([*bench.holdout(), *bench.fresh()], verbose=True)
    assert figures["wrong"] == 0
    assert figures["right"] >= 0.9 * figures["asked"]
