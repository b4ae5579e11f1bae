"""Makes a semantic model of dbt semantic models and metrics. Pure; what has no counterpart is named, never guessed.

Entities become joins: a foreign entity leads to the one semantic model where its name is primary or unique. What an
export of ours left under `config.meta.nightshift` is taken up again where the dbt part of it is unchanged.
"""

from __future__ import annotations

import re
from typing import Any

from rag_core.datamodel.base import Record
from rag_core.datamodel.catalog import Catalog, CatalogTable
from rag_core.semantics.dbt_files import DbtProject, Note, meta_of
from rag_core.semantics.dbt_measures import key_columns
from rag_core.semantics.dbt_metrics import MetricImporter
from rag_core.semantics.suggest import model_name, quoted_name

_REF = re.compile(
    r"""^\s*(?:\{\{\s*)?(ref|source)\(\s*(['"][^)]*['"])\s*(?:,\s*v(?:ersion)?\s*=\s*\w+\s*)?\)\s*(?:\}\})?\s*$"""
)
_COARSE = frozenset(["day", "week", "month", "quarter", "year"])


class DbtImport(Record):
    """The model as a document of `semantic_model.yaml`, and what was not or not wholly carried over."""

    document: dict[str, Any]
    notes: tuple[Note, ...] = ()


def import_dbt(project: DbtProject, *, catalog: Catalog, dialect: str, schema: str | None = None) -> DbtImport:
    """The semantic model of a dbt project.

    Args:
        project: what `read_project` found.
        catalog: the warehouse's schema: the tables that `ref` means, and the types of dates.
        dialect: of the expressions; an export of ours says its own.
        schema: where tables are looked for that stand in several schemas.
    """
    reader = _Importer(project, catalog, dialect, schema)
    return DbtImport(document=reader.document(), notes=tuple(reader.notes))


class _Importer:
    def __init__(self, project: DbtProject, catalog: Catalog, dialect: str, schema: str | None) -> None:
        self.notes = list(project.notes)
        self._project = project
        self._catalog = catalog
        self._schema = schema
        self._own = self._model_meta()
        self._dialect = str(self._own.get("dialect") or dialect)
        self._names: dict[str, str] = {}
        self._found: dict[str, Any] = {
            "version": 1, "dialect": self._dialect, "entities": {}, "joins": [], "time_dimensions": {},
            "dimensions": {}, "metrics": {},
        }  # fmt: skip
        self._places: dict[tuple[str, str], tuple[str, str]] = {}  # (semantic model, dimension) -> our name, expression

    def document(self) -> dict[str, Any]:
        """Everything in order: tables, joins, dimensions, figures."""
        for item in self._project.semantic_models:
            self._entity(item)
        for item in self._project.semantic_models:
            self._joins(item)
            self._dimensions(item)
        figures = MetricImporter(self._project, self._found, self._names, self._places, self._own)
        figures.read()
        self.notes += figures.notes
        for key in ("own_names", "ambiguous", "readings", "next_on_first_day", "verified_queries"):
            if self._own.get(key):
                self._found[key] = self._own[key]
        return self._found

    def _note(self, key: str, message: str) -> None:
        self.notes.append(Note(key=key, message=message))

    def _model_meta(self) -> dict[str, Any]:
        found = [meta_of(item).get("model") for item in self._project.semantic_models]
        return next((item for item in found if isinstance(item, dict)), {})

    # ------------------------------------------------------------------ tables and joins

    def _entity(self, item: dict[str, Any]) -> None:
        label, meta = str(item["name"]), meta_of(item)
        name = self._names[label] = model_name(label)
        table, text = self._table(item, meta)
        self._found["entities"][name] = {
            "table": text,
            "primary_key": meta.get("primary_key") or self._primary_key(item, table),
            "grain": str(item.get("description") or f"one row a {name}").strip(),
        }

    def _table(self, item: dict[str, Any], meta: dict[str, Any]) -> tuple[CatalogTable | None, str]:
        """The table that `model: ref('orders')` means in the warehouse, and its name as SQL."""
        label = str(item["name"])
        if meta.get("table"):
            return None, str(meta["table"])
        wanted, schema = self._reference(item)
        known = [table for table in self._catalog.tables if table.name.lower() == wanted.lower()]
        inside = [table for table in known if schema is None or table.schema_name.lower() == schema.lower()]
        if len(inside) == 1:
            table = inside[0]
            names = (quoted_name(table.schema_name, self._dialect), quoted_name(table.name, self._dialect))
            return table, ".".join(names)
        if inside:
            places = " and ".join(sorted(table.schema_name for table in inside))
            told = f"{wanted} stands in {places}: name one by --schema"
        else:
            told = f"there is no table {wanted} in the warehouse"
        self._note(f"semantic_models.{label}.model", told)
        return None, f"{schema or 'public'}.{quoted_name(wanted, self._dialect)}"

    def _reference(self, item: dict[str, Any]) -> tuple[str, str | None]:
        """Table and schema that a semantic model names."""
        node = item.get("node_relation")
        if isinstance(node, dict) and node.get("alias"):
            return str(node["alias"]), str(node.get("schema_name") or "") or self._schema
        text = str(item.get("model") or item["name"])
        found = _REF.match(text)
        if found is None:
            return text.rsplit(".", 1)[-1], self._schema
        parts = [part.strip().strip("'\"") for part in found[2].split(",")]
        return parts[-1], (parts[0] if found[1] == "source" and len(parts) == 2 else self._schema)

    def _primary_key(self, item: dict[str, Any], table: CatalogTable | None) -> list[str]:
        for kind in ("primary", "unique", "natural"):
            for entity in _listed(item, "entities"):
                if entity.get("type") == kind:
                    return list(key_columns(_expr(entity), self._dialect))
        if table is not None and table.keys:
            key = sorted(table.keys, key=lambda found: not found.primary)[0]
            return [quoted_name(column, self._dialect) for column in key.columns]
        self._note(f"semantic_models.{item['name']}.entities", "no primary entity is named: correct primary_key")
        return ["id"]

    def _joins(self, item: dict[str, Any]) -> None:
        meta, name = meta_of(item), self._names[str(item["name"])]
        if isinstance(meta.get("joins"), list):
            self._found["joins"] += meta["joins"]
            return
        for entity in _listed(item, "entities"):
            targets = self._targets(str(entity["name"]), str(item["name"]))
            if entity.get("type") not in ("foreign", "unique") or not targets:
                if entity.get("type") == "foreign":
                    message = "no semantic model has it as its primary or unique entity: no join"
                    self._note(f"semantic_models.{item['name']}.entities.{entity['name']}", message)
                continue
            if len(targets) > 1:
                message = f"it is a key of {' and '.join(label for label, _ in targets)}: add the join that is meant"
                self._note(f"semantic_models.{item['name']}.entities.{entity['name']}", message)
                continue
            label, key = targets[0]
            pair = (_expr(entity), key)
            left, right = (key_columns(text, self._dialect) for text in pair)
            columns = dict(zip(left, right, strict=True)) if len(left) == len(right) else dict([pair])
            join = {"from": name, "to": self._names[label], "columns": columns}
            self._found["joins"].append(join | ({"type": "one_to_one"} if entity["type"] == "unique" else {}))

    def _targets(self, entity: str, own: str) -> list[tuple[str, str]]:
        """The other semantic models in which an entity is a key, with the key's expression."""
        found = []
        for item in self._project.semantic_models:
            if str(item["name"]) == own:
                continue
            for other in _listed(item, "entities"):
                if other.get("name") == entity and other.get("type") in ("primary", "unique"):
                    found.append((str(item["name"]), _expr(other)))
        return found

    # ------------------------------------------------------------------ dimensions

    def _dimensions(self, item: dict[str, Any]) -> None:
        meta, label = meta_of(item), str(item["name"])
        entity = self._names[label]
        for dimension in _listed(item, "dimensions"):
            own = str(dimension["name"])
            if dimension.get("type") == "time":
                self._time(item, dimension, (meta.get("time_dimensions") or {}).get(own) or {})
                continue
            if self._is_alternative(own, entity):
                self._places[label, own] = own, _expr(dimension)
                continue
            extra = (meta.get("dimensions") or {}).get(own)
            name = own if extra is not None else self._free("dimensions", own, entity)
            found = _described(dimension, name) | {"entity": entity, "expression": _expr(dimension)}
            if extra is None:
                extra = {"synonyms": [name.replace("_", " ")]} | self._boolean(entity, _expr(dimension))
            self._found["dimensions"][name] = found | extra
            self._places[label, own] = name, _expr(dimension)
            if dimension.get("type_params", {}) and dimension["type_params"].get("validity_params"):
                message = "the validity of its rows is not carried over: filter the metrics, or use a stock"
                self._note(f"semantic_models.{label}.dimensions.{own}", message)

    def _is_alternative(self, name: str, entity: str) -> bool:
        """Whether an export of ours says that it is the same dimension as one on another table."""
        return any(
            place.get("entity") == entity
            for item in self._project.semantic_models
            for place in ((meta_of(item).get("dimensions") or {}).get(name) or {}).get("alternatives", ())
        )

    def _time(self, item: dict[str, Any], dimension: dict[str, Any], extra: dict[str, Any]) -> None:
        label, own = str(item["name"]), str(dimension["name"])
        entity = self._names[label]
        name = own if own not in self._found["time_dimensions"] else self._free("time_dimensions", own, entity)
        found = _described(dimension, name) | {"entity": entity, "column": _expr(dimension)}
        found.pop("description", None)
        if not meta_of(item):
            found["type"] = self._time_type(entity, dimension)
        self._found["time_dimensions"][name] = found | extra
        self._places[label, own] = name, _expr(dimension)
        params = dimension.get("type_params") or {}
        if params.get("validity_params"):
            message = "the validity of its rows is not carried over: filter the metrics, or use a stock"
            self._note(f"semantic_models.{label}.dimensions.{own}", message)

    def _time_type(self, entity: str, dimension: dict[str, Any]) -> str:
        kind = self._column_type(entity, _expr(dimension))
        if kind is not None:
            return "date" if kind.startswith("date") and not kind.startswith("datetime") else "timestamp"
        granularity = str((dimension.get("type_params") or {}).get("time_granularity") or "day").lower()
        text = _expr(dimension).lower()
        return "timestamp" if granularity not in _COARSE or "timestamp" in text or "datetime" in text else "date"

    def _boolean(self, entity: str, expression: str) -> dict[str, Any]:
        kind = self._column_type(entity, expression) or ""
        return {"type": "boolean"} if kind.startswith("bool") else {}

    def _column_type(self, entity: str, expression: str) -> str | None:
        text = self._found["entities"][entity]["table"].replace('"', "").lower()
        for table in self._catalog.tables:
            if table.qualified_name.lower() == text:
                wanted = expression.strip('"`').lower()
                return next((column.type.lower() for column in table.columns if column.name.lower() == wanted), None)
        return None

    def _free(self, kind: str, own: str, entity: str) -> str:
        """The name, with the table before it where it is taken; names of metrics come first."""
        name = model_name(own)
        metrics = {str(item["name"]) for item in self._project.metrics}
        taken = {*self._found["dimensions"], *self._found["time_dimensions"], *metrics}
        if name not in taken:
            return name
        free = model_name(f"{entity}_{own}")
        self._note(f"{kind}.{free}", f"{own} of {entity}; the name {name} is another's")
        return free


def _listed(item: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = item.get(key) or []
    return [entry for entry in found if isinstance(entry, dict) and entry.get("name")]


def _expr(entry: dict[str, Any]) -> str:
    return str(entry.get("expr") or entry["name"])


def _described(entry: dict[str, Any], name: str) -> dict[str, Any]:
    found = {"label": str(entry.get("label") or name.replace("_", " ").capitalize())}
    text = str(entry.get("description") or "").strip()
    return found | ({"description": text} if text else {})
