"""Takes a metric query apart: which figures must be read, from which table each, and what they share. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.datamodel.plan import MetricQuery
from rag_core.semantics.definitions import DimensionSource, Metric, MetricSource, SemanticModel
from rag_core.semantics.model import metric_parts
from rag_core.semantics.paths import SemanticError, find_path, reaches


@dataclass(frozen=True)
class Leaf:
    """A figure that is aggregated from rows, with the table chosen for it."""

    name: str
    metric: Metric
    source: MetricSource


@dataclass(frozen=True)
class Group:
    """Figures that one SELECT can aggregate: the same table, date role, conditions and kind."""

    entity: str
    time: str | None
    filters: tuple[str, ...]
    kind: str
    leaves: tuple[Leaf, ...]

    @property
    def validity(self) -> tuple[str, str, str]:
        """Where a stock's rows begin and end to be valid, and which moment counts."""
        metric = self.leaves[0].metric
        return metric.valid_from or "", metric.valid_to or "", metric.at


def leaf_names(model: SemanticModel, name: str) -> tuple[str, ...]:
    """The aggregated figures behind a metric, in order, without repetition."""
    parts = metric_parts(model, name)
    if not parts:
        return (name,)
    return tuple(dict.fromkeys(leaf for part in parts for leaf in leaf_names(model, part)))


def query_dimensions(query: MetricQuery) -> tuple[str, ...]:
    """Every dimension a query touches, split by or filtered by."""
    return tuple(dict.fromkeys((*query.dimensions, *(item.dimension for item in query.filters))))


def supported(model: SemanticModel, metric: str, dimension: str) -> bool:
    """Whether every figure behind a metric can be had by this dimension."""
    if dimension not in model.dimensions:
        return False
    return all(
        any(
            reaches(model, source.entity, place.entity)
            for source in model.metrics[leaf].sources
            for place in model.dimensions[dimension].sources
        )
        for leaf in leaf_names(model, metric)
    )


def supported_at(model: SemanticModel, entity: str, dimension: str) -> bool:
    """Whether the rows of an entity have a dimension."""
    return any(reaches(model, entity, place.entity) for place in model.dimensions[dimension].sources)


def dimension_source(model: SemanticModel, entity: str, dimension: str) -> DimensionSource:
    """The first table of a dimension that an entity's rows can be joined to; raises SemanticError with the reason."""
    fault: SemanticError | None = None
    for place in model.dimensions[dimension].sources:
        try:
            find_path(model, entity, place.entity)
        except SemanticError as error:
            fault = fault or error
        else:
            return place
    raise fault or SemanticError(f"{dimension} stands on no table")


def choose_leaf(model: SemanticModel, name: str, dimensions: tuple[str, ...]) -> Leaf:
    """The first table of a figure from which all dimensions are reached.

    Raises SemanticError that says, for the preferred table, what stands in the way.
    """
    metric = model.metrics[name]
    fault: SemanticError | None = None
    for source in metric.sources:
        try:
            for dimension in dimensions:
                dimension_source(model, source.entity, dimension)
        except SemanticError as error:
            fault = fault or error
            continue
        return Leaf(name, metric, source)
    wanted = ", ".join(model.label(dimension) for dimension in dimensions)
    raise SemanticError(f"{metric.label} cannot be had by {wanted}: {fault}")


def group_leaves(leaves: list[Leaf]) -> list[Group]:
    """Leaves that can share one SELECT, in the order of their first appearance."""
    found: dict[tuple[object, ...], list[Leaf]] = {}
    for leaf in leaves:
        metric, source = leaf.metric, leaf.source
        validity: tuple[object, ...] = ()
        if metric.type == "stock":
            validity = (metric.valid_from, metric.valid_to, metric.at)
        elif metric.type == "cumulative":
            validity = (metric.window, metric.to_date)
        key = (source.entity, source.time, source.filters, metric.type, validity)
        found.setdefault(key, []).append(leaf)
    return [
        Group(
            entity=members[0].source.entity,
            time=members[0].source.time,
            filters=members[0].source.filters,
            kind=members[0].metric.type,
            leaves=tuple(members),
        )
        for members in found.values()
    ]


def require_additive(model: SemanticModel, name: str, leaf: Leaf, what: str) -> None:
    """Raises SemanticError where adding a metric's values up would not give its total."""
    metric = model.metrics[name]
    if metric.type in ("ratio", "derived"):
        raise SemanticError(f"{metric.label} is not a sum of its parts, so {what} has no meaning")
    additivity = leaf.source.additivity
    if metric.type == "cumulative" and what == "a running total":
        raise SemanticError(f"{metric.label} is a running total already")
    if additivity == "non_additive" or (additivity == "semi_additive" and what == "a running total"):
        raise SemanticError(f"{metric.label} cannot be added up, so {what} has no meaning")
