"""The form of a batch file, and how its entries become questions. Pure."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from datetime import date
from itertools import product
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from rag_core.batch.dates import DATE_NAMES
from rag_core.batch.schedule import check_address, check_cron, check_timezone
from rag_core.datamodel.base import Record
from rag_core.datamodel.drift import OnBreaking
from rag_core.datamodel.question import (
    IDENTIFIER,
    Budget,
    ChartKind,
    Expectation,
    Notification,
    PlanPolicy,
    Question,
)

MAX_QUESTIONS = 500
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
# An id of a template holds the names of its lists, e.g. `revenue_{region}`.
_ENTRY_ID = r"^[a-z][a-z0-9_{}]{0,62}$"

Scalar = str | int | float | bool


def check_text(text: str) -> str:
    """The text; raises ValueError where it holds a control character, which no person types into a question."""
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t":
            raise ValueError(f"the text holds the control character U+{ord(character):04X}")
    return text


def _plain_scalar(value: Any) -> Any:
    # Dates of YAML are meant as they are written.
    return value.isoformat() if hasattr(value, "isoformat") else value


ListValue = Annotated[str | int, BeforeValidator(_plain_scalar)]


class QuestionEntry(Record):
    """A question, or with `for_each` a template of one question for each combination of values.

    `{name}` in text, title and id stands for a value of `for_each`, in text and title also for a parameter or a date as
    of the run date: run_date, yesterday, this_month, last_month, this_quarter, last_quarter, this_year, last_year.
    """

    question_id: str = Field(pattern=_ENTRY_ID, description="Unique in the batch: lower-case letters, digits, _")
    text: Annotated[str, AfterValidator(check_text)] = Field(
        min_length=3, max_length=2_000, description="The question in plain words"
    )
    title: Annotated[str, AfterValidator(check_text)] | None = Field(
        default=None, max_length=200, description="A short title for the report"
    )
    for_each: dict[str, Annotated[tuple[ListValue, ...], Field(min_length=1, max_length=100)]] = Field(
        default={}, max_length=3, description="One question for each combination of these values"
    )
    parameters: dict[str, Scalar] = Field(default={}, description="Values for the placeholders of the text")
    expectations: tuple[Expectation, ...] = Field(default=(), description="What must hold before it is published")
    chart: ChartKind = Field(default="auto", description="How the result is drawn")
    headline: str | None = Field(default=None, description="Result column whose first row is the value shown large")
    tags: tuple[str, ...] = ()
    may_be_empty: bool = Field(default=False, description="Whether an empty result may be published")

    @model_validator(mode="after")
    def _check_placeholders(self) -> QuestionEntry:
        in_id = set(_PLACEHOLDER.findall(self.question_id))
        if in_id != set(self.for_each):
            wanted = ", ".join("{" + name + "}" for name in self.for_each) or "no placeholder"
            raise ValueError(
                f"the id {self.question_id} must hold {wanted}, so that each question has an id of its own"
            )
        known = {*self.for_each, *self.parameters, *DATE_NAMES}
        unknown = sorted({*_PLACEHOLDER.findall(self.text), *_PLACEHOLDER.findall(self.title or "")} - known)
        if unknown:
            named = ", ".join("{" + name + "}" for name in unknown)
            raise ValueError(f"{named} is neither a parameter, nor a list of for_each, nor a date")
        return self


class BatchFile(Record):
    """A file `config/batches/<batch>.yaml`."""

    title: Annotated[str, AfterValidator(check_text)] = Field(min_length=1, max_length=200)
    description: Annotated[str, AfterValidator(check_text)] = ""
    schedule: Annotated[str, AfterValidator(check_cron)] | None = Field(
        default=None, description="Cron text of five fields; without one the batch runs by hand"
    )
    timezone: Annotated[str, AfterValidator(check_timezone)] = Field(
        default="UTC", description="Time zone of the schedule"
    )
    after: Annotated[
        tuple[Annotated[str, Field(pattern=IDENTIFIER)], ...],
        Field(max_length=20, description="Runs when all of these have: documents, warehouse_schema, other batches"),
    ] = ()
    catch_up_from: date | None = Field(
        default=None, description="Runs of the schedule since this day that were missed are made up for, oldest first"
    )
    deadline_minutes: int | None = Field(
        default=None, ge=1, le=10_080, description="A run that has not ended so long after its start is told of"
    )
    owner: str = Field(min_length=1, max_length=100, description="Who answers for the batch")
    audience: str = Field(default="", description="Whom the report is for")
    notify: Notification = Field(default=Notification(), description="Whom a finished run is told to")
    pdf: bool = Field(default=False, description="Whether the report is made as PDF too")
    principal: str | None = Field(
        default=None, min_length=1, max_length=63, description="Database role that the warehouse is asked as"
    )
    plan_policy: PlanPolicy = Field(
        default="drafts", description="Whether kept plans are replayed as drafts too, or only once approved"
    )
    on_breaking_change: OnBreaking | None = Field(
        default=None,
        description="When a breaking schema change touches questions: pause them, wait for a decision in Airflow, fail "
        "the batch, or answer all the same; without it as the policy file says",
    )
    decision_minutes: int = Field(
        default=240, ge=1, le=10_080, description="How long the batch waits for a decision; then they are paused"
    )
    budget: Budget = Field(default=Budget(), description="What a run may use")
    questions: tuple[QuestionEntry, ...] = Field(min_length=1, max_length=MAX_QUESTIONS)

    @model_validator(mode="after")
    def _check_heads(self) -> BatchFile:
        problems = []
        if self.after and self.schedule:
            problems.append("a batch has a schedule or an `after`, not both")
        if self.catch_up_from is not None and not self.schedule:
            problems.append("catch_up_from needs a schedule: without one there is nothing to catch up with")
        for address in self.notify.email:
            try:
                check_address(address)
            except ValueError as error:
                problems.append(f"notify, email: {error}")
        if problems:
            raise ValueError("; ".join(problems))
        return self


class OwnersFile(Record):
    """The file `owners.yaml`: who may own a batch, with a word on what for."""

    owners: dict[str, str] = Field(min_length=1)


def expand_entry(entry: QuestionEntry) -> list[Question]:
    """The questions of an entry, in the order of its lists.

    Raises ValueError where two values make the same id.
    """
    names = list(entry.for_each)
    questions: dict[str, Question] = {}
    for values in product(*entry.for_each.values()):
        chosen = dict(zip(names, values, strict=True))
        question_id = fill_placeholders(entry.question_id, {name: _slug(value) for name, value in chosen.items()})
        if not re.match(IDENTIFIER, question_id):
            raise ValueError(f"{question_id!r} is no id: use lower-case letters, digits and _")
        if question_id in questions:
            raise ValueError(f"two values of for_each make the same id {question_id}")
        parameters = {**entry.parameters, **chosen}
        questions[question_id] = Question(
            question_id=question_id,
            text=fill_placeholders(entry.text, parameters),
            title=fill_placeholders(entry.title, parameters) if entry.title is not None else None,
            parameters=parameters,
            expectations=entry.expectations,
            chart=entry.chart,
            headline=entry.headline,
            tags=entry.tags,
            may_be_empty=entry.may_be_empty,
        )
    return list(questions.values())


def batch_schema() -> dict[str, Any]:
    """JSON schema of a batch file, for editors and other programs."""
    schema = BatchFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Nightshift batch"}


def schema_text() -> str:
    """The schema as it stands in `config/schemas/batch.schema.json`."""
    return json.dumps(batch_schema(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def fill_placeholders(text: str, values: Mapping[str, Any]) -> str:
    """The text with each `{name}` that has a value replaced by it; others stay."""
    return _PLACEHOLDER.sub(lambda match: str(values[match[1]]) if match[1] in values else match[0], text)


def _slug(value: str | int) -> str:
    plain = unicodedata.normalize("NFKD", str(value)).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")
