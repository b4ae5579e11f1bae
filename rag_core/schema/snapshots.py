"""Snapshots of a schema in the store: one digest a table, each table's description kept once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from typing import Any, Literal, NamedTuple

import psycopg
from psycopg.types.json import Jsonb

from rag_core.connectors.sql_files import files_root, statement
from rag_core.datamodel.catalog import Catalog, CatalogTable
from rag_core.datamodel.drift import DriftRules

Key = tuple[str, str]
Digests = dict[Key, str]
# Changes with every load, or with who looks, and says nothing of the structure.
_UNSTORED = {"row_estimate", "row_limited"}


class Described(NamedTuple):
    """A catalog with the digest of each table; `contents` holds the text that is stored under a digest."""

    catalog: Catalog
    digests: Digests
    contents: dict[str, str]
    fingerprint: str

    @property
    def warehouse(self) -> str:
        """Which warehouse it is, as `dialect:database`."""
        return f"{self.catalog.dialect}:{self.catalog.database}"


class StoredSnapshot(NamedTuple):
    """A snapshot's row without its tables; `state` is what the database said of its schema just before."""

    snapshot_id: int
    fingerprint: str
    closed_schemas: tuple[str, ...]
    rules: DriftRules
    taken_at: datetime
    state: str = ""


def describe(catalog: Catalog) -> Described:
    """Digests of everything that drift looks at: structure, keys, comments, object ids and what the role may read."""
    digests: Digests = {}
    contents: dict[str, str] = {}
    for table in catalog.tables:
        digest, text = _described(table)
        digests[(table.schema_name, table.name)] = digest
        contents[digest] = text
    whole = [list(catalog.closed_schemas), [[*key, digests[key]] for key in sorted(digests)]]
    fingerprint = hashlib.sha256(json.dumps(whole, ensure_ascii=False).encode()).hexdigest()
    return Described(catalog, digests, contents, fingerprint)


def save_tables(connection: psycopg.Connection, tables: Iterable[CatalogTable]) -> Digests:
    """Stores tables that are of no snapshot; their digests."""
    digests: Digests = {}
    contents: dict[str, str] = {}
    for table in tables:
        digest, contents[digest] = _described(table)
        digests[(table.schema_name, table.name)] = digest
    _insert_tables(connection, contents, contents)
    return digests


def save_snapshot(
    connection: psycopg.Connection,
    described: Described,
    *,
    status: Literal["complete", "held"],
    rules: DriftRules,
    actor: str,
    moment: datetime,
    known: Iterable[str] = (),
    reason: str = "",
    state: str = "",
) -> int:
    """Stores a snapshot; digests that are `known` to be stored already are not sent again. Returns its id."""
    _insert_tables(connection, described.contents, set(described.contents) - set(known))
    return _insert(
        connection,
        warehouse=described.warehouse,
        status=status,
        reason=reason,
        fingerprint=described.fingerprint,
        table_digests=Jsonb(digests_to_json(described.digests)),
        attributes=Jsonb({"closed_schemas": list(described.catalog.closed_schemas), "state": state}),
        rules=Jsonb(rules.model_dump(mode="json")),
        actor=actor,
        moment=moment,
    )


def save_incomplete(
    connection: psycopg.Connection, dialect: str, *, reason: str, rules: DriftRules, actor: str, moment: datetime
) -> tuple[int, str]:
    """Stores that a snapshot failed, with its reason and without tables. Returns its id and the warehouse."""
    row = connection.execute(statement("drift/find_warehouse"), {"prefix": f"{dialect}:"}).fetchone()
    warehouse = row[0] if row else f"{dialect}:"
    snapshot_id = _insert(
        connection,
        warehouse=warehouse,
        status="incomplete",
        reason=reason,
        fingerprint="",
        table_digests=Jsonb([]),
        attributes=Jsonb({}),
        rules=Jsonb(rules.model_dump(mode="json")),
        actor=actor,
        moment=moment,
    )
    return snapshot_id, warehouse


def find_snapshot(
    connection: psycopg.Connection, warehouse: str, status: Literal["complete", "held"] = "complete"
) -> StoredSnapshot | None:
    """The last snapshot of a warehouse, in the order in which they were stored: clocks may jump."""
    row = connection.execute(statement("drift/find_snapshot"), {"warehouse": warehouse, "status": status}).fetchone()
    if row is None:
        return None
    snapshot_id, _, fingerprint, attributes, rules, taken_at = row
    return StoredSnapshot(
        snapshot_id=snapshot_id,
        fingerprint=fingerprint,
        closed_schemas=tuple(attributes.get("closed_schemas", ())),
        rules=DriftRules.model_validate(rules),
        taken_at=taken_at,
        state=attributes.get("state", ""),
    )


def read_digests(connection: psycopg.Connection, snapshot_id: int) -> Digests:
    """The digest of each table of a snapshot."""
    row = connection.execute(statement("drift/select_digests"), {"snapshot_id": snapshot_id}).fetchone()
    return digests_from_json(row[0]) if row else {}


def read_tables(connection: psycopg.Connection, digests: Iterable[str]) -> dict[str, CatalogTable]:
    """The tables stored under these digests."""
    wanted = sorted(set(digests))
    rows = connection.execute(statement("drift/select_tables"), {"digests": wanted}).fetchall() if wanted else []
    return {digest: CatalogTable.model_validate(content) for digest, content in rows}


def read_catalog(connection: psycopg.Connection, snapshot: StoredSnapshot, warehouse: str) -> Catalog:
    """A whole stored snapshot as a catalog; functions and the search path are not kept with it."""
    digests = read_digests(connection, snapshot.snapshot_id)
    tables = read_tables(connection, digests.values())
    dialect, _, database = warehouse.partition(":")
    return Catalog(
        dialect=dialect,
        database=database,
        taken_at=snapshot.taken_at,
        tables=tuple(tables[digests[key]] for key in sorted(digests)),
        closed_schemas=snapshot.closed_schemas,
    )


def find_baseline(connection: psycopg.Connection, warehouse: str) -> Digests | None:
    """Digests of the schema that was accepted; None before the first run."""
    row = connection.execute(statement("drift/find_baseline"), {"warehouse": warehouse}).fetchone()
    return digests_from_json(row[0]) if row else None


def save_baseline(connection: psycopg.Connection, warehouse: str, digests: Digests, moment: datetime) -> None:
    """Replaces the accepted schema."""
    connection.execute(
        statement("drift/save_baseline"),
        {"warehouse": warehouse, "table_digests": Jsonb(digests_to_json(digests)), "moment": moment},
    )


def touch_snapshot(connection: psycopg.Connection, snapshot_id: int, moment: datetime, state: str = "") -> None:
    """Notes that the schema was seen again as in this snapshot, and what the database said of it then."""
    connection.execute(
        statement("drift/touch_snapshot"),
        {"snapshot_id": snapshot_id, "moment": moment, "attributes": Jsonb({"state": state})},
    )


@cache
def snapshot_form(dialect: str) -> str:
    """Fingerprint of what a snapshot of this version is made of: the fields of a table, and the queries that fill them.

    A snapshot of another form is not known to be the same, even if nothing was written in the database since.
    """
    names = sorted(path.stem for path in files_root().glob(f"sql/queries/catalog/{dialect}_*.sql"))
    texts = [json.dumps(CatalogTable.model_json_schema(), sort_keys=True)]
    texts += [(files_root() / "sql" / "queries" / "catalog" / f"{name}.sql").read_text("utf-8") for name in names]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def digests_to_json(digests: Mapping[Key, str]) -> list[list[str]]:
    """Digests as `[schema, table, digest]`; names may hold dots, so they are not joined."""
    return [[*key, digests[key]] for key in sorted(digests)]


def digests_from_json(value: list[list[str]]) -> Digests:
    """The inverse of `digests_to_json`."""
    return {(schema_name, name): digest for schema_name, name, digest in value}


def _described(table: CatalogTable) -> tuple[str, str]:
    """The digest of a table and the text that is stored under it."""
    text = table.model_dump_json(exclude=_UNSTORED, exclude_defaults=True)
    return hashlib.sha256(text.encode()).hexdigest(), text


def _insert_tables(connection: psycopg.Connection, contents: Mapping[str, str], wanted: Iterable[str]) -> None:
    sent = sorted(wanted)
    if sent:
        connection.execute(
            statement("drift/insert_tables"), {"digests": sent, "contents": [contents[digest] for digest in sent]}
        )


def _insert(connection: psycopg.Connection, **parameters: Any) -> int:
    row = connection.execute(statement("drift/insert_snapshot"), parameters).fetchone()
    assert row is not None
    return int(row[0])
