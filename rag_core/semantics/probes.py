"""What must be looked up beside a metric query's result before it can be told rightly. Pure; runs nothing."""

from __future__ import annotations

from sqlglot import exp

from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.plan import DimensionFilter, MetricQuery
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.leaf_sql import qualified
from rag_core.semantics.paths import find_path
from rag_core.semantics.sources import choose_leaf, dimension_source, leaf_names, query_dimensions


def span_statements(query: MetricQuery, model: SemanticModel, dialect: str) -> tuple[str, ...]:
    """For each table of events that a query counts within a period, the SELECT of its first and last moment.

    Where a count is zero they tell a period without an event from one of which the table knows nothing. Empty for a
    query without a period, and for states, which hold until they change.
    """
    if query.time_range is None or query.grain is not None or query.average_over is not None:
        return ()
    found: dict[tuple[str, str], str] = {}
    for name in dict.fromkeys(leaf for metric in query.metrics for leaf in leaf_names(model, metric)):
        leaf = choose_leaf(model, name, query_dimensions(query))
        time = leaf.source.time
        if leaf.metric.type != "simple" or time is None:
            continue
        role = model.time_dimensions[time]
        column = qualified(role.column, role.entity, model.dialect)
        table = exp.to_table(model.entities[role.entity].table, dialect=model.dialect)
        select = exp.Select().select(
            exp.alias_(exp.Min(this=column), "first_recorded"), exp.alias_(exp.Max(this=column.copy()), "last_recorded")
        )
        statement = select.from_(exp.alias_(table, role.entity, table=True)).sql(dialect=dialect)
        found[role.entity, role.column] = statement
    return tuple(found.values())


def unnamed_query(query: MetricQuery, model: SemanticModel, catalog: Catalog) -> MetricQuery | None:
    """For a ranking, the query of the figure of those rows that it leaves out: without a value of what is ranked.

    None where nothing is left out by that, or where the schema allows no such row.
    """
    plain = query.combine == "none" and query.average_over is None and not query.count_rows
    if query.order is None or query.keep_empty or not query.dimensions or not plain or query.grain is not None:
        return None
    ranked = [name for name in query.dimensions if name not in query.limit_by]
    if len(ranked) != 1 or any(item.dimension == ranked[0] for item in query.filters):
        return None
    leaves = set(leaf_names(model, query.metrics[0]))
    entities = {choose_leaf(model, leaf, query_dimensions(query)).source.entity for leaf in leaves}
    if not any(may_lack(model, catalog, entity, ranked[0]) for entity in entities):
        return None
    return MetricQuery(
        metrics=query.metrics[:1],
        filters=(*query.filters, DimensionFilter(dimension=ranked[0], values=(None,))),
        time_range=query.time_range,
        as_of=query.as_of,
    )


def may_lack(model: SemanticModel, catalog: Catalog, entity: str, dimension: str) -> bool:
    """Whether the schema lets a row of an entity be without a value of a dimension.

    It does not where the column, and each reference on the way to it, must have a value and is declared.
    """
    place = dimension_source(model, entity, dimension)
    tables = {table.qualified_name: table for table in catalog.tables}
    for join in find_path(model, entity, place.entity):
        source = tables.get(model.entities[join.from_entity].table)
        target = model.entities[join.to].table
        if source is None or join.type != "many_to_one":
            return True
        declared = any(key.target == target and set(key.columns) == set(join.columns) for key in source.foreign_keys)
        if not declared or any((column := source.column(name)) is None or column.nullable for name in join.columns):
            return True
    table = tables.get(model.entities[place.entity].table)
    column = table.column(place.expression) if table is not None else None
    return column is None or column.nullable
