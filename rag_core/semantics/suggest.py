"""Drafts a semantic model from a schema: keys, numbers, dates and comments. A person finishes it. Pure."""

from __future__ import annotations

import io
import re
from typing import Any

from ruamel.yaml import YAML
from sqlglot import exp

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable

_TEXT = re.compile(r"char|text|string", re.IGNORECASE)
_NUMBER = re.compile(r"int|numeric|decimal|number|real|double|float|money", re.IGNORECASE)
_DATE = re.compile(r"^(?:date|timestamp|datetime)", re.IGNORECASE)
# Numbers that are not to be added up: they are averaged in the draft.
_LEVEL = re.compile(
    r"rate|ratio|percent|price|score|rating|age|level|duration|minutes|seconds|hours|satisfaction", re.IGNORECASE
)
_KEY = re.compile(r"(?:^|_)(?:id|no|number|key|code)$|(?<=[a-z])(?:Id|No|Code)$", re.IGNORECASE)
_PERSONAL = re.compile(
    r"mail|phone|password|address|birth|iban|ssn|full_?name|first_?name|last_?name|secret|token", re.IGNORECASE
)
HEADER = """\
# A draft, made from the schema by `nightshift semantics suggest`. Before it is used: remove what nobody asks for,
# correct labels and synonyms, say which figures are additive, add the joins that no foreign key declares, and run
# `nightshift semantics validate`.
"""


def suggest_model(catalog: Catalog, *, dialect: str) -> str:
    """The YAML text of a draft; tables that may not be read are left out. Loads with `load_semantic_model`."""
    tables = [table for table in catalog.tables if table.readable and _key_columns(table)]
    names = _entity_names(tables)
    document: dict[str, Any] = {
        "version": 1,
        "dialect": dialect,
        "entities": {names[table.qualified_name]: _entity(table, dialect) for table in tables},
        "joins": [join for table in tables for join in _joins(table, tables, names, dialect)],
        "time_dimensions": {},
        "dimensions": {},
        "metrics": {},
    }
    for table in tables:
        _fill(document, table, names[table.qualified_name], dialect)
    stream = io.StringIO()
    yaml = YAML()
    yaml.width = 120
    yaml.dump(document, stream)
    return HEADER + stream.getvalue()


def _fill(document: dict[str, Any], table: CatalogTable, entity: str, dialect: str) -> None:
    keys = set(_key_columns(table)) | {name for key in table.foreign_keys for name in key.columns}
    first_date: str | None = None
    for column in table.columns:
        if not column.readable:
            continue
        text = quoted_name(column.name, dialect)
        name = _free(document, f"{entity}_{model_name(column.name)}")
        if _DATE.match(column.type):
            kind = "date" if re.fullmatch(r"date", column.type, re.IGNORECASE) else "timestamp"
            document["time_dimensions"][name] = {
                "label": _label(column.name),
                "entity": entity,
                "column": text,
                "type": kind,
            }
            first_date = first_date or name
        elif _describes(column) and not (column.name in keys and _KEY.search(column.name)):
            document["dimensions"][name] = _dimension(column, entity, text)
    if first_date is None:
        return
    document["metrics"][_free(document, f"{entity}_count")] = {
        "label": f"Number of {_label(table.name).lower()}",
        "description": table.comment or "",
        "synonyms": [_label(table.name).lower()],
        "entity": entity,
        "expression": "count(*)",
        "time": first_date,
        "decimals": 0,
    }
    for column in table.columns:
        is_number = _NUMBER.search(column.type) is not None and not _DATE.match(column.type)
        if not is_number or column.name in keys or _KEY.search(column.name) or not column.readable:
            continue
        level = _LEVEL.search(column.name) is not None
        document["metrics"][_free(document, f"{entity}_{model_name(column.name)}")] = {
            "label": f"{'Average' if level else 'Total'} {_label(column.name).lower()}",
            "description": column.comment or "",
            "synonyms": [_label(column.name).lower()],
            "entity": entity,
            "expression": f"{'avg' if level else 'sum'}({quoted_name(column.name, dialect)})",
            "time": first_date,
            "additivity": "non_additive" if level else "additive",
        }


def _describes(column: CatalogColumn) -> bool:
    """Whether the column may be a dimension: labels, text, yes or no."""
    is_text = _TEXT.search(column.type) is not None
    return bool(column.enum_labels) or column.type.lower().startswith("bool") or is_text


def _entity(table: CatalogTable, dialect: str) -> dict[str, Any]:
    return {
        "table": f"{quoted_name(table.schema_name, dialect)}.{quoted_name(table.name, dialect)}",
        "primary_key": [quoted_name(name, dialect) for name in _key_columns(table)],
        "grain": table.comment or f"one row a {_label(table.name).lower()}",
    }


def _joins(
    table: CatalogTable, tables: list[CatalogTable], names: dict[str, str], dialect: str
) -> list[dict[str, Any]]:
    known = {other.qualified_name for other in tables}
    return [
        {
            "from": names[table.qualified_name],
            "to": names[key.target],
            "columns": {
                quoted_name(left, dialect): quoted_name(right, dialect)
                for left, right in zip(key.columns, key.target_columns, strict=True)
            },
        }
        for key in table.foreign_keys
        if key.target in known
    ]


def _dimension(column: CatalogColumn, entity: str, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "label": _label(column.name),
        "entity": entity,
        "expression": text,
        "synonyms": [_label(column.name).lower()],
    }
    if column.type.lower().startswith("bool"):
        found["type"] = "boolean"
    if column.enum_labels:
        found["order"] = list(column.enum_labels)
    if _PERSONAL.search(column.name):
        found["read_values"] = False
    if column.comment:
        found["description"] = column.comment
    return found


def _key_columns(table: CatalogTable) -> tuple[str, ...]:
    keys = sorted(table.keys, key=lambda key: (not key.primary, key.name))
    return keys[0].columns if keys else ()


def _entity_names(tables: list[CatalogTable]) -> dict[str, str]:
    """Short names, with the schema before it where two tables are called the same."""
    counts: dict[str, int] = {}
    for table in tables:
        counts[model_name(table.name)] = counts.get(model_name(table.name), 0) + 1
    return {
        table.qualified_name: model_name(table.name)
        if counts[model_name(table.name)] == 1
        else f"{model_name(table.schema_name)}_{model_name(table.name)}"
        for table in tables
    }


def model_name(text: str) -> str:
    """A name that the model allows: lower-case letters, digits and underscores, beginning with a letter."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    cleaned = re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_") or "column"
    return (cleaned if cleaned[0].isalpha() else f"c_{cleaned}")[:50]


def _free(document: dict[str, Any], name: str) -> str:
    """The name, or the next free one with a number; names of dimensions and metrics share one space."""
    taken = {*document["time_dimensions"], *document["dimensions"], *document["metrics"]}
    base, number = name[:46], 2
    candidate = name[:50]
    while candidate in taken:
        candidate = f"{base}_{number}"
        number += 1
    return candidate


def _label(text: str) -> str:
    return model_name(text).replace("_", " ").capitalize()


def quoted_name(name: str, dialect: str) -> str:
    """The identifier as SQL, quoted only where its spelling needs it."""
    plain = re.fullmatch(r"[a-z_][a-z0-9_]*", name) or (
        dialect == "snowflake" and re.fullmatch(r"[A-Z_][A-Z0-9_]*", name)
    )
    return exp.to_identifier(name, quoted=not plain).sql(dialect=dialect)
