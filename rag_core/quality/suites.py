"""Which checks a result must pass, as values. Another module judges them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from rag_core.datamodel.answer import Answer
from rag_core.datamodel.base import Record
from rag_core.datamodel.question import Expectation, Question, Severity
from rag_core.quality.profile import ColumnProfile, profile_result

# More than this share of NULL in a column makes a result useless; exactly this share is still allowed.
MAX_NULL_SHARE = 0.8


class Observation(Record):
    """One thing measured with the range it must lie in, both ends included; None is no bound.

    `judged=False` says that there was nothing to measure, with the reason in `message`. `exact` is the comparison made
    with the exact values, for those that a double cannot hold.
    """

    check_id: str
    question_id: str
    severity: Severity
    observed: Any = None
    lower: Any = None
    upper: Any = None
    exact: bool | None = None
    judged: bool = True
    message: str = ""


def observe_answer(question: Question, answer: Answer) -> tuple[Observation, ...]:
    """All observations of one answer: those that every result must pass, then the question's own."""
    found = _observe_common(question, answer)
    found += [
        _observe_expectation(question, answer, expectation, number)
        for number, expectation in enumerate(question.expectations, start=1)
    ]
    return tuple(found)


def _observe_common(question: Question, answer: Answer) -> list[Observation]:
    found = [
        _make(question, "claims_supported", "critical", len(answer.verdict.unsupported_claims), upper=0),
    ]
    for evidence in answer.sql:
        profiles = profile_result(evidence.result)
        prefix = evidence.marker.lower()
        rows = evidence.result.row_count
        if not question.may_be_empty:
            found.append(_make(question, f"{prefix}_not_empty", "critical", rows, lower=1))
        names = Counter(profile.column for profile in profiles)
        found.append(
            _make(question, f"{prefix}_unique_columns", "critical", sum(n > 1 for n in names.values()), upper=0)
        )
        if rows == 0:
            # An empty result has one verdict only: its columns cannot be judged.
            continue
        found.append(_worst(question, f"{prefix}_null_share", profiles, "null_share", MAX_NULL_SHARE))
        found.append(_worst(question, f"{prefix}_finite_numbers", profiles, "not_finite", 0))
        mismatched = [
            profile.column
            for profile in profiles
            if profile.actual is not None and profile.declared != "other" and profile.actual != profile.declared
        ]
        found.append(
            _make(question, f"{prefix}_types", "critical", len(mismatched), upper=0, message=", ".join(mismatched))
        )
        found.append(
            _make(question, f"{prefix}_whole", "warning", 0 if evidence.result.truncated_by is None else 1, upper=0)
        )
    return found


def _observe_expectation(question: Question, answer: Answer, wanted: Expectation, number: int) -> Observation:
    check_id = f"e{number}_{wanted.kind}" + (f"_{wanted.column}" if wanted.column else "")
    if wanted.kind == "contains_text":
        text = str(wanted.value).lower()
        return _make(
            question,
            check_id,
            wanted.severity,
            int(text in answer.text.lower()),
            lower=1,
            message=f"text: {wanted.value}",
        )
    if not answer.sql:
        return _unjudged(question, check_id, wanted.severity, "the answer has no result to judge")
    evidence = answer.sql[0]
    rows = evidence.result.row_count
    if wanted.kind == "not_empty":
        return _make(question, check_id, wanted.severity, rows, lower=1)
    if wanted.kind == "row_count":
        return _make(question, check_id, wanted.severity, rows, lower=wanted.min, upper=wanted.max)
    profile = next((p for p in profile_result(evidence.result) if p.column == wanted.column), None)
    if profile is None:
        return _make(
            question, check_id, wanted.severity, 0, lower=1, message=f"the result has no column {wanted.column}"
        )
    if profile.rows == 0:
        return _unjudged(question, check_id, wanted.severity, "the result is empty")
    return _observe_column(question, check_id, wanted, profile)


def _observe_column(question: Question, check_id: str, wanted: Expectation, profile: ColumnProfile) -> Observation:
    if wanted.kind == "bounds":
        return _observe_bounds(question, check_id, wanted, profile)
    if wanted.kind == "not_null":
        return _make(question, check_id, wanted.severity, profile.nulls, upper=0)
    if wanted.kind == "null_share":
        return _make(question, check_id, wanted.severity, profile.null_share, upper=wanted.max)
    if wanted.kind == "unique":
        return _make(question, check_id, wanted.severity, profile.rows - profile.distinct, upper=0)
    matches = profile.actual is None or profile.actual == wanted.value
    return _make(
        question, check_id, wanted.severity, int(matches), lower=1, message=f"values are {profile.actual or 'NULL'}"
    )


def _observe_bounds(question: Question, check_id: str, wanted: Expectation, profile: ColumnProfile) -> Observation:
    if profile.minimum is None:
        return _unjudged(question, check_id, wanted.severity, "the column has no value that can be ordered")
    lower, upper = _like(wanted.min, profile.minimum), _like(wanted.max, profile.minimum)
    if (wanted.min is not None and lower is None) or (wanted.max is not None and upper is None):
        return _make(
            question, check_id, wanted.severity, 0, lower=1, message="the bound is of another kind than the values"
        )
    holds = (lower is None or profile.minimum >= lower) and (upper is None or profile.maximum <= upper)
    low, high = str(profile.minimum), str(profile.maximum)
    return Observation(
        check_id=check_id,
        question_id=question.question_id,
        severity=wanted.severity,
        observed=low if low == high else f"{low} to {high}",
        lower=wanted.min,
        upper=wanted.max,
        exact=holds,
    )


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
    if isinstance(value, date):
        try:
            return date.fromisoformat(str(bound))
        except ValueError:
            return None
    if isinstance(bound, bool) or isinstance(bound, date):
        return None
    try:
        exact = Decimal(str(bound))
    except InvalidOperation:
        return None
    return float(exact) if isinstance(value, float) else exact


def _worst(
    question: Question, check_id: str, profiles: Sequence[ColumnProfile], measure: str, upper: float
) -> Observation:
    worst = max(profiles, key=lambda profile: float(getattr(profile, measure)))
    observed = getattr(worst, measure)
    return _make(
        question, check_id, "critical", observed, upper=upper, message=f"column {worst.column}" if observed else ""
    )


def _make(
    question: Question,
    check_id: str,
    severity: Severity,
    observed: Any,
    *,
    lower: Any = None,
    upper: Any = None,
    message: str = "",
) -> Observation:
    return Observation(
        check_id=check_id,
        question_id=question.question_id,
        severity=severity,
        observed=observed,
        lower=lower,
        upper=upper,
        message=message,
    )


def _unjudged(question: Question, check_id: str, severity: Severity, message: str) -> Observation:
    return Observation(
        check_id=check_id, question_id=question.question_id, severity=severity, judged=False, message=message
    )
