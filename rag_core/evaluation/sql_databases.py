"""The databases of the SQL evaluation: loaded anew into the embedded server, each with its guard, values and joins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from rag_core.connectors.base import Warehouse
from rag_core.connectors.embedded import EmbeddedPostgres
from rag_core.connectors.sql_files import template
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import Limits
from rag_core.errors import ConfigurationError
from rag_core.policy.rules import Policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.card_values import read_card_values
from rag_core.schema.join_probe import WarehouseProbe
from rag_core.schema.joins import find_joins
from rag_core.schema.knowledge import Known

PREFIX = "eval_"


@dataclass(frozen=True, slots=True)
class EvalDatabase:
    """One database with what a worker needs to be asked about it."""

    warehouse: Warehouse
    catalog: Catalog
    guard: SqlGuard
    known: Known

    def definition(self) -> str:
        """The whole schema as CREATE TABLE statements with its keys, as a prompt without a card holds it."""
        text = "\n".join(_definition(self.catalog))
        return text.replace("character varying", "varchar").replace(" without time zone", "")


def load_database(server: EmbeddedPostgres, name: str, path: Path) -> str:
    """Makes a database anew from its file; its URL. Some date their rows by the day of loading."""
    if not path.is_file():
        raise ConfigurationError(f"no file of the database {name}: {path}")
    database = PREFIX + name
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
        connection.execute(template("evaluation/drop_database").format(database=sql.Identifier(database)))
    server.ensure_database(database)
    dsn = server.dsn(database)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(path.read_bytes())
    return dsn


def open_database(dsn: str) -> EvalDatabase:
    """A database under a policy that opens all of it, with its values read and its joins looked up."""
    from rag_core.connectors.warehouses import open_warehouse  # noqa: PLC0415 - drivers

    warehouse = open_warehouse(dsn)
    catalog = warehouse.snapshot()
    policy = Policy(
        version=1,
        schemas=tuple(sorted({table.schema_name for table in catalog.tables})),
        limits=Limits(max_rows=100_000),
    )
    guard = SqlGuard(policy, catalog)
    probe = WarehouseProbe(warehouse, guard.check, catalog)
    known = Known(
        values=read_card_values(catalog, warehouse, guard.check),
        joins=find_joins(catalog, probe, unique=probe.unique),
    )
    return EvalDatabase(warehouse, catalog, guard, known)


def _definition(catalog: Catalog) -> Iterable[str]:
    for table in catalog.tables:
        lines = [f"  {item.name} {item.type}{'' if item.nullable else ' NOT NULL'}" for item in table.columns]
        lines += [f"  PRIMARY KEY ({', '.join(key.columns)})" for key in table.keys if key.primary]
        lines += [
            f"  FOREIGN KEY ({', '.join(key.columns)}) "
            f"REFERENCES {_name(key.target, catalog)} ({', '.join(key.target_columns)})"
            for key in table.foreign_keys
        ]
        # Text of a prompt, never run.
        yield " ".join(("CREATE", "TABLE", _name(table.qualified_name, catalog))) + " (\n" + ",\n".join(lines) + "\n);"


def _name(qualified: str, catalog: Catalog) -> str:
    schema_name, _, name = qualified.partition(".")
    return name if schema_name in catalog.search_path else qualified
