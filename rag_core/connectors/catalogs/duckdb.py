"""Snapshot of a DuckDB schema from its own catalog functions."""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import UTC, datetime
from typing import Any, Literal

from rag_core.connectors.sql_files import statement
from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey, UniqueKey

Rows = list[dict[str, Any]]
TableKey = tuple[str, str]
_VOLATILITY: tuple[Literal["immutable", "stable", "volatile"], ...] = ("immutable", "stable", "volatile")
_VIEW_START = re.compile(r"\ACREATE\s(?:\S+\s)*?VIEW\s.*?\sAS\s", re.IGNORECASE | re.DOTALL)
_ENUM = re.compile(r"\AENUM\((?P<labels>.*)\)\Z", re.DOTALL)
_LABEL = re.compile(r"'((?:[^']|'')*)'")
# Functions of rows that only compute; DuckDB gives table functions no stability.
_HARMLESS_TABLE_FUNCTIONS = frozenset({"generate_series", "range", "unnest", "repeat", "repeat_row", "json_each"})


def read_catalog(cursor: Any) -> Catalog:
    """The tables and views of the current database."""

    def rows(name: str) -> Rows:
        cursor.execute(statement(f"catalog/duckdb_{name}"))
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    database, schema = cursor.execute("SELECT current_database(), current_schema()").fetchone()
    columns = _by_table(rows("list_columns"))
    constraints = _by_table(rows("list_constraints"))
    functions = rows("list_functions")
    return Catalog(
        dialect="duckdb",
        database=database,
        taken_at=datetime.now(UTC),
        tables=tuple(_table(row, columns[_key(row)], constraints[_key(row)]) for row in rows("list_tables")),
        functions={
            row["function_name"]: "stable"
            if row["function_name"] in _HARMLESS_TABLE_FUNCTIONS
            else _VOLATILITY[row["danger"]]
            for row in functions
        },
        user_functions=tuple(row["function_name"] for row in functions if row["user_defined"]),
        search_path=(schema,),
    )


def _key(row: dict[str, Any]) -> TableKey:
    return row["schema_name"], row["table_name"]


def _by_table(rows: Rows) -> defaultdict[TableKey, Rows]:
    grouped: defaultdict[TableKey, Rows] = defaultdict(list)
    for row in rows:
        grouped[_key(row)].append(row)
    return grouped


def _table(row: dict[str, Any], columns: Rows, constraints: Rows) -> CatalogTable:
    definition = row["definition"]
    return CatalogTable(
        schema_name=row["schema_name"],
        name=row["table_name"],
        kind=row["kind"],
        columns=tuple(
            CatalogColumn(
                name=column["column_name"],
                type=column["column_type"],
                nullable=column["nullable"],
                position=column["position"],
                default=column["default_expression"],
                generated=column["generated"],
                comment=column["column_comment"],
                enum_labels=_labels(column["column_type"]),
            )
            for column in columns
        ),
        keys=tuple(
            UniqueKey(name=key["key_name"], columns=tuple(key["key_columns"]), primary=key["key_type"] == "PRIMARY KEY")
            for key in constraints
            if key["key_type"] != "FOREIGN KEY"
        ),
        foreign_keys=tuple(
            ForeignKey(
                name=key["key_name"],
                columns=tuple(key["key_columns"]),
                # DuckDB lets a foreign key lead to a table of the same schema only.
                target=f"{key['schema_name']}.{key['target_table']}",
                target_columns=tuple(key["target_columns"]),
            )
            for key in constraints
            if key["key_type"] == "FOREIGN KEY"
        ),
        comment=row["table_comment"],
        row_estimate=row["row_estimate"],
        definition=_VIEW_START.sub("", definition).rstrip().rstrip(";") if definition else None,
        object_id=row["object_id"],
    )


def _labels(kind: str) -> tuple[str, ...]:
    match = _ENUM.match(kind)
    return tuple(label.replace("''", "'") for label in _LABEL.findall(match["labels"])) if match else ()
