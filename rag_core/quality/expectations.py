"""A question's own expectations as observations. Pure; numbers are compared exactly, as Decimals."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal, localcontext
from statistics import median
from typing import Any

from rag_core.datamodel.answer import Answer
from rag_core.datamodel.evidence import SqlEvidence
from rag_core.datamodel.question import Expectation, Question
from rag_core.quality.observation import Observation, RunContext, exact_number
from rag_core.quality.profile import ColumnProfile, profile_result

# A robust scale needs some history: with fewer runs a deviation means little.
MIN_HISTORY = 8
MAX_DEVIATIONS = 6
# A series that hardly varies has a deviation near 0; below this share of the median nothing is an outlier.
LEAST_SPREAD = Decimal("0.01")

# PostgreSQL's numeric holds more digits than Python's default context of 28.
EXACT_DIGITS = 200

_Make = Callable[..., Observation]


def observe_expectation(
    question: Question, answer: Answer, wanted: Expectation, check_id: str, context: RunContext
) -> Observation:
    """The observation of one expectation; what cannot be measured is not judged, with the reason."""
    with localcontext() as numbers:
        numbers.prec = EXACT_DIGITS
        return _observe(question, answer, wanted, check_id, context)


def _observe(
    question: Question, answer: Answer, wanted: Expectation, check_id: str, context: RunContext
) -> Observation:
    def make(observed: Any = None, **fields: Any) -> Observation:
        return Observation(
            check_id=check_id,
            question_id=question.question_id,
            severity=wanted.severity,
            observed=observed,
            **{"description": describe_expectation(wanted), **fields},
        )

    if wanted.kind == "contains_text":
        found = str(wanted.value).lower() in answer.text.lower()
        return make("found" if found else "missing", exact=found)
    if wanted.kind == "change":
        return _observe_change(question, answer, wanted, context, make)
    if not answer.sql:
        return _unjudged(make, "the answer has no result to judge")
    evidence = answer.sql[0]
    if wanted.column is None:
        return _observe_rows(question, evidence.result.row_count, wanted, context, make)
    return _observe_values(evidence, wanted, context, answer.run_date, make)


def _observe_rows(question: Question, rows: int, wanted: Expectation, context: RunContext, make: _Make) -> Observation:
    if wanted.kind == "row_count_history":
        return _observe_row_count_history(question, rows, wanted, context, make)
    if wanted.kind == "row_count":
        return make(rows, lower=wanted.min, upper=wanted.max)
    return make(rows, lower=1)


def _observe_values(
    evidence: SqlEvidence, wanted: Expectation, context: RunContext, run_date: date, make: _Make
) -> Observation:
    profile = next((p for p in profile_result(evidence.result) if p.column == wanted.column), None)
    if profile is None:
        return make(broken=_no_column(evidence, wanted.column or ""))
    if profile.rows == 0:
        return _unjudged(make, "the result is empty")
    if wanted.kind == "sum":
        return _observe_sum(evidence, wanted, make)
    if wanted.kind == "agrees":
        return _observe_agreement(evidence, wanted, context, make)
    if wanted.kind == "freshness":
        return _observe_freshness(profile, wanted, run_date, make)
    return _observe_column(wanted, profile, make)


def describe_expectation(wanted: Expectation) -> str:
    """What is expected, in plain words."""
    span = _span(wanted.min, wanted.max)
    column = wanted.column or ""
    texts = {
        "bounds": f"{column} lies {span}",
        "row_count": f"the number of rows lies {span}",
        "not_empty": "the result has rows",
        "not_null": f"{column} has no NULL",
        "unique": f"{column} has no value twice",
        "null_share": f"at most {wanted.max} of {column} is NULL",
        "type": f"{column} holds {wanted.value}",
        "contains_text": f"the answer says: {wanted.value}",
        "freshness": f"the newest {column} is at most {wanted.max} days old",
        "sum": f"the sum of {column} " + (f"is {wanted.value}" if wanted.value is not None else f"lies {span}"),
        "agrees": f"the sum of {column} agrees with {wanted.other_column or column} of {wanted.question}",
        "row_count_history": "the number of rows is as in earlier runs",
        "change": f"the change since the last run in percent lies {span}",
    }
    return texts[wanted.kind]


def _span(lower: Any, upper: Any) -> str:
    if upper is None:
        return f"at or above {lower}"
    return f"at or below {upper}" if lower is None else f"between {lower} and {upper}"


def _unjudged(make: _Make, reason: str) -> Observation:
    return make(judged=False, message=reason)


def _no_column(evidence: SqlEvidence, column: str) -> str:
    names = ", ".join(dict.fromkeys(known.name for known in evidence.result.columns))
    return f"the result has no column {column}; it has {names}"


def _observe_column(wanted: Expectation, profile: ColumnProfile, make: _Make) -> Observation:
    if wanted.kind == "bounds":
        return _observe_bounds(wanted, profile, make)
    if wanted.kind == "not_null":
        return make(profile.nulls, upper=0)
    if wanted.kind == "null_share":
        return make(profile.null_share, upper=wanted.max)
    if wanted.kind == "unique":
        return make(profile.rows - profile.distinct, upper=0)
    if profile.actual is None:
        return _unjudged(make, "every value is NULL")
    return make(profile.actual, exact=profile.actual == wanted.value)


def _observe_bounds(wanted: Expectation, profile: ColumnProfile, make: _Make) -> Observation:
    if profile.minimum is None:
        return _unjudged(make, "the column has no value that can be ordered")
    lower, upper = _like(wanted.min, profile.minimum), _like(wanted.max, profile.minimum)
    if (wanted.min is not None and lower is None) or (wanted.max is not None and upper is None):
        bound = wanted.min if lower is None and wanted.min is not None else wanted.max
        return make(broken=f"the bound {bound} is of another kind than the values of {wanted.column}")
    low, high = _exactly(profile.minimum), _exactly(profile.maximum)
    holds = (lower is None or low >= lower) and (upper is None or high <= upper)
    return make(_range_text(profile.minimum, profile.maximum), lower=wanted.min, upper=wanted.max, exact=holds)


def _range_text(low: Any, high: Any) -> str:
    return str(low) if low == high else f"{low} to {high}"


def _exactly(value: Any) -> Any:
    return Decimal(str(value)) if isinstance(value, int | float) else value


def _like(bound: Any, value: Any) -> Any:
    """The bound in the value's own kind, exactly; None where that is not possible."""
    if bound is None:
        return None
    if isinstance(value, datetime):
        try:
            moment = datetime.fromisoformat(str(bound))
        except ValueError:
            return None
        # A bound without a zone is meant in the zone of the values.
        return moment.replace(tzinfo=value.tzinfo) if moment.tzinfo is None else moment
    if isinstance(value, date | time):
        try:
            return type(value).fromisoformat(str(bound))
        except ValueError:
            return None
    return exact_number(bound)


def _column_sum(evidence: SqlEvidence, column: str) -> Decimal | str:
    """The exact sum of a column without its NULLs, or why there is none."""
    index = evidence.result.column_index(column)
    cells = [row[index] for row in evidence.result.rows if row[index] is not None]
    numbers = [None if isinstance(cell, str) else exact_number(cell) for cell in cells]
    if not numbers or any(number is None for number in numbers):
        return f"the column {column} holds no finite numbers throughout"
    return sum((number for number in numbers if number is not None), Decimal(0))


def _observe_sum(evidence: SqlEvidence, wanted: Expectation, make: _Make) -> Observation:
    total = _column_sum(evidence, wanted.column or "")
    if isinstance(total, str):
        return make("no sum", exact=False, message=total)
    tolerance = exact_number(wanted.tolerance) or Decimal(0)
    lower, upper = exact_number(wanted.min), exact_number(wanted.max)
    if wanted.value is not None:
        target = exact_number(wanted.value)
        if target is None:
            return make(str(total), broken=f"{wanted.value} is no number")
        lower, upper = target - tolerance, target + tolerance
    holds = (lower is None or total >= lower) and (upper is None or total <= upper)
    return make(str(total), lower=lower, upper=upper, exact=holds)


def _observe_agreement(evidence: SqlEvidence, wanted: Expectation, context: RunContext, make: _Make) -> Observation:
    other = context.answers.get(wanted.question or "")
    if other is None or not other.sql:
        return _unjudged(make, f"{wanted.question} has no result in this run")
    other_column = wanted.other_column or wanted.column or ""
    if other_column not in {column.name for column in other.sql[0].result.columns}:
        return make(broken=f"{wanted.question}: {_no_column(other.sql[0], other_column)}")
    mine = _column_sum(evidence, wanted.column or "")
    theirs = _column_sum(other.sql[0], other_column)
    if isinstance(mine, str):
        return make("no sum", exact=False, message=mine)
    if isinstance(theirs, str):
        return make(str(mine), exact=False, message=f"{wanted.question}: {theirs}")
    tolerance = exact_number(wanted.tolerance) or Decimal(0)
    return make(
        str(mine),
        lower=theirs - tolerance,
        upper=theirs + tolerance,
        exact=abs(mine - theirs) <= tolerance,
        message=f"{wanted.question} has {theirs}",
    )


def _observe_freshness(profile: ColumnProfile, wanted: Expectation, run_date: date, make: _Make) -> Observation:
    newest = profile.maximum
    if not isinstance(newest, date):
        return make("no date", exact=False, message=f"the column {wanted.column} holds no dates")
    day = newest.date() if isinstance(newest, datetime) else newest
    age = (run_date - day).days
    return make(age, upper=wanted.max, message=f"the newest value is of {day.isoformat()}")


def _observe_row_count_history(
    question: Question, rows: int, wanted: Expectation, context: RunContext, make: _Make
) -> Observation:
    """The row count against median and median absolute deviation (MAD) of earlier runs.

    Robust where a z-score is not: one outlier moves neither. The MAD is scaled by 1.4826, which makes it the standard
    deviation for normal data (Rousseeuw and Croux 1993, "Alternatives to the Median Absolute Deviation").
    """
    counts = [past.row_count for past in context.history.get(question.question_id, ()) if past.row_count is not None]
    needed = MIN_HISTORY if wanted.min is None else int(wanted.min)
    if len(counts) < needed:
        return _unjudged(make, f"{len(counts)} earlier runs are too few to judge by; {needed} are needed")
    middle = Decimal(median(counts))
    deviation = Decimal("1.4826") * Decimal(median(abs(Decimal(count) - middle) for count in counts))
    spread = max(deviation, middle * LEAST_SPREAD, Decimal("0.5"))
    allowed = (exact_number(wanted.max) or Decimal(MAX_DEVIATIONS)) * spread
    lower, upper = round(max(Decimal(0), middle - allowed), 1), round(middle + allowed, 1)
    return make(
        rows, lower=lower, upper=upper, exact=lower <= rows <= upper, message=f"median of {len(counts)} runs: {middle}"
    )


def _observe_change(
    question: Question, answer: Answer, wanted: Expectation, context: RunContext, make: _Make
) -> Observation:
    past = [item for item in context.history.get(question.question_id, ()) if exact_number(item.value) is not None]
    now = exact_number(answer.headline_value)
    if now is None:
        return _unjudged(make, "the answer has no headline number")
    if not past:
        return _unjudged(make, "no earlier run published a headline number")
    before = exact_number(past[-1].value) or Decimal(0)
    if before == 0:
        return _unjudged(make, f"the value of {past[-1].run_date.isoformat()} is 0: there is no relative change")
    change = (now - before) / abs(before) * 100
    lower, upper = exact_number(wanted.min), exact_number(wanted.max)
    holds = (lower is None or change >= lower) and (upper is None or change <= upper)
    return make(
        f"{change:.2f}",
        lower=lower,
        upper=upper,
        exact=holds,
        message=f"{past[-1].run_date.isoformat()} had {before}",
    )
