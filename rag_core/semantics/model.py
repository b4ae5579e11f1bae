"""Reads `config/semantic_model.yaml` and checks it in itself; `semantics.validate` checks it against a warehouse."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import sqlglot
from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from sqlglot import exp

from rag_core.errors import ConfigurationError
from rag_core.semantics.definitions import Dimension, Metric, MetricSource, SemanticModel, VerifiedQuery

__all__ = ["SemanticModel", "load_semantic_model"]

Key = tuple[str | int, ...]


class _Wrong(Exception):
    """A fault at one key of the file."""

    def __init__(self, key: Key, message: str) -> None:
        super().__init__(message)
        self.key = key
        self.message = message


def load_semantic_model(path: Path) -> SemanticModel:
    """Reads a semantic model.

    Raises ConfigurationError with one line that names the file, the line and the key.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"cannot read the semantic model {path}: {error}") from error
    try:
        document = YAML(typ="rt").load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        problem = getattr(error, "problem", None) or "is not valid YAML"
        raise ConfigurationError(f"{path}:{line}: {problem}") from error
    if not isinstance(document, dict):
        raise ConfigurationError(f"{path}:1: the semantic model must be a mapping with entities, metrics, ...")
    try:
        model = SemanticModel.model_validate(_plain(document))
        check_references(model)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ConfigurationError(_located(path, document, first["loc"], first["msg"])) from None
    except _Wrong as error:
        raise ConfigurationError(_located(path, document, error.key, error.message)) from None
    return model


def check_model(model: SemanticModel) -> None:
    """Checks a model that was made and not read; raises ConfigurationError with the key of the first fault."""
    try:
        check_references(model)
    except _Wrong as error:
        raise ConfigurationError(f"{'.'.join(str(part) for part in error.key)}: {error.message}") from None


def check_references(model: SemanticModel) -> None:
    """Raises where a name in the model names nothing, or where an expression cannot be parsed."""
    for index, join in enumerate(model.joins):
        for side, name in (("from", join.from_entity), ("to", join.to)):
            _known(name, model.entities, "entity", ("joins", index, side))
    for name, role in model.time_dimensions.items():
        _known(role.entity, model.entities, "entity", ("time_dimensions", name, "entity"))
        _expression(role.column, model, ("time_dimensions", name, "column"))
    for name, dimension in model.dimensions.items():
        _check_dimension(model, name, dimension)
    for name, metric in model.metrics.items():
        if name in model.dimensions:
            raise _Wrong(("metrics", name), f"{name} is the name of a dimension too")
        _check_metric(model, name, metric)
    for term, options in model.ambiguous.items():
        for option in options:
            _known(option, {**model.metrics, **model.dimensions}, "metric or dimension", ("ambiguous", term))
    for term, meanings in model.readings.items():
        _known(term, model.ambiguous, "ambiguous word", ("readings", term))
        for shape, option in meanings.items():
            _known(option, model.ambiguous[term], f"meaning of {term!r}", ("readings", term, shape))
    for name, query in model.verified_queries.items():
        _check_verified(model, name, query)


def _check_dimension(model: SemanticModel, name: str, dimension: Dimension) -> None:
    key: Key = ("dimensions", name)
    for place in dimension.sources:
        _known(place.entity, model.entities, "entity", (*key, "entity"))
        _expression(place.expression, model, (*key, "expression"))
    if dimension.ranked_by is not None:
        _known(dimension.ranked_by, model.metrics, "metric", (*key, "ranked_by"))
    if dimension.parent is not None:
        _known(dimension.parent, model.dimensions, "dimension", (*key, "parent"))


def _check_verified(model: SemanticModel, name: str, query: VerifiedQuery) -> None:
    key: Key = ("verified_queries", name)
    for slot, parameter in query.parameters.items():
        if parameter.dimension is not None:
            _known(parameter.dimension, model.dimensions, "dimension", (*key, "parameters", slot, "dimension"))
    tree = _expression(query.sql, model, (*key, "sql"))
    given = set(query.parameters) | {f"{slot}_{edge}" for slot in query.parameters for edge in ("start", "end")}
    for placeholder in tree.find_all(exp.Placeholder):
        if placeholder.name not in given:
            raise _Wrong((*key, "sql"), f"the parameter :{placeholder.name} is not declared")
    for pattern in query.patterns:
        for slot in re.findall(r"\{(.*?)\}", pattern):
            _known(slot, query.parameters, "parameter", (*key, "patterns"))


def _check_metric(model: SemanticModel, name: str, metric: Metric) -> None:
    key: Key = ("metrics", name)
    for source in metric.sources:
        _check_source(model, source, key)
        if metric.type in ("simple", "snapshot", "cumulative"):
            tree = _expression(source.expression, model, (*key, "expression"))
            if tree.find(exp.AggFunc) is None:
                raise _Wrong((*key, "expression"), f"{source.expression} aggregates nothing: use sum, count, avg, ...")
    for field in ("refines", "share_of", "cohort_of", "same_as", "numerator", "denominator"):
        if getattr(metric, field) is not None:
            _known(getattr(metric, field), model.metrics, "metric", (*key, field))
    for other in metric.shown_with:
        _known(other, model.metrics, "metric", (*key, "shown_with"))
    for text in (metric.valid_from, metric.valid_to):
        if text is not None:
            _expression(text, model, (*key, "valid_from"))
    if metric.type == "derived" and metric.expression is not None:
        tree = _expression(metric.expression, model, (*key, "expression"))
        for column in tree.find_all(exp.Column):
            _known(column.name, model.metrics, "metric", (*key, "expression"))
    _check_cycle(model, name, (name,))


def _check_cycle(model: SemanticModel, name: str, trail: tuple[str, ...]) -> None:
    for part in metric_parts(model, name):
        if part in trail:
            raise _Wrong(("metrics", trail[0]), f"is defined by itself ({' -> '.join((*trail, part))})")
        if part in model.metrics:
            _check_cycle(model, part, (*trail, part))


def metric_parts(model: SemanticModel, name: str) -> tuple[str, ...]:
    """The metrics that a ratio or derived metric is made of, in order; empty for the others."""
    metric = model.metrics[name]
    if metric.type == "ratio":
        return (metric.numerator or "", metric.denominator or "")
    if metric.type == "derived" and metric.expression is not None:
        tree = sqlglot.parse_one(metric.expression, dialect=model.dialect)
        return tuple(dict.fromkeys(column.name for column in tree.find_all(exp.Column)))
    return ()


def _check_source(model: SemanticModel, source: MetricSource, key: Key) -> None:
    _known(source.entity, model.entities, "entity", (*key, "entity"))
    for condition in source.filters:
        _expression(condition, model, (*key, "filters"))
    if source.time is not None:
        _known(source.time, model.time_dimensions, "time dimension", (*key, "time"))


def _known(name: Any, known: Any, kind: str, key: Key) -> None:
    if name not in known:
        raise _Wrong(key, f"there is no {kind} called {name!r}")


def _expression(text: str, model: SemanticModel, key: Key) -> exp.Expr:
    try:
        return sqlglot.parse_one(text, dialect=model.dialect)
    except sqlglot.errors.ParseError as error:
        detail = error.errors[0].get("description", "syntax error") if error.errors else "syntax error"
        raise _Wrong(key, f"cannot parse {text!r}: {detail}") from None


def _plain(value: Any) -> Any:
    """ruamel's commented containers as plain ones."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _located(path: Path, document: Any, key: tuple[str | int, ...], message: str) -> str:
    """`file:line: key: message`, with the line of the deepest part of the key that the file has."""
    line, node = 1, document
    for part in key:
        position = getattr(node, "lc", None)
        try:
            mark = position.item(part) if isinstance(node, list) else position.key(part)  # type: ignore[union-attr]
            line, node = mark[0] + 1, node[part]
        except (AttributeError, KeyError, IndexError, TypeError):
            break
    name = ".".join(str(part) for part in key)
    return f"{path}:{line}: {name}: {message.removeprefix('Value error, ')}"
