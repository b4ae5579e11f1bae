"""Questions and batches of them, as people write them in `config/batches/*.yaml`."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

from pydantic import Field, model_validator

from rag_core.datamodel.base import Record
from rag_core.datamodel.drift import OnBreaking

Severity = Literal["critical", "warning", "info"]
ChartKind = Literal["auto", "line", "bar", "table", "none"]

IDENTIFIER = r"^[a-z][a-z0-9_]{0,62}$"


ExpectationKind = Literal[
    "bounds",
    "row_count",
    "not_null",
    "unique",
    "null_share",
    "type",
    "not_empty",
    "contains_text",
    "freshness",
    "sum",
    "agrees",
    "row_count_history",
    "change",
]


class Expectation(Record):
    """One expectation of a question's result, judged by Great Expectations before the answer is published.

    `kind` is one of

    - `bounds`: every value of `column` lies between `min` and `max`;
    - `row_count`: the result has `min` to `max` rows; `not_empty`: at least one;
    - `not_null`, `unique`: of `column`; `null_share`: at most `max` (0 to 1) of `column` is NULL;
    - `type`: the values of `column` are of the kind `value` (number, date, text, boolean);
    - `contains_text`: the answer's text holds `value`;
    - `freshness`: the newest date of `column` is at most `max` days older than the run date;
    - `sum`: the sum of `column` lies between `min` and `max`, or equals `value`;
    - `agrees`: the sum of `column` equals that of `other_column` (the same name by default) of `question`;
    - `row_count_history`: the number of rows is at most `max` (6 by default) median absolute deviations away from the
      median of the earlier runs; with fewer than `min` (8 by default) of them nothing is judged;
    - `change`: the headline value changed by `min` to `max` percent since the last run.

    `tolerance` is the absolute difference that `sum` and `agrees` allow, 0 by default.
    """

    kind: ExpectationKind
    column: str | None = None
    min: Any = None
    max: Any = None
    value: Any = None
    question: str | None = None
    other_column: str | None = None
    tolerance: Any = None
    severity: Severity = "critical"

    @model_validator(mode="after")
    def _check_fields(self) -> Expectation:
        bounded = self.min is not None or self.max is not None
        missing: str | None = None
        if self.kind in _NEED_COLUMN and not self.column:
            missing = "column"
        elif self.kind in ("bounds", "row_count", "change") and not bounded:
            missing = "min or max"
        elif self.kind in ("null_share", "freshness") and self.max is None:
            missing = "max"
        elif self.kind in ("type", "contains_text") and self.value is None:
            missing = "value"
        elif self.kind == "sum" and not bounded and self.value is None:
            missing = "value, min or max"
        elif self.kind == "agrees" and not self.question:
            missing = "question"
        if missing is not None:
            raise ValueError(f"the expectation {self.kind} needs {missing}")
        return self


_NEED_COLUMN = frozenset({"bounds", "not_null", "unique", "null_share", "type", "freshness", "sum", "agrees"})


class Question(Record):
    """A standing question. `headline` names the result column whose first row is the answer's headline value."""

    question_id: str = Field(pattern=IDENTIFIER)
    text: str = Field(min_length=3, max_length=2_000)
    title: str | None = None
    parameters: dict[str, str | int | float | bool] = {}
    expectations: tuple[Expectation, ...] = ()
    chart: ChartKind = "auto"
    headline: str | None = None
    tags: tuple[str, ...] = ()
    may_be_empty: bool = False


class Budget(Record):
    """What a run of a batch may use; a question that comes after it is used up is a failed row. None is no bound."""

    model_calls: int | None = Field(default=None, ge=0)
    cost_usd: float | None = Field(default=None, ge=0)
    minutes: float | None = Field(default=None, gt=0)


PlanPolicy = Literal["drafts", "approved"]


class Notification(Record):
    """Whom a finished run is told to, with the summary in the message's body."""

    email: tuple[str, ...] = Field(
        default=(), max_length=50, description="Addresses, through Airflow's SMTP connection"
    )
    webhook: bool = Field(default=False, description="Whether to post to NIGHTSHIFT_NOTIFY__WEBHOOK_URL, signed")
    when: Literal["always", "trouble"] = Field(
        default="always", description="`trouble`: only where a question failed, was kept back or needs a model"
    )


class Batch(Record):
    """A named list of questions with a schedule.

    `batch` is the file's stem; `schedule` a cron text or None; `after` names what must have run before instead of a
    time: `documents`, `warehouse_schema` or other batches. `principal` is the database role that the warehouse is
    asked as, `plan_policy` whether kept plans are replayed as drafts too or only once approved. `on_breaking_change`
    says what a breaking schema change that touches the batch leads to (None: what the policy file says), and
    `decision_minutes` how long a batch waits for somebody to decide.
    """

    batch: str = Field(pattern=IDENTIFIER)
    title: str
    description: str = ""
    schedule: str | None = None
    timezone: str = "UTC"
    owner: str
    audience: str = ""
    after: tuple[str, ...] = ()
    catch_up_from: date | None = None
    deadline_minutes: int | None = None
    notify: Notification = Notification()
    pdf: bool = False
    principal: str | None = None
    plan_policy: PlanPolicy = "drafts"
    on_breaking_change: OnBreaking | None = None
    decision_minutes: int = 240
    budget: Budget = Budget()
    questions: tuple[Question, ...] = Field(min_length=1)
