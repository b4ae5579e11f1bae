"""The model against a schema, and a draft made from one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey, UniqueKey
from rag_core.semantics.model import load_semantic_model
from rag_core.semantics.suggest import suggest_model
from rag_core.semantics.validate import Problem, validate_model

MODEL = """\
version: 1
entities:
  sales: {table: shop.sales, primary_key: [id], grain: one row a sale}
  shops: {table: shop.shops, primary_key: [id], grain: one row a shop}
joins:
  - {from: sales, to: shops, columns: {shop_id: id}}
time_dimensions:
  day: {label: Day, entity: sales, column: sold_on}
dimensions:
  city: {label: City, entity: shops, expression: city}
metrics:
  revenue: {label: Revenue, synonyms: [income], entity: sales, expression: sum(amount), time: day}
"""


def column(name: str, kind: str, **more: object) -> CatalogColumn:
    return CatalogColumn.model_validate({"name": name, "type": kind, **more})


def catalog(*, shops_key: bool = True, amount: str = "numeric(10,2)", sold_on: str = "date") -> Catalog:
    sales = CatalogTable(
        schema_name="shop",
        name="sales",
        comment="What was sold.",
        columns=(
            column("id", "bigint"), column("shop_id", "integer"), column("amount", amount, comment="In EUR."),
            column("unit_price", "numeric(8,2)"), column("sold_on", sold_on), column("paidBy", "text"),
        ),
        keys=(UniqueKey(name="sales_pkey", columns=("id",), primary=True),),
        foreign_keys=(ForeignKey(name="f", columns=("shop_id",), target="shop.shops", target_columns=("id",)),),
    )  # fmt: skip
    shops = CatalogTable(
        schema_name="shop",
        name="shops",
        columns=(column("id", "integer"), column("city", "text"), column("e_mail", "text"), column("open", "boolean")),
        keys=(UniqueKey(name="k", columns=("id",) if shops_key else ("city",), primary=True),),
    )
    secret = CatalogTable(schema_name="shop", name="secret", columns=(column("id", "integer"),), readable=False)
    return Catalog(
        dialect="postgres", database="d", taken_at=datetime(2026, 1, 1, tzinfo=UTC), tables=(sales, shops, secret)
    )


def problems(tmp_path: Path, text: str, found: Catalog) -> list[Problem]:
    path = tmp_path / "semantic_model.yaml"
    path.write_text(text, encoding="utf-8")
    return list(validate_model(load_semantic_model(path), found))


def test_a_model_that_fits_has_no_problems(tmp_path: Path) -> None:
    assert problems(tmp_path, MODEL, catalog()) == []


def test_missing_tables_and_columns(tmp_path: Path) -> None:
    text = MODEL.replace("shop.shops", "shop.stores").replace("sum(amount)", "sum(amont)")
    found = [(item.severity, item.key, item.message) for item in problems(tmp_path, text, catalog())]
    assert found == [
        ("error", "entities.shops.table", "there is no table shop.stores in the warehouse"),
        ("error", "metrics.revenue", "shop.sales has no column amont"),
    ]


def test_a_join_to_what_is_not_unique(tmp_path: Path) -> None:
    found = problems(tmp_path, MODEL, catalog(shops_key=False))
    assert ("error", "joins.0") in [(item.severity, item.key) for item in found]
    assert any("the join may count rows several times" in item.message for item in found)


def test_types_that_do_not_fit(tmp_path: Path) -> None:
    found = problems(tmp_path, MODEL, catalog(amount="text", sold_on="timestamp with time zone"))
    assert [item.message for item in found] == [
        "amount is text, not a number",
        "sold_on is timestamp with time zone: write type: timestamp",
    ]


def test_words_with_two_meanings(tmp_path: Path) -> None:
    text = MODEL + "  turnover: {label: Turnover, synonyms: [income], entity: sales, expression: count(*), time: day}\n"
    text += "ambiguous: {income: [revenue, turnover]}\n"
    found = [(item.severity, item.key) for item in problems(tmp_path, text, catalog())]
    assert ("warning", "metrics.turnover.synonyms") in found
    assert ("error", "metrics.revenue.synonyms") in found


def test_a_draft_loads_and_fits_its_own_schema(tmp_path: Path) -> None:
    text = suggest_model(catalog(), dialect="postgres")
    path = tmp_path / "draft.yaml"
    path.write_text(text, encoding="utf-8")
    model = load_semantic_model(path)
    assert [item for item in validate_model(model, catalog()) if item.severity == "error"] == []
    assert set(model.entities) == {"sales", "shops"}
    assert model.joins[0].columns == {"shop_id": "id"}
    assert model.metrics["sales_amount"].expression == "sum(amount)"
    assert model.metrics["sales_unit_price"].expression == "avg(unit_price)"
    assert model.dimensions["sales_paid_by"].expression == '"paidBy"'
    assert model.dimensions["shops_e_mail"].read_values is False
    assert model.dimensions["shops_open"].type == "boolean"
    assert "secret" not in text
