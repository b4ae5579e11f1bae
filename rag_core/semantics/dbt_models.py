"""dbt's layout since 1.12, in which a model carries its semantic model, as the layout of 1.6 to 1.11. Pure.

Source: docs.getdbt.com, "Migrate to the latest YAML spec": entities and dimensions stand at the columns, simple metrics
take the place of measures, and what was under `type_params` stands at the metric itself.
"""

from __future__ import annotations

from typing import Any

Entry = dict[str, Any]


def semantic_model_of(model: Entry) -> Entry | None:
    """The semantic model inside an entry of `models`, as an entry of `semantic_models`; None where there is none."""
    given = model.get("semantic_model")
    if not given or (isinstance(given, dict) and given.get("enabled") is False) or not model.get("name"):
        return None
    inside: Entry = given if isinstance(given, dict) else {}
    columns = _entries(model.get("columns"))
    derived = model.get("derived_semantics")
    extra: Entry = derived if isinstance(derived, dict) else {}
    dimensions = [item for column in columns if (item := _dimension(column)) is not None]
    dimensions += [_timed(dict(made), made.get("granularity")) for made in _entries(extra.get("dimensions"))]
    entities = [item for column in columns if (item := _entity(column)) is not None]
    name = str(inside.get("name") or model["name"])
    found: Entry = {
        "name": name,
        "model": f"ref('{model['name']}')",
        "description": model.get("description") or "",
        "entities": [*entities, *_entries(extra.get("entities"))],
        "dimensions": dimensions,
        "measures": [_measure(metric) for metric in _entries(model.get("metrics")) if _is_simple(metric)],
    }
    time = model.get("agg_time_dimension")
    if time:
        found["defaults"] = {"agg_time_dimension": _dimension_called(str(time), dimensions)}
    if model.get("primary_entity"):
        found["primary_entity"] = model["primary_entity"]
    if isinstance(inside.get("config"), dict):
        found["config"] = inside["config"]
    return found


def metrics_of(model: Entry) -> list[Entry]:
    """The metrics inside an entry of `models`, as entries of `metrics`."""
    return [plain_metric(item) for item in _entries(model.get("metrics"))]


def plain_metric(metric: Entry) -> Entry:
    """A metric with its settings under `type_params`, whichever layout it is written in."""
    if "type_params" in metric:
        return metric
    kind = str(metric.get("type") or "simple").lower()
    given = {name: metric[name] for name in _SETTINGS.get(kind, ()) if metric.get(name) is not None}
    params: Entry = given
    if kind == "simple":
        params = {"measure": {"name": metric.get("name"), **given} if given else metric.get("name")}
    elif kind == "derived":
        params = {"expr": metric.get("expr"), "metrics": metric.get("input_metrics") or []}
    elif kind == "cumulative":
        params = {"cumulative_type_params": {**given, "metric": metric.get("input_metric")}}
    return {**metric, "type_params": params}


_SETTINGS = {
    "simple": ("fill_nulls_with", "join_to_timespine"),
    "ratio": ("numerator", "denominator"),
    "cumulative": ("window", "grain_to_date", "period_agg"),
}


def _is_simple(metric: Entry) -> bool:
    return str(metric.get("type") or "simple").lower() == "simple" and "type_params" not in metric


def _measure(metric: Entry) -> Entry:
    """What a simple metric aggregates."""
    found: Entry = {"name": metric["name"]}
    for name in ("agg", "expr", "agg_time_dimension"):
        if metric.get(name) is not None:
            found[name] = metric[name]
    if metric.get("percentile") is not None:
        discrete = str(metric.get("percentile_type") or "").lower() == "discrete"
        found["agg_params"] = {"percentile": metric["percentile"], "use_discrete_percentile": discrete}
    state = metric.get("non_additive_dimension")
    if isinstance(state, dict):
        found["non_additive_dimension"] = {
            "name": state.get("name"),
            "window_choice": state.get("window_agg") or state.get("window_choice"),
            "window_groupings": state.get("group_by") or state.get("window_groupings"),
        }
    return found


def _dimension(column: Entry) -> Entry | None:
    given = column.get("dimension")
    if not given:
        return None
    found = _at_column(given, column)
    return _timed(found, column.get("granularity"))


def _entity(column: Entry) -> Entry | None:
    given = column.get("entity")
    return _at_column(given, column) if given else None


def _at_column(given: Any, column: Entry) -> Entry:
    """`entity: primary` and `dimension: {type: time, name: day}` as entries of their own over the column."""
    found: Entry = dict(given) if isinstance(given, dict) else {"type": given}
    found.setdefault("name", column["name"])
    if found["name"] != column["name"]:
        found.setdefault("expr", column["name"])
    if column.get("description"):
        found.setdefault("description", column["description"])
    return found


def _timed(dimension: Entry, granularity: Any) -> Entry:
    if granularity and dimension.get("type") == "time":
        dimension.setdefault("type_params", {"time_granularity": granularity})
    return dimension


def _dimension_called(name: str, dimensions: list[Entry]) -> str:
    """The dimension that a name means: its own name, or that of its column."""
    if any(item.get("name") == name for item in dimensions):
        return name
    return next((str(item["name"]) for item in dimensions if item.get("expr") == name), name)


def _entries(found: Any) -> list[Entry]:
    return [item for item in found if isinstance(item, dict) and item.get("name")] if isinstance(found, list) else []
