"""What a semantic model consists of: entities, joins, metrics, dimensions, dates and verified queries. Values only."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from typing import Literal

from pydantic import Field, field_validator, model_validator

from rag_core.datamodel.base import Record

NAME = r"^[a-z][a-z0-9_]{0,50}$"
Additivity = Literal["additive", "semi_additive", "non_additive"]
MetricType = Literal["simple", "snapshot", "stock", "cumulative", "ratio", "derived"]
STATES = frozenset(["snapshot", "stock", "cumulative"])  # figures that are known at a moment
Shape = Literal["periods", "comparison", "groups", "ranking", "share"]
Dialect = Literal["postgres", "redshift", "snowflake", "bigquery", "duckdb"]


class Entity(Record):
    """A table that metrics or dimensions stand on. `table` is `schema.table`, quoted where the warehouse needs it."""

    table: str
    primary_key: tuple[str, ...] = Field(min_length=1)
    grain: str


class Join(Record):
    """An allowed join: each row of `from` has at most one row of `to`. `columns` maps columns of `from` to those."""

    from_entity: str = Field(alias="from")
    to: str
    columns: dict[str, str] = Field(min_length=1)
    type: Literal["many_to_one", "one_to_one"] = "many_to_one"


class TimeDimension(Record):
    """A date role of an entity.

    `grain` is set where a row stands for a whole month or quarter: nothing finer can be asked of its figures.
    `data_from` is the first day that the warehouse knows: a period wholly before it is refused, not answered with zero,
    and no comparison reaches before it. `future` allows periods that have not begun (renewals, due dates).
    """

    label: str
    entity: str
    column: str
    type: Literal["date", "timestamp"] = "date"
    grain: Literal["week", "month", "quarter", "year"] | None = None
    data_from: date | None = None
    future: bool = False


class DimensionSource(Record):
    """Another table on which the same dimension stands, for metrics that do not reach the first one."""

    entity: str
    expression: str


class Dimension(Record):
    """Something to split or filter by.

    `adjectives` split too ("regional revenue"); `values` gives the words people use for a stored value; `order` lists
    stored values in their natural order; `parent` is the next coarser dimension; `read_values` False keeps the
    values out of the index (too many, or personal); `ranked_by` is the metric that "the largest" are ranked by and that
    "the size" means; `empty` are words for having no value at all; `asked_as` are question words that ask for a split
    by it ("why" for the reason, "where" for the region).
    """

    label: str
    entity: str
    expression: str
    synonyms: tuple[str, ...] = ()
    adjectives: tuple[str, ...] = ()
    values: dict[str, tuple[str, ...]] = {}
    order: tuple[str, ...] = ()
    parent: str | None = None
    type: Literal["text", "number", "boolean"] = "text"
    read_values: bool = True
    ranked_by: str | None = None
    empty: tuple[str, ...] = ()
    asked_as: tuple[str, ...] = ()
    alternatives: tuple[DimensionSource, ...] = ()
    description: str = ""

    @property
    def sources(self) -> tuple[DimensionSource, ...]:
        """The tables the dimension stands on, the preferred one first."""
        return (DimensionSource(entity=self.entity, expression=self.expression), *self.alternatives)


class MetricSource(Record):
    """Another table from which the same figure can be had, for dimensions that the first one does not reach."""

    entity: str
    expression: str
    filters: tuple[str, ...] = ()
    time: str | None = None
    additivity: Additivity = "additive"


class Metric(Record):
    """A governed figure.

    Types: `simple` aggregates the rows of a period; `snapshot` adds up the rows of the period's last date only (a
    head count at month end); `stock` counts rows valid at the period's end or start, or lost between them
    (`valid_from`, `valid_to`, `at`); `cumulative` aggregates all rows up to the period's end, or those of the last
    `window` ("30 days") before it, or those since its year, quarter or month began (`to_date`); `ratio` divides two
    metrics, in percent where the unit is `%`; `derived` computes with metrics by name. `better` tells which way is
    good, for "best" and "worst". `dialects` overrides the expression for one dialect.

    How it is said: `companions` are words that add nothing beside this figure ("tickets *opened*", "*median* response
    time"). `refines` is the broader figure that one of the `modifiers` turns into this one ("tickets ... *still
    open*"). `share_of` is, for a ratio, the figure whose share it is ("the share of incidents caused by a
    deployment"). `same_as` names the figure of which this one is a copy from another table. `shown_with` are figures
    that stand beside it in a result, as its basis. `cohort_of` names the state of which this figure counts what began
    in the period and is in that state now ("tickets opened in 2025 that are still open"); `began` are the words that
    say so ("opened", "signed"). `reached_at` is the value from which on it is reached, so that "which regions reached
    their target" leaves out the others; `missed` are those of the `modifiers` that say the opposite.
    """

    label: str
    description: str = ""
    synonyms: tuple[str, ...] = ()
    type: MetricType = "simple"
    entity: str | None = None
    expression: str | None = None
    filters: tuple[str, ...] = ()
    time: str | None = None
    alternatives: tuple[MetricSource, ...] = ()
    valid_from: str | None = None
    valid_to: str | None = None
    at: Literal["start", "end", "lost"] = "end"
    window: str | None = Field(default=None, pattern=r"^[1-9]\d{0,3} (?:day|week|month|quarter|year)s?$")
    to_date: Literal["week", "month", "quarter", "year"] | None = None
    numerator: str | None = None
    denominator: str | None = None
    additivity: Additivity = "additive"
    unit: str = ""
    decimals: int | None = Field(default=None, ge=0, le=10)
    better: Literal["higher", "lower"] | None = None
    dialects: dict[Dialect, str] = {}
    companions: tuple[str, ...] = ()
    refines: str | None = None
    modifiers: tuple[str, ...] = ()
    share_of: str | None = None
    same_as: str | None = None
    shown_with: tuple[str, ...] = ()
    cohort_of: str | None = None
    began: tuple[str, ...] = ()
    reached_at: Decimal | None = None
    missed: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _complete(self) -> Metric:
        needed = {
            "simple": ("entity", "expression", "time"),
            "snapshot": ("entity", "expression", "time"),
            "stock": ("entity", "expression", "valid_from", "valid_to"),
            "cumulative": ("entity", "expression", "time"),
            "ratio": ("numerator", "denominator"),
            "derived": ("expression",),
        }[self.type]
        missing = [name for name in needed if getattr(self, name) is None]
        if missing:
            raise ValueError(f"a {self.type} metric needs {', '.join(missing)}")
        if (self.window or self.to_date) and self.type != "cumulative":
            raise ValueError(f"a {self.type} metric has no window and no to_date: its type must be cumulative")
        if self.window and self.to_date:
            raise ValueError("a cumulative metric has a window or to_date, not both")
        return self

    @property
    def sources(self) -> tuple[MetricSource, ...]:
        """The tables the figure can come from, the preferred one first; empty for ratio and derived metrics."""
        if self.entity is None or self.expression is None:
            return ()
        running = self.type == "cumulative" and self.additivity == "additive"
        first = MetricSource(
            entity=self.entity,
            expression=self.expression,
            filters=self.filters,
            time=self.time,
            additivity="semi_additive" if running else self.additivity,
        )
        return (first, *self.alternatives)


class QueryParameter(Record):
    """A slot of a verified query: a value of a dimension, a period (gives `NAME_start`, `NAME_end`) or a number.

    `default` is what a pattern without the slot means, said as in a question ("last 12 months").
    """

    type: Literal["dimension_value", "period", "integer"]
    dimension: str | None = None
    default: int | str | None = None

    @model_validator(mode="after")
    def _complete(self) -> QueryParameter:
        if self.type == "dimension_value" and self.dimension is None:
            raise ValueError("a dimension_value parameter needs its dimension")
        return self


class ResultMeaning(Record):
    """How a column of a verified query is to be read."""

    name: str
    label: str
    unit: str = ""
    decimals: int | None = None
    role: Literal["metric", "dimension", "time", "other"] = "other"


class VerifiedQuery(Record):
    """A question in fixed patterns with SQL that an analyst approved; `:name` in the SQL are the parameters."""

    patterns: tuple[str, ...] = Field(min_length=1)
    parameters: dict[str, QueryParameter] = {}
    sql: str
    columns: tuple[ResultMeaning, ...] = ()
    description: str
    approved_by: str
    approved_on: date


class SemanticModel(Record):
    """A whole model. Names in it are checked against one another when it is loaded.

    `own_names` are names of the asking organisation, which say nothing in a question; `ambiguous` are words with more
    than one meaning, with the metrics or dimensions they may stand for: they are asked back, never guessed. `readings`
    are declared exceptions: which meaning such a word has where it is followed over `periods`, put in `comparison` of
    two periods, split or compared by `groups`, ranked, or put as a `share`; an answer says that it was read so, and a
    lone figure is still asked back. `next_on_first_day` says what "next quarter" is on the first day of a quarter:
    asked back, or the one that `begins`.
    """

    version: Literal[1] = 1
    dialect: Dialect = "postgres"
    own_names: tuple[str, ...] = ()
    entities: dict[str, Entity]
    joins: tuple[Join, ...] = ()
    time_dimensions: dict[str, TimeDimension]
    dimensions: dict[str, Dimension]
    metrics: dict[str, Metric]
    ambiguous: dict[str, tuple[str, ...]] = {}
    readings: dict[str, dict[Shape, str]] = {}
    next_on_first_day: Literal["ask", "begins"] = "ask"
    verified_queries: dict[str, VerifiedQuery] = {}

    @field_validator("entities", "time_dimensions", "dimensions", "metrics", "verified_queries")
    @classmethod
    def _names(cls, value: dict[str, object]) -> dict[str, object]:
        for name in value:
            if not re.fullmatch(NAME, name):
                raise ValueError(f"name {name!r} must be lower-case letters, digits and underscores")
        return value

    def label(self, name: str) -> str:
        """The label of a metric, dimension or date role, or the name itself."""
        found = self.metrics.get(name) or self.dimensions.get(name) or self.time_dimensions.get(name)
        return found.label if found is not None else name
