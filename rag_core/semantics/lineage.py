"""What metrics, dimensions and verified queries read of the warehouse, so that a schema change finds them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.drift import Lineage
from rag_core.policy.rules import split_name
from rag_core.schema.reads import Reads, read_names
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.model import metric_parts

# `:name` of a verified query, not the `::type` of a cast.
_PARAMETER = re.compile(r"(?<!:):([a-z_][a-z0-9_]*)")

# Gives an expression a table to stand on; it is never run.
_FRAME = "SELECT 1 FROM TABLE WHERE (EXPRESSION)"


def model_lineage(model: SemanticModel, *, catalog: Catalog | None = None, owner: str = "") -> tuple[Lineage, ...]:
    """One entry a metric, dimension and verified query.

    A ratio or derived metric reads what the metrics behind it read. What the catalog does not settle counts as read.

    Args:
        model: the semantic model.
        catalog: the schema, which tells to which table a bare column of a verified query belongs.
        owner: who looks after the model.
    """
    reader = _Reader(model, catalog)
    entries = [_entry("metric", name, reader.metric(name), owner) for name in model.metrics]
    entries += [_entry("dimension", name, reader.dimension(name), owner) for name in model.dimensions]
    for name, query in model.verified_queries.items():
        found = reader.statement(query.sql)
        entries.append(_entry("verified_query", name, found, query.approved_by or owner))
    return tuple(entries)


def _entry(kind: str, name: str, reads: Reads, owner: str) -> Lineage:
    return Lineage.model_validate(
        {
            "kind": kind,
            "id": name,
            "tables": reads.tables,
            "columns": reads.columns,
            "reads_all": reads.starred,
            "owner": owner,
        }
    )


class _Reader:
    def __init__(self, model: SemanticModel, catalog: Catalog | None) -> None:
        self._model = model
        self._catalog = catalog

    def metric(self, name: str) -> Reads:
        """What a metric reads, through the metrics that it is made of."""
        parts = metric_parts(self._model, name)
        if parts:
            return _joined(self.metric(part) for part in parts)
        metric = self._model.metrics[name]
        found = []
        for source in metric.sources:
            found += [self._expression(text, source.entity) for text in (source.expression, *source.filters)]
            if source.time is not None:
                role = self._model.time_dimensions[source.time]
                found.append(self._expression(role.column, role.entity))
        for column in (metric.valid_from, metric.valid_to):
            if column is not None and metric.entity is not None:
                found.append(self._expression(column, metric.entity))
        return _joined(found)

    def dimension(self, name: str) -> Reads:
        """What a dimension reads, from each table that it can be had from."""
        dimension = self._model.dimensions[name]
        found = [self._expression(dimension.expression, dimension.entity)]
        for other in getattr(dimension, "alternatives", ()):
            found.append(self._expression(other.expression, other.entity))
        return _joined(found)

    def statement(self, sql: str) -> Reads:
        """What a verified query reads; its parameters are values."""
        return read_names(_PARAMETER.sub("NULL", sql), self._model.dialect, catalog=self._catalog)

    def _expression(self, text: str, entity: str) -> Reads:
        table = self._model.entities[entity].table
        framed = _FRAME.replace("TABLE", table).replace("EXPRESSION", text)
        found = read_names(framed, self._model.dialect, catalog=self._catalog)
        return found._replace(tables=tuple(dict.fromkeys((".".join(split_name(table)), *found.tables))))


def _joined(parts: Iterable[Reads]) -> Reads:
    found = list(parts)
    return Reads(
        tables=tuple(dict.fromkeys(name for item in found for name in item.tables)),
        columns=tuple(dict.fromkeys(name for item in found for name in item.columns)),
        starred=tuple(dict.fromkeys(name for item in found for name in item.starred)),
    )
