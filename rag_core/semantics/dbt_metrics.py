"""The figures of a dbt project as metrics of a semantic model. Pure."""

from __future__ import annotations

import re
from typing import Any

import sqlglot
from sqlglot import exp

from rag_core.semantics.dbt_files import DbtProject, Note, meta_of
from rag_core.semantics.dbt_measures import ADDITIVE, Measure, NoCounterpart, aggregate_sql, filtered, measures_of
from rag_core.semantics.suggest import model_name

_NAMED = re.compile(
    r"\{\{\s*(Dimension|TimeDimension|Entity|Metric)\(\s*['\"]([^'\"]+)['\"][^)]*\)(\.[a-z_]+\([^)]*\))*\s*\}\}"
)
_WINDOW = re.compile(r"^\s*(\d+)\s+(day|week|month|quarter|year)s?\s*$", re.IGNORECASE)


class MetricImporter:
    """Adds metrics to a document that already has its tables and dimensions.

    Args:
        project: what was read.
        found: the document; `found["metrics"]` is filled.
        names: our names of the semantic models.
        places: our name and the expression of each dimension, by semantic model and dbt name.
        own: what an export of ours left about the whole model.
    """

    def __init__(
        self,
        project: DbtProject,
        found: dict[str, Any],
        names: dict[str, str],
        places: dict[tuple[str, str], tuple[str, str]],
        own: dict[str, Any],
    ) -> None:
        self.notes: list[Note] = []
        self._found = found
        self._dialect = str(found["dialect"])
        self._names = names
        self._places = places
        self._own = own
        self._models = {str(item["name"]): item for item in project.semantic_models}
        self._measures = {
            str(measure["name"]): (label, measure)
            for label, item in self._models.items()
            for measure in item.get("measures") or ()
        }
        self._entries = {str(item["name"]): item for item in (*self._created(), *project.metrics)}
        self._failed: dict[str, str] = {}
        self._used: set[str] = set()

    def read(self) -> None:
        """All metrics that have a counterpart; the others are named in `notes`."""
        for name in tuple(self._entries):
            if name not in self._failed:  # else it was read, and noted, for another that names it
                self._metric(name, ())
        self._found["metrics"].update(self._own.get("metrics") or {})
        self._drop_parts()
        self._summarise()

    def _created(self) -> list[dict[str, Any]]:
        """Metrics that a measure asks for by `create_metric`."""
        return [
            {
                "name": name,
                "type": "simple",
                "label": measure.get("label") or name.replace("_", " ").capitalize(),
                "description": measure.get("description", ""),
                "type_params": {"measure": name},
            }
            for name, (_, measure) in self._measures.items()
            if measure.get("create_metric")
        ]

    def _metric(self, label: str, trail: tuple[str, ...]) -> str:
        """Our name of a metric, read now where it was not yet. Raises NoCounterpart where it has none."""
        name = model_name(label)
        if name in self._found["metrics"]:
            return name
        if label in self._failed or label not in self._entries or label in trail:
            known = self._failed.get(label) or ("it is defined by itself" if label in trail else "there is none")
            raise NoCounterpart(f"metric {label}: {known}")
        entry = self._entries[label]
        try:
            found = self._read(entry, (*trail, label))
        except NoCounterpart as reason:
            self._failed[label] = str(reason)
            self._note(f"metrics.{label}", f"left out: {reason}")
            if trail:
                raise
            return name
        self._found["metrics"][name] = self._described(entry, name) | found | self._extra(entry, found)
        return name

    def _read(self, entry: dict[str, Any], trail: tuple[str, ...]) -> dict[str, Any]:
        kind = str(entry.get("type") or "simple").lower()
        params = entry.get("type_params") or {}
        readers = {"simple": self._simple, "cumulative": self._cumulative}
        if kind in readers:
            return readers[kind](entry, params)
        if kind == "ratio":
            filters = _filters(entry.get("filter"))
            return {
                "type": "ratio",
                "numerator": self._input(params.get("numerator"), filters, trail),
                "denominator": self._input(params.get("denominator"), filters, trail),
            }
        if kind == "derived":
            return self._derived(entry, params, trail)
        if kind == "conversion":
            raise NoCounterpart("a conversion follows one entity from event to event, which no metric here does")
        raise NoCounterpart(f"the type {kind!r} is not known")

    # ------------------------------------------------------------------ figures that aggregate rows

    def _simple(self, entry: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        named = params.get("measure")
        return self._aggregate(named, _filters(entry.get("filter")))

    def _cumulative(self, entry: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        inner = params.get("cumulative_type_params") or {}
        measure = params.get("measure")
        filters = _filters(entry.get("filter"))
        if measure is None and isinstance(inner.get("metric"), dict | str):
            named = inner["metric"]
            other = self._entries.get(_name_of(named)) or {}
            measure = (other.get("type_params") or {}).get("measure")
            # The running total is that of the metric with its own conditions.
            filters += _filters(other.get("filter")) + (
                _filters(named.get("filter")) if isinstance(named, dict) else []
            )
        found = self._aggregate(measure, filters) | {"type": "cumulative"}
        window, to_date = (
            inner.get("window") or params.get("window"),
            inner.get("grain_to_date") or params.get("grain_to_date"),
        )
        if isinstance(window, dict):
            window = f"{window.get('count')} {window.get('granularity')}"
        if window:
            parsed = _WINDOW.match(str(window))
            if parsed is None:
                raise NoCounterpart(f"the window {window!r} is no number of days, weeks, months, quarters or years")
            found["window"] = f"{int(parsed[1])} {parsed[2].lower()}s"
        if to_date:
            if str(to_date).lower() not in ("week", "month", "quarter", "year"):
                raise NoCounterpart(f"grain_to_date {to_date!r} is no week, month, quarter or year")
            found["to_date"] = str(to_date).lower()
        if str(inner.get("period_agg") or "last") != "last":
            message = f"shown as it stands at the end of each period, not by period_agg {inner['period_agg']}"
            self._note(f"metrics.{entry['name']}", message)
        if found["additivity"] == "additive":
            found["additivity"] = "semi_additive"
        return found

    def _aggregate(self, named: Any, filters: list[str]) -> dict[str, Any]:
        """A measure with filters as the aggregate of a table."""
        if named is None:
            raise NoCounterpart("it names no measure")
        name = _name_of(named)
        if name not in self._measures:
            raise NoCounterpart(f"there is no measure {name}")
        label, measure = self._measures[name]
        if isinstance(named, dict):
            filters = _filters(named.get("filter")) + filters
        time = measure.get("agg_time_dimension") or (self._models[label].get("defaults") or {}).get(
            "agg_time_dimension"
        )
        if time is None or (label, str(time)) not in self._places:
            raise NoCounterpart(f"measure {name} has no agg_time_dimension in {label}")
        found: dict[str, Any] = {
            "entity": self._names[label],
            "expression": aggregate_sql(measure, self._dialect),
            "time": self._places[label, str(time)][0],
            "additivity": "additive" if str(measure.get("agg")).lower() in ADDITIVE else "non_additive",
        }
        conditions = [self._condition(text, label) for text in filters]
        if conditions:
            found["filters"] = conditions
        found |= self._snapshot(measure, label, str(time))
        self._used.add(name)
        return found

    def _snapshot(self, measure: dict[str, Any], label: str, time: str) -> dict[str, Any]:
        """A measure that does not add up over time and is taken at the last date of a period."""
        state = measure.get("non_additive_dimension")
        if not isinstance(state, dict):
            return {}
        last = str(state.get("window_choice") or "min").lower() == "max"
        if not last or state.get("window_groupings") or str(state.get("name")) != time or measure.get("agg") != "sum":
            known = "of non_additive_dimension only the sum at the last date of its own time is known"
            raise NoCounterpart(f"measure {measure['name']}: {known}")
        return {"type": "snapshot", "additivity": "semi_additive"}

    def _condition(self, text: str, label: str) -> str:
        """A dbt filter as SQL over the columns of one table."""

        def put(match: re.Match[str]) -> str:
            kind, path, call = match[1], match[2], match[3]
            owner, _, own = path.rpartition("__")
            if kind in ("Metric",) or call:
                raise NoCounterpart(f"the filter {text.strip()!r} is more than a condition on a dimension")
            keys = {str(item["name"]): str(item.get("expr") or item["name"]) for item in self._keys(label)}
            if kind == "Entity" and path in keys:
                return keys[path]
            if (owner and owner not in keys and owner != label) or (label, own) not in self._places:
                raise NoCounterpart(f"the filter {text.strip()!r} is on a dimension of another table")
            return self._places[label, own][1]

        condition = _NAMED.sub(put, text).strip()
        try:
            sqlglot.parse_one(condition, dialect=self._dialect)
        except sqlglot.errors.ParseError:
            raise NoCounterpart(f"the filter {text.strip()!r} is no SQL condition") from None
        return condition

    def _keys(self, label: str) -> list[dict[str, Any]]:
        model = self._models[label]
        primary = [{"name": model["primary_entity"]}] if model.get("primary_entity") else []
        return [
            *primary,
            *(item for item in model.get("entities") or () if item.get("type") in ("primary", "unique", "natural")),
        ]

    # ------------------------------------------------------------------ figures of figures

    def _input(self, named: Any, filters: list[str], trail: tuple[str, ...]) -> str:
        """The metric that a ratio or a calculation names; with a filter, a metric of its own."""
        if named is None:
            raise NoCounterpart("an input is missing")
        label = _name_of(named)
        if isinstance(named, dict):
            if named.get("offset_window") or named.get("offset_to_grain"):
                raise NoCounterpart(
                    f"{label} of an earlier period: ask for it as a comparison (the change against the period before)"
                )
            filters = _filters(named.get("filter")) + filters
        if label not in self._entries and label in self._measures:
            self._entries[label] = {"name": label, "type": "simple", "type_params": {"measure": label}}
        if not filters:
            return self._metric(label, trail)
        base = self._entries.get(label) or {}
        if str(base.get("type") or "simple") != "simple":
            raise NoCounterpart(f"a filter on {label}, which is itself made of metrics")
        copy = f"{label}_of_{trail[-1]}"
        self._entries[copy] = base | {"name": copy, "label": None, "filter": _filters(base.get("filter")) + filters}
        return self._metric(copy, trail)

    def _derived(self, entry: dict[str, Any], params: dict[str, Any], trail: tuple[str, ...]) -> dict[str, Any]:
        inputs = params.get("metrics") or []
        filters = _filters(entry.get("filter"))
        meant = {}
        for item in inputs:
            alias = str(item.get("alias") or item["name"]) if isinstance(item, dict) else str(item)
            meant[alias.lower()] = self._input(item, filters, trail)
        text = str(params.get("expr") or "")
        try:
            tree = sqlglot.parse_one(text, dialect=self._dialect)
        except sqlglot.errors.ParseError:
            raise NoCounterpart(f"expr {text!r} is no SQL expression") from None
        unknown = sorted({column.name for column in tree.find_all(exp.Column) if column.name.lower() not in meant})
        if unknown:
            raise NoCounterpart(f"expr names {' and '.join(unknown)}, which are none of its metrics")
        for column in tree.find_all(exp.Column):
            column.set("this", exp.to_identifier(meant[column.name.lower()]))
        return {"type": "derived", "expression": tree.sql(dialect=self._dialect)}

    # ------------------------------------------------------------------ what an export of ours left

    def _extra(self, entry: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
        """What dbt has no word for; the original expression where the dbt part still says the same."""
        meta = dict(meta_of(entry))
        source, _ = meta.pop("source", None), meta.pop("part_of", None)
        if not isinstance(source, dict):
            return meta
        expression, filters = str(source.get("expression")), tuple(source.get("filters") or ())
        measures, rest = measures_of(expression, self._dialect)
        wanted = [filtered(item, filters) for item in measures]
        if found.get("type") == "derived":
            parts = [self._found["metrics"].get(model_name(name)) or {} for name in self._parts(entry)]
            same = [self._measure_of(part) for part in parts] == wanted and self._rest(entry) == rest
            first = parts[0] if parts else {}
            place = {key: first[key] for key in ("entity", "time") if key in first} | {"type": "simple"}
        else:
            same, place = rest == "{0}" and [self._measure_of(found)] == wanted, {}
        if not same:
            return meta
        return meta | place | {"expression": expression} | {"filters": list(filters)}

    def _measure_of(self, found: dict[str, Any]) -> Measure | None:
        """The measure of an aggregate as an export would write it, without filters of its own."""
        if found.get("filters") or "expression" not in found:
            return None
        try:
            measures, rest = measures_of(str(found["expression"]), self._dialect)
        except NoCounterpart:
            return None
        return measures[0] if rest == "{0}" else None

    def _parts(self, entry: dict[str, Any]) -> list[str]:
        return [_name_of(item) for item in (entry.get("type_params") or {}).get("metrics") or ()]

    def _rest(self, entry: dict[str, Any]) -> str:
        text = str((entry.get("type_params") or {}).get("expr") or "")
        for index, name in enumerate(self._parts(entry)):
            text = re.sub(rf"\b{re.escape(name)}\b", f"{{{index}}}", text)
        return text

    def _drop_parts(self) -> None:
        """Takes parts away that the figure they were made of does without again."""
        for label, entry in self._entries.items():
            owner = meta_of(entry).get("part_of")
            whole = self._found["metrics"].get(model_name(str(owner))) if owner else None
            if whole is not None and whole.get("type") != "derived":
                self._found["metrics"].pop(model_name(label), None)

    # ------------------------------------------------------------------ words

    def _described(self, entry: dict[str, Any], name: str) -> dict[str, Any]:
        label = str(entry.get("label") or name.replace("_", " ").capitalize())
        found: dict[str, Any] = {"label": label}
        text = str(entry.get("description") or "").strip()
        if text and text != label:
            found["description"] = text
        spoken = name.replace("_", " ")
        if not meta_of(entry) and spoken != label.lower():
            found["synonyms"] = [spoken]
        return found

    def _note(self, key: str, message: str) -> None:
        self.notes.append(Note(key=key, message=message))

    def _summarise(self) -> None:
        filled = sorted(
            label
            for label, entry in self._entries.items()
            if isinstance((entry.get("type_params") or {}).get("measure"), dict)
            and {"fill_nulls_with", "join_to_timespine"} & set(entry["type_params"]["measure"])
        )
        if filled:
            message = (
                "a period without rows is zero here for sums and counts, and has no row for anything else "
                f"(fill_nulls_with, join_to_timespine of {', '.join(filled)})"
            )
            self._note("metrics", message)
        idle = sorted(set(self._measures) - self._used)
        if idle:
            self._note("measures", f"used by no metric that was carried over: {', '.join(idle)}")


def _name_of(named: Any) -> str:
    return str(named.get("name")) if isinstance(named, dict) else str(named)


def _filters(value: Any) -> list[str]:
    """The conditions of a dbt filter: a text, or a list of texts that all hold."""
    if not value:
        return []
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]
