from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from rag_core.datamodel.catalog import Catalog, CatalogTable, ForeignKey
from rag_core.datamodel.evidence import ColumnMeaning
from rag_core.workers.evidence_validator import contradiction, validate_passages, validate_sql
from tests.evidence import passage, sql_evidence

REVENUE = ColumnMeaning(name="revenue", label="Revenue", unit="EUR", role="metric")
ORDERS = ColumnMeaning(name="orders", label="Orders", unit="orders", role="metric")


def codes(*rows: tuple[Any, ...], **more: Any) -> list[tuple[str, str]]:
    columns = more.pop("columns", {"region": "text", "revenue": "numeric"})
    evidence = sql_evidence(columns, *rows, meanings=more.pop("meanings", (REVENUE,)), **more)
    return [(finding.code, finding.severity) for finding in validate_sql(evidence)]


def test_a_sound_result_has_no_findings() -> None:
    assert codes(("Nordics", Decimal("5")), ("Iberia", Decimal("-7"))) == []


def test_an_empty_result_stops_the_answer_unless_it_may_be_empty() -> None:
    assert codes() == [("empty", "error")]
    evidence = sql_evidence({"revenue": "numeric"}, meanings=(REVENUE,))
    assert validate_sql(evidence, may_be_empty=True)[0].severity == "info"


def test_rows_that_may_not_be_seen_are_not_called_none() -> None:
    evidence = sql_evidence({"revenue": "numeric"}, meanings=(REVENUE,))
    assert validate_sql(evidence)[0].message == "the query returned no rows"
    limited = evidence.result.model_copy(update={"row_limited": ("public.orders",)})
    told = validate_sql(evidence.model_copy(update={"result": limited}))[0].message
    assert told == "no rows are visible: of public.orders not all may be seen here"


def test_nulls() -> None:
    assert codes(("Nordics", None), ("Iberia", None)) == [("null_only", "error")]
    mostly = [(f"region {index}", None) for index in range(9)]
    assert codes(*mostly, ("Iberia", Decimal(1))) == [("null_dominant", "warning")]
    assert codes(*mostly[:8], ("a", Decimal(1)), ("b", Decimal(1))) == []  # just 80 %


def test_the_first_period_of_a_comparison_may_have_none_before_it() -> None:
    before = REVENUE.model_copy(update={"name": "revenue_previous"})
    columns = {"revenue": "numeric", "revenue_previous": "numeric"}
    assert codes((Decimal(5), None), columns=columns, meanings=(REVENUE, before)) == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), Decimal("NaN")])
def test_what_is_no_number_is_an_error(value: Any) -> None:
    assert ("not_finite", "error") in codes(("Nordics", value))


def test_a_type_that_the_column_does_not_have() -> None:
    assert ("type_mismatch", "error") in codes(("Nordics", "12 EUR"))
    assert ("type_mismatch", "error") in codes(("Nordics", "12"), columns={"region": "text", "revenue": "text"})


def test_counts_are_never_negative() -> None:
    rows = (("Nordics", -3),)
    assert codes(*rows, columns={"region": "text", "orders": "bigint"}, meanings=(ORDERS,)) == [("negative", "error")]


def test_cuts_are_told() -> None:
    assert codes(("Nordics", Decimal(1)), truncated_by="rows") == [("truncated", "warning")]
    rows = (("Nordics", Decimal(1)), ("Iberia", Decimal(2)))
    assert codes(*rows, own_limit=2, strategy="model") == [("own_limit", "info")]
    assert codes(*rows, own_limit=2) == []


def test_repeated_rows_of_a_models_statement_hint_at_a_join() -> None:
    rows = (("Nordics", Decimal(1)), ("Nordics", Decimal(1)))
    assert codes(*rows, strategy="model") == [("fan_out", "warning")]


def test_two_tables_that_multiply_a_third_are_a_risk() -> None:
    def child(name: str) -> CatalogTable:
        key = ForeignKey(name="k", columns=("customer_id",), target="public.customers", target_columns=("id",))
        return CatalogTable(schema_name="public", name=name, foreign_keys=(key,))

    tables = (CatalogTable(schema_name="public", name="customers"), child("orders"), child("tickets"))
    catalog = Catalog(dialect="postgres", database="d", taken_at=datetime(2026, 7, 1, tzinfo=UTC), tables=tables)
    joins = "FROM customers c JOIN orders o ON o.customer_id = c.id"
    wide = f"SELECT sum(o.total) {joins} JOIN tickets t ON t.customer_id = c.id"
    cases = {
        f"SELECT sum(o.total) {joins}": [],
        wide: ["fan_out_risk"],
        "SELECT 1 FROM orders CROSS JOIN tickets": ["fan_out_risk"],
    }
    for sql, expected in cases.items():
        evidence = sql_evidence({"sum": "numeric"}, (Decimal(1),), sql=sql, strategy="model")
        assert [finding.code for finding in validate_sql(evidence, catalog)] == expected, sql


def quoted(text: str, title: str, **metadata: Any) -> Any:
    return passage(text, title=title, metadata=metadata, quotes=(text,))


def test_documents_that_give_another_value_for_the_same_contradict() -> None:
    first = quoted("Service metrics are kept at full resolution for 90 days.", "Standard", date="2026-02-02")
    second = quoted("Metrics are kept for 30 days at full resolution and are then deleted.", "Pipeline")
    assert contradiction("How long are service metrics kept?", first, second) == ("90 days", "30 days")
    (finding,) = validate_passages("How long are service metrics kept?", [first, second])
    assert finding.message == "Standard (2026-02-02) says 90 days, Pipeline says 30 days"


def test_documents_that_agree_or_speak_of_other_things_do_not() -> None:
    first = quoted("Service metrics are kept for 90 days.", "Standard")
    same = quoted("Service metrics are kept for 90 days.", "Copy")
    other = quoted("Deletion jobs of customers run every 7 days in Frankfurt.", "Jobs")
    question = "How long are service metrics kept?"
    assert contradiction(question, first, same) is None
    assert contradiction(question, first, other) is None


def test_events_and_agreements_with_others_contradict_nobody() -> None:
    question = "How long was the portal down?"
    first = passage(
        "The portal was down for 155 minutes.",
        title="INC-2024-033 Expired",
        quotes=("The portal was down for 155 minutes.",),
        document_type="incident",
        document_id="a",
    )
    second = passage(
        "The portal was down for 105 minutes.",
        title="INC-2025-035 Tools",
        quotes=("The portal was down for 105 minutes.",),
        document_type="incident",
        document_id="b",
    )
    again = second.model_copy(update={"title": "PM on INC-2024-033", "document_type": "postmortem"})
    assert contradiction(question, first, second) is None
    assert contradiction(question, first, again) == ("155 minutes", "105 minutes")
    general = quoted("The portal is available for 99.7 % of the month.", "Contract Template")
    special = quoted("The portal is available for 99.9 % of the month.", "Framework Agreement with Waal Logistics")
    assert contradiction("Which availability of the portal is promised?", general, special) is None
    assert contradiction("Which availability is promised to Waal Logistics?", general, special) is not None


def test_two_that_give_the_same_value_too_speak_of_another_thing_in_the_other_one() -> None:
    first = passage(
        "The pool allows 40 connections. The database of the pool allows 300 connections.",
        document_id="a",
        quotes=("The pool allows 40 connections.", "The database of the pool allows 300 connections."),
    )
    second = quoted("The pool allows 40 connections.", "Primer")
    assert contradiction("How many connections does the pool allow?", first, second) is None


def test_a_superseded_document_is_told() -> None:
    old = quoted("Restart the primary first.", "Runbook 2024", status="superseded", date=date(2024, 5, 14))
    assert [finding.code for finding in validate_passages("What is first?", [old])] == ["superseded"]


def test_none_of_a_governed_figure_is_told_apart_from_rows_that_may_not_be_seen() -> None:
    seen = sql_evidence({"region": "text", "orders": "bigint"})
    hidden = seen.model_copy(update={"result": seen.result.model_copy(update={"row_limited": ("main.orders",)})})
    assert [item.severity for item in validate_sql(seen, may_be_empty=True)] == ["info"]
    assert [item.severity for item in validate_sql(seen)] == ["error"]
    found = validate_sql(hidden, may_be_empty=True)
    assert [(item.severity, item.message) for item in found] == [
        ("error", "no rows are visible: of main.orders not all may be seen here")
    ]


def test_a_zero_over_rows_of_which_not_all_may_be_seen_says_so() -> None:
    zero = sql_evidence({"orders": "bigint"}, (0,))
    limited = zero.model_copy(update={"result": zero.result.model_copy(update={"row_limited": ("main.orders",)})})
    assert [item.code for item in validate_sql(limited, may_be_empty=True)] == ["row_limited"]
    assert validate_sql(zero, may_be_empty=True) == []


RULE = passage(
    "On-call acknowledges every page within 5 minutes.\nFor a grave fault a commander is named within 15 minutes.",
    title="Rule",
    document_type="standard",
    metadata={"date": "2026-01-12"},
    quotes=(
        "On-call acknowledges every page within 5 minutes.",
        "For a grave fault a commander is named within 15 minutes.",
    ),
)
GUIDE = passage(
    "Acknowledge a page within 15 minutes, then open the runbook.",
    marker="D2",
    title="Guide",
    rank=2,
    metadata={"date": "2025-02-10"},
    quotes=("Acknowledge a page within 15 minutes, then open the runbook.",),
)


@pytest.mark.parametrize(
    "question", ["How quickly must a page be acknowledged?", "Within how many minutes must a page be acknowledged?"]
)
def test_what_two_documents_agree_on_beside_the_question_hides_no_contradiction(question: str) -> None:
    assert contradiction(question, RULE, GUIDE) == ("5 minutes", "15 minutes")


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ("current", "Rule (2026-01-12) says 5 minutes, Guide (2025-02-10) says 15 minutes"),
        ("superseded", "Rule (2026-01-12) says 5 minutes, Guide (2025-02-10, superseded) says 15 minutes"),
    ],
)
def test_a_contradiction_says_of_when_each_is_and_which_is_superseded(status: str, told: str) -> None:
    other = GUIDE.model_copy(update={"metadata": {**GUIDE.metadata, "status": status}})
    found = validate_passages("How quickly must a page be acknowledged?", [RULE, other])
    assert [item.message for item in found if item.code == "contradiction"] == [told]
