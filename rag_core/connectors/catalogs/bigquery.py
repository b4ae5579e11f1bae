"""Snapshot of BigQuery datasets from their INFORMATION_SCHEMA."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from rag_core.connectors.sql_files import statement
from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey, TableKind, UniqueKey

Rows = list[dict[str, Any]]
_KINDS: dict[str, TableKind] = {
    "VIEW": "view",
    "MATERIALIZED VIEW": "materialized_view",
    "EXTERNAL": "foreign_table",
}


def read_catalog(
    project: str, datasets: Iterable[str], default_dataset: str | None, run: Callable[[str], Rows]
) -> Catalog:
    """The tables of the datasets.

    Args:
        project: stands for the database.
        datasets: names of datasets, each a schema.
        default_dataset: where unqualified names are looked up.
        run: runs one catalog query and gives its rows by column name.
    """
    tables: list[CatalogTable] = []
    functions: set[str] = set()
    for dataset in datasets:

        def rows(name: str, dataset: str = dataset) -> Rows:
            # A dataset's name comes from BigQuery and holds letters, digits and underscores only.
            return run(statement(f"catalog/bigquery_{name}").replace("dataset_name", f"`{project}`.`{dataset}`"))

        columns: defaultdict[str, Rows] = defaultdict(list)
        for row in rows("list_columns"):
            columns[row["table_name"]].append(row)
        keys: defaultdict[str, Rows] = defaultdict(list)
        for row in rows("list_keys"):
            keys[row["table_name"]].append(row)
        tables.extend(_table(row, columns[row["table_name"]], keys[row["table_name"]]) for row in rows("list_tables"))
        functions.update(row["function_name"] for row in rows("list_functions"))
    return Catalog(
        dialect="bigquery",
        database=project,
        taken_at=datetime.now(UTC),
        tables=tuple(tables),
        # BigQuery tells no volatility; the packaged list of harmless functions decides.
        user_functions=tuple(sorted(functions)),
        search_path=(default_dataset,) if default_dataset else (),
    )


def _table(row: dict[str, Any], columns: Rows, keys: Rows) -> CatalogTable:
    by_name: defaultdict[tuple[str, str], Rows] = defaultdict(list)
    for key in keys:
        by_name[key["key_type"], key["key_name"]].append(key)
    kind = _KINDS.get(row["table_type"], "table")
    partitioning = [column["column_name"] for column in columns if column["partitioning"] == "YES"]
    return CatalogTable(
        schema_name=row["schema_name"],
        name=row["table_name"],
        kind=kind,
        columns=tuple(
            CatalogColumn(
                name=column["column_name"],
                type=column["column_type"],
                nullable=column["nullable"] == "YES",
                position=column["position"],
                default=column["default_expression"] if column["default_expression"] != "NULL" else None,
                generated=column["generated"] == "ALWAYS",
                comment=column["column_comment"],
            )
            for column in columns
        ),
        keys=tuple(
            UniqueKey(name=name, columns=tuple(part["column_name"] for part in parts), primary=True)
            for (kind, name), parts in sorted(by_name.items())
            if kind == "PRIMARY KEY"
        ),
        foreign_keys=tuple(
            ForeignKey(
                name=name,
                columns=tuple(part["column_name"] for part in parts),
                target=f"{parts[0]['target_schema']}.{parts[0]['target_table']}",
                target_columns=tuple(part["target_column"] for part in parts),
            )
            for (kind, name), parts in sorted(by_name.items())
            # CONSTRAINT_COLUMN_USAGE has no order, so that only keys of one column can be told for certain.
            if kind == "FOREIGN KEY" and len(parts) == 1
        ),
        definition=row["definition"],
        comment=_text(row["table_comment"]),
        # BigQuery counts no rows of a view.
        row_estimate=row["row_estimate"] if kind != "view" else None,
        partition_key=partitioning[0] if partitioning else None,
    )


def _text(literal: str | None) -> str | None:
    """The text that an option of a table holds, which BigQuery writes as a quoted literal."""
    if not literal:
        return None
    try:
        return str(json.loads(literal))
    except ValueError:
        return literal.strip("\"'")
