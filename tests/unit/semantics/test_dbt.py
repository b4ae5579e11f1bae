"""dbt semantic models in and out: each kind that has a counterpart, and a clear word for each that has none."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from ruamel.yaml import YAML

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable, UniqueKey
from rag_core.datamodel.plan import MetricQuery
from rag_core.errors import ConfigurationError
from rag_core.semantics.compile import compile_query
from rag_core.semantics.dbt_export import export_dbt
from rag_core.semantics.dbt_files import DbtProject, read_project
from rag_core.semantics.dbt_import import DbtImport, import_dbt
from rag_core.semantics.dbt_measures import key_columns
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.model import check_model
from rag_core.semantics.validate import validate_model

PROJECT = """\
version: 2
semantic_models:
  - name: sales
    description: One row a sale
    model: ref('fct_sales')
    defaults: {agg_time_dimension: sold_on}
    entities:
      - {name: sale, type: primary, expr: sale_id}
      - {name: shop, type: foreign, expr: shop_id}
      - {name: campaign, type: foreign, expr: campaign_id}
    dimensions:
      - {name: sold_on, type: time, type_params: {time_granularity: day}}
      - {name: kind, type: categorical, label: Kind of sale}
      - {name: price_band, type: categorical, expr: "CASE WHEN price > 10 THEN 'high' ELSE 'low' END"}
    measures:
      - {name: price, agg: sum}
      - {name: sales, agg: sum, expr: 1}
      - {name: buyers, agg: count_distinct, expr: buyer_id}
      - {name: dearest, agg: max, expr: price}
      - {name: middle_price, agg: median, expr: price}
      - {name: upper_price, agg: percentile, expr: price, agg_params: {percentile: 0.9}}
      - {name: gifts, agg: sum_boolean, expr: kind = 'gift', create_metric: true}
      - {name: odd, agg: geometric_mean, expr: price}
  - name: shops
    model: ref('dim_shops')
    entities:
      - {name: shop, type: primary, expr: id}
    dimensions:
      - {name: city, type: categorical}
      - {name: kind, type: categorical}
  - name: stock
    model: source('raw', 'stock_levels')
    defaults: {agg_time_dimension: counted_at}
    primary_entity: stock_level
    dimensions:
      - {name: counted_at, type: time, type_params: {time_granularity: day}}
    measures:
      - {name: pieces, agg: sum, non_additive_dimension: {name: counted_at, window_choice: max}}
      - {name: pieces_first, agg: sum, expr: pieces, non_additive_dimension: {name: counted_at, window_choice: min}}
metrics:
  - {name: turnover, label: Turnover, type: simple, type_params: {measure: price}}
  - {name: sale_count, label: Sales, type: simple, type_params: {measure: sales}}
  - {name: buyer_count, label: Buyers, type: simple, type_params: {measure: {name: buyers, fill_nulls_with: 0}}}
  - {name: dearest_sale, label: Dearest sale, type: simple, type_params: {measure: dearest}}
  - {name: median_price, label: Median price, type: simple, type_params: {measure: middle_price}}
  - {name: high_price, label: High price, type: simple, type_params: {measure: upper_price}}
  - name: dear_turnover
    label: Turnover of dear sales
    type: simple
    type_params: {measure: price}
    filter: "{{ Dimension('sale__price_band') }} = 'high'"
  - name: price_per_sale
    label: Price per sale
    type: ratio
    type_params: {numerator: turnover, denominator: sale_count}
  - name: dear_share
    label: Dear share
    type: ratio
    type_params:
      numerator: {name: turnover, filter: "{{ Dimension('sale__price_band') }} = 'high'"}
      denominator: turnover
  - name: net
    label: Net turnover
    type: derived
    type_params:
      expr: gross * 0.8 - sale_count
      metrics: [{name: turnover, alias: gross}, sale_count]
  - {name: turnover_ever, label: Turnover to date, type: cumulative, type_params: {measure: price}}
  - name: turnover_30
    label: Turnover of 30 days
    type: cumulative
    type_params: {measure: price, cumulative_type_params: {window: 30 days}}
  - name: turnover_ytd
    label: Turnover this year
    type: cumulative
    type_params: {measure: price, cumulative_type_params: {grain_to_date: year, period_agg: first}}
  - {name: pieces_held, label: Pieces held, type: simple, type_params: {measure: pieces}}
  # Without a counterpart:
  - {name: first_pieces, label: First pieces, type: simple, type_params: {measure: pieces_first}}
  - {name: odd_price, label: Odd price, type: simple, type_params: {measure: odd}}
  - name: growth
    label: Growth
    type: derived
    type_params:
      expr: now - before
      metrics: [{name: turnover, alias: now}, {name: turnover, alias: before, offset_window: 1 month}]
  - name: city_turnover
    label: Turnover of Oslo
    type: simple
    type_params: {measure: price}
    filter: "{{ Dimension('shop__city') }} = 'Oslo'"
  - name: won
    label: Won buyers
    type: conversion
    type_params: {conversion_type_params: {entity: sale}}
  - {name: growth_twice, label: Twice, type: derived, type_params: {expr: growth * 2, metrics: [growth]}}
"""
ROWS = """
CREATE TABLE dim_shops (id INTEGER PRIMARY KEY, city VARCHAR, kind VARCHAR);
INSERT INTO dim_shops VALUES (1, 'Oslo', 'big'), (2, 'Bergen', 'small');
CREATE TABLE fct_sales (sale_id INTEGER PRIMARY KEY, shop_id INTEGER, campaign_id INTEGER, buyer_id INTEGER,
  sold_on DATE, kind VARCHAR, price DECIMAL(10, 2));
INSERT INTO fct_sales VALUES (1, 1, 1, 7, '2024-12-20', 'gift', 40), (2, 1, 1, 7, '2025-01-05', 'own', 8),
  (3, 2, 1, 8, '2025-01-20', 'gift', 20), (4, 2, 2, 9, '2025-02-03', 'own', 5), (5, 1, 2, 8, '2025-02-10', 'own', 30);
CREATE SCHEMA raw;
CREATE TABLE raw.stock_levels (counted_at DATE, pieces INTEGER);
INSERT INTO raw.stock_levels VALUES ('2025-01-10', 3), ('2025-01-31', 4), ('2025-01-31', 6), ('2025-02-28', 5);
"""


def table(schema: str, name: str, key: str | None, **columns: str) -> CatalogTable:
    return CatalogTable(
        schema_name=schema,
        name=name,
        columns=tuple(CatalogColumn(name=column, type=kind) for column, kind in columns.items()),
        keys=(UniqueKey(name=f"{name}_key", columns=(key,), primary=True),) if key else (),
    )


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    sales = table(
        "main", "fct_sales", "sale_id", sale_id="integer", shop_id="integer", campaign_id="integer", buyer_id="integer",
        sold_on="date", kind="varchar", price="decimal(10,2)",
    )  # fmt: skip
    shops = table("main", "dim_shops", "id", id="integer", city="varchar", kind="varchar")
    stock = table("raw", "stock_levels", None, counted_at="date", pieces="integer")
    return Catalog(
        dialect="duckdb", database="shop", taken_at=datetime(2026, 7, 1, tzinfo=UTC), tables=(sales, shops, stock)
    )


@pytest.fixture(scope="module")
def made(catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> DbtImport:
    folder = tmp_path_factory.mktemp("project")
    (folder / "models").mkdir()
    (folder / "models" / "sales.yml").write_text(PROJECT, encoding="utf-8")
    (folder / "models" / "broken.yml").write_text("models: [unclosed", encoding="utf-8")
    (folder / "models" / "plain.yaml").write_text("models: [{name: a, columns: []}]", encoding="utf-8")
    (folder / "target").mkdir()
    (folder / "target" / "made.yml").write_text(PROJECT, encoding="utf-8")
    return import_dbt(read_project(folder), catalog=catalog, dialect="duckdb")


@pytest.fixture(scope="module")
def model(made: DbtImport) -> SemanticModel:
    found = SemanticModel.model_validate(made.document)
    check_model(found)
    return found


def ask(model: SemanticModel, **parts: Any) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.execute(ROWS)
        sql = compile_query(MetricQuery.model_validate(parts), model, "duckdb").sql
        rows: list[tuple[Any, ...]] = connection.execute(sql).fetchall()
        return rows


YEAR = {"start": "2025-01-01", "end": "2026-01-01"}


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("turnover", 63),
        ("sale_count", 4),
        ("buyer_count", 3),
        ("dearest_sale", 30),
        ("median_price", 14),
        ("high_price", 27),
        ("gifts", 1),
        ("dear_turnover", 50),
        ("price_per_sale", 15.75),
        ("dear_share", 50 / 63),
        ("net", 63 * 0.8 - 4),
        ("turnover_ever", 103),
        ("pieces_held", 5),
    ],
)
def test_each_kind_of_figure_has_its_value(model: SemanticModel, metric: str, value: float) -> None:
    ((found,),) = ask(model, metrics=[metric], time_range=YEAR)
    assert float(found) == pytest.approx(value)


def test_figures_that_run_up(model: SemanticModel) -> None:
    months = {"start": "2025-01-01", "end": "2025-03-01"}
    rows = ask(model, metrics=["turnover_ever", "turnover_30", "turnover_ytd"], grain="month", time_range=months)
    assert [tuple(int(cell) for cell in row[1:]) for row in rows] == [(68, 28, 28), (103, 35, 63)]


def test_joins_follow_the_entities(model: SemanticModel) -> None:
    assert [(join.from_entity, join.to, join.columns) for join in model.joins] == [
        ("sales", "shops", {"shop_id": "id"})
    ]
    rows = ask(model, metrics=["turnover"], dimensions=["city"], time_range=YEAR)
    assert [(row[0], int(row[1])) for row in rows] == [("Bergen", 25), ("Oslo", 38)]


def test_names_that_two_tables_use_are_told_apart(model: SemanticModel) -> None:
    assert (model.dimensions["kind"].entity, model.dimensions["shops_kind"].entity) == ("sales", "shops")


def test_references_are_found_in_the_warehouse(made: DbtImport, model: SemanticModel, catalog: Catalog) -> None:
    assert model.entities["sales"].table == "main.fct_sales"
    assert model.entities["stock"].table == "raw.stock_levels"
    errors = [problem for problem in validate_model(model, catalog) if problem.severity == "error"]
    assert [problem.key for problem in errors] == ["entities.stock.primary_key"]  # dbt names none, and it is said


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("metrics.first_pieces", "sum at the last date"),
        ("metrics.odd_price", "geometric_mean"),
        ("metrics.growth", "ask for it as a comparison"),
        ("metrics.city_turnover", "dimension of another table"),
        ("metrics.won", "conversion"),
        ("metrics.growth_twice", "growth"),
        ("metrics.turnover_ytd", "end of each period"),
        ("metrics", "buyer_count"),
        ("measures", "odd"),
        ("semantic_models.sales.entities.campaign", "no join"),
        ("semantic_models.stock.entities", "no primary entity"),
        ("broken.yml", "not read"),
    ],
)
def test_what_has_no_counterpart_is_said(made: DbtImport, model: SemanticModel, key: str, words: str) -> None:
    told = [note.message for note in made.notes if note.key == key or note.key.endswith(f"/{key}")]
    assert any(words in message for message in told), made.notes
    if any("left out" in message for message in told):
        assert key.removeprefix("metrics.") not in model.metrics


def test_the_round_trip_keeps_every_figure(model: SemanticModel, catalog: Catalog) -> None:
    exported = export_dbt(model)
    again = import_dbt(
        DbtProject(
            semantic_models=tuple(exported.document["semantic_models"]), metrics=tuple(exported.document["metrics"])
        ),
        catalog=catalog,
        dialect="duckdb",
    )
    assert SemanticModel.model_validate(again.document) == model
    assert again.notes == ()


def test_a_change_in_dbt_wins_over_what_was_kept(model: SemanticModel, catalog: Catalog) -> None:
    document = export_dbt(model).document
    for item in document["semantic_models"]:
        for measure in item.get("measures", ()):
            if measure["name"] == "turnover_sum":
                measure["expr"] = "price * 2"
    project = DbtProject(semantic_models=tuple(document["semantic_models"]), metrics=tuple(document["metrics"]))
    changed = SemanticModel.model_validate(import_dbt(project, catalog=catalog, dialect="duckdb").document)
    assert changed.metrics["turnover"].expression == "sum(price * 2)"
    assert changed.metrics["dear_turnover"] == model.metrics["dear_turnover"]


def test_the_export_is_yaml_that_says_what_dbt_cannot(small: SemanticModel) -> None:
    exported = export_dbt(small)
    document = YAML(typ="safe", pure=True).load(exported.text)
    assert {item["name"] for item in document["semantic_models"]} == set(small.entities)
    told = {note.key for note in exported.notes}
    assert {"metrics.members", "metrics.loss_rate", "metrics"} <= told
    names = {item["name"] for item in document["metrics"]}
    assert "members" not in names
    assert {"revenue", "per_order", "margin", "employees"} <= names
    measures = [measure["name"] for item in document["semantic_models"] for measure in item.get("measures", ())]
    assert len(measures) == len(set(measures))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models: []", "no semantic_models and no metrics"),
        ("semantic_models: [a", "1: "),
        ("- 1", "no semantic_models and no metrics"),
    ],
)
def test_a_file_without_any_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.yml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=message):
        read_project(path)


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no file or folder"):
        read_project(tmp_path / "nothing")


def test_a_metric_of_itself_is_left_out(catalog: Catalog) -> None:
    project = DbtProject(
        metrics=(
            {"name": "a", "type": "derived", "type_params": {"expr": "b", "metrics": ["b"]}},
            {"name": "b", "type": "derived", "type_params": {"expr": "a", "metrics": ["a"]}},
        )
    )
    made = import_dbt(project, catalog=catalog, dialect="duckdb")
    assert made.document["metrics"] == {}
    assert any("defined by itself" in note.message for note in made.notes)


def test_a_table_in_two_schemas_is_asked_for(catalog: Catalog) -> None:
    twice = catalog.model_copy(
        update={"tables": (*catalog.tables, table("archive", "fct_sales", "sale_id", sale_id="integer"))}
    )
    project = DbtProject(semantic_models=({"name": "sales", "model": "ref('fct_sales')"},))
    unsure = import_dbt(project, catalog=twice, dialect="duckdb")
    assert any("archive and main: name one by --schema" in note.message for note in unsure.notes)
    sure = import_dbt(project, catalog=twice, dialect="duckdb", schema="archive")
    assert sure.document["entities"]["sales"]["table"] == "archive.fct_sales"


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("order_id", ("order_id",)),
        ("order_id || '-' || line_no", ("order_id", "line_no")),
        ("concat(CAST(order_id AS VARCHAR), '|', line_no)", ("order_id", "line_no")),
        ("md5(order_id)", ("md5(order_id)",)),
        ("order_id || upper(code)", ("order_id || upper(code)",)),
    ],
)
def test_a_key_of_several_columns_is_taken_apart(text: str, columns: tuple[str, ...]) -> None:
    assert key_columns(text, "postgres") == columns
