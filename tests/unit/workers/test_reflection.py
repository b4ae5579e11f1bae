from __future__ import annotations

import pytest

from rag_core.errors import ModelFault, QueryFault
from rag_core.workers.outcome import Fault, FaultClass
from rag_core.workers.reflection import MAX_SQL_ATTEMPTS, classify, decide, fault_of, proposed_repair


def fault(fault_class: FaultClass, message: str = "it failed", **more: object) -> Fault:
    return Fault.model_validate({"fault_class": fault_class, "code": fault_class, "message": message, **more})


UNKNOWN = fault(
    "unknown_column",
    'the column "churn_on" is not known',
    sql="SELECT churn_on FROM public.churn_events",
    suggestions=("churned_on",),
)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("syntax", "syntax"),
        ("unsupported", "syntax"),
        ("unsupported_syntax", "syntax"),
        ("alias_not_allowed", "syntax"),
        ("unknown_table", "unknown_table"),
        ("unknown_column", "unknown_column"),
        ("ambiguous_column", "ambiguous_column"),
        ("data", "type"),
        ("timeout", "timeout"),
        ("too_complex", "too_large"),
        ("multiple_statements", "model_output"),
        ("transient", "transient"),
        ("table_excluded", "policy"),
        ("column_excluded", "policy"),
        ("permission", "policy"),
        ("function_not_allowed", "policy"),
        ("a_code_of_tomorrow", "policy"),
    ],
)
def test_codes_have_a_class_and_what_is_unknown_is_a_refusal(code: str, expected: str) -> None:
    assert classify(code) == expected


def test_errors_become_faults() -> None:
    assert fault_of(QueryFault("timeout", "too slow"), "SELECT 1").fault_class == "timeout"
    assert fault_of(QueryFault("other", "what")).fault_class == "other"
    assert fault_of(ModelFault("no JSON")).fault_class == "model_output"


def test_a_near_name_is_repaired_without_a_model() -> None:
    action = decide(UNKNOWN, 1, has_model=False, written_by_model=True)
    assert action.kind == "repair"
    assert action.replace == ("churn_on", "churned_on")


@pytest.mark.parametrize(
    "suggestions",
    [("signed_on",), ("churned_on", "churn_no"), ()],
)
def test_a_far_name_or_two_near_ones_are_not(suggestions: tuple[str, ...]) -> None:
    assert proposed_repair(UNKNOWN.model_copy(update={"suggestions": suggestions})) is None


def test_a_name_with_other_digits_is_another_thing() -> None:
    quarter = fault("unknown_column", 'column "sales_q1" does not exist', sql="SELECT 1", suggestions=("sales_q2",))
    assert proposed_repair(quarter) is None


@pytest.mark.parametrize("has_model", [True, False])
def test_a_refusal_of_the_policy_is_never_retried_around(has_model: bool) -> None:
    assert decide(fault("policy"), 1, has_model=has_model, written_by_model=True).kind == "stop"


def test_the_model_is_told_within_its_bound() -> None:
    syntax = fault("syntax", sql="SELEC 1")
    kinds = [decide(syntax, attempt, has_model=True, written_by_model=True).kind for attempt in (1, 2, 3)]
    assert kinds == ["ask_model", "ask_model", "stop"]
    assert MAX_SQL_ATTEMPTS == 3


def test_a_timeout_narrows_the_scope() -> None:
    assert decide(fault("timeout"), 1, has_model=True, written_by_model=True).kind == "narrow"


def test_a_governed_statement_is_not_rewritten_by_a_model() -> None:
    assert decide(fault("type"), 1, has_model=True, written_by_model=False).kind == "stop"


def test_a_passing_fault_is_tried_again() -> None:
    assert decide(fault("transient"), 1, has_model=False, written_by_model=False).kind == "retry_same"
