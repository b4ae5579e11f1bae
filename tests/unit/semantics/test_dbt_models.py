"""Models that carry their semantic model inside (dbt 1.12) give the same model as the layout before."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable, UniqueKey
from rag_core.semantics.dbt_files import read_project
from rag_core.semantics.dbt_import import DbtImport, import_dbt


def table(name: str, key: str | None, **columns: str) -> CatalogTable:
    return CatalogTable(
        schema_name="main",
        name=name,
        columns=tuple(CatalogColumn(name=column, type=kind) for column, kind in columns.items()),
        keys=(UniqueKey(name=f"{name}_key", columns=(key,), primary=True),) if key else (),
    )


CATALOG = Catalog(
    dialect="duckdb",
    database="shop",
    taken_at=datetime(2026, 7, 1, tzinfo=UTC),
    tables=(
        table("fct_sales", "sale_id", sale_id="integer", shop_id="integer", sold_on="date", kind="text", price="real"),
        table("dim_shops", "id", id="integer", city="text"),
        table("stock_levels", None, counted_at="date", pieces="integer"),
    ),
)
BEFORE = """\
semantic_models:
  - name: sales
    description: One row a sale
    model: ref('fct_sales')
    defaults: {agg_time_dimension: day}
    entities:
      - {name: sale, type: primary, expr: sale_id}
      - {name: shop, type: foreign, expr: shop_id}
    dimensions:
      - {name: day, type: time, expr: sold_on, type_params: {time_granularity: day}}
      - {name: kind, type: categorical, label: Kind of sale}
      - {name: price_band, type: categorical, expr: "CASE WHEN price > 10 THEN 'high' ELSE 'low' END"}
    measures:
      - {name: turnover, agg: sum, expr: price}
      - {name: sale_count, agg: count, expr: sale_id}
      - {name: upper_price, agg: percentile, expr: price, agg_params: {percentile: 0.9}}
  - name: shops
    description: Shops
    model: ref('dim_shops')
    entities: [{name: id, type: primary}]
    dimensions: [{name: city, type: categorical}]
  - name: stock
    description: Stock
    model: ref('stock_levels')
    defaults: {agg_time_dimension: counted_at}
    primary_entity: stock_level
    dimensions: [{name: counted_at, type: time, type_params: {time_granularity: day}}]
    measures:
      - {name: held, agg: sum, expr: pieces, non_additive_dimension: {name: counted_at, window_choice: max}}
metrics:
  - {name: turnover, label: Turnover, type: simple, type_params: {measure: turnover}}
  - {name: sale_count, label: Sales, type: simple, type_params: {measure: {name: sale_count, fill_nulls_with: 0}}}
  - {name: upper_price, label: High price, type: simple, type_params: {measure: upper_price}}
  - {name: per_sale, label: Each, type: ratio, type_params: {numerator: turnover, denominator: sale_count}}
  - name: net
    label: Net
    type: derived
    type_params: {expr: gross * 0.8 - sale_count, metrics: [{name: turnover, alias: gross}, sale_count]}
  - name: turnover_30
    label: Turnover of 30 days
    type: cumulative
    type_params: {cumulative_type_params: {metric: turnover, window: 30 days}}
  - {name: held, label: Pieces held, type: simple, type_params: {measure: held}}
  - {name: cross, label: Cross, type: ratio, type_params: {numerator: turnover, denominator: held}}
  - {name: won, label: Won, type: conversion, type_params: {}}
"""
SINCE = """\
models:
  - name: fct_sales
    description: One row a sale
    semantic_model: {enabled: true, name: sales}
    agg_time_dimension: sold_on
    columns:
      - {name: sale_id, entity: {type: primary, name: sale}}
      - {name: shop_id, entity: {type: foreign, name: shop}}
      - {name: sold_on, granularity: day, dimension: {type: time, name: day}}
      - {name: kind, dimension: {type: categorical, label: Kind of sale}}
      - {name: price, data_tests: [not_null]}
    derived_semantics:
      dimensions:
        - {name: price_band, type: categorical, expr: "CASE WHEN price > 10 THEN 'high' ELSE 'low' END"}
    metrics:
      - {name: turnover, label: Turnover, type: simple, agg: sum, expr: price}
      - {name: sale_count, label: Sales, type: simple, agg: count, expr: sale_id, fill_nulls_with: 0}
      - {name: upper_price, label: High price, agg: percentile, expr: price, percentile: 0.9}
      - {name: per_sale, label: Each, type: ratio, numerator: turnover, denominator: sale_count}
      - name: net
        label: Net
        type: derived
        expr: gross * 0.8 - sale_count
        input_metrics: [{name: turnover, alias: gross}, sale_count]
      - {name: turnover_30, label: Turnover of 30 days, type: cumulative, input_metric: turnover, window: 30 days}
  - name: dim_shops
    description: Shops
    semantic_model: {enabled: true, name: shops}
    columns: [{name: id, entity: primary}, {name: city, dimension: categorical}]
  - name: stock_levels
    description: Stock
    semantic_model: {enabled: true, name: stock}
    agg_time_dimension: counted_at
    primary_entity: stock_level
    columns: [{name: counted_at, granularity: day, dimension: {type: time}}]
    metrics:
      - name: held
        label: Pieces held
        type: simple
        agg: sum
        expr: pieces
        non_additive_dimension: {name: counted_at, window_agg: max}
  - {name: switched_off, semantic_model: {enabled: false}, metrics: [{name: nothing, agg: sum, expr: x}]}
  - {name: plain, columns: [{name: id}]}
metrics:
  - {name: cross, label: Cross, type: ratio, numerator: turnover, denominator: held}
  - {name: won, label: Won, type: conversion, entity: sale, base_metric: turnover, conversion_metric: turnover}
"""


def imported(folder: Path, text: str) -> DbtImport:
    file = folder / "models.yml"
    file.write_text(text, encoding="utf-8")
    return import_dbt(read_project(file), catalog=CATALOG, dialect="duckdb")


def test_both_layouts_give_the_same_model(tmp_path: Path) -> None:
    before, since = imported(tmp_path, BEFORE), imported(tmp_path, SINCE)
    assert since.document == before.document
    assert [note.key for note in since.notes] == [note.key for note in before.notes]
    assert set(since.document["metrics"]) >= {"turnover", "per_sale", "net", "turnover_30", "held", "cross"}
    assert since.document["entities"]["sales"]["primary_key"] == ["sale_id"]
    assert any(note.key == "metrics.won" for note in since.notes)


def test_a_model_may_be_switched_on_by_one_word(tmp_path: Path) -> None:
    text = """\
models:
  - name: fct_sales
    semantic_model: true
    agg_time_dimension: sold_on
    columns:
      - {name: sale_id, entity: primary}
      - {name: sold_on, granularity: day, dimension: time}
    metrics: [{name: turnover, agg: sum, expr: price}]
"""
    found = imported(tmp_path, text).document
    assert list(found["entities"]) == ["fct_sales"]
    assert found["metrics"]["turnover"]["expression"].lower() == "sum(price)"


def test_a_running_total_keeps_the_conditions_of_its_metric(tmp_path: Path) -> None:
    text = SINCE.replace(
        "input_metric: turnover, window",
        "input_metric: {name: gifts, filter: \"{{ Dimension('sale__price_band') }} = 'high'\"}, window",
    ).replace(
        "      - {name: per_sale",
        "      - {name: gifts, agg: sum, expr: price, filter: \"{{ Dimension('sale__kind') }} = 'gift'\"}\n"
        "      - {name: per_sale",
    )
    found = imported(tmp_path, text).document["metrics"]["turnover_30"]
    assert sorted(found["filters"]) == ["CASE WHEN price > 10 THEN 'high' ELSE 'low' END = 'high'", "kind = 'gift'"]
