"""Checks a semantic model against a schema: tables, columns, types, join keys, words with two meanings. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import sqlglot
from sqlglot import exp

from rag_core.datamodel.base import Record
from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.sources import supported
from rag_core.semantics.words import phrase

_NUMERIC = ("int", "numeric", "decimal", "number", "real", "double", "float", "money", "serial")
_TEXT = ("char", "text", "string", "varchar")


class Problem(Record):
    """Something wrong in a model: `key` is the place in the file, `message` what to do about it."""

    severity: Literal["error", "warning"]
    key: str
    message: str


def validate_model(model: SemanticModel, catalog: Catalog) -> tuple[Problem, ...]:
    """All problems of a model on this schema, errors first, in the order of the file."""
    checker = _Checker(model, catalog)
    problems = [
        *checker.entities(),
        *checker.joins(),
        *checker.expressions(),
        *checker.times(),
        *_words(model),
    ]
    return tuple(sorted(problems, key=lambda problem: problem.severity != "error"))


class _Checker:
    def __init__(self, model: SemanticModel, catalog: Catalog) -> None:
        self.model = model
        self.catalog = catalog
        self.tables = {name: self._find(entity.table) for name, entity in model.entities.items()}

    def _find(self, text: str) -> CatalogTable | None:
        wanted = exp.to_table(text, dialect=self.model.dialect)
        for table in self.catalog.tables:
            same = _same(wanted.this, table.name) and (not wanted.db or _same(wanted.args["db"], table.schema_name))
            if same:
                return table
        return None

    def _column(self, entity: str, text: str) -> CatalogColumn | None:
        table = self.tables.get(entity)
        if table is None:
            return None
        tree = sqlglot.parse_one(text, dialect=self.model.dialect)
        identifier = tree.this if isinstance(tree, exp.Column) else None
        if not isinstance(identifier, exp.Identifier):
            return None
        return next((column for column in table.columns if _same(identifier, column.name)), None)

    def entities(self) -> Iterator[Problem]:
        """Tables that are missing or unreadable, and primary keys that are none."""
        for name, entity in self.model.entities.items():
            table = self.tables[name]
            if table is None:
                yield _error(f"entities.{name}.table", f"there is no table {entity.table} in the warehouse")
                continue
            if not table.readable:
                yield _error(f"entities.{name}.table", f"the reading role may not read {entity.table}")
            columns = [self._column(name, text) for text in entity.primary_key]
            for text, column in zip(entity.primary_key, columns, strict=True):
                if column is None:
                    yield _error(f"entities.{name}.primary_key", f"{entity.table} has no column {text}")
            names = {column.name for column in columns if column is not None}
            if table.keys and not any(set(key.columns) <= names for key in table.keys):
                yield _warning(
                    f"entities.{name}.primary_key", f"{', '.join(entity.primary_key)} is no key of {entity.table}"
                )

    def joins(self) -> Iterator[Problem]:
        """Join columns that are missing or of other types, and targets that are not unique."""
        for index, join in enumerate(self.model.joins):
            key = f"joins.{index}"
            right_names: set[str] = set()
            for left_text, right_text in join.columns.items():
                left, right = self._column(join.from_entity, left_text), self._column(join.to, right_text)
                for side, text, column in ((join.from_entity, left_text, left), (join.to, right_text, right)):
                    if column is None and self.tables[side] is not None:
                        yield _error(key, f"{self.model.entities[side].table} has no column {text}")
                if left is not None and right is not None:
                    right_names.add(right.name)
                    if _family(left.type) != _family(right.type):
                        yield _error(key, f"{left_text} is {left.type} and {right_text} is {right.type}")
            table = self.tables[join.to]
            if table is not None and right_names and not any(set(item.columns) <= right_names for item in table.keys):
                told = "the join may count rows several times" if table.keys else "the warehouse declares no key there"
                problem = f"{', '.join(sorted(right_names))} is not unique in {table.qualified_name}: {told}"
                yield _error(key, problem) if table.keys else _warning(key, problem)

    def expressions(self) -> Iterator[Problem]:
        """Columns in expressions that their table does not have, and sums of what is no number."""
        for name, dimension in self.model.dimensions.items():
            for place in dimension.sources:
                yield from self._columns(f"dimensions.{name}", place.entity, place.expression)
        for name, metric in self.model.metrics.items():
            for source in metric.sources:
                yield from self._columns(f"metrics.{name}", source.entity, source.expression)
                for condition in source.filters:
                    yield from self._columns(f"metrics.{name}.filters", source.entity, condition)
            for text in (metric.valid_from, metric.valid_to):
                if text is not None and metric.entity is not None:
                    yield from self._columns(f"metrics.{name}", metric.entity, text)

    def _columns(self, key: str, entity: str, text: str) -> Iterator[Problem]:
        table = self.tables[entity]
        if table is None:
            return
        tree = sqlglot.parse_one(text, dialect=self.model.dialect)
        inner = {
            id(column) for query in tree.find_all(exp.Subquery, exp.Select) for column in query.find_all(exp.Column)
        }
        for column in tree.find_all(exp.Column):
            if id(column) in inner:
                continue
            known = next((item for item in table.columns if _same(column.this, item.name)), None)
            if known is None:
                yield _error(key, f"{table.qualified_name} has no column {column.name}")
            elif not known.readable:
                yield _error(key, f"the reading role may not read {table.qualified_name}.{known.name}")
            elif isinstance(column.parent, exp.Sum | exp.Avg) and _family(known.type) != "number":
                yield _error(key, f"{known.name} is {known.type}, not a number")

    def times(self) -> Iterator[Problem]:
        """Date roles on columns that are no dates, or of the other kind than the model says."""
        for name, role in self.model.time_dimensions.items():
            key = f"time_dimensions.{name}"
            if self.tables[role.entity] is None:
                continue
            column = self._column(role.entity, role.column)
            if column is None:
                yield from self._columns(key, role.entity, role.column)
                continue
            kind = _family(column.type)
            if kind != role.type:
                wanted = f"write type: {kind}" if kind in ("date", "timestamp") else "name a date or a time"
                yield _error(key, f"{column.name} is {column.type}: {wanted}")


def _words(model: SemanticModel) -> Iterator[Problem]:
    """The same words for two metrics, or for two dimensions that one metric can be split by both."""
    metrics: dict[tuple[str, ...], str] = {}
    vague = {phrase(term): term for term in model.ambiguous}
    for name, metric in model.metrics.items():
        for text in (metric.label, *metric.synonyms):
            other = metrics.setdefault(phrase(text), name)
            if other != name:
                yield _warning(
                    f"metrics.{name}.synonyms", f"{text!r} is {other} too: a question that says it is asked back"
                )
            if phrase(text) in vague:
                yield _error(f"metrics.{name}.synonyms", f"{text!r} is listed under ambiguous too: remove one of them")
    dimensions: dict[tuple[str, ...], list[str]] = {}
    for name, dimension in model.dimensions.items():
        for text in (dimension.label, *dimension.synonyms):
            others = dimensions.setdefault(phrase(text), [])
            for other in others:
                both = [
                    item for item in model.metrics if supported(model, item, name) and supported(model, item, other)
                ]
                if other != name and both:
                    reason = f"{text!r} is {other} too, and {both[0]} can be split by both"
                    yield _warning(f"dimensions.{name}.synonyms", reason)
            if name not in others:
                others.append(name)


def _same(identifier: exp.Expr, name: str) -> bool:
    if isinstance(identifier, exp.Identifier) and identifier.args.get("quoted"):
        return identifier.name == name
    return identifier.name.lower() == name.lower()


def _family(kind: str) -> str:
    text = kind.lower()
    if text.startswith(("timestamp", "datetime")):
        return "timestamp"
    if text.startswith("date"):
        return "date"
    if text.startswith("bool"):
        return "boolean"
    if any(word in text for word in _TEXT):
        return "text"
    return "number" if any(word in text for word in _NUMERIC) else text


def _error(key: str, message: str) -> Problem:
    return Problem(severity="error", key=key, message=message)


def _warning(key: str, message: str) -> Problem:
    return Problem(severity="warning", key=key, message=message)
