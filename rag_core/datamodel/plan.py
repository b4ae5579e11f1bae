"""How a question is answered: steps over the warehouse and the documents."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field

from rag_core.datamodel.base import Record
from rag_core.datamodel.evidence import ColumnMeaning

QueryType = Literal["sql", "documents", "both", "none"]
Complexity = Literal["simple", "complex", "decomposed"]
Strategy = Literal["replay", "metric", "verified", "documents", "model", "decomposed", "none"]
Grain = Literal["day", "week", "month", "quarter", "year"]


class DimensionFilter(Record):
    """Keep rows whose dimension has (or lacks) one of these values, as the warehouse spells them.

    None alone is no value.
    """

    dimension: str
    values: tuple[Any, ...]
    negated: bool = False


class TimeRange(Record):
    """Half-open range of days [start, end). `label` is the question's wording ("last quarter"), kept relative."""

    start: date | None = None
    end: date | None = None
    label: str = ""


class MetricCondition(Record):
    """Keep result rows whose metric compares so with a number, in the metric's unit ("more than 10 incidents").

    `metric` is one of the query's metrics or, where it is combined from two, the query's `combine`.
    """

    metric: str
    operator: Literal[">", ">=", "<", "<=", "="]
    value: Decimal


class MetricQuery(Record):
    """A question over governed metrics, before it is compiled to SQL.

    `comparison` adds, for each row, the value of the period before (`previous`) or of the same period a year before
    (`year_ago`) with difference and relative change, or of the `comparison_range` (`range`, without grain). `order`
    sorts by the first metric; without it rows come in the order of the dimensions. `limit` needs an order. `order_by`
    sorts by the change of a comparison instead. `limit_by` are dimensions of the query within each of which the limit
    counts ("the top 3 products in each region"). What is ranked has a value, unless `keep_empty`: then rows without one
    ("no reason given") keep their place.

    With `share`, filters on a dimension that is split by choose the rows shown and not the total. `average_over` is the
    mean of the metric over the days, weeks, months ... of the time range; it goes without `grain`.

    A limit counts places: rows that share a place all stand there. `place` asks for one place only ("the second
    highest"). `combine` computes with the two metrics: the first less the second, by the second, or in percent of it.
    `count_rows` gives how many rows there are instead of the rows. Periods of which nothing is recorded count as zero
    up to `as_of`, the run date, where the time range reaches beyond it or has no end.
    """

    metrics: tuple[str, ...]
    dimensions: tuple[str, ...] = ()
    grain: Grain | None = None
    filters: tuple[DimensionFilter, ...] = ()
    time_range: TimeRange | None = None
    comparison: Literal["none", "previous", "year_ago", "range"] = "none"
    comparison_range: TimeRange | None = None
    share: bool = False
    running_total: bool = False
    order: Literal["ascending", "descending"] | None = None
    limit: int | None = None
    limit_by: tuple[str, ...] = ()
    keep_empty: bool = False
    order_by: Literal["value", "change", "change_percent"] = "value"
    conditions: tuple[MetricCondition, ...] = ()
    average_over: Grain | None = None
    place: int | None = None
    combine: Literal["none", "difference", "ratio", "percent"] = "none"
    count_rows: bool = False
    as_of: date | None = None


class Binding(Record):
    """A typed value that a step takes from the result of an earlier one.

    `name` is the dimension in the first row, `names` the one in every row, `ids` every value of the first column (or of
    `column`), `date` the first row's day, `period` the first row's period of the length `grain`. It goes into the
    filter on `dimension` of a metric query or into its time range, and in SQL takes the place of the literal '@STEP',
    STEP being the earlier step's id.
    """

    step_id: str
    kind: Literal["name", "names", "ids", "date", "period"]
    dimension: str | None = None
    column: str | None = None
    grain: Grain | None = None


class SqlStep(Record):
    """A step for the SQL worker: a metric query to compile, or SQL that a model or an analyst wrote.

    `verified` names the verified query that `sql` was made of, `meanings` say how its columns are to be read.
    """

    kind: Literal["sql"] = "sql"
    step_id: str
    task: str
    metric_query: MetricQuery | None = None
    sql: str | None = None
    verified: str | None = None
    meanings: tuple[ColumnMeaning, ...] = ()
    depends_on: tuple[str, ...] = ()
    bindings: tuple[Binding, ...] = ()


class SearchStep(Record):
    """A step for the vector worker. `filters` are equality filters on document metadata, applied before ranking."""

    kind: Literal["search"] = "search"
    step_id: str
    task: str
    query: str
    filters: dict[str, str] = {}
    top: int = 8
    recency_half_life_days: float | None = None
    depends_on: tuple[str, ...] = ()


Step = Annotated[SqlStep | SearchStep, Field(discriminator="kind")]


class Plan(Record):
    """The planner's decision on one question. `unmatched` are content words that no source was found for.

    `question_class` is the class by which strategies are compared, empty where none was worked out.
    """

    plan_id: str
    question: str
    run_date: date
    query_type: QueryType
    complexity: Complexity = "simple"
    strategy: Strategy
    steps: tuple[Step, ...] = ()
    reasoning: str = ""
    unmatched: tuple[str, ...] = ()
    clarification: str | None = None
    question_class: str = ""

    @property
    def by_model(self) -> bool:
        """Whether a chat model wrote or writes a statement of it; what code decomposed needs none."""
        if self.strategy == "model":
            return True
        free = (step for step in self.steps if step.kind == "sql" and step.metric_query is None and not step.verified)
        return self.strategy == "decomposed" and any(True for _ in free)
