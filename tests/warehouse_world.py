"""A small catalog for tests of the guard, with what attacks aim at."""

from __future__ import annotations

from datetime import UTC, datetime

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable, TableKind
from rag_core.policy.rules import ColumnRules, Policy, TableRules

# What PostgreSQL 18's pg_proc says of the functions that the tests call and the parser does not know.
_STABLE = (
    "age", "json_build_object", "jsonb_build_object", "jsonb_agg", "json_agg", "to_jsonb", "row_to_json", "to_tsvector",
    "table_to_xml", "query_to_xml", "pg_get_viewdef", "current_setting", "has_table_privilege", "to_regclass",
    "leak", "obj_description", "crosstab",
)  # fmt: skip
_IMMUTABLE = (
    "make_date", "cardinality", "similarity", "jsonb_array_elements", "jsonb_to_recordset", "jsonb_each_text", "format",
    "num_nonnulls", "width_bucket", "regexp_matches", "justify_interval",
)  # fmt: skip
_VOLATILE = (
    "wr", "dblink", "pg_sleep", "nextval", "setval", "pg_advisory_lock", "clock_timestamp", "random", "gen_random_uuid",
    "set_config", "lo_import",
)  # fmt: skip


def table(
    schema: str, name: str, *columns: str, kind: TableKind = "table", definition: str | None = None
) -> CatalogTable:
    """A table; a column is written `name type` with the type left out for text."""
    split = [column.rsplit(":", 1) for column in columns]
    return CatalogTable(
        schema_name=schema,
        name=name,
        kind=kind,
        definition=definition,
        columns=tuple(
            CatalogColumn(name=parts[0], type=parts[1] if len(parts) > 1 else "text", position=index)
            for index, parts in enumerate(split, start=1)
        ),
    )


def world() -> Catalog:
    """The catalog that `tests/integration/policy` also builds for real."""
    return Catalog(
        dialect="postgres",
        database="world",
        taken_at=datetime(2026, 7, 1, tzinfo=UTC),
        functions={
            **dict.fromkeys(_IMMUTABLE, "immutable"),
            **dict.fromkeys(_STABLE, "stable"),
            **dict.fromkeys(_VOLATILE, "volatile"),
        },
        user_functions=("leak", "wr"),
        tables=(
            table("hidden", "vault", "token"),
            table(
                "public", "orders", "id:integer", "customer_id:integer", "note", "created_at:timestamp with time zone",
                "total:numeric(12,2)", "Order:integer", "update", "payload:jsonb",
            ),
            table("public", "customers", "id:integer", "name", "email", "country"),
            table("public", "secrets", "token"),
            table("public", "order_ids", "id", kind="view", definition="SELECT orders.id FROM public.orders"),
            table("public", "order_totals", "total", kind="view", definition="SELECT total FROM public.orders"),
            table(
                "public", "order_rows", "t", kind="view",
                definition="SELECT to_jsonb(o.*) AS t FROM public.orders o",
            ),
            table("public", "secret_view", "token", kind="view", definition="SELECT token FROM public.secrets"),
            table(
                "public", "secret_matview", "token", kind="materialized_view",
                definition="SELECT token FROM public.secret_view",
            ),
            table("sales", "OrderItem", "ItemId:integer", "Qty:integer"),
        ),
    )  # fmt: skip


def world_policy(**changes: object) -> Policy:
    """Opens public and sales, without the table secrets and the column orders.total."""
    content: dict[str, object] = {
        "version": 1,
        "schemas": ("public", "sales"),
        "tables": TableRules(exclude=("public.secrets",)),
        "columns": ColumnRules(exclude=("public.orders.total",)),
    }
    return Policy.model_validate({**content, **changes})
