"""Writes a semantic model as dbt semantic models and metrics, so that a team keeps one definition. Pure.

What dbt calculates is written in dbt's own terms. What it has no word for (synonyms, units, values, verified queries,
stocks) stands under `config.meta.nightshift`, which dbt leaves alone and the import reads again.
"""

from __future__ import annotations

import io
from collections import defaultdict
from typing import Any

from ruamel.yaml import YAML

from rag_core.datamodel.base import Record
from rag_core.semantics.dbt_files import META, Note
from rag_core.semantics.dbt_measures import Measure, NoCounterpart, filtered, measures_of
from rag_core.semantics.definitions import Join, Metric, SemanticModel
from rag_core.semantics.model import metric_parts

HEADER = """\
# Written by `nightshift semantics export --dbt`. Each model is named as its table is: change `ref` where your dbt
# models are named otherwise. `config.meta.nightshift` holds what dbt has no word for; `nightshift semantics import`
# reads it.
"""
_MODEL_FIELDS = ("dialect", "own_names", "ambiguous", "readings", "next_on_first_day", "verified_queries")
_METRIC_IN_DBT = frozenset(["label", "description", "type", "entity", "expression", "filters", "time"])
_METRIC_IN_DBT_ONLY = frozenset(["numerator", "denominator", "window", "to_date"])


class DbtExport(Record):
    """The document with `semantic_models` and `metrics`, and what dbt cannot calculate."""

    document: dict[str, Any]
    notes: tuple[Note, ...] = ()

    @property
    def text(self) -> str:
        """The document as YAML."""
        stream = io.StringIO()
        yaml = YAML()
        yaml.width = 120
        yaml.indent(mapping=2, sequence=4, offset=2)
        yaml.dump(self.document, stream)
        return HEADER + stream.getvalue()


def export_dbt(model: SemanticModel) -> DbtExport:
    """The dbt form of a model; nothing of it is lost, but `notes` name what dbt itself cannot answer."""
    writer = _Writer(model)
    return DbtExport(document=writer.document(), notes=tuple(writer.notes))


class _Writer:
    def __init__(self, model: SemanticModel) -> None:
        self.model = model
        self.notes: list[Note] = []
        self._measures: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._unique: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._left_out: dict[str, dict[str, Any]] = {}
        self._percent: list[str] = []

    def document(self) -> dict[str, Any]:
        metrics = [entry for name in self.model.metrics for entry in self._metric(name)]
        if self._percent:
            message = f"fractions of one in dbt, percent here: {', '.join(self._percent)}"
            self.notes.append(Note(key="metrics", message=message))
        foreign = {name: self._foreign(name) for name in self.model.entities}
        models = [self._semantic_model(name, foreign[name]) for name in self.model.entities]
        own = {key: value for key, value in self.model.model_dump(mode="json").items() if key in _MODEL_FIELDS}
        if self._left_out:
            own["metrics"] = self._left_out
        if models:
            models[0]["config"]["meta"][META]["model"] = own
        return {"semantic_models": models, "metrics": metrics}

    # ------------------------------------------------------------------ tables

    def _semantic_model(self, name: str, foreign: list[dict[str, Any]]) -> dict[str, Any]:
        entity = self.model.entities[name]
        times = [key for key, role in self.model.time_dimensions.items() if role.entity == name]
        found: dict[str, Any] = {
            "name": name,
            "description": entity.grain,
            "model": f"ref('{_bare(entity.table)}')",
        }
        if times:
            found["defaults"] = {"agg_time_dimension": times[0]}
        primary = {"name": name, "type": "primary", "expr": _key(entity.primary_key)}
        found["entities"] = [primary, *self._unique[name], *foreign]
        found["dimensions"] = [*self._times(times), *self._dimensions(name)]
        if self._measures[name]:
            found["measures"] = self._measures[name]
        found["config"] = {"meta": {META: self._table_meta(name, times)}}
        return found

    def _table_meta(self, name: str, times: list[str]) -> dict[str, Any]:
        entity = self.model.entities[name]
        joins = [join.model_dump(mode="json", by_alias=True) for join in self.model.joins if join.from_entity == name]
        found: dict[str, Any] = {"table": entity.table, "primary_key": list(entity.primary_key), "joins": joins}
        roles = self.model.time_dimensions
        found["time_dimensions"] = {
            key: roles[key].model_dump(mode="json", exclude={"label", "entity", "column"}, exclude_defaults=True)
            for key in times
        }
        found["dimensions"] = {
            key: dimension.model_dump(
                mode="json", exclude={"label", "entity", "expression", "description"}, exclude_defaults=True
            )
            for key, dimension in self.model.dimensions.items()
            if dimension.entity == name
        }
        return found

    def _foreign(self, name: str) -> list[dict[str, Any]]:
        """A foreign entity for each join; a target that is not the other's primary key is a unique entity there."""
        found: list[dict[str, Any]] = []
        for join in self.model.joins:
            if join.from_entity != name:
                continue
            label = self._target(join)
            if any(item["name"] == label for item in found):
                message = f"{name} reaches {join.to} in two ways; dbt knows one, the other stands in meta"
                self.notes.append(Note(key=f"joins.{name}.{join.to}", message=message))
                continue
            kind = "unique" if join.type == "one_to_one" else "foreign"
            found.append({"name": label, "type": kind, "expr": _key(self._left(join))})
        return found

    def _left(self, join: Join) -> tuple[str, ...]:
        """The joining columns in the order of the target's key."""
        back = {right: left for left, right in join.columns.items()}
        key = self.model.entities[join.to].primary_key
        return tuple(back[column] for column in key) if set(key) == set(back) else tuple(join.columns)

    def _target(self, join: Join) -> str:
        key = self.model.entities[join.to].primary_key
        right = tuple(join.columns.values())
        if set(key) == set(right):
            return join.to
        label = f"{join.to}_by_{'_'.join(_plain(column) for column in right)}"
        if not any(item["name"] == label for item in self._unique[join.to]):
            self._unique[join.to].append({"name": label, "type": "unique", "expr": _key(right)})
        return label

    def _times(self, names: list[str]) -> list[dict[str, Any]]:
        roles = self.model.time_dimensions
        return [
            {
                "name": name,
                "label": roles[name].label,
                "type": "time",
                "expr": roles[name].column,
                "type_params": {"time_granularity": "day"},
            }
            for name in names
        ]

    def _dimensions(self, entity: str) -> list[dict[str, Any]]:
        found = []
        for name, dimension in self.model.dimensions.items():
            for place in dimension.sources:
                if place.entity == entity:
                    item = {"name": name, "label": dimension.label, "type": "categorical", "expr": place.expression}
                    found.append(item | ({"description": dimension.description} if dimension.description else {}))
        return found

    # ------------------------------------------------------------------ figures

    def _metric(self, name: str) -> list[dict[str, Any]]:
        metric = self.model.metrics[name]
        try:
            entries = self._composed(name, metric) if metric_parts(self.model, name) else self._aggregated(name, metric)
        except NoCounterpart as reason:
            self._left_out[name] = metric.model_dump(mode="json", exclude_defaults=True)
            message = f"dbt cannot calculate it: {reason}; it is kept in config.meta.{META}"
            self.notes.append(Note(key=f"metrics.{name}", message=message))
            return []
        extra = metric.model_dump(mode="json", exclude=set(_METRIC_IN_DBT | _METRIC_IN_DBT_ONLY), exclude_defaults=True)
        if metric.sources:
            extra["source"] = {"expression": metric.expression, "filters": list(metric.filters)}
        entries[-1]["config"] = {"meta": {META: extra}}
        return entries

    def _aggregated(self, name: str, metric: Metric) -> list[dict[str, Any]]:
        if metric.type == "stock":
            raise NoCounterpart("it counts rows by their first and last day of validity")
        measures, rest = measures_of(metric.expression or "", self.model.dialect)
        entity, time = metric.entity or "", metric.time or ""
        named = [self._measure(name, entity, time, filtered(item, metric.filters), metric) for item in measures]
        if rest == "{0}":
            return [_entry(name, metric, _type_of(metric), _params(metric, named[0]))]
        if metric.type == "cumulative":
            raise NoCounterpart("it runs up a figure that is more than one aggregate")
        parts = [f"{name}_part_{index + 1}" for index in range(len(named))]
        entries: list[dict[str, Any]] = [
            {
                "name": part,
                "label": f"{metric.label}, part {index + 1}",
                "type": "simple",
                "type_params": {"measure": measure},
                "config": {"meta": {META: {"part_of": name}}},
            }
            for index, (part, measure) in enumerate(zip(parts, named, strict=True))
        ]
        params = {"expr": rest.format(*parts), "metrics": [{"name": part} for part in parts]}
        return [*entries, _entry(name, metric, "derived", params)]

    def _measure(self, name: str, entity: str, time: str, measure: Measure, metric: Metric) -> str:
        taken = {item["name"] for items in self._measures.values() for item in items}
        label = base = f"{name}_{measure.agg}"
        number = 2
        while label in taken:
            label, number = f"{base}_{number}", number + 1
        found: dict[str, Any] = {"name": label, "agg": measure.agg, "expr": measure.expr, "agg_time_dimension": time}
        if measure.params:
            found["agg_params"] = measure.params
        if metric.type == "snapshot":
            found["non_additive_dimension"] = {"name": time, "window_choice": "max"}
        self._measures[entity].append(found)
        return label

    def _composed(self, name: str, metric: Metric) -> list[dict[str, Any]]:
        parts = metric_parts(self.model, name)
        missing = [part for part in parts if part in self._left_out or self._depends_on_stock(part)]
        if missing:
            raise NoCounterpart(f"it is made of {' and '.join(missing)}")
        if metric.type == "ratio":
            if metric.unit == "%":
                self._percent.append(name)
            params: dict[str, Any] = {"numerator": {"name": parts[0]}, "denominator": {"name": parts[1]}}
            return [_entry(name, metric, "ratio", params)]
        params = {"expr": metric.expression or "", "metrics": [{"name": part} for part in parts]}
        return [_entry(name, metric, "derived", params)]

    def _depends_on_stock(self, name: str) -> bool:
        parts = metric_parts(self.model, name)
        return self.model.metrics[name].type == "stock" or any(self._depends_on_stock(part) for part in parts)


def _entry(name: str, metric: Metric, kind: str, params: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "label": metric.label,
        "description": metric.description or metric.label,
        "type": kind,
        "type_params": params,
    }


def _type_of(metric: Metric) -> str:
    return "cumulative" if metric.type == "cumulative" else "simple"


def _params(metric: Metric, measure: str) -> dict[str, Any]:
    if metric.type != "cumulative":
        return {"measure": measure}
    reach: dict[str, Any] = {"period_agg": "last"}
    if metric.window:
        reach["window"] = metric.window
    if metric.to_date:
        reach["grain_to_date"] = metric.to_date
    return {"measure": measure, "cumulative_type_params": reach}


def _key(columns: tuple[str, ...]) -> str:
    """One expression for a key; dbt's entities are single expressions, so several columns are put together."""
    if len(columns) == 1:
        return columns[0]
    return " || '|' || ".join(f"CAST({column} AS VARCHAR)" for column in columns)


def _bare(table: str) -> str:
    return _plain(table.rsplit(".", 1)[-1])


def _plain(identifier: str) -> str:
    return identifier.strip('"`').lower()
