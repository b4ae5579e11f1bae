"""Fingerprints of a schema: equal for equal structure, whenever and by whomever it was read."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from rag_core.datamodel.catalog import Catalog, CatalogTable

# What changes without the structure changing, or depends on who looks.
_VOLATILE = frozenset({"row_estimate", "object_id", "readable", "row_limited"})


def table_fingerprint(table: CatalogTable) -> str:
    """SHA-256 over the table's canonical JSON: names, types, keys, comments; no counts, object ids or privileges."""
    return _digest(_structure(table))


def fingerprint(catalog: Catalog) -> str:
    """SHA-256 over the tables in order of their names, the dialect and the database; not over the time."""
    tables = sorted(catalog.tables, key=lambda table: (table.schema_name, table.name))
    return _digest([catalog.dialect, catalog.database, [_structure(table) for table in tables]])


def _structure(table: CatalogTable) -> dict[str, Any]:
    content = table.model_dump(mode="json", exclude=set(_VOLATILE))
    content["columns"] = [
        {key: value for key, value in column.items() if key not in _VOLATILE} for column in content["columns"]
    ]
    for name in ("keys", "foreign_keys"):
        content[name] = sorted(content[name], key=lambda key: (key["name"], key["columns"]))
    return content


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
