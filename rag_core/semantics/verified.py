"""Questions in fixed patterns, answered by approved SQL. Values go into the tree, never into text. Pure."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import sqlglot
from sqlglot import exp

from rag_core.datamodel.base import Record
from rag_core.datamodel.evidence import ColumnMeaning
from rag_core.semantics.definitions import QueryParameter, SemanticModel, VerifiedQuery
from rag_core.semantics.fillers import EMPTY_WORDS
from rag_core.semantics.leaf_sql import day_literal, literal
from rag_core.semantics.time_words import COUNT, count_of
from rag_core.semantics.times import find_times
from rag_core.semantics.values import ValueIndex
from rag_core.semantics.words import PUNCTUATION, Word, phrase, words

_SLOT = re.compile(r"\{([a-z][a-z0-9_]*)\}")


class VerifiedMatch(Record):
    """A verified query with its parameters read from the question; `sql` is in the model's dialect."""

    name: str
    sql: str
    parameters: dict[str, Any] = {}
    meanings: tuple[ColumnMeaning, ...] = ()
    description: str
    approved_by: str
    approved_on: date

    def to_dialect(self, source: str, target: str) -> str:
        """The statement in another dialect."""
        return sqlglot.parse_one(self.sql, dialect=source).sql(dialect=target, pretty=True)


def match_verified(text: str, model: SemanticModel, values: ValueIndex, run_date: date) -> VerifiedMatch | None:
    """The first verified query one of whose patterns is the whole question, apart from words without meaning."""
    for name, query in model.verified_queries.items():
        for pattern in query.patterns:
            slots = _slots(pattern, text)
            if slots is None:
                continue
            parameters = _parameters(query, slots, model, values, run_date)
            if parameters is not None:
                return VerifiedMatch(
                    name=name,
                    sql=_fill(query, parameters, model),
                    parameters=parameters,
                    meanings=tuple(ColumnMeaning(**column.model_dump()) for column in query.columns),
                    description=query.description,
                    approved_by=query.approved_by,
                    approved_on=query.approved_on,
                )
    return None


def _slots(pattern: str, text: str) -> dict[str, str] | None:
    """The text of each slot, as the asker wrote it, where the pattern fits the whole question."""
    names: list[str] = []
    parts: list[str] = []
    for index, piece in enumerate(_SLOT.split(pattern)):
        if index % 2:
            names.append(piece)
            parts.append(f"(?P<{piece}>.+?)")
        else:
            parts.extend(re.escape(word.key) for word in _content(piece))
    content = _content(text)
    found = re.fullmatch(" ".join(parts), " ".join(word.key for word in content))
    if found is None:
        return None
    starts = [0]
    for word in content:
        starts.append(starts[-1] + len(word.key) + 1)
    slots: dict[str, str] = {}
    for name in names:
        first, last = starts.index(found.start(name)), starts.index(found.end(name) + 1)
        slots[name] = text[content[first].start : content[last - 1].end]
    return slots


def _content(text: str) -> list[Word]:
    return [word for word in words(text) if word.key not in PUNCTUATION and word.key not in EMPTY_WORDS]


def _parameters(
    query: VerifiedQuery, slots: dict[str, str], model: SemanticModel, values: ValueIndex, run_date: date
) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for name, parameter in query.parameters.items():
        if name not in slots and parameter.default is None:
            return None
        value = _read(slots.get(name, str(parameter.default)), parameter, model, values, run_date)
        if value is None:
            return None
        found[name] = value
    return found


def _read(text: str, parameter: QueryParameter, model: SemanticModel, values: ValueIndex, run_date: date) -> Any:
    if parameter.type == "integer":
        return count_of(text.lower()) if re.fullmatch(COUNT, text.lower()) else None
    if parameter.type == "period":
        return _period(text, run_date)
    name = parameter.dimension or ""
    wanted = phrase(text)
    index = values.of(name)
    options: set[str] = set()
    for value in index.values if index is not None else ():
        if phrase(str(value)) == wanted:
            options.add(str(value))
    for value, synonyms in model.dimensions[name].values.items():
        if any(phrase(synonym) == wanted for synonym in synonyms):
            options.add(value)
    return options.pop() if len(options) == 1 else None


def _period(text: str, run_date: date) -> dict[str, date] | None:
    mentions = find_times(text, run_date)
    if len(mentions) != 1 or mentions[0].kind != "range":
        return None
    mention = mentions[0]
    outside = (text[: mention.start] + text[mention.end :]).lower().split()
    if mention.unclear or any(word not in ("in", "during", "for", "the", "of", "over", "from") for word in outside):
        return None
    if mention.time_range.start is None:
        return None
    return {"start": mention.time_range.start, "end": mention.time_range.end or run_date}


def _fill(query: VerifiedQuery, parameters: dict[str, Any], model: SemanticModel) -> str:
    tree = sqlglot.parse_one(query.sql, dialect=model.dialect)
    flat: dict[str, exp.Expr] = {}
    for name, value in parameters.items():
        if isinstance(value, dict):
            flat[f"{name}_start"] = day_literal(value["start"], "date")
            flat[f"{name}_end"] = day_literal(value["end"], "date")
        else:
            dimension = query.parameters[name].dimension
            flat[name] = literal(value, model.dimensions[dimension] if dimension else None)

    def substitute(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Placeholder) and node.name in flat:
            return flat[node.name].copy()
        return node

    return tree.transform(substitute).sql(dialect=model.dialect, pretty=True)
