"""Snapshot of a Snowflake database from INFORMATION_SCHEMA and SHOW KEYS."""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

from rag_core.connectors.sql_files import statement
from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey, TableKind, UniqueKey

Rows = list[dict[str, Any]]
TableKey = tuple[str, str]
_KINDS: dict[str, TableKind] = {
    "VIEW": "view",
    "MATERIALIZED VIEW": "materialized_view",
    "EXTERNAL TABLE": "foreign_table",
}
_VIEW_HEAD = re.compile(r"\A\s*create\s.*?\sview\s.*?\sas\s", re.IGNORECASE | re.DOTALL)


def read_catalog(cursor: Any) -> Catalog:
    """The current database, all schemas that the role may use."""

    def rows(name: str) -> Rows:
        cursor.execute(statement(f"catalog/snowflake_{name}"))
        # Snowflake writes unquoted names in upper case.
        names = [column.name.lower() for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    session = rows("read_session")[0]
    columns: defaultdict[TableKey, Rows] = defaultdict(list)
    for row in rows("list_columns"):
        columns[row["schema_name"], row["table_name"]].append(row)
    primary, unique = _keys(rows("show_primary_keys")), _keys(rows("show_unique_keys"))
    foreign = _foreign_keys(rows("show_imported_keys"))
    return Catalog(
        dialect="snowflake",
        database=session["database_name"],
        taken_at=datetime.now(UTC),
        tables=tuple(
            CatalogTable(
                schema_name=row["schema_name"],
                name=row["table_name"],
                kind=_KINDS.get(row["table_type"], "table"),
                columns=tuple(_column(column) for column in columns[row["schema_name"], row["table_name"]]),
                keys=(
                    *_unique_keys(primary[row["schema_name"], row["table_name"]], primary=True),
                    *_unique_keys(unique[row["schema_name"], row["table_name"]], primary=False),
                ),
                foreign_keys=foreign[row["schema_name"], row["table_name"]],
                comment=row["table_comment"] or None,
                row_estimate=row["row_estimate"],
                definition=_VIEW_HEAD.sub("", row["definition"]).rstrip(" ;\n") if row["definition"] else None,
            )
            for row in rows("list_tables")
        ),
        # Snowflake tells no volatility; the packaged list of harmless functions decides.
        user_functions=tuple(row["function_name"] for row in rows("list_functions")),
        search_path=(session["schema_name"],) if session["schema_name"] else (),
    )


def _column(row: dict[str, Any]) -> CatalogColumn:
    kind = row["data_type"]
    if row["precision"] is not None and kind in ("NUMBER", "DECIMAL", "NUMERIC"):
        kind = f"{kind}({row['precision']},{row['scale']})"
    elif row["length"] is not None and kind in ("TEXT", "VARCHAR"):
        kind = f"{kind}({row['length']})"
    return CatalogColumn(
        name=row["column_name"],
        type=kind,
        nullable=row["nullable"] == "YES",
        position=row["position"],
        default=row["default_expression"],
        comment=row["column_comment"] or None,
    )


def _keys(rows: Rows) -> defaultdict[TableKey, defaultdict[str, list[tuple[int, str]]]]:
    found: defaultdict[TableKey, defaultdict[str, list[tuple[int, str]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        found[row["schema_name"], row["table_name"]][row["constraint_name"]].append(
            (row["key_sequence"], row["column_name"])
        )
    return found


def _unique_keys(keys: defaultdict[str, list[tuple[int, str]]], *, primary: bool) -> list[UniqueKey]:
    return [
        UniqueKey(name=name, columns=tuple(column for _, column in sorted(columns)), primary=primary)
        for name, columns in sorted(keys.items())
    ]


def _foreign_keys(rows: Rows) -> defaultdict[TableKey, tuple[ForeignKey, ...]]:
    parts: defaultdict[tuple[TableKey, str, str], list[tuple[int, str, str]]] = defaultdict(list)
    for row in rows:
        table = row["fk_schema_name"], row["fk_table_name"]
        target = f"{row['pk_schema_name']}.{row['pk_table_name']}"
        parts[table, row["fk_name"], target].append((row["key_sequence"], row["fk_column_name"], row["pk_column_name"]))
    found: defaultdict[TableKey, tuple[ForeignKey, ...]] = defaultdict(tuple)
    for (table, name, target), columns in sorted(parts.items()):
        ordered = sorted(columns)
        found[table] += (
            ForeignKey(
                name=name,
                columns=tuple(column for _, column, _ in ordered),
                target=target,
                target_columns=tuple(column for _, _, column in ordered),
            ),
        )
    return found
