"""Which checks every result must pass, as observations; a question's own come from `expectations`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rag_core.datamodel.answer import Answer
from rag_core.datamodel.evidence import SqlEvidence
from rag_core.datamodel.question import Question
from rag_core.quality.expectations import observe_expectation
from rag_core.quality.observation import Observation, RunContext
from rag_core.quality.profile import ColumnProfile, profile_result

# More than this share of NULL in a column makes a result useless; exactly this share is still allowed.
MAX_NULL_SHARE = 0.8


def observe_answer(question: Question, answer: Answer, context: RunContext | None = None) -> tuple[Observation, ...]:
    """All observations of one answer: those that every result must pass, then the question's own."""
    found = [
        Observation(
            check_id="claims_supported",
            question_id=question.question_id,
            severity="critical",
            observed=len(answer.verdict.unsupported_claims),
            upper=0,
            description="every claim is supported by its evidence",
        )
    ]
    for evidence in answer.sql:
        found += _observe_result(question, evidence)
    seen: Counter[str] = Counter()
    for wanted in question.expectations:
        name = wanted.kind + (f"_{wanted.column}" if wanted.column else "")
        seen[name] += 1
        check_id = name if seen[name] == 1 else f"{name}_{seen[name]}"
        found.append(observe_expectation(question, answer, wanted, check_id, context or RunContext()))
    return tuple(found)


def _observe_result(question: Question, evidence: SqlEvidence) -> list[Observation]:
    marker = evidence.marker
    profiles = profile_result(evidence.result)
    rows = evidence.result.row_count

    def make(name: str, observed: Any, description: str, **fields: Any) -> Observation:
        return Observation(
            check_id=f"{marker.lower()}_{name}",
            question_id=question.question_id,
            severity=fields.pop("severity", "critical"),
            observed=observed,
            description=f"{marker}: {description}",
            **fields,
        )

    found = []
    if not question.may_be_empty:
        found.append(make("not_empty", rows, "the result has rows", lower=1))
    twice = sorted(name for name, count in Counter(profile.column for profile in profiles).items() if count > 1)
    found.append(
        make("unique_columns", len(twice), "no two columns have the same name", upper=0, message=", ".join(twice))
    )
    if rows == 0:
        # An empty result has one verdict only: its columns cannot be judged.
        return found
    nulls = max(profiles, key=lambda profile: profile.null_share)
    found.append(
        make(
            "null_share",
            nulls.null_share,
            f"at most {MAX_NULL_SHARE:.0%} of a column is NULL",
            upper=MAX_NULL_SHARE,
            message=f"column {nulls.column}" if nulls.nulls else "",
        )
    )
    infinite = [profile.column for profile in profiles if profile.not_finite]
    found.append(
        make(
            "finite_numbers",
            sum(profile.not_finite for profile in profiles),
            "no number is NaN or infinite",
            upper=0,
            message=_columns(infinite),
        )
    )
    mismatched = _mismatched(profiles, evidence)
    found.append(
        make("types", len(mismatched), "values are of their columns' types", upper=0, message="; ".join(mismatched))
    )
    found.append(
        make(
            "whole",
            0 if evidence.result.truncated_by is None else 1,
            "the result was not cut off",
            severity="warning",
            upper=0,
            message=f"cut off by the limit on {evidence.result.truncated_by}" if evidence.result.truncated_by else "",
        )
    )
    return found


def _mismatched(profiles: Sequence[ColumnProfile], evidence: SqlEvidence) -> list[str]:
    """Columns whose values are not of the declared type, or that are measures without numbers."""
    measures = {meaning.name for meaning in evidence.meanings if meaning.role == "metric"}
    found = []
    for profile in profiles:
        if profile.actual is None:
            continue
        expected = "number" if profile.column in measures else profile.declared
        if expected != "other" and profile.actual != expected:
            found.append(f"{profile.column} holds {profile.actual} instead of {expected}")
    return found


def _columns(names: Sequence[str]) -> str:
    return f"column{'' if len(names) == 1 else 's'} {', '.join(names)}" if names else ""
