from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey
from rag_core.datamodel.plan import MetricQuery, TimeRange
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.model import load_semantic_model
from rag_core.semantics.probes import may_lack, span_statements, unnamed_query
from tests.question_world import MODEL

JUNE = TimeRange(start=date(2026, 6, 1), end=date(2026, 7, 1))


@pytest.fixture
def model(tmp_path: Path) -> SemanticModel:
    path = tmp_path / "model.yaml"
    path.write_text(MODEL, encoding="utf-8")
    return load_semantic_model(path)


def catalog(*, code: bool = False, name: bool = False, declared: bool = True) -> Catalog:
    """Orders and regions; `code` and `name` say whether these may be empty."""
    key = ForeignKey(name="fk", columns=("region_code",), target="main.regions", target_columns=("code",))
    orders = CatalogTable(
        schema_name="main",
        name="orders",
        columns=(CatalogColumn(name="region_code", type="text", nullable=code),),
        foreign_keys=(key,) if declared else (),
    )
    regions = CatalogTable(
        schema_name="main", name="regions", columns=(CatalogColumn(name="name", type="text", nullable=name),)
    )
    return Catalog(dialect="duckdb", database="x", taken_at=datetime(2026, 1, 1, tzinfo=UTC), tables=(orders, regions))


@pytest.mark.parametrize(
    ("known", "lacks"),
    [
        (catalog(), False),
        (catalog(code=True), True),
        (catalog(name=True), True),
        (catalog(declared=False), True),
    ],
)
def test_a_name_may_lack_where_the_schema_lets_it(model: SemanticModel, known: Catalog, lacks: bool) -> None:
    assert may_lack(model, known, "orders", "region") is lacks
    ranked = MetricQuery(metrics=("revenue",), dimensions=("region",), order="descending", limit=1, time_range=JUNE)
    other = unnamed_query(ranked, model, known)
    assert (other is not None) is lacks
    if other is not None:
        assert (other.filters[0].values, other.time_range, other.order) == ((None,), JUNE, None)


def test_only_a_ranking_leaves_rows_out(model: SemanticModel) -> None:
    listed = MetricQuery(metrics=("revenue",), dimensions=("region",))
    assert unnamed_query(listed, model, catalog(code=True)) is None
    kept = listed.model_copy(update={"order": "descending", "keep_empty": True})
    assert unnamed_query(kept, model, catalog(code=True)) is None


def test_the_days_recorded_are_looked_up_only_for_a_period(model: SemanticModel) -> None:
    query = MetricQuery(metrics=("orders", "revenue"), time_range=JUNE)
    assert span_statements(query, model, "duckdb") == (
        "SELECT MIN(orders.day) AS first_recorded, MAX(orders.day) AS last_recorded FROM main.orders AS orders",
    )
    assert span_statements(query.model_copy(update={"time_range": None}), model, "duckdb") == ()
