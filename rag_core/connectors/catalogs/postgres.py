"""Snapshot of a PostgreSQL schema from pg_catalog."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg.rows import dict_row

from rag_core.connectors.sql_files import statement
from rag_core.datamodel.catalog import (
    Catalog,
    CatalogColumn,
    CatalogTable,
    CheckedType,
    ForeignKey,
    Inheritance,
    UniqueKey,
    UserCast,
    UserOperator,
)

Rows = list[dict[str, Any]]


def read_catalog(connection: psycopg.Connection, *, dialect: str) -> Catalog:
    """Everything the current role can use, in thirteen queries; children of partitioned tables are left out.

    Must run in a transaction that nobody else uses: it empties the search path, so that type names and view
    definitions come out qualified, whatever the session's path.
    """

    def rows(name: str, **parameters: Any) -> Rows:
        with connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(statement(f"catalog/postgres_{name}"), parameters or None).fetchall()

    session = rows("read_session")[0]
    rows("clear_search_path")
    relations = rows("list_relations")
    ids = [row["object_id"] for row in relations]
    enums = {row["enum_type"]: tuple(row["labels"]) for row in rows("list_enums")}
    columns = _by_table(rows("list_columns", object_ids=ids))
    keys = _by_table([*rows("list_keys", object_ids=ids), *rows("list_unique_indexes", object_ids=ids)])
    foreign_keys = _by_table(rows("list_foreign_keys", object_ids=ids))
    functions = rows("list_functions")
    return Catalog(
        dialect=dialect,
        database=session["database_name"],
        taken_at=datetime.now(UTC),
        tables=tuple(
            _table(row, columns[row["object_id"]], keys[row["object_id"]], foreign_keys[row["object_id"]], enums)
            for row in relations
        ),
        functions={row["function_name"].lower(): row["volatility"] for row in functions},
        user_functions=tuple(sorted({row["function_name"].lower() for row in functions if row["user_defined"]})),
        user_operators=tuple(
            UserOperator(symbol=row["symbol"], function=row["function_name"].lower()) for row in rows("list_operators")
        ),
        user_casts=tuple(
            UserCast(
                source=row["source_type"],
                target=row["target_type"],
                function=row["function_name"].lower(),
                implicit=row["implicit"],
            )
            for row in rows("list_casts")
        ),
        checked_types=tuple(
            CheckedType(type=row["type_name"], definition=row["definition"]) for row in rows("list_checked_types")
        ),
        inheritance=tuple(
            Inheritance(
                child=(row["child_schema"], row["child_name"]),
                ancestor=(row["ancestor_schema"], row["ancestor_name"]),
            )
            for row in rows("list_inheritance")
        ),
        search_path=tuple(session["search_path"]),
        closed_schemas=tuple(session["closed_schemas"]),
    )


def _by_table(rows: Iterable[dict[str, Any]]) -> defaultdict[int, Rows]:
    grouped: defaultdict[int, Rows] = defaultdict(list)
    for row in rows:
        grouped[row["object_id"]].append(row)
    return grouped


def _table(
    row: dict[str, Any], columns: Rows, keys: Rows, foreign_keys: Rows, enums: dict[int, tuple[str, ...]]
) -> CatalogTable:
    return CatalogTable(
        schema_name=row["schema_name"],
        name=row["table_name"],
        kind=row["kind"],
        columns=tuple(_column(column, enums) for column in columns),
        keys=tuple(
            UniqueKey(name=key["key_name"], columns=tuple(key["key_columns"]), primary=key.get("is_primary", False))
            for key in keys
        ),
        foreign_keys=tuple(
            ForeignKey(
                name=key["key_name"],
                columns=tuple(key["key_columns"]),
                target=key["target"],
                target_columns=tuple(key["target_columns"]),
            )
            for key in foreign_keys
        ),
        comment=row["table_comment"],
        row_estimate=row["row_estimate"],
        definition=row["definition"],
        partition_key=row["partition_key"],
        object_id=row["object_id"],
        readable=row["readable"],
        row_limited=row["row_limited"],
    )


def _column(row: dict[str, Any], enums: dict[int, tuple[str, ...]]) -> CatalogColumn:
    return CatalogColumn(
        name=row["column_name"],
        type=row["column_type"],
        nullable=row["nullable"],
        position=row["position"],
        default=row["default_expression"],
        generated=row["generated"],
        comment=row["column_comment"],
        enum_labels=enums.get(row["enum_type"], ()),
        readable=row["readable"],
    )
