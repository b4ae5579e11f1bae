"""Snapshot of a Redshift schema: pg_catalog, with nothing that PostgreSQL 8.0 did not have.

Late-binding views and tables of external schemas stand in views of Redshift's own and are not listed.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import Any, Literal

import psycopg
from psycopg.rows import dict_row

from rag_core.connectors.sql_files import statement
from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey, UniqueKey

Rows = list[dict[str, Any]]
_VOLATILITY: tuple[Literal["immutable", "stable", "volatile"], ...] = ("immutable", "stable", "volatile")


def read_catalog(connection: psycopg.Connection) -> Catalog:
    """Everything the login role can use, in five queries that need no arrays and no lateral joins."""

    def rows(name: str) -> Rows:
        with connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(statement(f"catalog/redshift_{name}")).fetchall()

    session = rows("read_session")[0]
    relations = rows("list_relations")
    columns: defaultdict[int, Rows] = defaultdict(list)
    for row in rows("list_columns"):
        columns[row["object_id"]].append(row)
    constraints: defaultdict[int, Rows] = defaultdict(list)
    for row in rows("list_constraints"):
        constraints[row["object_id"]].append(row)
    names = {row["object_id"]: f"{row['schema_name']}.{row['table_name']}" for row in relations}
    positions = {
        (object_id, column["position"]): column["column_name"]
        for object_id, group in columns.items()
        for column in group
    }
    functions = rows("list_functions")
    return Catalog(
        dialect="redshift",
        database=session["database_name"],
        taken_at=datetime.now(UTC),
        tables=tuple(
            _table(row, columns[row["object_id"]], constraints[row["object_id"]], names, positions) for row in relations
        ),
        functions={row["function_name"]: _VOLATILITY[row["danger"]] for row in functions},
        user_functions=tuple(row["function_name"] for row in functions if row["user_defined"]),
        search_path=tuple(
            name for name in (session["search_path"] or "").split(",") if name and not name.startswith("pg_")
        ),
    )


def _table(
    row: dict[str, Any],
    columns: Rows,
    constraints: Rows,
    names: dict[int, str],
    positions: dict[tuple[int, int], str],
) -> CatalogTable:
    def named(object_id: int, numbers: str) -> tuple[str, ...]:
        return tuple(positions[object_id, int(number)] for number in numbers.split(","))

    object_id = row["object_id"]
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
                comment=column["column_comment"],
            )
            for column in columns
        ),
        keys=tuple(
            UniqueKey(
                name=key["key_name"],
                columns=named(object_id, key["key_positions"]),
                primary=key["key_type"] == "p",
            )
            for key in constraints
            if key["key_type"] in ("p", "u")
        ),
        foreign_keys=tuple(
            ForeignKey(
                name=key["key_name"],
                columns=named(object_id, key["key_positions"]),
                target=names[key["target_id"]],
                target_columns=named(key["target_id"], key["target_positions"]),
            )
            for key in constraints
            # A table that the role cannot see cannot be joined to.
            if key["key_type"] == "f" and key["target_id"] in names
        ),
        comment=row["table_comment"],
        row_estimate=row["row_estimate"],
        definition=row["definition"],
        object_id=object_id,
        readable=row["readable"],
    )
