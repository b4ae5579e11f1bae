from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey, UniqueKey
from rag_core.workers.sql_repair.shape import Shape


def table(name: str, columns: dict[str, str], primary: str, keys: dict[str, str] | None = None) -> CatalogTable:
    """A table; `keys` maps its columns to `table.column` of what they refer to."""
    return CatalogTable(
        schema_name="public",
        name=name,
        columns=tuple(CatalogColumn(name=column, type=kind) for column, kind in columns.items()),
        keys=(UniqueKey(name=f"{name}_pkey", columns=(primary,), primary=True),) if primary else (),
        foreign_keys=tuple(
            ForeignKey(
                name=f"{name}_{column}",
                columns=(column,),
                target=f"public.{target.split('.')[0]}",
                target_columns=(target.split(".")[1],),
            )
            for column, target in (keys or {}).items()
        ),
    )


@pytest.fixture
def shape() -> Shape:
    """Writers, their books, what was sold of them to whom, and readers' notes."""
    catalog = Catalog(
        dialect="postgres",
        database="shop",
        taken_at=datetime(2026, 1, 1, tzinfo=UTC),
        tables=(
            table("writer", {"wid": "bigint", "name": "text", "born": "date"}, "wid"),
            table("wrote", {"wid": "bigint", "bid": "bigint"}, "", {"wid": "writer.wid", "bid": "book.bid"}),
            table("book", {"bid": "bigint", "title": "text", "printed": "integer", "pages": "text"}, "bid"),
            table(
                "sales",
                {
                    "id": "bigint",
                    "bid": "bigint",
                    "customer_id": "bigint",
                    "amount": "numeric(12,2)",
                    "sold_on": "date",
                    "channel": "text",
                    "returned": "boolean",
                },
                "id",
                {"bid": "book.bid", "customer_id": "customers.id"},
            ),
            table("customers", {"id": "bigint", "first_name": "text", "city": "text"}, "id"),
            table("notes", {"reader": "text", "stars": "integer", "bid": "bigint"}, "", {"bid": "book.bid"}),
        ),
    )
    values = {
        "public.sales.channel": ("web", "store", "phone"),
        "public.customers.city": ("Bern", "Basel", "Genf"),
    }
    return Shape(catalog, (), values)
