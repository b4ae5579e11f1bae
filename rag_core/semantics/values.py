"""Values that dimensions have in the warehouse, so that "Germany" in a question leads to the country."""

from __future__ import annotations

import logging
from typing import Any, Protocol

from sqlglot import exp

from rag_core.connectors.base import Warehouse
from rag_core.datamodel.base import Record
from rag_core.datamodel.query import GuardVerdict
from rag_core.errors import QueryFault
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.leaf_sql import qualified

logger = logging.getLogger(__name__)

MAX_VALUES = 20_000
MAX_LENGTH = 120


class Guard(Protocol):
    """The part of the SQL guard that is needed here."""

    def check(self, sql: str) -> GuardVerdict:
        """Judges one statement."""
        ...


class DimensionValues(Record):
    """Distinct values of one dimension, sorted. `complete` is False where there were more than the bound."""

    dimension: str
    values: tuple[Any, ...]
    complete: bool = True
    has_empty: bool = False


class ValueIndex(Record):
    """Values by dimension; a dimension that could not be read is in `skipped` with the reason.

    `not_permitted` are those of them that whoever asks may not read.
    """

    dimensions: tuple[DimensionValues, ...] = ()
    skipped: dict[str, str] = {}
    not_permitted: tuple[str, ...] = ()

    def of(self, dimension: str) -> DimensionValues | None:
        """The values of a dimension, None where they were not read."""
        return next((found for found in self.dimensions if found.dimension == dimension), None)


def value_statement(model: SemanticModel, dimension: str, dialect: str, *, limit: int = MAX_VALUES) -> str:
    """The SELECT of a dimension's distinct values, one more than the limit, so that a cut is seen."""
    definition = model.dimensions[dimension]
    expression = qualified(definition.expression, definition.entity, model.dialect)
    table = exp.to_table(model.entities[definition.entity].table, dialect=model.dialect)
    query = exp.Select().select(exp.alias_(expression, "value")).distinct()
    query = query.from_(exp.alias_(table, definition.entity, table=True)).order_by(exp.column("value"))
    return query.limit(limit + 1).sql(dialect=dialect)


def read_values(model: SemanticModel, warehouse: Warehouse, guard: Guard, *, limit: int = MAX_VALUES) -> ValueIndex:
    """Reads the distinct values of each dimension that allows it, through the guard, at most `limit` each.

    A dimension that the guard refuses or the warehouse cannot read is left out and named in `skipped`. Raises
    ServiceUnavailable where the warehouse does not answer.
    """
    found: list[DimensionValues] = []
    skipped: dict[str, str] = {}
    closed: list[str] = []
    for name, definition in model.dimensions.items():
        if not definition.read_values:
            skipped[name] = "the model keeps its values out"
            continue
        verdict = guard.check(value_statement(model, name, warehouse.dialect, limit=limit))
        if verdict.query is None:
            skipped[name] = verdict.message
            closed += [name] if verdict.code == "not_permitted" else []
            continue
        try:
            result = warehouse.execute(verdict.query)
        except QueryFault as error:
            logger.warning("values of %s could not be read: %s", name, error.message)
            skipped[name] = error.message
            closed += [name] if error.code == "permission" else []
            continue
        values = [row[0] for row in result.rows]
        kept = [value for value in values[:limit] if value is not None and len(str(value)) <= MAX_LENGTH]
        complete = len(values) <= limit and result.truncated_by is None
        found.append(
            DimensionValues(
                dimension=name,
                values=tuple(sorted(kept, key=str)),
                complete=complete,
                has_empty=any(value is None for value in values),
            )
        )
    return ValueIndex(dimensions=tuple(found), skipped=skipped, not_permitted=tuple(closed))
